"""What a host has, as JSON on stdout: ``collect.py REQUEST``.

It only reads. It runs on the host that is judged, with any Python from 3.6 on and nothing else, so
it is written for that. It knows nothing of what the host should have: it reports what is there, and
None, with the reason under ``problems``, for what cannot be found out.

The request is a JSON object: ``devices`` (patterns of accelerator device files), ``mounts``,
``services`` and ``slurm_node`` (None where the host runs no jobs). ``root`` is for tests.
"""

import glob
import json
import os
import platform
import re
import shutil
import subprocess
import sys
from xml.etree import ElementTree as ET

SCHEMA = "rackwright.facts/v1"
COMMAND_S = 20
PATHS = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

PACKAGES = {
    "fabric_manager": ("nvidia-fabricmanager", "nvidia-fabricmanager-*", "nvidia-fabric-manager"),
    "imex": ("nvidia-imex", "nvidia-imex-*"),
    "cuda": ("cuda-toolkit", "cuda-toolkit-[0-9]*-[0-9]", "cuda-toolkit-[0-9]*-[0-9][0-9]"),
    "dcgm": ("datacenter-gpu-manager", "datacenter-gpu-manager-4-core"),
    "nccl": ("libnccl2", "libnccl"),
    "ofi_plugin": ("aws-ofi-nccl", "libnccl-ofi", "libnccl-ofi-*"),
    "libfabric": ("libfabric1-aws", "libfabric-aws", "libfabric1", "libfabric"),
    "lustre_client": ("lustre-client", "lustre-client-modules-*", "lustre-client-modules"),
    "enroot": ("enroot", "enroot-hardened"),
    "container_toolkit": ("nvidia-container-toolkit",),
    "pyxis": ("nvslurm-plugin-pyxis",),
    "lustre_server": ("lustre-server", "lustre-server-modules-*", "lustre"),
}
"""Names of the package of each component: of NVIDIA, AWS, Whamcloud and the distributions."""

NCCL_TESTS = "opt/nccl-tests/current"
"""Where the role nccl links to the tests of NCCL that it has built."""


class Unreadable(Exception):
    """Something cannot be found out; the text says why."""


def run(*command):
    """Output of a program; no shell.

    Raises:
        Unreadable: it is missing, fails or does not end.
    """
    program = shutil.which(command[0], path=os.environ.get("PATH", "") + ":" + PATHS)
    if program is None:
        raise Unreadable("{} is not installed".format(command[0]))
    try:
        done = subprocess.Popen(
            [program, *list(command[1:])],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            universal_newlines=True,
        )
        out, err = done.communicate(timeout=COMMAND_S)
    except OSError as error:
        raise Unreadable("{}: {}".format(command[0], error.strerror))
    except subprocess.TimeoutExpired:
        done.kill()
        raise Unreadable("{} did not end within {} s".format(command[0], COMMAND_S))
    if done.returncode != 0:
        words = " ".join((err or out).split())[:200]
        raise Unreadable("{} ended with {}: {}".format(command[0], done.returncode, words))
    return out


def read(path):
    """Text of a file of the kernel.

    Raises:
        Unreadable: it is not there, or the kernel does not answer.
    """
    try:
        with open(path) as file:
            return file.read().strip()
    except (OSError, UnicodeDecodeError) as error:
        raise Unreadable("{}: {}".format(path, getattr(error, "strerror", None) or error))


