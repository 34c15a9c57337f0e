#!/usr/bin/python3
"""Check this node against what it is meant to have: Slurm's HealthCheckProgram, and its prolog.

Without arguments it checks everything and leaves its verdict for the prolog. When something is wrong, it
drains the node in Slurm with the reason and ends with 1. It never takes a node back, because an operator
has to look first, with one exception: a node that it drained because shared file systems did not answer.

``--prolog`` checks what is quick, and everything unless the last verdict is fresh and good: after a repair
a bad one may be out of date. It never speaks to the controller, because hundreds of prologs that do would
be in its way: it ends with 1, and Slurm drains the node and queues the job again.

``--print`` prints every reason and changes nothing.

``--start`` runs before slurmd, which ends without a word to the controller when a device file of
``gres.conf`` is missing. It puts a device without a driver there, so that slurmd comes up, and the check
that slurmd runs before it registers drains the node with the reason.

What is meant stands in the settings, which are generated; the faults among them are those of the table. Any Python from 3.6 on runs this.
"""

import argparse
import errno
import glob
import json
import os
import re
import shutil
import stat
import subprocess
import sys
import threading
import time
from xml.etree import ElementTree as ET

SETTINGS = "/etc/rackwright/node-health.json"
STATE = "/run/rackwright-node-health.json"
VERDICT = "/run/rackwright-node-verdict.json"
REPAIRED = "/run/rackwright-repaired"
"""Seconds since the epoch of the last repair of this boot: Xid errors before it are over."""
VERDICT_S = 900
"""Age up to which the prolog trusts a verdict, unless the settings have ``verdict_s``."""
DRIVER_S = 20
"""Time that a driver has to make its device files, as slurmd itself waits."""
PATHS = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
COMMAND_S = 15
STAT_S = 5
LONGEST_REASON = 200
OWN = "node health: "
LEFT = "rackwright: left: "
"""Beginning of the comment in Slurm with which the repair loop takes a fault up that nodes may share."""
TAKE_UP_S = 900
"""Time that the loop has to take up a fault that it is told; without it the node drains itself."""

WINDOW_S = 720
"""Over which errors of a port are counted, as NVIDIA's UFM does (12 minutes)."""
ERRORS_PER_BIT = 1e-14
"""Symbol errors that UFM takes in that time: 2.88 for a port of 400 Gbps."""

NVLINK5_XIDS = range(144, 151)
"""Xid errors of NVLink from Blackwell on, each fatal or not by a word of its own. A fatal one is a reason
whatever the settings list: 74, the NVLink error of Hopper, never comes there."""
RECOVERY_XID = 154
"""The driver says with it which recovery a GPU needs, or ``None`` once it needs none."""

FILE_SYSTEM = "[file-system-silent]"
"""Mark of a reason that is over once a shared file system answers: the node itself had nothing."""
GONE = {errno.EIO, errno.ESTALE, errno.ENOTCONN, errno.ESHUTDOWN}
"""What a file system says whose server is gone, or has thrown this client out."""

WIDTHS = "pci/pci_gpu_link_info/link_widths/"
"""Where nvidia-smi has the lanes of a GPU."""
GENERATIONS = "pci/pci_gpu_link_info/pcie_gen/"

BROKEN = 2
"""Exit code when the node cannot be judged: it says nothing about the node."""


def run(*command):
    """Exit code and output of a program; 127 where it is missing, 124 where it does not end."""
    program = shutil.which(command[0], path=PATHS)
    if program is None:
        return 127, "{} is not installed".format(command[0])
    process = subprocess.Popen(
        [program, *command[1:]],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        universal_newlines=True,
    )
    try:
        out, _ = process.communicate(timeout=COMMAND_S)
    except subprocess.TimeoutExpired:
        process.kill()
        return 124, "{} did not end within {} s".format(command[0], COMMAND_S)
    return process.returncode, out


def check_accelerators(settings):
    """Yield a reason unless there are as many device files as meant.

    The driver makes none at boot for a device that is gone.
    """
    wanted, patterns = settings["accelerators"], settings["device_pattern"]
    patterns = [patterns] if isinstance(patterns, str) else patterns
    paths = [path for pattern in patterns for path in glob.glob(pattern)]
    found = sum(not is_placeholder(path) for path in paths)
    if found != wanted:
        yield "{} of {} accelerators".format(found, wanted)


