"""Packages in a root file system that is a folder, before anything boots from it."""

from __future__ import annotations

from pathlib import Path

from rackwright_lab.repository import ask_as_this_machine
from rackwright_lab.system import run

QUIET = ("-q", "-o", "APT::Sandbox::User=root", "-o", "Dpkg::Options::=--force-unsafe-io")


def install_packages(root: Path, suite: str, *packages: str) -> None:
    """Install packages of this machine's repositories in ``root``; no service is started there, then or later.

    What keeps services from starting stays, for who boots from it to remove.
    """
    ask_as_this_machine(root, suite)
    policy = root / "usr/sbin/policy-rc.d"
    policy.write_text("#!/bin/sh\nexit 101\n")
    policy.chmod(0o755)
    run("chroot", root, "apt-get", "update", *QUIET, timeout_s=300)
    run(
        *("chroot", root, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "install", *QUIET),
        *("--yes", "--no-install-recommends", *packages),
        timeout_s=900,
    )
