"""One lab host: an overlay of the base, a network namespace, and a machine booted in it."""

from __future__ import annotations

import contextlib
import ipaddress
import os
import shutil
import signal
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rackwright_lab.system import Process, run, start, wait_for

HIERARCHIES = ("systemd", "unified")
"""Where each host gets a control group of its own, on a machine with the older hierarchies."""

BOOT_S, SHUTDOWN_S = 60.0, 30.0


@dataclass(frozen=True)
class LabHost:
    """A host of a lab.

    Attributes:
        lab: name of the lab, part of every name in the kernel.
        index: from 0; part of the names of links, which the kernel keeps short.
        folder: where its disk and its console are.
        devices: GPUs it seems to have, as device files.
    """

    lab: str
    name: str
    index: int
    address: ipaddress.IPv4Interface
    folder: Path
    devices: int = 0

    @property
    def namespace(self) -> str:
        """Name of its network namespace."""
        return f"rw-{self.lab}-{self.index}"

    @property
    def link(self) -> str:
        """Name of its link's end on the bridge; at most 15 characters."""
        return f"rw{self.lab[:6]}{self.index}"

    @property
    def root(self) -> Path:
        """Mount point of its disk."""
        return self.folder / "root"

    @property
    def shared(self) -> Path:
        """The folder that every host of the lab has at ``/shared``, as from a file server."""
        return self.folder.parent.parent / "shared"

    @property
    def supervisor(self) -> Process | None:
        """The process that keeps it running."""
        return Process.read(self.folder / "supervisor.json")

    @property
    def running(self) -> bool:
        """True if the host is switched on."""
        supervisor = self.supervisor
        return supervisor is not None and supervisor.alive


def build(host: LabHost, below: Sequence[Path], files: Mapping[str, tuple[str, int]]) -> None:
    """Make the host's disk with ``files`` (path to text and mode) on it; nothing if it is there.

    Args:
        host: whose disk it is.
        below: what the disk has from the beginning, the uppermost folder first.
        files: what is written over it.
    """
    upper, work = host.folder / "upper", host.folder / "work"
    for folder in (upper, work, host.root):
        folder.mkdir(parents=True, exist_ok=True)
    if not host.root.is_mount():
        lower = ":".join(map(str, below))
        options = f"lowerdir={lower},upperdir={upper},workdir={work}"
        run("mount", "-t", "overlay", "overlay", "-o", options, host.root)
    for path, (text, mode) in files.items():
        target = host.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
        target.chmod(mode)


def connect(host: LabHost, bridge: str) -> None:
    """Give the host its namespace and its link to the bridge; nothing if it has them."""
    if (Path("/run/netns") / host.namespace).exists():
        return
    run("ip", "netns", "add", host.namespace)
    run(
        *("ip", "link", "add", host.link, "type", "veth"),
        *("peer", "name", "eth0", "netns", host.namespace),
    )
    run("ip", "link", "set", host.link, "master", bridge, "up")
    run("ip", "-n", host.namespace, "link", "set", "lo", "up")
    run("ip", "-n", host.namespace, "addr", "add", str(host.address), "dev", "eth0")
    run("ip", "-n", host.namespace, "link", "set", "eth0", "up")


def switch_on(host: LabHost) -> None:
    """Boot the host; nothing if it runs.

    Raises:
        ExternalToolError: its supervisor ended at once.
    """
    if host.running:
        return
    host.shared.mkdir(exist_ok=True)
    host.shared.chmod(0o755)
    command = (
        *(sys.executable, "-P", "-m", "rackwright_lab.supervisor", str(host.root)),
        *("--name", host.name, "--namespace", host.namespace, "--devices", str(host.devices)),
        *("--shared", str(host.shared)),
    )
    process = start(command, log=host.folder / "console.log", environment=dict(os.environ))
    process.write(host.folder / "supervisor.json")


def switch_off(host: LabHost, within_s: float = SHUTDOWN_S) -> None:
    """Shut the host down as its power button would, and pull its plug after a while; its disk stays."""
    if (supervisor := host.supervisor) is not None:
        supervisor.end(timeout_s=within_s)
    (host.folder / "supervisor.json").unlink(missing_ok=True)
    for group in cgroups(host.namespace):
        wait_for(lambda group=group: _end_group(group), 10.0)  # type: ignore[misc]


def remove(host: LabHost) -> None:
    """Take away everything that is left of the host, running or not."""
    switch_off(host, within_s=0.0)  # nobody reads its disk again
    run("ip", "link", "delete", host.link, check=False)
    run("ip", "netns", "delete", host.namespace, check=False)
    if host.root.is_mount():
        run("umount", host.root, check=False)
    if host.root.is_mount():
        run("umount", "--lazy", host.root)
    shutil.rmtree(host.folder, ignore_errors=True)


def cgroups(namespace: str) -> tuple[Path, ...]:
    """Return the control groups of a host: one in each hierarchy that this machine has."""
    top = Path("/sys/fs/cgroup")
    if (top / "cgroup.procs").exists():
        return (top / namespace,)
    return tuple(top / name / namespace for name in HIERARCHIES if (top / name).is_dir())


def _end_group(group: Path) -> bool:
    """Return True if ``group`` is gone with all groups in it; the rest of a dead supervisor is killed."""
    for listed in group.rglob("cgroup.procs"):
        for pid in listed.read_text().split():
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGKILL)
    try:
        for folder, _, _ in os.walk(group, topdown=False):
            Path(folder).rmdir()
    except OSError:
        return False
    return True