def is_placeholder(path):
    """True for a device file that ``--start`` made: no driver has the numbers 0 and 0."""
    try:
        known = os.stat(path)
    except OSError:
        return False
    return stat.S_ISCHR(known.st_mode) and known.st_rdev == 0


def make_placeholders(settings, wait_s):
    """Put a device without a driver wherever a device file of ``gres.conf`` is missing."""
    paths = settings.get("devices") or []
    end = time.monotonic() + wait_s
    while not all(map(os.path.exists, paths)) and time.monotonic() < end:
        time.sleep(0.5)
    for path in paths:
        if not os.path.exists(path):
            os.makedirs(os.path.dirname(path), exist_ok=True)
            os.mknod(path, stat.S_IFCHR | 0o600, os.makedev(0, 0))
            print("{} is missing".format(path))


def check_mounts(settings):
    """Mount points with the type of file system that is meant; read without touching them."""
    with open(settings.get("mountinfo", "/proc/self/mountinfo")) as file:
        lines = file.read().splitlines()
    found = {}
    for line in lines:
        before, _, after = line.partition(" - ")
        place = re.sub(r"\\(\d{3})", lambda m: chr(int(m.group(1), 8)), before.split()[4])
        found[place] = (after.split()[0], before.split()[5].split(","))
    for mount in settings["mounts"]:
        kind, options = found.get(mount["path"], (None, []))
        if kind is None:
            yield "{} is not mounted".format(mount["path"])
        elif mount.get("type") and kind != mount["type"]:
            yield "{} is {}, not {}".format(mount["path"], kind, mount["type"])
        elif "ro" in options and not mount.get("read_only"):
            yield "{} is read-only".format(mount["path"])


def check_space(settings):
    """Per cent of space and of inodes that are free."""
    for limit in settings["free"]:
        free = free_percent(limit["path"])
        if free is None:
            yield "{} does not answer".format(limit["path"])
        elif free < limit["percent"]:
            yield "{} has {:.1f} % free, less than {} %".format(
                limit["path"], free, limit["percent"]
            )


def free_percent(path):
    """The smaller one of space and inodes; None where a file system hangs or is gone."""
    told = ask_file_system(path)
    if told is None or isinstance(told, OSError):
        return None
    shares = [100.0 * told.f_bavail / told.f_blocks if told.f_blocks else 100.0]
    if told.f_files:
        shares.append(100.0 * told.f_favail / told.f_files)
    return min(shares)


def ask_file_system(path):
    """What a file system says of itself, or its error; None where it hangs."""
    answers = []

    def ask():
        try:
            answers.append(os.statvfs(path))
        except OSError as error:
            answers.append(error)

    asking = threading.Thread(target=ask, daemon=True)  # a server that is gone blocks for ever
    asking.start()
    asking.join(STAT_S)
    return answers[0] if answers else None


def check_services(settings):
    """Services of systemd that are active."""
    for name in settings["services"]:
        code, told = run("systemctl", "is-active", name + ".service")
        if code != 0:
            yield "{} is {}".format(name, " ".join(told.split()) or "not active")


def check_processes(settings):
    """Yield a reason for each program that does not run, of those that no service of systemd stands for."""
    for name in settings.get("processes") or ():
        if run("pgrep", "--exact", name)[0] != 0:
            yield "{} does not run".format(name)


