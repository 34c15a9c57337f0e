"""The lab's own apt repository: the Debian packages that the roles install, and stand-ins.

Hosts of a lab reach nothing but the lab, as on many sites. What can be real is the distribution's
own package. A package that needs hardware is a stand-in with the real name, built here.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path

from rackwright.errors import ExternalToolError
from rackwright.lab.base import cache_folder
from rackwright.lab.system import Process, run, start
from rackwright.provision.locks import turn

PORT = 8077

DEBIAN = (
    "acl", "chrony", "libpmix2", "logrotate", "mariadb-server", "munge", "prometheus",
    "prometheus-node-exporter", "python3-pymysql", "rsync", "slurm-client",
    "slurm-wlm-basic-plugins", "slurmctld", "slurmd", "slurmdbd",
)  # fmt: skip
"""What the roles install, apart from stand-ins; dependencies come along."""


@dataclass(frozen=True)
class StandIn:
    """A package that poses as one that needs hardware.

    Attributes:
        files: path below the root to text; files of ``bin`` folders are programs.
    """

    name: str
    version: str
    summary: str
    depends: tuple[str, ...] = ()
    files: dict[str, str] = field(default_factory=dict)


NVIDIA_SMI = """\
#!/bin/sh
# Stand-in of a lab: tells of as many GPUs as there are device files.
count=$(ls /dev/nvidia[0-9]* 2>/dev/null | wc -l)
case "$*" in
  -L) n=0; while [ "$n" -lt "$count" ]; do
        printf 'GPU %d: NVIDIA H100 80GB HBM3 (UUID: GPU-lab-%s-%d)\\n' "$n" "$(hostname)" "$n"
        n=$((n + 1)); done ;;
  *driver_version*) n=0; while [ "$n" -lt "$count" ]; do echo VERSION; n=$((n + 1)); done ;;
  *) echo "lab stand-in: $count GPUs, driver VERSION" ;;
esac
[ "$count" -gt 0 ]
"""


def _daemon(name: str) -> dict[str, str]:
    """Files of a package whose service is up and does nothing."""
    unit = (
        f"[Unit]\nDescription={name} (stand-in of a lab)\n"
        "[Service]\nType=oneshot\nRemainAfterExit=yes\nExecStart=/bin/true\n"
        "[Install]\nWantedBy=multi-user.target\n"
    )
    return {f"lib/systemd/system/{name}.service": unit}


DRIVER, OLD_DRIVER, NCCL = "570.133.20", "565.57.01", "2.26.2-1"
STAND_INS = (
    StandIn(
        "nvidia-driver",
        f"{DRIVER}-1",
        "NVIDIA driver (stand-in of a lab)",
        ("nvidia-smi",),
    ),
    StandIn(
        "nvidia-smi",
        f"{DRIVER}-1",
        "NVIDIA System Management Interface (stand-in of a lab)",
        files={"usr/bin/nvidia-smi": NVIDIA_SMI.replace("VERSION", DRIVER)},
    ),
    StandIn(
        "nvidia-persistenced",
        f"{DRIVER}-1",
        "NVIDIA Persistence Daemon (stand-in of a lab)",
        files=_daemon("nvidia-persistenced"),
    ),
    StandIn(
        "nvidia-fabricmanager",
        f"{DRIVER}-1",
        "NVIDIA Fabric Manager (stand-in of a lab)",
        files=_daemon("nvidia-fabricmanager"),
    ),
    StandIn(
        "nvidia-imex",
        f"{DRIVER}-1",
        "NVIDIA IMEX (stand-in of a lab)",
        files=_daemon("nvidia-imex"),
    ),
    # An older driver, whose fabric manager the repository lacks: real repositories have such gaps.
    *(
        StandIn(name, f"{OLD_DRIVER}-1", f"{name} (stand-in of a lab)")
        for name in ("nvidia-driver", "nvidia-smi", "nvidia-persistenced")
    ),
    *(
        package
        for cuda in ("12.4", "12.8")
        for package in (
            StandIn("libnccl2", f"{NCCL}+cuda{cuda}", "NCCL (stand-in of a lab)"),
            StandIn(
                "libnccl-dev",
                f"{NCCL}+cuda{cuda}",
                "NCCL, for development (stand-in of a lab)",
                (f"libnccl2 (= {NCCL}+cuda{cuda})",),
            ),
        )
    ),
)


def make_repository(base: Path, say: Callable[[str], None]) -> Path:
    """The folder of the repository, filled on the first call for a base.

    Raises:
        ExternalToolError: a package cannot be fetched or built.
    """
    recipe = json.dumps([base.name, DEBIAN, [asdict(package) for package in STAND_INS]])
    folder = cache_folder() / f"repository-{hashlib.sha256(recipe.encode()).hexdigest()[:12]}"
    with turn(cache_folder() / "lock"):
        if folder.is_dir():
            return folder
        say("fetching the packages that the roles install, once")
        unfinished = folder.with_suffix(".new")
        shutil.rmtree(unfinished, ignore_errors=True)
        pool = unfinished / "pool"
        pool.mkdir(parents=True)
        _fetch(base, pool)
        for package in STAND_INS:
            _build(package, pool)
        _index(unfinished)
        unfinished.rename(folder)
    return folder


def serve(repository: Path, address: str, folder: Path) -> None:
    """Serve the repository on an address of the lab; nothing if that is done already."""
    record = folder / "repository.json"
    if (process := Process.read(record)) is not None and process.alive:
        return
    command = (
        *(sys.executable, "-m", "http.server", str(PORT), "--bind", address),
        *("--directory", str(repository)),
    )
    start(command, log=folder / "repository.log", environment=os.environ).write(record)


def stop(folder: Path) -> None:
    """End the server that ``serve`` started."""
    if (process := Process.read(folder / "repository.json")) is not None:
        process.end(patience_s=5)


def source(address: str) -> str:
    """The line of a host's ``sources.list`` that names the repository."""
    return f"deb [trusted=yes] http://{address}:{PORT} ./\n"


