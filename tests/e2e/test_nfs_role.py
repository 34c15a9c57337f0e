"""The roles nfs_server and nfs_client on lab hosts.

The kernel of the machine that runs this may have neither a server nor a client of NFS. The server is
the real NFS-Ganesha then, and a client in user space reads and writes over the network. What mounts
is a helper that asks that server and binds an empty folder.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from lab_support import LAB_MARKS, Machines, some_machines
from rackwright_lab.lab import HostSpec

pytestmark = LAB_MARKS
SERVER, CLIENT, STRANGER = "10.213.69.10", "10.213.69.11", "10.213.69.12"
EXPORT = {"path": "/export/home", "networks": [f"{CLIENT}/32"]}
SERVED: Mapping[str, Any] = {
    "nfs_server_implementation": "ganesha",
    "nfs_server_lease_s": 10,
    "nfs_server_exports": [EXPORT],
}
MOUNTED: Mapping[str, Any] = {
    "nfs_client_mounts": [{"server": SERVER, "export": "/export/home", "path": "/home"}],
    "nfs_client_probes": [{"user": "games", "folder": "/home/games"}],
}
KERNEL = {
    word for line in Path("/proc/filesystems").read_text().splitlines() for word in line.split()
}
HELPER = """\
#!/bin/sh
# Stand-in of a lab for mount.nfs4: what the server lets this host see is mounted as an empty folder.
set -e
echo "$*" > /run/mounted
nfs-ls "nfs://${1%%:*}${1#*:}?version=4" > /dev/null
mount -t tmpfs -o mode=1777,noatime,$(case "$*" in *,ro*) echo ro;; *) echo rw;; esac) "$1" "$2"
"""


@pytest.fixture(scope="module")
def machines(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machines]:
    names = ("server", "client", "stranger")
    folder = tmp_path_factory.mktemp("nfs")
    wanted = [HostSpec(name) for name in names]
    with some_machines(folder, "nfsw", "10.213.69.0/24", wanted) as made:
        yield made


@pytest.mark.skipif("nfsd" in KERNEL, reason="this kernel has an NFS server")
def test_a_kernel_without_a_server_is_refused(machines: Machines) -> None:
    kernel = {**SERVED, "nfs_server_implementation": "kernel"}
    played = machines.play_roles("nfs_server", hosts={"server": kernel})
    assert "has no NFS server (nfsd)" in played.failure("server"), played.output
    assert played.changed == 0


@pytest.mark.skipif("nfs4" in KERNEL, reason="this kernel has an NFS client")
def test_a_kernel_without_a_client_is_refused(machines: Machines) -> None:
    played = machines.play_roles("nfs_client", hosts={"client": MOUNTED})
    assert "has no NFS client of version 4" in played.failure("client"), played.output
    assert played.changed == 0


def test_a_directory_is_exported_and_mounted(machines: Machines) -> None:
    # NFS-Ganesha opens files by handles, which the overlay of a lab host has not.
    make = "mkdir -p /export/home && mount -t tmpfs tmpfs /export/home"
    machines.on("server", f"{make} && mkdir -m 1777 /export/home/games")
    foreseen = machines.play_roles("nfs_server", hosts={"server": SERVED}, arguments=["--check"])
    assert foreseen.code == 0, foreseen.output
    made = machines.play_roles("nfs_server", hosts={"server": SERVED})
    assert made.code == 0, made.output
    again = machines.play_roles(
        "nfs_server", hosts={"server": SERVED}, arguments=["--check", "--diff"]
    )
    assert (again.code, again.changed) == (0, 0), again.output

    a_quota_is_refused_where_the_file_system_has_none(machines)
    only_the_client_sees_it_and_by_version_4_only(machines)
    the_client_mounts_it(machines)
    verify_finds_what_is_not_exported(machines)


def a_quota_is_refused_where_the_file_system_has_none(machines: Machines) -> None:
    quota = {"files": 5, "accounts": [{"name": "alice", "uid": 2001, "files": 5}]}
    limited = {**SERVED, "nfs_server_exports": [{**EXPORT, "quota": quota}]}
    played = machines.play_roles("nfs_server", hosts={"server": limited})
    said = "(tmpfs, tmpfs); quotas are for ext4 and xfs"
    assert said in played.failure("server"), played.output
    assert played.changed == 0


def only_the_client_sees_it_and_by_version_4_only(machines: Machines) -> None:
    for name in ("client", "stranger"):
        machines.on(name, "apt-get update -q && apt-get install -qy libnfs-utils", timeout_s=120)
    url = f"'nfs://{SERVER}/export/home/games/hello?version=4'"
    machines.on("client", f"echo hello > /root/hello && nfs-cp /root/hello {url}")
    assert machines.on("client", f"nfs-cat {url}") == "hello"
    owner = machines.on("server", "stat -c %U:%s /export/home/games/hello")
    assert owner == "nobody:6", "root of a client is nobody"
    assert "hello" not in machines.on("stranger", f"nfs-cat {url} 2>/dev/null", check=False)
    refused = machines.on("stranger", f"nfs-cat {url} 2>&1", check=False)
    assert re.search(r"NFS4ERR_(ACCESS|PERM|NOENT)", refused), refused
    old = f"nfs-ls 'nfs://{SERVER}/export/home?version=3' 2>&1"
    assert "Program is not available" in machines.on("client", old, check=False)


def the_client_mounts_it(machines: Machines) -> None:
    machines.on("client", "apt-get update -q && apt-get install -qy nfs-common", timeout_s=120)
    machines.on("client", f"cat > /usr/sbin/mount.nfs4 <<'END'\n{HELPER}END")
    machines.on("client", "printf 'nodev\\tnfs4\\n' > /root/known")
    machines.on("client", "mount --bind /root/known /proc/filesystems")
    # The helper can mount no folder of the kind that the role looks for.
    hosts = {"client": {**MOUNTED, "nfs_client_probes": [{"user": "games", "folder": "/home"}]}}
    lenient = ("--extra-vars", '{"nfs_client_types": ["nfs4", "tmpfs"]}')
    made = machines.play_roles("nfs_client", hosts=hosts, arguments=lenient)
    assert made.code == 0, made.output
    assert f"{SERVER}:/export/home" in machines.on("client", "findmnt -no SOURCE /home")
    assert machines.on("client", "systemctl is-enabled home.mount") == "enabled"
    options = machines.on("client", "cat /run/mounted").split(" -o ")[1]
    assert {"vers=4.2", "hard", "nconnect=8", "noatime"} <= set(options.split(","))
    again = machines.play_roles(
        "nfs_client", hosts=hosts, arguments=[*lenient, "--check", "--diff"]
    )
    assert (again.code, again.changed) == (0, 0), again.output

    machines.on("client", "mount -o remount,ro /home")
    try:
        broken = machines.play_roles(
            "nfs_client", hosts=hosts, arguments=[*lenient, "--tags", "verify"]
        )
    finally:
        machines.on("client", "mount -o remount,rw /home")
    assert "and is tmpfs" in broken.failure("client"), broken.output
    nobody = {"client": {**MOUNTED, "nfs_client_probes": [{"user": "games", "folder": "/root"}]}}
    broken = machines.play_roles(
        "nfs_client", hosts=nobody, arguments=[*lenient, "--tags", "verify"]
    )
    assert "games cannot keep a file in '/root' of client" in broken.failure("client")


def verify_finds_what_is_not_exported(machines: Machines) -> None:
    more = {**SERVED, "nfs_server_exports": [EXPORT, {**EXPORT, "path": "/export/more"}]}
    played = machines.play_roles(
        "nfs_server", hosts={"server": more}, arguments=["--tags", "verify"]
    )
    assert "'/export/more' is not exported by server" in played.failure("server"), played.output