def check_kernel(settings):
    """Yield the faults in the kernel's messages since boot, or since the last repair, that drain a node."""
    faults = settings["faults"]
    xids, signs = {}, []
    for fault in faults:
        if "xid" in fault:
            xids.setdefault(fault["xid"], []).append(fault)
        elif fault.get("log") == "kernel":
            signs.append(fault)
    if not faults and not settings.get("gpus"):
        return
    options = ["--dmesg", "--boot", "--no-pager", "--quiet", "--output=short-unix"]
    repaired = number_of(read_text(*os.path.split(settings.get("repaired", REPAIRED))))
    if repaired:
        options.append("--since=@{}".format(repaired))
    code, told = run("journalctl", *options)
    if code not in (0, 1) or (code == 1 and told.strip()):  # 1 without a word: there is no line
        yield "the kernel's messages cannot be read"
        return
    seen, actions, signed = {}, {}, {}
    for line in told.splitlines():
        stamp = re.match(r"(\d+\.\d+) ", line)
        at = float(stamp.group(1)) if stamp else 0.0
        xid = re.search(r"NVRM: Xid \(([^)]*)\): (\d+)(.*)", line)
        if xid:
            gpu, number, text = xid.group(1), int(xid.group(2)), xid.group(3)
            if number == RECOVERY_XID:
                action = re.search(r" to \S+ \(([^)]*)\)", text)
                actions[gpu] = action.group(1) if action else "unknown"
            elif number in NVLINK5_XIDS and re.search(r"\bFatal\b", text):
                seen[number] = "fatal NVLink error"
            for fault in xids.get(number, ()):
                if is_sign(fault, text, gpu, at, signed):
                    seen.setdefault(number, fault["name"])
        for fault in signs:
            if is_sign(fault, line, "", at, signed):
                signed[fault["fault"]] = fault["name"]
    for number in sorted(seen):
        yield "Xid {}{}".format(number, " ({})".format(seen[number]) if seen[number] else "")
    for gpu, action in sorted(actions.items()):
        if action != "None":
            yield "Xid {} ({} of GPU {})".format(RECOVERY_XID, action, gpu)
    for fault in sorted(key for key in signed if isinstance(key, str)):
        yield "{} [{}]".format(signed[fault], fault)


def is_sign(fault, text, device, at, former):
    """True if a line completes a sign: its pattern, as often within its window as the sign asks for.

    ``former`` keeps the times of each sign and device.
    """
    match = re.search(fault.get("pattern", ""), text)
    if match is None:
        return False
    key = (id(fault), match.groupdict().get("device") or device)
    times = former.setdefault(key, [])
    times.append(at)
    near = [one for one in times if abs(at - one) <= fault.get("within", 300)]
    return len(near) >= fault.get("times", 1)


def check_answers(settings):
    """Shared file systems answer, and local ones have not been made read-only."""
    for mount in settings["mounts"]:
        told = ask_file_system(mount["path"])
        if told is None:
            yield "{} does not answer {}".format(mount["path"], FILE_SYSTEM)
        elif isinstance(told, OSError) and told.errno in GONE:
            yield "{}: {} {}".format(mount["path"], told.strerror, FILE_SYSTEM)
    for limit in settings["free"]:
        told = ask_file_system(limit["path"])
        if isinstance(told, os.statvfs_result) and told.f_flag & os.ST_RDONLY:
            yield "{} has become read-only".format(limit["path"])


def check_gpus(settings):
    """What nvidia-smi says of each GPU: that it is judged here is what the blueprint asks for."""
    wanted = settings.get("gpus")
    if not wanted:
        return
    code, told = run("nvidia-smi", "--query", "--xml-format")
    if code != 0:
        yield "nvidia-smi: {}".format(" ".join(told.split())[:80] or "ended with {}".format(code))
        return
    boards = ET.fromstring(told).findall("gpu")  # of the driver of this node # nosec B314
    if len(boards) != settings["accelerators"]:
        yield "nvidia-smi sees {} of {} GPUs".format(len(boards), settings["accelerators"])
    for number, board in enumerate(boards):
        for reason in (*judge_gpu(board, wanted), *judge_readings(board, settings["faults"])):
            yield "GPU {}: {}".format(number, reason)
    if wanted.get("nvlink"):
        yield from check_nvlinks()


