"""Quotas on real ext4, XFS and NFS, under a kernel of their own.

The module that the role nfs_server calls sets them. What the kernel holds is read by ``repquota``,
which shares no code with it, and a client of the kernel's NFS writes past them.
"""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Iterator
from typing import Any

import pytest

from own_kernel import Done, OwnKernel, own_kernel

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.timeout(3000),
    pytest.mark.skipif(os.geteuid() != 0, reason="a root file system is made as root"),
]
PACKAGES = ("e2fsprogs", "nfs-common", "nfs-kernel-server", "quota", "xfsprogs")
DISKS = {"ubda": "64M", "ubdb": "400M"}
EXT4, XFS = "/mnt/home", "/mnt/data"
LIMITS = {"space_kib": 2048, "files": 20}
ALICE, BOB = (
    {"name": name, "uid": uid, **LIMITS} for name, uid in (("alice", 2001), ("bob", 2002))
)
QUOTA: dict[str, Any] = {**LIMITS, "others": False, "accounts": [ALICE, BOB]}
SERVER = f"""\
ip link set lo up && modprobe nfsd && modprobe nfsv4 && mount -t nfsd nfsd /proc/fs/nfsd &&
mkdir -p /run/rpc_pipefs /home && mount -t rpc_pipefs sunrpc /run/rpc_pipefs &&
echo '{EXT4} 127.0.0.1(rw,sync,no_subtree_check,sec=sys,root_squash,fsid=0)' > /etc/exports && exportfs -ra &&
rpc.mountd -N 2 -N 3 && rpc.nfsd -N 3 -V 4.2 --grace-time 10 2 &&
mount -t nfs4 -o vers=4.2 127.0.0.1:/ /home"""
AS = "setpriv --reuid {0} --regid {0} --clear-groups"


class Steps:
    """Commands by name, which are run in one boot."""

    def __init__(self, kernel: OwnKernel) -> None:
        self._kernel = kernel
        self._commands: dict[str, str] = {}

    def add(self, name: str, command: str) -> None:
        """A command of the shell."""
        self._commands[name] = command

    def set(self, name: str, folder: str, quota: dict[str, Any] | None, **more: Any) -> None:
        """The module, for one folder; another step, ``NAME limits``, tells what is held then."""
        asked = {"folders": [{"path": folder, "quota": quota}], **more}
        self._kernel.write(f"{name}.json", json.dumps({"ANSIBLE_MODULE_ARGS": asked}))
        module = "ansible_collections.rackwright.cluster.plugins.modules.quotas"
        self.add(name, f"python3 -m {module} '/steps/{name}.json'")
        self.add(f"{name} limits", f"repquota -u -v -n -O csv {folder}")

    def run(self) -> dict[str, Done]:
        """How each ended, by name."""
        done = self._kernel.run(list(self._commands.values()), DISKS, 1500)
        return dict(zip(self._commands, done, strict=True))


def held(done: Done) -> dict[int, tuple[int, int]]:
    """Hard limits of space in KiB and of files by number, as ``repquota`` tells them."""
    return {
        int(row["User"][1:]): (int(row["BlockHardLimit"]), int(row["FileHardLimit"]))
        for row in csv.DictReader(done.output.splitlines())
        if (row["BlockHardLimit"], row["FileHardLimit"]) != ("0", "0")
    }


def told(done: Done) -> dict[str, Any]:
    """What the module says."""
    said: dict[str, Any] = json.loads(done.output.strip().splitlines()[-1])
    return said


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Done]]:
    with own_kernel(tmp_path_factory.mktemp("quota") / "kernel", PACKAGES) as kernel:
        steps = Steps(kernel)
        steps.add("made", "mkfs.ext4 -q -O quota /dev/ubda && mkfs.xfs -q /dev/ubdb")
        off = f"mkdir -p {EXT4} {XFS}; mount /dev/ubda {EXT4}; mount -o noquota /dev/ubdb {XFS}"
        steps.add("off", off)
        steps.set("ext4 counted", EXT4, QUOTA, look=True)
        steps.set("xfs off", XFS, QUOTA, look=True)
        steps.set("root", "/srv/home", QUOTA)
        steps.add("remounted", f"mount -o remount,usrquota {EXT4} && quotaon --user {EXT4}")
        steps.add("mounted", f"umount {XFS} && mount -o uquota /dev/ubdb {XFS}")
        add_ext4(steps)
        add_nfs(steps)
        add_removal(steps)
        add_xfs(steps)
        yield steps.run()


def add_ext4(steps: Steps) -> None:
    steps.set("others", EXT4, {**QUOTA, "others": True}, look=True)
    steps.set("foreseen", EXT4, QUOTA, _ansible_check_mode=True)
    steps.set("set", EXT4, QUOTA)
    steps.set("again", EXT4, QUOTA)
    steps.add("by hand", f"setquota -u 2002 0 9999 0 0 {EXT4}")
    steps.set("wrong", EXT4, QUOTA, look=True)
    steps.set("mended", EXT4, QUOTA)


