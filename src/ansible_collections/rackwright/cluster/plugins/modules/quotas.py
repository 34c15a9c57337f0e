"""Hard limits of accounts in the file systems that folders are on."""

# For any Python from 3.6 on, since it runs on the hosts.
import ctypes
import errno
import json
import os
import struct
import subprocess
import tempfile
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Tuple

from ansible.module_utils.basic import AnsibleModule

DOCUMENTATION = r"""
module: quotas
short_description: Hard limits of accounts in the file systems that folders are on
description:
  - Sets limits of space and of files for accounts by their numbers, in the ext4 or XFS that a folder is on,
    by quotactl(2). XFS has a limit for accounts that are not named as well; ext4 has none.
  - Keeps a record of what it set. A limit that is no longer wanted is taken away where it is as it was
    set; where somebody else changed it since, it stays and is told.
  - Mounts and changes no file system. One whose quotas are off is told as a problem, with what to run.
  - A limit below what an account holds is set, with a warning; nothing more can be written then.
options:
  folders:
    description: Folders with their C(path) and C(quota); one without a quota is ignored.
    type: list
    elements: dict
    required: true
  record:
    description: File on the host that keeps what was set.
    type: path
    default: /var/lib/rackwright/quotas.json
  look:
    description: Only look, and report what is wrong and what would change.
    type: bool
    default: false
author:
  - Rackwright
"""

EXAMPLES = r"""
- name: Limit what users keep in their homes
  rackwright.cluster.quotas:
    folders:
      - path: /export/home
        quota:
          space_kib: 1953125000
          files: 1000000
          others: false
          accounts:
            - {name: alice, uid: 2001, space_kib: 1953125000, files: 1000000}
"""

RETURN = r"""
problems:
  description: Why limits cannot be set, for each file system; nothing is set where there is one.
  type: list
  elements: str
  returned: always
wrong:
  description: Limits that were not as wanted, one text each.
  type: list
  elements: str
  returned: always
"""

USER = 0
GET_NEXT, SET, GET_STATE = 0x800009, 0x800008, 0x5805
LIMITS = 0x5
"""Commands of quotactl(2), and the fields of a limit that are set: of space and of files."""

NEXT = struct.Struct("=8Q2I")
"""``struct if_nextdqblk`` of linux/quota.h; space in KiB, but what is held, which is in bytes."""

COUNTED, ENFORCED = 0x1, 0x2
"""Flags of ``struct fs_quota_stat`` of linux/dqblk_xfs.h, for users, at its third byte."""

OFF = (errno.ENOSYS, errno.ESRCH, errno.ENOTBLK, errno.EINVAL)
"""What the kernel answers where a file system has no quota, or knows none."""

KINDS = ("ext4", "xfs")
OPTIONS = ("quota", "usrquota", "usrjquota", "uquota")
"""Options of a mount with which quotas of users are on again after the next boot."""

SHOWN = 5
"""Most accounts that a warning names."""

Pair = Tuple[int, int]
"""Limits of space in KiB and of files; 0 is no limit."""


class Entry(NamedTuple):
    """What a file system knows of one number: hard and soft limits, and what it holds."""

    hard: Pair
    soft: Pair
    held: Pair


class Mounted(NamedTuple):
    """A file system that is mounted."""

    folder: str
    source: str
    kind: str
    options: List[str]
    device: str


class Change(NamedTuple):
    """Limits of a number before and after."""

    uid: int
    before: Pair
    after: Pair


def call(command: int, source: str, uid: int, size: int, filled: bytes = b"") -> bytes:
    """What quotactl(2) answers for users of the file system on ``source``.

    Raises:
        OSError: it refuses.
    """
    buffer = ctypes.create_string_buffer(filled, size)
    word = ctypes.c_int((command << 8 | USER) & 0xFFFFFFFF)
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.quotactl(word, os.fsencode(source), ctypes.c_int(uid), buffer) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), source)
    return buffer.raw


