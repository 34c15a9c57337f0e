"""A repository with the Slurm of Debian sid, as a team would give it to hosts of Debian 13."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rackwright_lab import repository
from rackwright_lab.base import machine_repository, make_base
from rackwright_lab.system import run

PORT = 8078
PACKAGES = (
    "slurmctld", "slurmd", "slurmdbd", "slurm-client", "slurm-wlm-basic-plugins", "libpam-slurm-adopt",
)  # fmt: skip
"""What the roles install of Slurm, apart from what that needs."""


def fetch(folder: Path) -> str:
    """Fill ``folder`` with the packages, and with what they need that Debian 13 has not; their version.

    Raises:
        ExternalToolError: they cannot be had today.
    """
    base = make_base(print, "trixie")
    (folder / "pool").mkdir(parents=True)
    with repository.scratch(base) as root:
        repository.ask_as_this_machine(root, "trixie")
        source = f"deb {machine_repository().uri} sid main\n"
        (root / "etc/apt/sources.list.d/sid.list").write_text(source)
        quiet = ("-q", "-o", "APT::Sandbox::User=root")
        run("chroot", root, "apt-get", "update", *quiet, timeout_s=300)
        run(
            *("chroot", root, "apt-get", "install", *quiet, "--yes", "--download-only"),
            *("--no-install-recommends", *(f"{name}/sid" for name in PACKAGES)),
            timeout_s=600,
        )
        for archive in (root / "var/cache/apt/archives").glob("*.deb"):
            shutil.copy(archive, folder / "pool")
    repository.index(folder)
    (package,) = (folder / "pool").glob("slurmctld_*.deb")
    return run("dpkg-deb", "--field", package, "Version")


@contextmanager
def served(folder: Path, address: str) -> Iterator[str]:
    """Serve the repository on an address of this machine; its line of a host's list of sources."""
    command = [sys.executable, "-P", "-m", "http.server", str(PORT), "--bind", address]
    with subprocess.Popen(
        [*command, "--directory", str(folder)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        try:
            yield f"deb [trusted=yes] http://{address}:{PORT} ./"
        finally:
            process.terminate()
