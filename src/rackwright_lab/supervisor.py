"""The process that keeps one lab host running: ``python -m rackwright_lab.supervisor ROOT``.

It boots the host by systemd-nspawn, boots it again after a reboot, and shuts it down when it is
asked to end.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import FrameType

from rackwright.processes import started
from rackwright_lab.host import cgroups

REBOOT = 133
"""Exit code of systemd-nspawn when the machine in it wants to boot again."""

POWER_OFF = signal.SIGRTMIN + 4
"""What systemd, as the first process of a machine, takes for its power button."""

TIMEOUT_S = 20.0
DEVICE_MAJOR = 195
"""Major number of NVIDIA's character devices; nothing answers behind it here."""


class Supervisor:
    """Boots one machine as often as it asks for."""

    def __init__(self, root: Path, name: str, namespace: str, devices: int, shared: Path) -> None:
        self._command = [
            *("systemd-nspawn", "--quiet", f"--directory={root}", "--register=no", "--keep-unit"),
            *(f"--hostname={name}", f"--machine={name}"),
            *(f"--network-namespace-path=/run/netns/{namespace}", "--resolv-conf=off"),
            *("--timezone=off", "--capability=all", f"--bind={shared}:/shared", "--boot"),
            "--system-call-filter=open_by_handle_at",  # by which NFS-Ganesha opens files
        ]
        self._groups = cgroups(namespace)
        self._devices = devices
        self._machine: subprocess.Popen[bytes] | None = None
        self._ending = False

    def run(self) -> int:
        """Keep the machine running; the exit code of its last boot."""
        signal.signal(signal.SIGTERM, self._end)
        for group in self._groups:
            group.mkdir(exist_ok=True)
            (group / "cgroup.procs").write_text(str(os.getpid()))
        while True:
            environment = {**os.environ, "SYSTEMD_NSPAWN_API_VFS_WRITABLE": "network"}
            self._machine = subprocess.Popen(
                self._command, stdin=subprocess.DEVNULL, env=environment
            )
            self._add_devices()
            code = self._machine.wait()
            if self._ending or code != REBOOT:
                self._leave()
                return code

    def _end(self, number: int, frame: FrameType | None) -> None:
        """Press the machine's power button, and pull its plug when that does not help."""
        self._ending = True
        machine = self._machine
        if machine is None or machine.poll() is not None:
            return
        first = _first_process(machine.pid)
        if first is not None:
            os.kill(first, POWER_OFF)
        deadline = time.monotonic() + TIMEOUT_S
        while started(machine.pid) and time.monotonic() < deadline:
            time.sleep(0.1)
        if started(machine.pid):
            if first is not None:
                os.kill(first, signal.SIGKILL)
            machine.kill()

    def _add_devices(self) -> None:
        """Return device files of GPUs; the machine's ``/dev`` is made again at every boot."""
        assert self._machine is not None  # noqa: S101 - just started
        deadline = time.monotonic() + TIMEOUT_S
        first = None
        while self._devices and first is None and time.monotonic() < deadline:
            time.sleep(0.05)
            first = _first_process(self._machine.pid)
        if first is None:
            return
        for number in range(self._devices):
            node = Path(f"/proc/{first}/root/dev/nvidia{number}")
            if not node.exists():
                os.mknod(node, 0o666 | 0o020000, os.makedev(DEVICE_MAJOR, number))
                node.chmod(0o666)

    def _leave(self) -> None:
        """Leave the control groups, so that they can be removed."""
        for group in self._groups:
            (group.parent / "cgroup.procs").write_text(str(os.getpid()))


def _first_process(nspawn: int) -> int | None:
    """Return the host's process 1, which is the only child of systemd-nspawn."""
    try:
        children = Path(f"/proc/{nspawn}/task/{nspawn}/children").read_text().split()
        for child in children:
            status = Path(f"/proc/{child}/status").read_text()
            (line,) = [line for line in status.splitlines() if line.startswith("NSpid:")]
            if line.split()[-1] == "1" and Path(f"/proc/{child}/comm").read_text() == "systemd\n":
                return int(child)
    except (OSError, ValueError):
        return None
    return None


def main() -> int:
    """Return the exit code of the machine's last boot."""
    parser = argparse.ArgumentParser(prog="rackwright_lab.supervisor")
    parser.add_argument("root", type=Path)
    parser.add_argument("--name", required=True)
    parser.add_argument("--namespace", required=True)
    parser.add_argument("--devices", type=int, default=0)
    parser.add_argument("--shared", type=Path, required=True)
    options = parser.parse_args()
    supervisor = Supervisor(
        options.root, options.name, options.namespace, options.devices, options.shared
    )
    return supervisor.run()


if __name__ == "__main__":
    sys.exit(main())