def judge_gpu(board, wanted):
    """Every reason against a GPU; a field that it does not have, or has as N/A, is none."""
    if wanted.get("persistence") and board.findtext("persistence_mode") == "Disabled":
        yield "persistence mode is off"
    if wanted.get("ecc") and board.findtext("ecc_mode/current_ecc") != "Enabled":
        yield "ECC is {}".format(board.findtext("ecc_mode/current_ecc"))
    volatile = board.find("ecc_errors/volatile")
    for one in () if volatile is None else volatile:
        if "uncorrectable" in one.tag and number_of(one.text) > 0:
            yield "{} {} since the driver was loaded".format(one.text.strip(), one.tag)
    width = number_of(board.findtext(WIDTHS + "current_link_width"))
    most = max(number_of(board.findtext(WIDTHS + "max_link_width")), wanted.get("pcie_width") or 0)
    if 0 < width < most:
        yield "PCIe x{} of x{}".format(width, most)
    generation = number_of(board.findtext(GENERATIONS + "max_link_gen"))
    able = number_of(
        board.findtext(GENERATIONS + "max_device_link_gen")
    )  # at rest links are slower
    if 0 < generation < able:
        yield "PCIe generation {} of {}".format(generation, able)
    if wanted.get("nvlink"):
        yield from judge_fabric(board.find("fabric"), wanted)


def judge_readings(board, faults):
    """Yield each fault of the table that a field of a GPU is a sign of; a field that it lacks is none."""
    seen = []
    for fault in faults:
        path = fault.get("reading", "").replace("nvidia-smi.", "", 1)
        text = (board.findtext(path) or "").strip() if path else ""
        if text.lower() in ("", "n/a", "[n/a]"):
            continue
        number = re.match(r"\s*-?\d+(\.\d+)?", text)
        value = float(number.group(0)) if number else None
        if "equals" in fault:
            bad = text.lower() in [one.lower() for one in fault["equals"]]
        elif "differs" in fault:
            bad = text.lower() not in [one.lower() for one in fault["differs"]]
        elif value is None:
            bad = False
        elif "under_peer" in fault:
            peer = board.findtext(fault["under_peer"].replace("nvidia-smi.", "", 1))
            bad = 0 <= value < number_of(peer)
        elif "bits" in fault:
            bad = int(value) & fault["bits"] != 0
        else:
            bad = value > fault["above"] if "above" in fault else value < fault["below"]
        if bad and fault["fault"] not in seen:
            seen.append(fault["fault"])
            yield "{} [{}]".format(fault["name"], fault["fault"])


def judge_fabric(fabric, wanted):
    """Yield every reason against the NVLink fabric of a GPU; one that has none has no element of it."""
    known = (
        {}
        if fabric is None
        else {
            part.tag.lower().replace("_", ""): (part.text or "").strip() for part in fabric.iter()
        }
    )
    state, status = known.get("state", "N/A"), known.get("status", "")
    if state == "Completed" and status != "Success":
        yield "NVLink fabric ended with {}".format(status or None)
    elif (
        state == "Completed"
        and wanted.get("domain")
        and not known.get("clusteruuid", "0").strip("0-")
    ):
        yield "NVLink fabric has no cluster"
    if known.get("bandwidth") == "Degraded":
        yield "NVLink fabric has less bandwidth"
    for name in ("routeunhealthy", "accesstimeoutrecovery"):
        if known.get(name) == "True":
            yield "NVLink fabric: {}".format(name)


def number_of(text):
    """The number that a text begins with; 0 where it begins with none."""
    found = re.match(r"\s*(\d+)", text or "")
    return int(found.group(1)) if found else 0


def check_nvlinks():
    """Yield a reason for each GPU with NVLinks that are down, or with fewer than the others."""
    code, told = run("nvidia-smi", "nvlink", "--status")
    if code != 0:
        yield "nvidia-smi nvlink: {}".format(" ".join(told.split())[:80])
        return
    parts = re.split(r"^GPU (?=\d+:)", told, flags=re.MULTILINE)[1:]
    links = {
        part.split(":")[0]: re.findall(r"^\s*Link (\d+):[ \t]*(\S*)", part, re.MULTILINE)
        for part in parts
    }
    most = max(map(len, links.values()), default=0)
    for gpu, known in links.items():
        down = [number for number, rate in known if "inactive" in rate.lower()]
        if not known:  # the driver has one line for all: "… all links are inActive"
            yield "GPU {}: no NVLink is up".format(gpu)
        elif down:
            yield "GPU {}: NVLink {} down".format(gpu, ", ".join(down))
        elif len(known) < most:
            yield "GPU {}: {} of {} NVLinks".format(gpu, len(known), most)
    if not most:
        yield "no GPU has an NVLink"