class Host:
    """The host below a root folder."""

    def __init__(self, request):
        self.root = request.get("root", "/")
        self.request = request
        self.problems = {}

    def path(self, *parts):
        return os.path.join(self.root, *[part.lstrip("/") for part in parts])

    def facts(self):
        """All facts; each by itself, so that one that fails hides no other."""
        found = {"schema": SCHEMA}
        for name, ask in (
            ("accelerators", self.accelerators),
            ("accelerator_models", self.accelerator_models),
            ("cpus", self.cpus),
            ("memory_mib", self.memory),
            ("infiniband", self.infiniband),
            ("subnet_manager", self.subnet_manager),
            ("ethernet", self.ethernet),
            ("efa", self.efa),
            ("mounts", self.mounts),
            ("services", self.services),
            ("versions", self.versions),
            ("slurm", self.slurm),
            ("parts", self.parts),
        ):
            try:
                found[name] = ask()
            except Unreadable as error:
                found[name], self.problems[name] = None, str(error)
            except Exception as error:  # a defect here must not hide the other facts
                found[name] = None
                self.problems[name] = "{}: {}".format(type(error).__name__, error)
        found["problems"] = self.problems
        return found

    def accelerators(self):
        """Number of device files."""
        patterns = self.request["devices"]
        return sum(len(glob.glob(self.path(pattern))) for pattern in patterns)

    def accelerator_models(self):
        """Names as the driver has them, sorted."""
        if not any("nvidia" in pattern for pattern in self.request["devices"]):
            raise Unreadable("only NVIDIA's driver is asked for names")
        listed = re.findall(r"^GPU \d+: (.+?) \(UUID", run("nvidia-smi", "-L"), re.MULTILINE)
        return sorted(listed)

    def cpus(self):
        """Logical processors that are online, as /proc counts them."""
        return len(re.findall(r"^processor\s*:", read(self.path("proc/cpuinfo")), re.MULTILINE))

    def memory(self):
        """MiB of memory that the kernel has."""
        match = re.search(r"^MemTotal:\s+(\d+) kB", read(self.path("proc/meminfo")), re.MULTILINE)
        if match is None:
            raise Unreadable("/proc/meminfo has no MemTotal")
        return int(match.group(1)) / 1024.0

    def infiniband(self):
        """Gbps of each InfiniBand port that is active, and the number of those that are not."""
        rates, inactive = [], 0
        for port in sorted(glob.glob(self.path("sys/class/infiniband/*/ports/*"))):
            if read(os.path.join(port, "link_layer")) != "InfiniBand":
                continue
            if "ACTIVE" not in read(os.path.join(port, "state")):
                inactive += 1
                continue
            rates.append(float(read(os.path.join(port, "rate")).split()[0]))
        return {"rates_gbps": sorted(rates), "inactive": inactive}

    def subnet_manager(self):
        """State of the subnet manager that serves the first InfiniBand port, as it tells; None without such a port."""
        layers = glob.glob(self.path("sys/class/infiniband/*/ports/*/link_layer"))
        if "InfiniBand" not in map(read, layers):
            return None
        told = run("sminfo")
        match = re.search(r"\b(SMINFO_\w+)", told)
        if match is None:
            raise Unreadable("sminfo tells no state")
        return match.group(1)

    def ethernet(self):
        """The same of Ethernet interfaces that are hardware."""
        rates, inactive = [], 0
        for link in sorted(glob.glob(self.path("sys/class/net/*"))):
            ethernet = read(os.path.join(link, "type")) == "1" if os.path.isdir(link) else False
            if not ethernet or not os.path.exists(os.path.join(link, "device")):
                continue
            try:
                speed = int(read(os.path.join(link, "speed")))
            except (Unreadable, ValueError):  # the kernel refuses while the link is down
                speed = -1
            if read(os.path.join(link, "operstate")) != "up" or speed <= 0:
                inactive += 1
                continue
            rates.append(speed / 1000.0)
        return {"rates_gbps": sorted(rates), "inactive": inactive}

    def efa(self):
        """Number of EFA devices."""
        drivers = glob.glob(self.path("sys/class/infiniband/*/device/driver"))
        return sum(os.path.basename(os.path.realpath(driver)) == "efa" for driver in drivers)

    def mounts(self):
        """Type of the file system on each of the wanted mount points; None where none is."""
        found = {}
        for line in read(self.path("proc/self/mountinfo")).splitlines():
            before, _, after = line.partition(" - ")
            # The kernel writes blanks in a path as octal numbers; the last mount hides the others.
            place = re.sub(r"\\(\d{3})", lambda m: chr(int(m.group(1), 8)), before.split()[4])
            found[place] = after.split()[0]
        return {place: found.get(place) for place in self.request["mounts"]}

    def services(self):
        """State of each of the wanted services, as systemd has it."""
        found = {}
        for name in self.request["services"]:
            try:
                shown = run("systemctl", "show", "--property=ActiveState", name + ".service")
                found[name] = shown.strip().partition("=")[2] or None
            except Unreadable as error:
                found[name], self.problems["services." + name] = None, str(error)
        return found

    def versions(self):
        """Version of each component; None where it cannot be found."""
        found = {"kernel": platform.release()}
        asked = {
            "driver": self.driver_version,
            "amdgpu": lambda: read(self.path("sys/module/amdgpu/version")),
            "neuron": lambda: read(self.path("sys/module/neuron/version")),
            "rocm": lambda: read(self.path("opt/rocm/.info/version")),
            "ofed": self.ofed_version,
            "efa_installer": self.efa_installer_version,
            "nccl_tests": self.nccl_tests_version,
            "slurm": self.slurm_version,
        }
        for component, names in PACKAGES.items():
            asked[component] = lambda names=names: package_version(names)
        for component, ask in sorted(asked.items()):
            try:
                found[component] = ask()
            except Unreadable as error:
                found[component], self.problems["versions." + component] = None, str(error)
        return found

    def driver_version(self):
        """Of the module that is loaded, which need not be the one that is installed."""
        try:
            return read(self.path("sys/module/nvidia/version"))
        except Unreadable:
            told = run("nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader")
            return first_line(told, "nvidia-smi tells of no GPU")

    def ofed_version(self):
        """``MLNX_OFED_LINUX-24.10-0.7.0.0:`` and ``OFED-internal-24.10-0.7.0:`` without name."""
        told = first_line(run("ofed_info", "-s"), "ofed_info says nothing")
        match = re.search(r"\d.*?(?=:?$)", told)
        if match is None:
            raise Unreadable("ofed_info says '{}'".format(told))
        return match.group()

    def efa_installer_version(self):
        told = read(self.path("opt/amazon/efa_installed_packages"))
        match = re.search(r"EFA installer version:\s*(\S+)", told)
        if match is None:
            raise Unreadable("efa_installed_packages names no version")
        return match.group(1)

    def nccl_tests_version(self):
        """Of the package, else of the folder in which they were built."""
        try:
            return package_version(("nccl-tests",))
        except Unreadable as error:
            link = self.path(NCCL_TESTS)
            if not os.path.islink(link):
                raise Unreadable("{}, and there is no /{}".format(error, NCCL_TESTS))
            return os.path.basename(os.readlink(link))

    def slurm_version(self):
        return first_line(run("sinfo", "--version"), "sinfo says nothing").split()[-1]

    def slurm(self):
        """State, reason and accelerators of the node as its controller has them."""
        node = self.request["slurm_node"]
        if node is None:
            return None
        told = run("scontrol", "--oneliner", "show", "node", node)
        words = dict(re.findall(r"(?:^|\s)(State|Gres|CPUTot|RealMemory)=(\S+)", told))
        reason = re.search(r"\sReason=(.*?)\s*(?:\[[^\]]*\]\s*)?$", told)
        if "State" not in words:
            raise Unreadable("scontrol knows no node '{}'".format(node))
        gres = re.match(r"(?:gpu|neuron):(?:[^:,(]+:)?(\d+)", words.get("Gres", ""))
        return {
            "state": words["State"],
            "reason": reason.group(1) if reason else "",
            "accelerators": int(gres.group(1)) if gres else 0,
            "topology": self.slurm_topology(node),
        }

    def slurm_topology(self, node):
        """Names of the lowest switches, or of the blocks, that have the node; None if unknown."""
        for name in ("node=" + node, node):  # the first from 25.05 on, the second before
            try:
                told = run("scontrol", "show", "topology", name)
            except Unreadable as error:
                self.problems["slurm.topology"] = str(error)
                continue
            leaves = re.findall(r"^SwitchName=(\S+) Level=0\b", told, re.MULTILINE)
            units = leaves + re.findall(r"^BlockName=(\S+)", told, re.MULTILINE)
            if units:
                self.problems.pop("slurm.topology", None)
                return ", ".join(sorted(set(units)))
        self.problems.setdefault("slurm.topology", "scontrol names no switch of " + node)
        return None

    def parts(self):
        """Parts with a serial number, by kind; None for a kind of which the host does not tell."""
        found = {}
        for kind, ask in (
            ("node", self.chassis),
            ("gpu", self.gpus),
            ("dimm", self.dimms),
            ("psu", self.supplies),
            ("nic", self.adapters),
            ("nvme", self.drives),
            ("optic", self.optics),
        ):
            try:
                found[kind] = [one for one in ask() if one["serial"]]
            except Exception as error:  # a kind that fails hides no other
                found[kind], self.problems["parts." + kind] = None, str(error)
        return found

    def chassis(self):
        """The node itself, and its board, which is a tray of a rack-scale system."""
        for slot, name in (("chassis", "product"), ("board", "board")):
            folder = self.path("sys/class/dmi/id")
            serial = read(os.path.join(folder, name + "_serial"))
            yield part(slot, serial, read(os.path.join(folder, name + "_name")))

    def gpus(self):
        """GPUs of NVIDIA by nvidia-smi, of AMD by their driver."""
        listed = glob.glob(self.path("sys/class/drm/card*/device/serial_number"))
        for path in sorted(listed):
            slot = os.path.basename(os.path.realpath(os.path.dirname(path)))
            yield part(slot, read(path), "")
        if any("nvidia" in pattern for pattern in self.request["devices"]):
            told = run("nvidia-smi", "--query", "--xml-format")
            for gpu in ET.fromstring(told).findall("gpu"):  # of this driver # nosec B314
                uuid = (gpu.findtext("uuid") or "").strip()
                serial = known_serial(gpu.findtext("serial")) or uuid
                made = part(gpu.get("id", ""), serial, gpu.findtext("product_name") or "")
                made["uuid"] = uuid
                yield made

    def dimms(self):
        return dmi_parts(17, "Locator", "Part Number")

    def supplies(self):
        return dmi_parts(39, "Location", "Model Part Number")

    def adapters(self):
        """Cards with vital product data, by the address of their first function."""
        known = set()
        for path in sorted(glob.glob(self.path("sys/class/net/*/device/vpd"))):
            slot = os.path.basename(os.path.realpath(os.path.dirname(path)))
            with open(path, "rb") as file:
                fields = product_data(file.read(4096))
            serial = fields.get("SN", "")
            if serial not in known:  # ports of one card have the same
                known.add(serial)
                yield part(slot, serial, fields.get("PN", ""))

    def drives(self):
        for folder in sorted(glob.glob(self.path("sys/class/nvme/nvme*"))):
            model = read(os.path.join(folder, "model"))
            yield part(os.path.basename(folder), read(os.path.join(folder, "serial")), model)

    def optics(self):
        """Modules of Ethernet and InfiniBand ports that ethtool reads."""
        for link in sorted(glob.glob(self.path("sys/class/net/*/device"))):
            name = os.path.basename(os.path.dirname(link))
            try:
                told = run("ethtool", "--module-info", name)
            except Unreadable as error:
                if "not installed" in str(error):
                    raise
                continue  # a port without a module
            fields = dict(
                re.findall(r"^\s*(Vendor SN|Vendor PN)\s*:\s*(.*?)\s*$", told, re.MULTILINE)
            )
            yield part(name, fields.get("Vendor SN", ""), fields.get("Vendor PN", ""))


