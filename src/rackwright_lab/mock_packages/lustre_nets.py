"""The networks of LNet in the stand-in of Lustre, and the modules of the kernel that it needs.

What ``lnetctl`` says and ends with is that of Lustre's own (``lnet/utils`` of its source): minus the error for
networks, so that one that is there already ends it with 239, and the error itself for policies, 114.

EFA is on a host that a test has given devices, as the kernel shows them, below ``/opt/efa``: ``driver`` in the
place of ``/sys/bus/pci/drivers/efa``, and ``kefalnd`` with the version of LNet's module. No packet goes over it.
Only the standard library, for the Python of a lab host, where it lies under the same name.
"""

from __future__ import annotations

import argparse
import errno
import json
import os
import re
import subprocess
from pathlib import Path

from rackwright_lab.mock_packages.lustre_hosts import NETS, ask, fail, nets, own_nids, run

EFA = Path("/opt/efa")
POLICIES, DISCOVERY = Path("/run/lustre-stand-in-udsp"), Path("/run/lustre-stand-in-discovery")
KEFALND = Path("/run/lustre-stand-in-kefalnd")
"""There while the module is loaded, with the interface whose address it takes."""

KINDS = ("tcp", "o2ib", "efa")


def load() -> int:
    """``lnet configure``: the modules are there from now on."""
    if not NETS.exists():
        NETS.write_text("{}")
    return 0


def unload() -> int:
    """Remove networks and policies with the modules."""
    for path in (NETS, POLICIES, DISCOVERY, KEFALND):
        path.unlink(missing_ok=True)
    return 0


def rmmod(words: list[str]) -> int:
    """``lustre_rmmod``, which fails as long as a target or a client is mounted."""
    mounts = [line.split()[:3] for line in Path("/proc/self/mounts").read_text().splitlines()]
    used = [
        folder
        for source, folder, kind in mounts
        if kind == "tmpfs" and re.search(":/|^/dev/", source)
    ]
    if words or used:
        return fail(f"rmmod: ERROR: Module lustre is in use: {' '.join(words + used)}", 1)
    return unload()


def modprobe(words: list[str]) -> int:
    """``modprobe kefalnd ipif_name=eth0``; parameters count for a module that is not loaded yet."""
    if words[:1] != ["kefalnd"] or not (EFA / "kefalnd").exists():
        return fail(f"modprobe: FATAL: Module {words[0]} not found in directory /lib/modules", 1)
    if not KEFALND.exists():
        load()
        KEFALND.write_text(dict(word.split("=", 1) for word in words[1:]).get("ipif_name", ""))
    return 0


def modinfo(words: list[str]) -> int:
    """``modinfo --field FIELD MODULE``."""
    field, module = words[1:]
    if module != "lnet" and not (EFA / module).exists():
        return fail(f"modinfo: ERROR: Module {module} not found.", 1)
    found = (
        f"/lib/modules/{module}.ko" if field == "filename" else (EFA / module).read_text().strip()
    )
    print(found)
    return 0


def refused(entity: str, code: int, text: str) -> int:
    """Print an error as lnetctl does, and return its exit code."""
    said = f'add:\n    - {entity}:\n          errno: {code}\n          descr: "{text}"'
    return fail(said, code % 256)


def not_added(error: int) -> int:
    """Return a network that the kernel does not take."""
    return refused("net", -error, f"cannot add network: {os.strerror(error)}")


def addresses() -> dict[str, str]:
    """Return the first address of each interface."""
    shown = json.loads(run("ip", "-json", "-4", "addr"))
    return {link["ifname"]: one["local"] for link in shown for one in link["addr_info"][:1]}