def check_dcgm(settings):
    """What DCGM has watched since it was asked to; it is asked to where nobody has."""
    if not settings.get("dcgm"):
        return
    code, told = run("dcgmi", "health", "--group", "0", "--check", "--json")
    if "watches not enabled" in told:
        code, told = run("dcgmi", "health", "--group", "0", "--set", "a")
        if code != 0:
            yield "dcgmi: {}".format(" ".join(told.split())[:80])
        return
    if code != 0:
        yield "dcgmi: {}".format(" ".join(told.split())[:80] or "ended with {}".format(code))
        return
    found = list(values_of(json.loads(told)))
    overall = [value for name, value in found if name == "Overall Health"]
    if not overall:
        yield "dcgmi does not say how the GPUs are"
    elif overall[0] not in ("Healthy", "Warning"):
        systems = {name for name, value in found if value == overall[0] and name[-1:].isalpha()}
        yield "DCGM: {}".format(", ".join(sorted(systems - {"Overall Health"})) or overall[0])


def values_of(tree):
    """Each name of DCGM's report that has a value, with it."""
    for name, inner in tree.items() if isinstance(tree, dict) else ():
        if isinstance(inner, dict):
            if isinstance(inner.get("value"), str):
                yield name, inner["value"]
            yield from values_of(inner)


