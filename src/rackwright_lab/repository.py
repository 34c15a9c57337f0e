"""The lab's own apt repository: the Debian packages that the roles install, and stand-ins.

Hosts of a lab reach nothing but the lab, as on many sites. What can be real is the distribution's
own package. A package that needs hardware is a stand-in with the real name, built here.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from tempfile import mkdtemp

from rackwright.errors import ExternalToolError
from rackwright.locks import turn
from rackwright_lab.base import (
    apt_sources,
    cache_folder,
    clear,
    code_digests,
    machine_repository,
    recipe_key,
    suite_of,
)
from rackwright_lab.mock_packages import MOCK_PACKAGES, package
from rackwright_lab.system import Process, run, start

PORT = 8077

CODE = Path(__file__)
"""What makes the repository, together with the module of stand-ins."""

DEBIAN = (
    "acl", "chrony", "fuse-overlayfs", "ibsim-utils", "ibverbs-utils", "infiniband-diags", "jq",
    "libnfs-utils", "libnss-sss", "libpam-slurm-adopt", "libpam-sss", "libpmix2", "libslurm-dev",
    "logrotate", "make", "mariadb-server", "mdadm", "munge", "netplan.io", "nfs-common", "nfs-ganesha", "nfs-ganesha-vfs",
    "nfs-kernel-server", "nftables", "nvme-cli", "opensm", "parallel", "perftest", "pigz", "prometheus",
    "prometheus-alertmanager", "prometheus-node-exporter", "python3-pymysql", "python3-yaml",
    "rdma-core", "rsync", "slapd", "slurm-client", "slurm-wlm-basic-plugins", "slurmctld", "slurmd",
    "slurmdbd", "squashfs-tools", "sssd-ldap", "xfsprogs",
)  # fmt: skip
"""What the roles install, apart from stand-ins; dependencies come along."""


def make_repository(base: Path, say: Callable[[str], None]) -> Path:
    """Return the folder of the repository, filled on the first call for a base.

    Raises:
        ExternalToolError: a package cannot be fetched or built.
    """
    with turn(cache_folder() / "lock"):
        downloads = _cached("packages", _fetched_by(base), lambda made: _fetch(base, made, say))
        return _cached("repository", _filled_by(downloads), lambda made: _fill(made, downloads))


def _fetched_by(base: Path) -> list[object]:
    """Return the key of the packages to fetch; their versions are those of the base's time."""
    return [
        base.name,
        DEBIAN,
        apt_sources("$(REPO_URI) $(CODENAME) $(COMPONENT)"),
        code_digests(CODE),
    ]


def _filled_by(downloads: Path) -> list[object]:
    """Return the key of the repository's content."""
    compiler = shutil.which("gcc")
    return [
        downloads.name,
        [asdict(stand_in) for stand_in in MOCK_PACKAGES],
        compiler and run(compiler, "--version"),
        code_digests(CODE, Path(package.__file__)),
    ]


def _cached(kind: str, recipe: object, make: Callable[[Path], None]) -> Path:
    """Return the folder of what ``recipe`` describes, filled by ``make`` the first time."""
    folder = cache_folder() / f"{kind}-{recipe_key(recipe)}"
    if not folder.is_dir():
        unfinished = folder.with_suffix(".new")
        clear(unfinished)
        unfinished.mkdir()
        make(unfinished)
        unfinished.rename(folder)
    return folder


def _fill(folder: Path, downloads: Path) -> None:
    pool = folder / "pool"
    pool.mkdir()
    for archive in downloads.iterdir():
        os.link(archive, pool / archive.name)
    for stand_in in MOCK_PACKAGES:
        stand_in.build(pool)
    index(folder)


def serve(repository: Path, address: str, folder: Path) -> None:
    """Serve the repository on an address of the lab; nothing if that is done already."""
    record = folder / "repository.json"
    if (process := Process.read(record)) is not None and process.alive:
        return
    command = (
        *(sys.executable, "-P", "-m", "http.server", str(PORT), "--bind", address),
        *("--directory", str(repository)),
    )
    start(command, log=folder / "repository.log", environment=os.environ).write(record)


def stop(folder: Path) -> None:
    """End the server that ``serve`` started."""
    if (process := Process.read(folder / "repository.json")) is not None:
        process.end(timeout_s=5)


def source(address: str) -> str:
    """Return the line of a host's ``sources.list`` that names the repository."""
    return f"deb [trusted=yes] http://{address}:{PORT} ./\n"


def _fetch(base: Path, folder: Path, say: Callable[[str], None]) -> None:
    """Download the packages and what they depend on beyond the base, as a fresh host would."""
    say("fetching the packages that the roles install, once")
    with scratch(base) as root:
        ask_as_this_machine(root, suite_of(base))
        quiet = ("-q", "-o", "APT::Sandbox::User=root")
        run("chroot", root, "apt-get", "update", *quiet, timeout_s=300)
        run(
            *("chroot", root, "apt-get", "install", *quiet, "--yes", "--download-only"),
            *("--no-install-recommends", *DEBIAN),
            timeout_s=900,
        )
        for archive in (root / "var/cache/apt/archives").glob("*.deb"):
            shutil.copy(archive, folder)


def ask_as_this_machine(root: Path, suite: str) -> None:
    """Have apt in ``root`` ask where this machine's apt does, for a suite of Debian."""
    shutil.rmtree(root / "etc/apt")
    shutil.copytree("/etc/apt", root / "etc/apt", symlinks=True)
    shutil.copy("/etc/resolv.conf", root / "etc/resolv.conf")
    here = re.compile(rf"\b{re.escape(machine_repository().suite)}\b")
    for path in (root / "etc/apt").rglob("*"):
        if path.name == "sources.list" or path.suffix in {".list", ".sources"}:
            path.write_text(here.sub(suite, path.read_text(encoding="utf-8")), encoding="utf-8")


@contextmanager
def scratch(base: Path) -> Iterator[Path]:
    """Yield a root file system of one's own over ``base`` that is thrown away."""
    cache_folder().mkdir(parents=True, exist_ok=True)
    with turn(cache_folder() / "scratch.lock"):
        for left in cache_folder().glob("scratch-*"):
            if not Path("/proc", left.name.split("-")[1]).exists():
                clear(left)
        folder = Path(mkdtemp(prefix=f"scratch-{os.getpid()}-", dir=cache_folder()))
    root, upper, work = (folder / name for name in ("root", "upper", "work"))
    try:
        for made in (root, upper, work):
            made.mkdir()
        options = f"lowerdir={base},upperdir={upper},workdir={work}"
        run("mount", "-t", "overlay", "overlay", "-o", options, root)
        yield root
    finally:
        clear(folder)


def index(folder: Path) -> None:
    """Write the files by which apt knows a repository.

    Raises:
        ExternalToolError: apt-ftparchive fails, or leaves out a package.
    """
    listing = run("apt-ftparchive", "packages", "pool", cwd=folder)
    if listing.count("\nFilename: ") != len(list((folder / "pool").glob("*.deb"))):
        raise ExternalToolError("the index of the lab's packages is not complete")
    (folder / "Packages").write_text(listing, encoding="utf-8")
    release = run("apt-ftparchive", "release", ".", cwd=folder)
    (folder / "Release").write_text(release, encoding="utf-8")