def _fetch(base: Path, pool: Path) -> None:
    """Download the packages and what they depend on beyond the base, as a fresh host would."""
    with _scratch(base) as root:
        shutil.rmtree(root / "etc/apt")
        shutil.copytree("/etc/apt", root / "etc/apt", symlinks=True)
        shutil.copy("/etc/resolv.conf", root / "etc/resolv.conf")
        quiet = ("-q", "-o", "APT::Sandbox::User=root")
        run("chroot", root, "apt-get", "update", *quiet, timeout_s=300)
        run(
            *("chroot", root, "apt-get", "install", *quiet, "--yes", "--download-only"),
            *("--no-install-recommends", *DEBIAN),
            timeout_s=900,
        )
        for archive in (root / "var/cache/apt/archives").glob("*.deb"):
            shutil.copy(archive, pool)


@contextmanager
def _scratch(base: Path) -> Iterator[Path]:
    """A root file system over ``base`` that is thrown away."""
    folder = cache_folder() / "scratch"
    shutil.rmtree(folder, ignore_errors=True)
    root, upper, work = (folder / name for name in ("root", "upper", "work"))
    for made in (root, upper, work):
        made.mkdir(parents=True)
    options = f"lowerdir={base},upperdir={upper},workdir={work}"
    run("mount", "-t", "overlay", "overlay", "-o", options, root)
    try:
        yield root
    finally:
        run("umount", root)
        shutil.rmtree(folder, ignore_errors=True)


def _build(package: StandIn, pool: Path) -> None:
    tree = pool.parent / "build" / package.name
    control = tree / "DEBIAN/control"
    control.parent.mkdir(parents=True)
    depends = f"Depends: {', '.join(package.depends)}\n" if package.depends else ""
    control.write_text(
        f"Package: {package.name}\nVersion: {package.version}\nArchitecture: amd64\n"
        f"Maintainer: Rackwright lab <lab@localhost>\n{depends}"
        f"Description: {package.summary}\n",
        encoding="utf-8",
    )
    for path, text in package.files.items():
        target = tree / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
        target.chmod(0o755 if target.parent.name == "bin" else 0o644)
    for made in (tree, *tree.rglob("*")):
        if made.is_dir():
            made.chmod(0o755)
    deb = pool / f"{package.name}_{package.version}_amd64.deb"
    run("dpkg-deb", "--root-owner-group", "-Zgzip", "--build", tree, deb)
    shutil.rmtree(tree.parent)


def _index(folder: Path) -> None:
    """Write the files by which apt knows a repository."""
    listing = run("apt-ftparchive", "packages", "pool", cwd=folder)
    if listing.count("\nFilename: ") != len(list((folder / "pool").glob("*.deb"))):
        raise ExternalToolError("the index of the lab's packages is not complete")
    (folder / "Packages").write_text(listing, encoding="utf-8")
    release = run("apt-ftparchive", "release", ".", cwd=folder)
    (folder / "Release").write_text(release, encoding="utf-8")