def state(source: str) -> int:
    """The flags of quotas of users; 0 where there are none.

    Raises:
        OSError: the kernel does not say.
    """
    try:
        return int.from_bytes(call(GET_STATE, source, 0, 256)[2:4], "little")
    except OSError as error:
        if error.errno in OFF:
            return 0
        raise


def entries(source: str) -> Dict[int, Entry]:
    """What the file system knows of each number that holds something or has a limit.

    Raises:
        OSError: the kernel does not say.
    """
    found: Dict[int, Entry] = {}
    uid = 0
    while uid < 0xFFFFFFFF:
        try:
            words = NEXT.unpack(call(GET_NEXT, source, uid, NEXT.size))
        except OSError as error:
            if error.errno in (errno.ENOENT, errno.ESRCH):
                break
            raise
        hard, soft = (words[0], words[3]), (words[1], words[4])
        found[words[9]] = Entry(hard, soft, (-(-words[2] // 1024), words[5]))
        uid = words[9] + 1
    return found


def set_limits(source: str, uid: int, limits: Pair) -> None:
    """Set the hard limits of a number, and take away the soft ones."""
    filled = NEXT.pack(limits[0], 0, 0, limits[1], 0, 0, 0, 0, LIMITS, 0)
    call(SET, source, uid, NEXT.size, filled)


def find_mount(path: str, run: Callable[[List[str]], Tuple[int, str]]) -> Mounted:
    """The file system that ``path`` is on, or would be."""
    while not os.path.exists(path):
        path = os.path.dirname(path)
    columns = "TARGET,SOURCE,FSTYPE,OPTIONS,MAJ:MIN"
    _, told = run(["findmnt", "--json", "--output", columns, "--target", path])
    one = json.loads(told)["filesystems"][0]
    source = one["source"].partition("[")[0]
    return Mounted(one["target"], source, one["fstype"], one["options"].split(","), one["maj:min"])


def obstacle(path: str, mounted: Mounted, flags: int, fstab: Optional[List[str]]) -> str:
    """Why quotas do not hold in the file system of ``path``, with what to do; empty where they do.

    ``fstab`` has the options of the file system there, None where it is not in it.
    """
    where = "'%s' is on '%s' (%s, %s)" % (path, mounted.folder, mounted.source, mounted.kind)
    if mounted.kind not in KINDS:
        return "%s; quotas are for ext4 and xfs: give it a file system of its own" % where
    option = {"ext4": "usrquota", "xfs": "uquota"}[mounted.kind]
    write = "write %s among its options in /etc/fstab" % option
    if not flags & COUNTED:
        if mounted.folder == "/":
            return "%s, which has no quotas: give it a file system of its own" % where
        words = ["umount %s" % mounted.folder]
        if mounted.kind == "ext4":
            words += ["tune2fs -O quota %s" % mounted.source]
        words += [write, "mount %s" % mounted.folder]
        return "%s, which has no quotas; while nobody uses it: %s" % (where, "; ".join(words))
    lasting = set(OPTIONS) & set(mounted.options)
    if not flags & ENFORCED or not lasting:
        words = [write]
        if not lasting and mounted.kind == "ext4":
            words += ["mount -o remount,usrquota %s" % mounted.folder]
        if not flags & ENFORCED:
            words += ["quotaon --user %s" % mounted.folder]
        what = "are off" if not flags & ENFORCED else "are off after the next boot"
        return "%s, whose quotas are counted and %s: %s" % (where, what, "; ".join(words))
    if fstab is not None and not set(OPTIONS) & set(fstab):
        return "%s, whose quotas are off after the next boot: %s" % (where, write)
    return ""


def judge(
    wanted: Dict[int, Pair],
    default: Optional[Pair],
    known: Dict[int, Entry],
    record: Dict[str, Any],
) -> Tuple[List[Change], List[int]]:
    """Limits to set, and numbers whose limits were ours and were changed by somebody else.

    Args:
        wanted: by number.
        default: of every number that is not named, where the file system has one: that of number 0.
        known: what the file system has.
        record: what was set before.
    """
    target = dict(wanted)
    former = tuple(record["default"]) if record.get("default") else None
    ours = {int(uid): tuple(pair) for uid, pair in record.get("accounts", {}).items()}
    if former is not None:
        ours[0] = former
    if default is not None:
        target[0] = default
    kept = []
    for uid, entry in known.items():
        if uid in target or entry.hard == (0, 0):
            continue
        # XFS writes the default of the day to a number that it meets for the first time.
        if (entry.hard, entry.soft) in [(ours.get(uid), (0, 0)), (former, (0, 0))]:
            target[uid] = default or (0, 0)
        elif uid in ours:
            kept.append(uid)
    nothing = Entry((0, 0), (0, 0), (0, 0))
    changes = []
    for uid, after in sorted(target.items()):
        entry = known.get(uid, nothing)
        if entry.hard != after or entry.soft != (0, 0):
            changes.append(Change(uid, entry.hard, after))
    return changes, kept


def told(uid: int, limits: Pair, names: Dict[int, str]) -> str:
    """A limit in words."""
    space = "%d KiB" % limits[0] if limits[0] else "any space"
    files = "%d files" % limits[1] if limits[1] else "any files"
    return "%s (%d): %s, %s" % (names.get(uid, "not named"), uid, space, files)


def beyond(wanted: Dict[int, Pair], known: Dict[int, Entry], names: Dict[int, str]) -> List[str]:
    """Accounts that hold more than they may."""
    return [
        "%s holds %d KiB in %d files" % ((told(uid, limits, names), *known[uid].held))
        for uid, limits in sorted(wanted.items())
        if uid in known
        and any(0 < most < held for most, held in zip(limits, known[uid].held, strict=False))
    ]


class Host:
    """The file systems of this host, and what was set in them."""

    def __init__(self, module: AnsibleModule) -> None:
        self._module = module
        self._path = module.params["record"]
        self.record: Dict[str, Any] = {}
        if os.path.exists(self._path):
            with open(self._path) as file:
                self.record = json.load(file)
        self.problems: List[str] = []
        self.wrong: List[str] = []
        self.before: List[str] = []
        self.after: List[str] = []

    def _run(self, words: List[str]) -> Tuple[int, str]:
        done = subprocess.run(
            words,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            universal_newlines=True,
            check=False,
        )
        return done.returncode, done.stdout

    def find(self) -> Dict[str, Tuple[Mounted, Dict[str, Any]]]:
        """By its device each file system with its quota; those that cannot be are ``problems``."""
        found: Dict[str, Tuple[Mounted, Dict[str, Any]]] = {}
        for one in self._module.params["folders"]:
            quota = one.get("quota")
            if not quota:
                continue
            mounted = find_mount(one["path"], self._run)
            flags = state(mounted.source) if mounted.kind in KINDS else 0
            words = ["findmnt", "--fstab", "--noheadings", "--output", "OPTIONS"]
            rc, options = self._run([*words, "--target", mounted.folder])
            why = obstacle(one["path"], mounted, flags, None if rc else options.strip().split(","))
            if not why and quota.get("others") and mounted.kind == "ext4":
                why = (
                    "'%s' is on '%s', an ext4, which has no limit for accounts that are not named, like those of "
                    "the directory: put it on xfs, or leave out its quota"
                    % (one["path"], mounted.folder)
                )
            other = found.setdefault(mounted.device, (mounted, quota))[1]
            if not why and other != quota:
                why = (
                    "'%s' is on '%s' with another folder that has another quota; a quota holds for the whole file "
                    "system" % (one["path"], mounted.folder)
                )
            self.problems += [why] if why else []
        return found

    def settle(self, mounted: Mounted, quota: Optional[Dict[str, Any]]) -> None:
        """Set the limits of one file system, and take away those of ours that are not wanted."""
        unit = max(1, os.statvfs(mounted.folder).f_bsize // 1024)

        def pair(given: Dict[str, Any]) -> Pair:
            return -(-int(given.get("space_kib") or 0) // unit) * unit, int(given.get("files") or 0)

        accounts = quota["accounts"] if quota else []
        names = {one["uid"]: one["name"] for one in accounts}
        wanted = {one["uid"]: pair(one) for one in accounts}
        default = pair(quota) if quota and mounted.kind == "xfs" else None
        if default is not None or self.record.get(mounted.folder, {}).get("default"):
            names[0] = "whoever is not named"
        known = entries(mounted.source)
        former = self.record.get(mounted.folder, {})
        changes, kept = judge(wanted, default, known, former)
        for change in changes:
            self.before.append(told(change.uid, change.before, names))
            self.after.append(told(change.uid, change.after, names))
            self.wrong.append(
                "%s in '%s', not %s"
                % (self.before[-1], mounted.folder, self.after[-1].partition(": ")[2])
            )
        over = beyond(wanted, known, names)
        if over:
            self._warn(
                "in '%s' hold more than they may and can write nothing more" % mounted.folder, over
            )
        if kept:
            self._warn(
                "in '%s' have limits that somebody else changed; they stay" % mounted.folder,
                [told(uid, known[uid].hard, names) for uid in kept],
            )
        if self._only_looks:
            return
        now = {"accounts": {str(uid): limits for uid, limits in wanted.items()}}
        # First of all: what was set by a run that ended half-way is taken away by a later one.
        merged = dict(former.get("accounts", {}), **now["accounts"])
        self._keep(
            mounted.folder, {"accounts": merged, "default": default or former.get("default")}
        )
        for change in changes:
            set_limits(mounted.source, change.uid, change.after)
        self._keep(mounted.folder, dict(now, default=default) if quota else None)

    @property
    def _only_looks(self) -> bool:
        return bool(self._module.check_mode or self._module.params["look"])

    def _warn(self, what: str, which: List[str]) -> None:
        more = ", and %d more" % (len(which) - SHOWN) if len(which) > SHOWN else ""
        self._module.warn(
            "%d accounts %s: %s%s" % (len(which), what, "; ".join(which[:SHOWN]), more)
        )

    def _keep(self, folder: str, what: Optional[Dict[str, Any]]) -> None:
        """Write down what was set in a file system; None: nothing any more."""
        record = {name: entry for name, entry in self.record.items() if name != folder}
        if what is not None:
            record[folder] = json.loads(json.dumps(what))
        if record == self.record:
            return
        self.record = record
        if not record:
            os.unlink(self._path)
            return
        os.makedirs(os.path.dirname(self._path), mode=0o755, exist_ok=True)
        with tempfile.NamedTemporaryFile(
            "w", dir=os.path.dirname(self._path), delete=False
        ) as file:
            json.dump(record, file, sort_keys=True)
        os.replace(file.name, self._path)

    def forget(self, done: List[str]) -> None:
        """Take away limits of file systems that have no quota any more."""
        for folder in sorted(set(self.record) - set(done)):
            mounted = find_mount(folder, self._run)
            if mounted.folder == folder and mounted.kind in KINDS and state(mounted.source):
                self.settle(mounted, None)
            else:
                self._module.warn(
                    "the limits that were set in '%s' are left: it is not mounted with quotas"
                    % folder
                )


def main() -> None:
    """Look at the file systems, and set limits where all of them can have some."""
    spec = {
        "folders": {"type": "list", "elements": "dict", "required": True},
        "record": {"type": "path", "default": "/var/lib/rackwright/quotas.json"},
        "look": {"type": "bool", "default": False},
    }
    module = AnsibleModule(argument_spec=spec, supports_check_mode=True)
    host = Host(module)
    found = host.find()
    if not host.problems:
        for mounted, quota in found.values():
            host.settle(mounted, quota)
        host.forget([mounted.folder for mounted, _ in found.values()])
    elif not module.params["look"]:
        module.fail_json(msg="; ".join(host.problems))
    lines = ["".join(line + "\n" for line in sorted(side)) for side in (host.before, host.after)]
    module.exit_json(
        changed=bool(host.wrong) and not module.params["look"],
        problems=host.problems,
        wrong=host.wrong,
        diff={
            "before": lines[0],
            "after": lines[1],
            "before_header": "limits",
            "after_header": "limits",
        },
    )


if __name__ == "__main__":
    main()
