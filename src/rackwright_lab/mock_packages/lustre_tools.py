"""The programs of Lustre on hosts of a lab, one file under all their names.

They act as the real ones do as far as roles can see: what a target is stands on its device, which
becomes a real ext4 file system with Lustre's label; LNet answers over TCP on Lustre's own port; a
target that is mounted shows in the table of mounts. There is no data path: a mounted target or
client is an empty tmpfs. Only the standard library, for the Python of a lab host.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import socket
import socketserver
import sys
from pathlib import Path
from typing import Any

from rackwright_lab.mock_packages.lustre_hosts import (
    PORT,
    ask,
    fail,
    mounted,
    mounted_source,
    nets,
    own_nids,
    read_disk,
    run,
    title,
    write_disk,
)
from rackwright_lab.mock_packages.lustre_nets import (
    add_net,
    add_policy,
    import_nets,
    load,
    modinfo,
    modprobe,
    rmmod,
    set_discovery,
    show_nets,
    unload,
)
from rackwright_lab.mock_packages.lustre_quotas import enable, lfs_quota, quotas, show_enabled

SERVICES = {"mgs": "mgs", "mdt": "mdt", "ost": "obdfilter"}


def describe(target: dict[str, Any], heading: str) -> str:
    """Return a target as mkfs.lustre and tunefs.lustre print it."""
    parameters = []
    for key, nids in (("mgsnode", target["mgsnodes"]), ("failover.node", target["servicenodes"])):
        parameters += [f"{key}={':'.join(nids)}"] if nids else []
    words = [target["kind"].upper()] + ["first_time"] * target["first_time"] + ["update"]
    words += ["no_primnode"] * bool(target["servicenodes"])
    flags = {
        "MDT": 1,
        "OST": 2,
        "MGS": 4,
        "first_time": 0x60,
        "update": 0x40,
        "no_primnode": 0x1000,
    }
    index = "unassigned" if target["kind"] == "mgs" else target["index"]
    value = 0
    for word in words:
        value |= flags[word]
    return (
        f"   {heading}:\nTarget:     {title(target)}\nIndex:      {index}\n"
        f"Lustre FS:  {target['fsname'] or ''}\nMount type: ldiskfs\nFlags:      {value:#x}\n"
        f"              ({' '.join(words)} )\nPersistent mount opts: user_xattr,errors=remount-ro\n"
        f"Parameters: {' '.join(parameters)}\n\n"
    )


def options_of_targets(program: str) -> argparse.ArgumentParser:
    """Return the options of mkfs.lustre that roles use; any other is an error, as an unknown one is."""
    parser = argparse.ArgumentParser(prog=program, allow_abbrev=False)
    for kind in ("mgs", "mdt", "ost"):
        parser.add_argument(f"--{kind}", dest="kind", action="store_const", const=kind)
    for flag in ("reformat", "dryrun"):
        parser.add_argument(f"--{flag}", action="store_true")
    parser.add_argument("--fsname")
    parser.add_argument("--index", type=int)
    parser.add_argument("--backfstype", choices=["ldiskfs"], default="ldiskfs")
    parser.add_argument("--mgsnode", action="append", default=[])
    parser.add_argument("--servicenode", action="append", default=[])
    parser.add_argument("device")
    return parser


def mkfs(words: list[str]) -> int:
    """``mkfs.lustre``: whatever is no Lustre on the device is overwritten, as the real one does."""
    chosen = options_of_targets("mkfs.lustre").parse_args(words)
    fatal = "\nmkfs.lustre FATAL: "
    if chosen.kind is None:
        return fail(f"{fatal}must set one of --mgs, --mdt, --ost", 22)
    if chosen.kind != "mgs":
        for key in ("mgsnode", "fsname"):
            if not getattr(chosen, key):
                return fail(f"{fatal}Must specify --{key}", 22)
        if chosen.index is None:
            return fail(f"{fatal}The target index must be specified with --index", 22)
    if read_disk(chosen.device) is not None and not chosen.reformat:
        text = (
            f"Device {chosen.device} was previously formatted for lustre. Use --reformat to reformat"
            " it, or tunefs.lustre to modify.\nmkfs.lustre: exiting with 17 (File exists)"
        )
        return fail(fatal + text, 17)
    target = {
        "kind": chosen.kind,
        "fsname": chosen.fsname,
        "index": chosen.index,
        "first_time": chosen.kind != "mgs",
        "mgsnodes": chosen.mgsnode,
        "servicenodes": chosen.servicenode,
    }
    print("\n" + describe(target, "Permanent disk data"), end="")
    if not chosen.dryrun:
        run("mke2fs", "-q", "-F", "-t", "ext4", "-L", title(target), chosen.device)
        write_disk(chosen.device, target)
        print(
            f"formatting backing filesystem ldiskfs on {chosen.device}\nWriting CONFIGS/mountdata"
        )
    return 0


def tunefs(words: list[str]) -> int:
    """``tunefs.lustre``, only to look."""
    chosen = options_of_targets("tunefs.lustre").parse_args(words)
    target = read_disk(chosen.device)
    print(f"checking for existing Lustre data: {'not ' if target is None else ''}found")
    if target is None:
        text = f"Device {chosen.device} has not been formatted with mkfs.lustre"
        return fail(
            f"\ntunefs.lustre FATAL: {text}\ntunefs.lustre: exiting with 19 (No such device)", 19
        )
    if not chosen.dryrun:
        return fail("tunefs.lustre: the stand-in changes nothing, use --dryrun", 22)
    print("\n" + describe(target, "Read previous values"))
    print(describe(target, "Permanent disk data") + "exiting before disk write.")
    return 0


# LNet.


class Acceptor(socketserver.StreamRequestHandler):
    """Answers other hosts."""

    def handle(self) -> None:
        """Answer one question; return nothing for a NID that this host does not have."""
        question = json.loads(self.rfile.readline())
        if question["nid"] in own_nids():
            answer: dict[str, Any] = {"nids": own_nids(), "targets": sorted(mounted())}
            if "register" in question:
                answer["registered"] = register(question["register"])
            if "list" in question:
                answer["list"] = registry(mounted().get("MGS"))
            if "quotas" in question:
                answer["quotas"] = quotas(question["quotas"])
            self.wfile.write(json.dumps(answer).encode() + b"\n")


def lnetctl(words: list[str]) -> int:
    """``lnetctl`` with what roles need of it."""
    if words[:2] == ["lnet", "configure"]:
        return load()
    if words[:2] == ["lnet", "unconfigure"]:
        return unload()
    if words == ["accept"]:
        socketserver.ThreadingTCPServer.allow_reuse_address = True
        with socketserver.ThreadingTCPServer(("0.0.0.0", PORT), Acceptor) as server:  # noqa: S104 - a host of the lab # nosec B104
            server.serve_forever()
    if words[:1] == ["import"]:
        return import_nets(Path(words[1]).read_text())
    if words[:2] == ["net", "show"]:
        return show_nets()
    if words[:2] == ["net", "add"]:
        return add_net(words[2:])
    if words[:2] == ["set", "discovery"]:
        return set_discovery(words[2:])
    if words[:2] == ["udsp", "add"]:
        return add_policy(words[2:])
    if words[:1] == ["ping"]:
        answer = ask(words[1])
        if answer is None:
            text = f"failed to ping {words[1]}: Input/output error"
            return fail(f"manage:\n    - ping:\n          errno: -1\n          descr: {text}", 255)
        print(
            f"ping:\n    - primary nid: {answer['nids'][0]}\n      Multi-Rail: True\n      peer ni:"
        )
        for nid in answer["nids"]:
            print(f"        - nid: {nid}")
        return 0
    return fail(f"lnetctl: unknown command {words}", 22)


def lctl(words: list[str]) -> int:
    """``lctl`` with what roles need of it."""
    if words == ["dl"]:
        for number, (name, device) in enumerate(sorted(mounted().items())):
            service = SERVICES[read_disk(device)["kind"]]
            uuid = name if name == "MGS" else f"{name}_UUID"
            print(f"{number:3d} UP {service} {name} {uuid} 5")
        return 0
    if words == ["list_nids"]:
        print("\n".join(own_nids()))
        return 0
    if words == ["get_param", "-n", "health_check"]:
        print("healthy")
        return 0
    if words[:1] == ["get_param"] and len(words) == 2:
        return show_enabled(words[1])
    if words[:1] == ["conf_param"] and len(words) == 2:
        return enable(words[1])
    return fail(f"error: {words[0]}: unknown to the stand-in", 2)


def registry(device: str | None) -> Any:
    """Return the targets that the MGS on ``device`` knows, by name."""
    return {} if device is None else read_disk(device, "registry") or {}


def register(entry: dict[str, Any]) -> bool:
    """Return True if the MGS here takes a target: not if another device has its index."""
    device = mounted().get("MGS")
    if device is None:
        return False
    known = registry(device)
    if known.get(entry["name"], entry)["uuid"] != entry["uuid"]:
        return False
    write_disk(device, {**known, entry["name"]: entry}, "registry")
    return True


def mount(words: list[str]) -> int:
    """``mount.lustre SOURCE FOLDER -o OPTIONS``, for a target or for a client."""
    source, folder = words[:2]
    failed = f"mount.lustre: mount {source} at {folder} failed:"
    if not nets():
        return fail(f"{failed} No such device\nAre the lustre modules loaded?", 19)
    if not source.startswith("/"):
        source = numbered(source)
        nids, _, fsname = source.rpartition(":/")
        if targets_of(nids, fsname) is None:
            return fail(f"{failed} Input/output error\nIs the MGS running?", 5)
    else:
        code = mount_target(source, failed)
        if code:
            return code
    run("mount", "-i", "-t", "tmpfs", "-o", "size=1m", source, folder)
    return 0


def numbered(source: str) -> str:
    """Return a source with addresses instead of names: the kernel can look up none."""

    def look_up(match: re.Match[str]) -> str:
        return f"{match[1]}{socket.gethostbyname(match[2])}@"

    return re.sub("(^|[,:])([^,:@/]+)@", look_up, source)


def mount_target(device: str, failed: str) -> int:
    """Get a target ready to be mounted; another exit code than 0 where it must not be."""
    target = read_disk(device)
    if target is None:
        return fail(f"{failed} No such file or directory\nIs the device formatted for lustre?", 2)
    name = title(target, "-")
    for nids in target["servicenodes"]:
        for nid in nids.split(","):
            answer = None if nid in own_nids() else ask(nid)
            if answer and name in answer["targets"]:
                return fail(f"{failed} Device or resource busy\nMMP: {nid} has it", 16)
    if target["kind"] == "mgs":
        return 0
    uuid = run("blkid", "-p", "-o", "value", "-s", "UUID", device).strip()
    entry = {"name": name, "uuid": uuid, "nodes": target["servicenodes"]}
    answers = [ask(nid, register=entry) for nids in target["mgsnodes"] for nid in nids.split(",")]
    with_mgs = [one for one in answers if one and "MGS" in one["targets"]]
    if not with_mgs:
        return fail(f"{failed} Input/output error\nIs the MGS running?", 5)
    if not with_mgs[0]["registered"]:
        text = f"The target service's index is already in use. ({device})"
        return fail(f"{failed} Address already in use\n{text}", 98)
    write_disk(device, {**target, "first_time": False})
    run("e2label", device, name)
    return 0


def targets_of(nids: str, fsname: str) -> dict[str, Any] | None:
    """Return the targets of a file system as its MGS knows them, None where none of the NIDs has one."""
    for nid in re.split("[,:]", nids):
        answer = ask(nid, list=True)
        if answer and "MGS" in answer["targets"]:
            known = answer["list"].items()
            found = {name: one for name, one in known if name.startswith(f"{fsname}-")}
            return found if f"{fsname}-MDT0000" in found else None
    return None


def lfs(words: list[str]) -> int:
    """``lfs df FOLDER``, and quotas."""
    if words[:1] in (["quota"], ["setquota"]):
        return lfs_quota(words[0], words[1:])
    if words[:1] != ["df"] or len(words) != 2:
        return fail(f"lfs: unknown to the stand-in: {words}", 22)
    source = mounted_source(words[1])
    if source is None:
        return fail(f"lfs df: error: {words[1]} is not mounted lustre: Invalid argument", 22)
    nids, fsname = source
    print(f"{'UUID':<20} {'1K-blocks':>11} {'Used':>11} {'Available':>11} Use% Mounted on")
    for name, entry in sorted((targets_of(nids, fsname) or {}).items()):
        there = [ask(nid) for node in entry["nodes"] for nid in node.split(",")]
        kind, index = name[-7:-4], int(name[-4:], 16)
        if any(answer and name in answer["targets"] for answer in there):
            shown = f"{name + '_UUID':<20} {65536:>11} {1024:>11} {64512:>11}   2%"
            print(f"{shown} {words[1]}[{kind}:{index}]")
        else:
            print(f"{name[-7:]:<20}: inactive device")
    print(f"\n{'filesystem_summary:':<20} {65536:>11} {1024:>11} {64512:>11}   2% {words[1]}")
    return 0


PROGRAMS = {
    "mkfs.lustre": mkfs,
    "tunefs.lustre": tunefs,
    "mount.lustre": mount,
    "lnetctl": lnetctl,
    "lctl": lctl,
    "lfs": lfs,
    "lustre_rmmod": rmmod,
    "modinfo": modinfo,
    "modprobe": modprobe,
}


if __name__ == "__main__":
    os.environ["PATH"] = "/usr/sbin:/usr/bin"  # mount(8) gives its helpers none
    try:
        sys.exit(PROGRAMS[Path(sys.argv[0]).name](sys.argv[1:]))
    except OSError as error:
        sys.exit(fail(str(error), 1))