def nid_of(net: str, interface: str) -> str | None:
    """Return the NID that an interface gets, None where there is no such one.

    That of EFA is the end of the address that kefalnd takes, and the device's place on PCI.
    """
    if not net.startswith("efa"):
        address = addresses().get(interface)
        return None if address is None else f"{address}@{net}"
    found = list((EFA / "driver").glob(f"*/infiniband/{interface}"))
    address = addresses().get(KEFALND.read_text())
    if not found or address is None:
        return None
    _, bus, place = found[0].parts[-3].split(":")
    slot, function = (int(part, 16) for part in place.split("."))
    end = ".".join(address.split(".")[2:])
    return f"{end}.{int(bus, 16)}.{8 * slot + function}@{net}"


def add_net(words: list[str]) -> int:
    """``net add --net NET --if INTERFACE``."""
    parser = argparse.ArgumentParser(prog="lnetctl net add", allow_abbrev=False)
    parser.add_argument("--net", default="")
    parser.add_argument("--if", dest="interfaces", default="")
    parser.add_argument("--peer-credits", type=int)
    chosen = parser.parse_args(words)
    for what, value in (("network", chosen.net), ("interface", chosen.interfaces)):
        if not value:
            text = f"missing mandatory parameters in NI config: '{what}'"
            return refused("net", -errno.EFAULT, text)
    if chosen.net.rstrip("0123456789") not in KINDS:
        return refused("net", -errno.EINVAL, f"cannot parse net '{chosen.net}'")
    if not NETS.exists():
        return not_added(errno.ENOENT)
    for interface in chosen.interfaces.split(","):
        if chosen.net.startswith("efa") and not KEFALND.exists():
            return not_added(errno.EINVAL)
        known = nets()
        mine = known.setdefault(chosen.net, {})
        if interface in mine:
            return not_added(errno.EEXIST)
        nid = nid_of(chosen.net, interface)
        if nid is None:
            return not_added(errno.ENODEV)
        mine[interface] = nid
        NETS.write_text(json.dumps(known))
    return 0


def import_nets(text: str) -> int:
    """Bring up the networks of an ``lnet.conf``."""
    net = None
    for line in text.splitlines():
        if match := re.fullmatch(r"\s*- net type: (\S+)", line):
            net = match[1]
        elif (match := re.fullmatch(r"\s*\d+: (\S+)", line)) and net:
            code = add_net(["--net", net, "--if", match[1]])
            if code:
                return code
    nids = own_nids()
    if nids and ask(nids[0]) is None:
        subprocess.Popen(["/usr/sbin/lnetctl", "accept"], stdin=subprocess.DEVNULL)
    return 0


def show_nets() -> int:
    """``net show``."""
    if not NETS.exists():
        return fail(
            'show:\n    - net:\n          errno: -100\n          descr: "cannot get networks"', 156
        )
    print("net:")
    for net, nids in {"lo": {"": "0@lo"}, **nets()}.items():
        print(f"    - net type: {net}\n      local NI(s):")
        for interface, nid in nids.items():
            print(f"        - nid: {nid}\n          status: up")
            if interface:
                print(f"          interfaces:\n              0: {interface}")
    return 0


def set_discovery(words: list[str]) -> int:
    """``set discovery 0`` or ``1``."""
    if words not in (["0"], ["1"]) or not NETS.exists():
        return refused("discovery", -1, "cannot configure discovery")
    DISCOVERY.write_text(words[0])
    return 0


def add_policy(words: list[str]) -> int:
    """``udsp add --src NET --priority NUMBER``; one that is there is refused, and ends it with 114."""
    parser = argparse.ArgumentParser(prog="lnetctl udsp add", allow_abbrev=False)
    parser.add_argument("--src", required=True)
    parser.add_argument("--priority", type=int, required=True)
    chosen = parser.parse_args(words)
    known = POLICIES.read_text().splitlines() if POLICIES.exists() else []
    wanted = f"{chosen.src} {chosen.priority}"
    if not NETS.exists() or wanted in known:
        error = errno.EALREADY if NETS.exists() else errno.ENOENT
        return refused("udsp", error, f"cannot add udsp: {os.strerror(error)}")
    kept = [line for line in known if line.split()[0] != chosen.src]
    POLICIES.write_text("\n".join([*kept, wanted]))
    return 0
