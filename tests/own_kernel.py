"""Commands under a kernel of their own, for what the kernel of this machine cannot do.

It is Debian's User Mode Linux: a Linux that runs as a process, with file systems, quotas and NFS as a
server has them. Its disks are files of this machine, its root is a folder over the base of the lab.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import ansible
import pytest

from chroots import install_packages
from rackwright_lab.base import clear, make_base, suite_of
from rackwright_lab.system import run

COLLECTIONS = Path("src/ansible_collections")
MODULES = "rackwright/cluster/plugins"
KERNEL = "user-mode-linux"
UNFIT = "ptrace set fp regs failed"
"""What it says where it has no room for the registers of a processor."""
ALL_END_WITH_IT = (
    *("unshare", "--pid", "--fork", "--kill-child", "--mount-proc"),
    *("sh", "-c", '"$@"; exit $?', "sh"),
)
"""Before a command: nothing that it starts is left when it ends.

The kernel's processes do not all end with it, and what one of them holds open keeps the root mounted.
A namespace of process ids ends only when each process in it is gone.
"""
GUEST = """\
#!/usr/bin/python3
import json, os, subprocess
os.environ.update(PATH="/usr/sbin:/usr/bin:/sbin:/bin", PYTHONPATH="/steps", LC_ALL="C.UTF-8")
for kind, folder in (("proc", "/proc"), ("sysfs", "/sys"), ("tmpfs", "/run"), ("tmpfs", "/mnt")):
    subprocess.run(["mount", "-t", kind, kind, folder])
done = []
for command in json.load(open("/steps/commands.json")):
    made = subprocess.run(
        ["sh", "-c", command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, errors="replace",
    )
    done.append([made.returncode, made.stdout])
    with open("/steps/done.json", "w") as file:
        json.dump(done, file)
os.sync()
subprocess.run(["mount", "-t", "proc", "proc", "/proc"])
open("/proc/sysrq-trigger", "w").write("o")
"""
"""What the kernel runs first: one command after the other, and then it switches itself off."""


@dataclass(frozen=True)
class Done:
    """How a command ended, and what it said."""

    code: int
    output: str


@dataclass(frozen=True)
class OwnKernel:
    """A kernel and a root of its own.

    Attributes:
        root: its files.
        folder: its disks, and what its console says.
    """

    root: Path
    folder: Path

    def write(self, path: str, text: str) -> None:
        """Write a file that commands find at ``/steps/PATH``."""
        (self.root / "steps" / path).write_text(text)

    def run(
        self, commands: Sequence[str], disks: Mapping[str, str], timeout_s: float
    ) -> list[Done]:
        """How each command ended; the kernel boots for them and is off afterwards.

        Args:
            commands: of the shell, as root.
            disks: blank ones by name, ``ubda`` first, with their sizes.
            timeout_s: for all of them.
        """
        self.write("commands.json", json.dumps(list(commands)))
        words = []
        for name, size in disks.items():
            run("truncate", "-s", size, self.folder / f"{name}.disk")
            words.append(f"{name}={self.folder / name}.disk")
        command = [
            *(str(self.root / "usr/bin/linux.uml"), "mem=384M", f"uml_dir={self.folder}"),
            *("root=/dev/root", "rootfstype=hostfs", f"rootflags={self.root}", "rw", "quiet"),
            *("init=/steps/guest", "con=null", "con0=null,fd:1", "ssl=null", *words),
        ]
        command = [*ALL_END_WITH_IT, *command]
        environment = {**os.environ, "TMPDIR": "/dev/shm"}
        with (self.folder / "console").open("w") as console:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=console,
                stderr=subprocess.STDOUT,
                env=environment,
                start_new_session=True,
            )
            try:
                process.wait(timeout_s)
            except subprocess.TimeoutExpired:
                pass  # what was done until then is told below
            finally:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        ended = self.root / "steps/done.json"
        done = [Done(*one) for one in json.loads(ended.read_text())] if ended.exists() else []
        said = (self.folder / "console").read_text(errors="replace")
        if UNFIT in said:
            pytest.skip("Linux 6.1 in user mode cannot hold the registers of this processor (AMX)")
        assert len(done) == len(commands), (
            f"{len(done)} of {len(commands)} commands: {said[-2000:]}"
        )
        return done


@contextmanager
def own_kernel(folder: Path, packages: Sequence[str]) -> Iterator[OwnKernel]:
    """A root with ``packages`` and the modules of this collection, and a kernel for it.

    Raises:
        ExternalToolError: they cannot be had.
    """
    base = make_base(print)
    root, upper, work = (folder / name for name in ("root", "upper", "work"))
    for made in (root, upper, work):
        made.mkdir(parents=True)
    options = f"lowerdir={base},upperdir={upper},workdir={work}"
    run("mount", "-t", "overlay", "overlay", "-o", options, root)
    try:
        _install(root, suite_of(base), packages)
        steps = root / "steps"
        inside = steps / "ansible_collections" / MODULES
        for name in ("modules", "module_utils"):
            shutil.copytree(COLLECTIONS / MODULES / name, inside / name)
        here = Path(ansible.__file__).parent
        for name in ("__init__.py", "release.py"):
            (steps / "ansible").mkdir(exist_ok=True)
            shutil.copy(here / name, steps / "ansible")
        for name in ("module_utils", "_internal", "_vendor"):
            shutil.copytree(here / name, steps / "ansible" / name)
        (steps / "guest").write_text(GUEST)
        (steps / "guest").chmod(0o755)
        yield OwnKernel(root, folder)
    finally:
        clear(folder)


def _install(root: Path, suite: str, packages: Sequence[str]) -> None:
    """Install the kernel, its modules where modprobe looks for them, and packages, starting nothing."""
    install_packages(root, suite, KERNEL, *packages)
    for modules in (root / "usr/lib/uml/modules").iterdir():
        (root / "usr/lib/modules").mkdir(exist_ok=True)
        (root / "usr/lib/modules" / modules.name).symlink_to(f"../uml/modules/{modules.name}")
