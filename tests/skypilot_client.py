"""SkyPilot of PyPI on a machine of its own: Debian 13 with a Python that SkyPilot takes, on the bridge of a lab.

The root and the wheels of SkyPilot's runtime are made once and kept. The machine has namespaces of its own and no way
to the internet; its processes, among them SkyPilot's API server and its masters of ssh, end with it.
"""

from __future__ import annotations

import contextlib
import ipaddress
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from chroots import install_packages
from rackwright.locks import turn
from rackwright_lab.base import cache_folder, clear, make_base, recipe_key
from rackwright_lab.lab import Lab
from rackwright_lab.system import run, wait_for

SKYPILOT = "skypilot[slurm]==0.14.1"
UV = "0.13.9"
RUNTIME = ("skypilot[slurm,remote]==0.14.1", f"uv=={UV}", "pip", "setuptools", "wheel")
"""Wheels that SkyPilot would download for each of its clusters."""
SUITE = "trixie"
PACKAGES = ("python3-venv", "rsync")
LAST = 200
"""Number of the client's address in the lab's network."""
INSIDE = """\
set -e
mount -t overlay overlay -o "lowerdir=$1:$2,upperdir=$3/upper,workdir=$3/work" "$3/root"
mount --rbind /dev "$3/root/dev"
mount -t proc proc "$3/root/proc"
printf '%s' "$4" > "$3/root/etc/hosts"
: > "$3/root/etc/resolv.conf"
ip link set lo up
touch "$3/ready"
exec sleep infinity
"""


def client_layer() -> Path:
    """Return the folder that lies over the lab's base of Debian 13, with SkyPilot in ``/opt/skypilot``; made once."""
    base = make_base(print, SUITE)
    folder = cache_folder() / f"skypilot-{recipe_key([base.name, SKYPILOT, PACKAGES])}"
    with turn(cache_folder() / "skypilot.lock"):
        if folder.is_dir():
            return folder
        unfinished = folder.with_suffix(".new")
        clear(unfinished)
        root, upper, work = (unfinished / name for name in ("root", "upper", "work"))
        for path in (root, upper, work):
            path.mkdir(parents=True)
        run("mount", "-t", "overlay", "overlay",
            "-o", f"lowerdir={base},upperdir={upper},workdir={work}", root)  # fmt: skip
        try:
            install_packages(root, SUITE, *PACKAGES)
            for name in ("etc/resolv.conf", "etc/hosts", "etc/ssl/certs/ca-certificates.crt"):
                shutil.copy(Path("/") / name, root / name)
            run("chroot", root, "python3", "-m", "venv", "/opt/skypilot")
            run("chroot", root, "/opt/skypilot/bin/pip", "install", "--quiet", "--no-compile",
                SKYPILOT, timeout_s=1200)  # fmt: skip
        finally:
            run("umount", root)
        upper.rename(folder)
        clear(unfinished)
    return folder


def runtime_wheels() -> Path:
    """Return the folder of the wheels for this machine's Python, which is that of the lab's hosts; made once."""
    folder = cache_folder() / f"skypilot-wheels-{recipe_key([RUNTIME, sys.version])}"
    with turn(cache_folder() / "skypilot-wheels.lock"):
        if not folder.is_dir():
            unfinished = folder.with_suffix(".new")
            clear(unfinished)
            words = ("-m", "pip", "wheel", "--quiet", "--wheel-dir", unfinished, *RUNTIME)
            run(sys.executable, *words, timeout_s=1200)
            unfinished.rename(folder)
    return folder


@dataclass(frozen=True)
class Client:
    """The machine of a user.

    Attributes:
        folder: of its disk; ``root`` is its root.
        pid: of its first process.
    """

    folder: Path
    pid: int

    def __call__(self, *words: str, timeout_s: float = 600) -> str:
        """Return what a command prints.

        Raises:
            AssertionError: it failed; with what it printed.
        """
        enter = ("nsenter", "-t", str(self.pid), "-n", "-p", "-m", "-u")
        environment = (
            "HOME=/root", "USER=ada", "LANG=C.UTF-8", "PATH=/opt/skypilot/bin:/usr/sbin:/usr/bin:/sbin:/bin",
            "SKYPILOT_DISABLE_USAGE_COLLECTION=1", "TERM=dumb", "NO_COLOR=1",
        )  # fmt: skip
        inside = ("chroot", str(self.folder / "root"), "env", "-i", *environment)
        done = subprocess.run(
            [*enter, *inside, *words],
            capture_output=True,
            text=True,
            timeout=timeout_s,
            check=False,
        )
        assert done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"
        return done.stdout + done.stderr

    def put(self, path: str, text: str, mode: int = 0o600) -> None:
        """Write a file below the home of the user."""
        place = Path(
            f"/proc/{self.pid}/root{self.folder}/root/root/{path}"
        )  # as its mounts have it
        place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        place.write_text(text)
        place.chmod(mode)

    def processes(self) -> list[int]:
        """Return the processes of the machine, by their numbers outside."""
        return processes_of(namespace_of(self.pid))


def namespace_of(pid: int) -> str:
    """Return the namespace of process ids of a process, as the kernel names it."""
    return str(Path(f"/proc/{pid}/ns/pid").readlink())


def processes_of(namespace: str) -> list[int]:
    """Return the processes in a namespace of process ids."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if namespace_of(int(path.name)) == namespace:
                found.append(int(path.name))
    return found


@contextlib.contextmanager
def client_of(lab: Lab, folder: Path) -> Iterator[Client]:
    """Yield a user's machine on the bridge of a lab; every process of it has ended afterwards."""
    for name in ("root", "upper", "work"):
        (folder / name).mkdir(parents=True)
    names = {"localhost": "127.0.0.1"} | {host.name: str(host.address.ip) for host in lab.hosts()}
    hosts = "".join(f"{address} {name}\n" for name, address in names.items())
    layers = (str(client_layer()), str(make_base(print, SUITE)))
    process = subprocess.Popen(
        ["unshare", "--net", "--uts", "--mount", "--pid", "--fork", "--kill-child", "--propagation", "private",
         "bash", "-c", INSIDE, "bash", *layers, str(folder), hosts],
        stdin=subprocess.DEVNULL,
    )  # fmt: skip
    namespace = ""
    try:
        assert wait_for((folder / "ready").exists, 60, 0.1)
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text()
        client = Client(folder, int(children.split()[0]))
        namespace = namespace_of(client.pid)
        link = f"rwsky{process.pid}"[:15]
        run(
            "ip",
            "link",
            "add",
            link,
            "type",
            "veth",
            "peer",
            "name",
            "eth0",
            "netns",
            str(client.pid),
        )
        run("ip", "link", "set", link, "master", lab.bridge, "up")
        address = ipaddress.IPv4Interface((lab.network[LAST], lab.network.prefixlen))
        inside = ("nsenter", "-t", str(client.pid), "-n", "ip")
        run(*inside, "address", "add", str(address), "dev", "eth0")
        run(*inside, "link", "set", "eth0", "up")
        yield client
    finally:
        process.kill()
        process.wait()
        assert wait_for(lambda: not namespace or not processes_of(namespace), 30, 0.2)