def add_nfs(steps: Steps) -> None:
    steps.add("server", SERVER)
    steps.add("home", f"install -d -o 2001 -g 2001 {EXT4}/alice")
    alice = AS.format(2001)
    write = f"{alice} dd if=/dev/zero of=/home/alice/big bs=64k count=60 conv=fsync"
    steps.add("written", write)
    steps.add("size", "du -k /home/alice/big")
    steps.add(
        "many",
        f"cd /home/alice && {alice} rm big && {alice} sh -c 'for n in $(seq 40); do : > $n; done'",
    )
    steps.add("count", "ls /home/alice | wc -l")
    steps.set("lower", EXT4, {**QUOTA, "accounts": [{**ALICE, "files": 5}, BOB]})


def add_removal(steps: Steps) -> None:
    steps.add("foreign", f"setquota -u 3000 0 4096 0 0 {EXT4}")
    steps.set("fewer", EXT4, {**QUOTA, "accounts": [BOB]})
    steps.set("none", EXT4, None)
    steps.set("none again", EXT4, None)
    steps.set("both", EXT4, QUOTA)
    steps.add("changed", f"setquota -u 2002 0 9999 0 0 {EXT4}")
    steps.set("kept", EXT4, None)


def add_xfs(steps: Steps) -> None:
    others = {**QUOTA, "others": True}
    steps.set("xfs", XFS, others)
    steps.add("stranger", f"install -d -o 4000 -g 4000 {XFS}/stranger")
    write = f"dd if=/dev/zero of={XFS}/stranger/big bs=64k count=60 conv=fsync"
    steps.add("strange", f"{AS.format(4000)} {write}")
    steps.set("xfs again", XFS, others)
    steps.set("xfs more", XFS, {**others, "space_kib": 4096})
    steps.set("xfs none", XFS, None)


def test_a_file_system_without_quotas_is_told_with_what_to_run(done: dict[str, Done]) -> None:
    for name in ("made", "off", "remounted", "mounted"):
        assert done[name].code == 0, done[name]
    for name, words in {
        "ext4 counted": f"mount -o remount,usrquota {EXT4}; quotaon --user {EXT4}",
        "xfs off": f"umount {XFS}; write uquota among its options in /etc/fstab; mount {XFS}",
        "others": "no limit for accounts that are not named",
    }.items():
        assert words in "".join(told(done[name])["problems"]), done[name]
    assert done["root"].code == 1
    assert "quotas are for ext4 and xfs" in told(done["root"])["msg"]


def test_limits_are_set_once_and_read_back(done: dict[str, Done]) -> None:
    foreseen = told(done["foreseen"])
    assert foreseen["changed"]
    assert "alice (2001): 2048 KiB, 20 files\n" in foreseen["diff"]["after"]
    assert held(done["foreseen limits"]) == {}
    wanted = {2001: (2048, 20), 2002: (2048, 20)}
    assert told(done["set"])["changed"]
    assert held(done["set limits"]) == wanted
    assert not told(done["again"])["changed"]
    wrong = f"bob (2002): 9999 KiB, any files in '{EXT4}', not 2048 KiB, 20 files"
    assert told(done["wrong"])["wrong"] == [wrong]
    assert not told(done["wrong"])["changed"]
    assert held(done["wrong limits"])[2002] == (9999, 0)
    assert held(done["mended limits"]) == wanted


def test_who_writes_past_a_limit_over_nfs_is_told(done: dict[str, Done]) -> None:
    assert done["server"].code == 0, done["server"]
    assert "Disk quota exceeded" in done["written"].output, done["written"]
    assert 1024 <= int(done["size"].output.split()[0]) <= 2048
    assert "Disk quota exceeded" in done["many"].output, done["many"]
    # Her folder is hers as well.
    assert int(done["count"].output) == 19


def test_a_limit_below_what_is_held_is_set_with_a_warning(done: dict[str, Done]) -> None:
    assert held(done["lower limits"]) == {2001: (2048, 5), 2002: (2048, 20)}
    said = told(done["lower"])
    assert said["changed"]
    assert "alice (2001): 2048 KiB, 5 files holds" in json.dumps(said["warnings"])


def test_limits_of_ours_go_and_no_others(done: dict[str, Done]) -> None:
    assert held(done["fewer limits"]) == {2002: (2048, 20), 3000: (4096, 0)}
    assert held(done["none limits"]) == {3000: (4096, 0)}
    assert told(done["none"])["changed"]
    assert not told(done["none again"])["changed"]
    assert held(done["kept limits"]) == {2002: (9999, 0), 3000: (4096, 0)}
    assert "changed by hand; they stay" in json.dumps(told(done["kept"])["warnings"])


def test_on_xfs_whoever_is_not_named_has_a_limit(done: dict[str, Done]) -> None:
    """And has the new one when it changes, and none when there is none."""
    assert "Disk quota exceeded" in done["strange"].output, done["strange"]
    assert not told(done["xfs again"])["changed"]
    assert held(done["xfs again limits"])[4000] == (2048, 20)
    more = held(done["xfs more limits"])
    assert {0: (4096, 20), 4000: (4096, 20), 2001: (2048, 20)}.items() <= more.items()
    assert held(done["xfs none limits"]) == {}
