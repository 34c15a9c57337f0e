"""Quotas of the stand-in of Lustre.

The real ones are kept by the first MDT and hold on every target; these are kept with the MGS and
hold nowhere.

Only the standard library, for the Python of a lab host, where it lies under the same name.
"""

from __future__ import annotations

import argparse
import fcntl
import fnmatch
import re
from pathlib import Path
from typing import Any

from rackwright_lab.mock_packages.lustre_hosts import (
    ask,
    fail,
    mounted,
    mounted_source,
    read_disk,
    write_disk,
)

LOCK = Path("/run/lustre-stand-in.lock")
PARTS = {
    "mdt": {"quota_slave_dt": "ost", "quota_slave_md": "mdt"},
    "ost": {"quota_slave": "ost"},
}
"""Of each kind of target, its parts that limit somebody and the setting of each: space is one of object
targets. Real ones of a version tell them in one way, either as the MDT here or as the OST."""


def quotas(change: dict[str, Any]) -> dict[str, Any]:
    """Return the quotas of a file system that the MGS here keeps, after a change to them."""
    device = mounted().get("MGS")
    if device is None:
        return {}
    with LOCK.open("w") as lock:
        # Several servers ask at once, and a change is read, made and written.
        fcntl.flock(lock, fcntl.LOCK_EX)
        every = read_disk(device, "quotas") or {}
        kept: dict[str, Any] = every.setdefault(change["fsname"], {"enabled": {}, "limits": {}})
        for key in ("enabled", "limits"):
            kept[key].update(change.get(key, {}))
        if len(change) > 1:
            write_disk(device, every, "quotas")
        return kept


def ask_quotas(nids: str, **change: Any) -> dict[str, Any] | None:
    """Return the quotas that the MGS with one of the NIDs keeps; None if none has it."""
    for nid in re.split("[,:]", nids):
        answer = ask(nid, quotas=change)
        if answer and "MGS" in answer["targets"]:
            kept: dict[str, Any] = answer["quotas"]
            return kept
    return None


def show_enabled(pattern: str) -> int:
    """``lctl get_param osd-*.FSNAME-*.quota_slave*.enabled``: whose limits hold on the targets here."""
    found = []
    for name, device in sorted(mounted().items()):
        if name == "MGS":
            continue
        target = read_disk(device)
        kept = ask_quotas(":".join(target["mgsnodes"]), fsname=target["fsname"]) or {"enabled": {}}
        for part, kind in PARTS[target["kind"]].items():
            parameter = f"osd-ldiskfs.{name}.{part}.enabled"
            if fnmatch.fnmatchcase(parameter, pattern):
                found.append(f"{parameter}={kept['enabled'].get(kind, 'none')}")
    if not found:
        text = f"error: get_param: param_path '{pattern}': No such file or directory"
        return fail(text, 2)
    print("\n".join(found))
    return 0


def enable(text: str) -> int:
    """``lctl conf_param FSNAME.quota.ost=u`` and the like."""
    match = re.fullmatch(r"([A-Za-z0-9_-]{1,8})\.quota\.(ost|mdt)=([ugp]+|none)", text)
    if match is None:
        return fail(f"error: conf_param: unknown to the stand-in: {text}", 22)
    if "MGS" not in mounted():
        return fail("This command must be run on the MGS.", 19)
    quotas({"fsname": match[1], "enabled": {match[2]: match[3]}})
    return 0


def quota_options(verb: str) -> argparse.ArgumentParser:
    """Return options of ``lfs quota`` and ``lfs setquota`` that roles use."""
    parser = argparse.ArgumentParser(prog=f"lfs {verb}", allow_abbrev=False)
    whose = parser.add_mutually_exclusive_group(required=True)
    whose.add_argument("-u", dest="uid")
    whose.add_argument("-U", dest="uid", action="store_const", const="default")
    if verb == "quota":
        parser.add_argument("-q", action="store_true", required=True)
    else:
        parser.add_argument("--default", action="store_true")
        for flag in "bBiI":
            parser.add_argument(f"-{flag}", type=int)
    parser.add_argument("folder")
    return parser


def lfs_quota(verb: str, words: list[str]) -> int:
    """``lfs quota -q -u UID FOLDER`` and ``lfs setquota``; ``-U`` in place of ``-u UID`` is the default."""
    chosen = quota_options(verb).parse_args(words)
    source = mounted_source(chosen.folder)
    if source is None:
        return fail(f"lfs {verb}: {chosen.folder} is not mounted lustre: Invalid argument", 22)
    nids, fsname = source
    change: dict[str, Any] = {}
    if verb == "setquota":
        given = [chosen.b, chosen.B, chosen.i, chosen.I]
        if chosen.default == (None not in given):
            return fail("lfs setquota: the stand-in needs -b, -B, -i and -I, or --default", 22)
        change = {"limits": {chosen.uid: None if chosen.default else given}}
    kept = ask_quotas(nids, fsname=fsname, **change)
    if kept is None:
        return fail(f"lfs {verb}: Input/output error", 5)
    if verb == "setquota":
        return 0
    default = kept["limits"].get("default") or [0, 0, 0, 0]
    own = kept["limits"].get(chosen.uid)
    soft, hard, files_soft, files_hard = own or default
    name = chosen.folder if len(chosen.folder) <= 15 else f"{chosen.folder}\n{'':15}"
    if chosen.uid == "default":
        print(f"{name:>15} {soft:>6} {hard:>7} {0:>7} {files_soft:>6} {files_hard:>7} {0:>7}")
        return 0
    held = (4, 1)
    print(
        f"{name:>15} {held[0]:>7}  {soft:>6} {hard:>7} {'-':>7} {held[1]:>7}  {files_soft:>6}"
        f" {files_hard:>7} {'-':>7}"
    )
    if own is None:
        for what in ("block", "file"):
            print(f"uid {chosen.uid} is using default {what} quota setting")
    return 0