def part(slot, serial, model):
    return {"slot": slot.strip(), "serial": known_serial(serial), "model": model.strip()}


def known_serial(text):
    """Return a serial number; empty for what makers write where there is none."""
    text = (text or "").strip()
    nothing = re.match(
        r"(?i)(n/?a|none|unknown|not specified|not available|no dimm|to be filled.*|default string|0+)$",
        text,
    )
    return "" if nothing else text


def dmi_parts(kind, slot, model):
    """Yield the parts of a table of the firmware that have a serial number."""
    for block in run("dmidecode", "--type", str(kind)).split("\n\n"):
        fields = dict(re.findall(r"^\t([A-Z][^:]*): (.*?)\s*$", block, re.MULTILINE))
        if "Serial Number" in fields:
            yield part(fields.get(slot, ""), fields["Serial Number"], fields.get(model, ""))


def product_data(data):
    """Return the fields of a PCI card's vital product data: large resources 0x90 with keyword, length and text."""
    found, start = {}, 0
    while start + 3 <= len(data) and data[start] & 0x80:
        length = data[start + 1] + 256 * data[start + 2]
        if data[start] == 0x90:
            place, end = start + 3, min(start + 3 + length, len(data))
            while place + 3 <= end:
                size = data[place + 2]
                value = data[place + 3 : place + 3 + size].decode("ascii", "replace")
                found[data[place : place + 2].decode("ascii", "replace")] = value.strip("\0 ")
                place += 3 + size
        start += 3 + length
    return found


