"""Limits of accounts in file systems: by quotactl(2) in those of this host, by ``lfs`` in Lustre."""

# For any Python from 3.6 on, since it runs on the hosts.
import ctypes
import errno
import json
import os
import struct
from typing import Callable, Dict, Iterable, List, NamedTuple, Optional, Tuple

Run = Callable[[List[str]], Tuple[int, str]]
"""Runs a command; its exit status and what it printed."""

Pair = Tuple[int, int]
"""Limits of space in KiB and of files; 0 is no limit."""


class Entry(NamedTuple):
    """Quota of one uid in a file system: hard and soft limits, and usage."""

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


def call(command: int, source: str, uid: int, size: int, filled: bytes = b"") -> bytes:
    """Return the answer of quotactl(2) about users of the file system on ``source``.

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
    """Return the flags of quotas of users; 0 where there are none.

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
    """Return the quota of each uid that uses space or has a limit.

    Raises:
        OSError: the kernel does not say.
    """
    found: Dict[int, Entry] = {}
    uid = 0
    while uid < 0xFFFFFFFF:
        try:
            words = NEXT.unpack(call(GET_NEXT, source, uid, NEXT.size))
        except OSError as error:
            if error.errno == errno.ENOENT:
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


def ask(words: List[str], run: Run) -> str:
    """Return the output of a command.

    Raises:
        OSError: it fails.
    """
    rc, told = run(words)
    if rc != 0:
        raise OSError("'%s' ends with %d: %s" % (" ".join(words), rc, told.strip()))
    return told


def find_mount(path: str, run: Run) -> Mounted:
    """Return the file system that ``path`` is on, or would be.

    Raises:
        OSError: ``findmnt`` fails.
    """
    while not os.path.exists(path):
        path = os.path.dirname(path)
    columns = "TARGET,SOURCE,FSTYPE,OPTIONS,MAJ:MIN"
    told = ask(["findmnt", "--json", "--output", columns, "--target", path], run)
    one = json.loads(told)["filesystems"][0]
    source = one["source"].partition("[")[0]
    return Mounted(one["target"], source, one["fstype"], one["options"].split(","), one["maj:min"])


def _have_quotas(options: List[str]) -> bool:
    return any(option.partition("=")[0] in OPTIONS for option in options)


def obstacle(path: str, mounted: Mounted, flags: int, fstab: Optional[List[str]]) -> str:
    """Return why the file system of ``path`` enforces no quotas, and the fix; empty if it does.

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
    lasting = _have_quotas(mounted.options)
    if not flags & ENFORCED or not lasting:
        words = [write]
        if not lasting and mounted.kind == "ext4":
            words += ["mount -o remount,usrquota %s" % mounted.folder]
        if not flags & ENFORCED:
            words += ["quotaon --user %s" % mounted.folder]
        what = "are off" if not flags & ENFORCED else "are off after the next boot"
        return "%s, whose quotas are counted and %s: %s" % (where, what, "; ".join(words))
    if fstab is not None and not _have_quotas(fstab):
        return "%s, whose quotas are off after the next boot: %s" % (where, write)
    return ""


class Local:
    """A file system that is mounted here from a device."""

    copies = True
    """A number that it meets for the first time is given the default of the day (XFS)."""

    def __init__(self, mounted: Mounted) -> None:
        self.folder = mounted.folder
        self._source = mounted.source
        self.has_default = mounted.kind == "xfs"
        self.unit = max(1, os.statvfs(mounted.folder).f_bsize // 1024)

    def known(self, uids: Iterable[int]) -> Dict[int, Entry]:
        """Return the quota of every uid; 0 is the default."""
        return entries(self._source)

    def set(self, uid: int, limits: Pair) -> None:
        """Set the limits of a number."""
        set_limits(self._source, uid, limits)


class Lustre:
    """A Lustre that is mounted here. Its default is a setting of its own, for which 0 stands."""

    copies = False
    has_default = True
    unit = 1

    def __init__(self, folder: str, run: Run) -> None:
        self.folder = folder
        self._run = run

    def known(self, uids: Iterable[int]) -> Dict[int, Entry]:
        """Return the quotas of ``uids`` and the default.

        Raises:
            OSError: ``lfs`` fails.
        """
        found = {}
        for uid in {0, *uids}:
            words = ["lfs", "quota", "-q"] + (["-u", str(uid)] if uid else ["-U"])
            found[uid] = self._entry(ask([*words, self.folder], self._run), uid)
        return found

    def set(self, uid: int, limits: Pair) -> None:
        """Set the limits of a number, or have it use the default.

        Raises:
            OSError: ``lfs`` fails.
        """
        words = ["lfs", "setquota"] + (["-u", str(uid)] if uid else ["-U"])
        if uid and limits == (0, 0):
            words += ["--default"]
        else:
            words += ["-b", "0", "-B", str(limits[0]), "-i", "0", "-I", str(limits[1])]
        ask([*words, self.folder], self._run)

    def _entry(self, told: str, uid: int) -> Entry:
        """Parse a line of ``lfs quota -q``: the folder, space and its limits, files and theirs.

        The line of the default has no space and no files that are held. An asterisk marks a limit
        that is reached, brackets a number that a target did not confirm.

        Raises:
            OSError: it says something else.
        """
        words = [word.strip("*[]") for word in told.split()[1:]]
        try:
            if not uid:
                soft, hard, files_soft, files_hard = (int(words[place]) for place in (0, 1, 3, 4))
                return Entry((hard, files_hard), (soft, files_soft), (0, 0))
            held, soft, hard = (int(word) for word in words[:3])
            files, files_soft, files_hard = (int(words[place]) for place in (4, 5, 6))
        except (IndexError, ValueError):
            whose = "uid %d" % uid if uid else "its default"
            what = "'lfs quota' of '%s' tells no limits of %s: %s"
            raise OSError(what % (self.folder, whose, told.strip())) from None
        if "is using default block quota" in told:
            soft, hard = 0, 0
        if "is using default file quota" in told:
            files_soft, files_hard = 0, 0
        return Entry((hard, files_hard), (soft, files_soft), (held, files))