def check_ports(settings):
    """RDMA ports that are active at their rate, and their errors since some minutes."""
    wanted = settings.get("ports") or []
    if not wanted:
        return
    ports = dict(read_ports(settings.get("sysfs", "/sys/class/infiniband")))
    for kind in wanted:
        rate = int(kind["rate_gbps"])
        up = sum(
            port["state"] == "ACTIVE"
            and port["layer"].lower() == kind["technology"].lower()
            and port["rate"] == rate
            for port in ports.values()
        )
        if up < kind["count"]:
            yield "{} of {} {} ports of {} Gbps [port-down]".format(
                up, kind["count"], kind["technology"], rate
            )
    for name, before in sorted(former_counters(ports, settings.get("remember")).items()):
        port = ports[name]
        downs, errors = port["downs"] - before["downs"], port["errors"] - before["errors"]
        most = port["rate"] * 1e9 * WINDOW_S * ERRORS_PER_BIT
        if downs > 0:
            yield "{} went down {} times in {} min [port-flaps]".format(name, downs, WINDOW_S // 60)
        if errors > most:
            yield "{} has {} symbol errors in {} min, more than {:.2f}".format(
                name, errors, WINDOW_S // 60, most
            )


def read_ports(folder):
    """Each port with what the kernel says of it."""
    for path in sorted(glob.glob(os.path.join(folder, "*", "ports", "*"))):
        device, _, port = path[len(folder) :].strip("/").split("/")
        counters = os.path.join(path, "counters")
        yield (
            "{}/{}".format(device, port),
            {
                "layer": read_text(path, "link_layer"),
                "state": read_text(path, "state").split(":")[-1].strip(),
                "rate": number_of(read_text(path, "rate")),
                "errors": number_of(read_text(counters, "symbol_error")),
                "downs": number_of(read_text(counters, "link_downed")),
            },
        )


def read_text(folder, name):
    """Text of a file of the kernel; empty where there is none."""
    try:
        with open(os.path.join(folder, name)) as file:
            return file.read().strip()
    except OSError:
        return ""


def former_counters(ports, remember):
    """Counters of the ports as they were up to some minutes ago; none on the first run.

    They are kept until they are older than that, so that a fault is seen once at least.
    """
    counters = {
        name: {key: port[key] for key in ("errors", "downs")} for name, port in ports.items()
    }
    now = time.monotonic()  # since boot, after which the file is gone and the counters are new
    try:
        with open(STATE) as file:
            kept = json.load(file)
        age, before = now - kept["since"], kept["counters"]
    except (OSError, ValueError, KeyError, TypeError):
        age, before = WINDOW_S, {}
    if remember and age >= WINDOW_S:
        keep(STATE, {"since": now, "counters": counters})
    return {name: before[name] for name in before if name in ports}


def keep(path, content):
    """Write a file at once: a reader sees the former one or the new one."""
    with open(path + ".new", "w") as file:
        json.dump(content, file)
    os.replace(path + ".new", path)


def last_verdict(settings):
    """Return the last verdict; an empty one if there is none since boot, or none that can be read."""
    try:
        with open(settings.get("verdict", VERDICT)) as file:
            verdict = json.load(file)
        return {
            "at": float(verdict["at"]),
            "reasons": list(verdict["reasons"]),
            "left": verdict.get("left"),
        }
    except (OSError, ValueError, KeyError, TypeError):
        return {}


def last_verdict_is_good(settings):
    """True if the node was found healthy a short while ago."""
    verdict = last_verdict(settings)
    if not verdict or verdict["reasons"]:
        return False
    age = time.monotonic() - verdict["at"]  # since boot, after which the file is gone
    return 0 <= age <= settings.get("verdict_s", VERDICT_S)


def check_clock(settings):
    """The clock follows a time server, and is not further from it than is taken."""
    most = settings.get("clock_s")
    if not most:
        return
    code, told = run("chronyc", "-c", "tracking")
    fields = told.strip().split(",")
    if code != 0 or len(fields) < 14:
        yield "chronyc: {}".format(" ".join(told.split())[:80])
    elif fields[-1] == "Not synchronised":
        yield "the clock follows no time server"
    elif abs(float(fields[4])) > most:
        yield "the clock is {:.3f} s off, more than {:g} s".format(abs(float(fields[4])), most)


QUICK = (check_accelerators, check_mounts, check_kernel)
ALL = (
    check_accelerators,
    check_mounts,
    check_answers,
    check_space,
    check_services,
    check_processes,
    check_kernel,
    check_gpus,
    check_dcgm,
    check_ports,
    check_clock,
)


def judge(settings, checks):
    """Every reason why the node is unhealthy; a check that fails itself is one."""
    reasons = []
    for check in checks:
        try:
            reasons.extend(check(settings))
        except Exception as error:  # a node that cannot be judged is not healthy
            reasons.append("{}: {}".format(check.__name__, error))
    return reasons


def may_be_shared(settings, reasons):
    """True if each reason is a fault that a part shared by many nodes often causes, like a leaf that is down."""
    shared = settings.get("shared") or ()
    ids = [re.search(r"\[([a-z0-9-]+)\]$", reason) for reason in reasons]
    return bool(ids) and all(one is not None and one.group(1) in shared for one in ids)


def node_in_slurm(node):
    """Return what Slurm has of the node on one line; None where it does not answer."""
    code, told = run("scontrol", "--oneliner", "show", "node", node)
    if code == 0:
        return told
    sys.stderr.write(told)
    return None


def comment_of(told):
    """Return the comment of a node in Slurm; empty where it has none."""
    found = re.search(r"\bComment=(.*?)(?= +[A-Z][A-Za-z]*=|\s*$)", told)
    return found.group(1) if found else ""


def leave_to_loop(settings, reasons, former):
    """Tell the repair loop of the reasons instead of draining; since when, or None where the node has to drain.

    The loop sees whether other nodes have the same fault, and answers in the comment. It gets another
    ``TAKE_UP_S`` with each answer.
    """
    told = node_in_slurm(settings["node"])
    if told is None or re.search(r"State=\S*DRAIN", told):
        return None
    text = "; ".join(reasons)
    comment, now = comment_of(told), time.monotonic()
    since = former.get("left")
    if comment.startswith(LEFT) or since is None:
        since = now
    if comment and not comment.startswith((OWN, LEFT)):
        return None  # it is an operator's
    if now - since > settings.get("take_up_s", TAKE_UP_S):
        return None
    if comment not in (shorten(OWN + text), shorten(LEFT + text)):
        code, told = run(
            "scontrol", "update", "NodeName=" + settings["node"], "Comment=" + shorten(OWN + text)
        )
        sys.stderr.write(told)
        if code != 0:
            return None
    return since


def withdraw(settings):
    """Take back what the loop was told, also before a boot."""
    told = node_in_slurm(settings["node"])
    if told is not None and comment_of(told).startswith((OWN, LEFT)):
        run("scontrol", "update", "NodeName=" + settings["node"], "Comment=")


def state_and_reason(told):
    """Return the state and the reason of a node in Slurm, without who gave it and when."""
    state = re.search(r"State=(\S+)", told)
    reason = re.search(r"\sReason=(.*?)(?: \[[^\s@\[\]]+@\d{4}-[\d:T-]+\]|\s*$)", told)
    return state.group(1) if state else "", reason.group(1) if reason else ""


def drain(node, reasons):
    """Drain the node with the reasons; whether Slurm has it so now.

    A node that somebody has drained keeps its reason; the word of a failed prolog, which says
    nothing, is replaced.
    """
    told = node_in_slurm(node)
    if told is None:
        return False
    state, said = state_and_reason(told)
    drained = "DRAIN" in state
    wanted = shorten(OWN + "; ".join(reasons))
    if drained and said != "Prolog error" and not said.startswith(OWN):
        return True
    if drained and said == wanted:
        return True
    code, told = run("scontrol", "update", "NodeName=" + node, "State=DRAIN", "Reason=" + wanted)
    sys.stderr.write(told)
    return code == 0


def give_back(node):
    """Resume a healthy node that drained itself for silent file systems and for nothing else; False to try again."""
    told = node_in_slurm(node)
    if told is None:
        return False
    state, said = state_and_reason(told)
    own = "DRAIN" in state and said.startswith(OWN)
    if not own or not all(reason.endswith(FILE_SYSTEM) for reason in said.split("; ")):
        return True
    code, told = run("scontrol", "update", "NodeName=" + node, "State=RESUME")
    sys.stderr.write(told)
    return code == 0


def shorten(text):
    """``text`` as Slurm can hold it on one line."""
    return re.sub(r"[^\x20-\x7e]|[\"'\\=]", " ", text)[:LONGEST_REASON].rstrip()


def main(arguments=None):
    """0 for a healthy node, 1 for another one, 2 where it cannot be judged."""
    parser = argparse.ArgumentParser(description="Judge this node.")
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--prolog", action="store_true", help="only what is quick; tell nobody")
    how.add_argument("--print", action="store_true", dest="show", help="print; tell nobody")
    how.add_argument("--start", action="store_true", help="make slurmd start without a device")
    parser.add_argument("--settings", default=SETTINGS, help="what is meant")
    options = parser.parse_args(arguments)
    try:
        with open(options.settings) as file:
            settings = json.load(file)
    except (OSError, ValueError) as error:
        sys.stderr.write("{}: {}\n".format(options.settings, error))
        return BROKEN
    if options.start:
        make_placeholders(settings, DRIVER_S)
        return 0
    watches = settings["remember"] = not (options.prolog or options.show)
    quick = options.prolog and last_verdict_is_good(settings)
    reasons = judge(settings, QUICK if quick else ALL)
    for reason in reasons:
        print(reason)
    if options.prolog and may_be_shared(settings, reasons) and last_verdict_is_good(settings):
        return 0  # the loop has been told
    if watches:
        former, left = last_verdict(settings), None
        if may_be_shared(settings, reasons):
            left = leave_to_loop(settings, reasons, former)
        elif settings.get("shared") and (
            not former or former["reasons"] or former["left"] is not None
        ):
            withdraw(settings)
        kept = [] if left is not None else reasons
        silent = [one for one in former.get("reasons", ()) if one.endswith(FILE_SYSTEM)]
        if not reasons and silent and not give_back(settings["node"]):
            kept = silent
        verdict = {
            "at": time.monotonic(),
            "reasons": kept,
            "left": left,
        }
        keep(settings.get("verdict", VERDICT), verdict)
        if left is not None:
            return 0
    if not reasons:
        return 0
    if watches:
        drain(settings["node"], reasons)
    return 1


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    os._exit(code)  # a thread that waits for a dead file system must not keep us