def package_version(patterns):
    """Version of the first of the packages that is installed, by dpkg or rpm."""
    if shutil.which("dpkg-query", path=PATHS):
        ask = ["dpkg-query", "--show", "--showformat=${db:Status-Status} ${Version}\n"]
    else:
        ask = ["rpm", "--query", "--all", "--queryformat=installed %{VERSION}-%{RELEASE}\n"]
    for pattern in patterns:
        try:
            told = run(*ask, pattern)
        except Unreadable as error:
            if "not installed" in str(error):  # the package manager itself
                raise
            continue
        for line in told.splitlines():
            status, _, version = line.partition(" ")
            if status == "installed" and version:
                return version.partition(":")[2] or version  # without an epoch
    raise Unreadable("no package of {} is installed".format(", ".join(patterns)))


def first_line(text, otherwise):
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if not lines:
        raise Unreadable(otherwise)
    return lines[0]


def main():
    """Print the facts; 2 for a request that is none."""
    try:
        request = json.loads(sys.argv[1])
        missing = {"devices", "mounts", "services", "slurm_node"} - set(request)
    except (IndexError, TypeError, ValueError) as error:
        sys.stderr.write("not a request: {!r}\n".format(error))
        return 2
    if missing:
        sys.stderr.write("the request lacks {}\n".format(", ".join(sorted(missing))))
        return 2
    json.dump(Host(request).facts(), sys.stdout, sort_keys=True)
    sys.stdout.write("\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
