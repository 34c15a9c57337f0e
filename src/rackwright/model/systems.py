"""The operating systems that the roles are written for, each with what has been run on it.

This table is the only one: the blueprint's ``system`` is checked against it, the role ``base``
refuses hosts that run anything else, and ``docs/systems.md`` shows it. A test writes the copies.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Evidence(StrEnum):
    """Evidence that the roles work on a system, the strongest first."""

    LAB = "lab"
    """Roles were applied, applied again and checked on hosts that run it."""
    STATIC = "static"
    """Tests evaluate the roles' variables with what its package manager prints; no host ran it."""
    DOCUMENTS = "documents"
    """Written from its documents; nothing was run."""


@dataclass(frozen=True, slots=True)
class System:
    """An operating system in one release.

    Attributes:
        id: name in a blueprint.
        title: name for people.
        distributions: what Ansible calls it in ``ansible_facts['distribution']``.
        release: beginning of ``ansible_facts['distribution_version']``, up to a dot.
        evidence: the strongest there is.
        ran: what was run, and where.
        lacks: what a team has to bring; empty where nothing is known to be missing.
        mark: file that only this system has, where another one has the same name and release.
    """

    id: str
    title: str
    distributions: tuple[str, ...]
    release: str
    evidence: Evidence
    ran: str
    lacks: str = ""
    mark: str = ""


_NVIDIA = "NVIDIA's repositories for driver, CUDA, DCGM and DOCA-OFED"
_KERNELS = (
    "No host. `tests/unit/roles/test_base.py` evaluates which kernel packages are held, from a list as "
    "{} prints it"
)

SYSTEMS: tuple[System, ...] = (
    System(
        id="debian-12",
        title="Debian 12",
        distributions=("Debian",),
        release="12",
        evidence=Evidence.LAB,
        ran="Every role on hosts of the lab, by `tests/e2e`; with stand-ins for what needs hardware "
        "(`roles/README.md` says which). Its own Slurm 22.05 runs jobs there",
        lacks=_NVIDIA,
    ),
    System(
        id="debian-13",
        title="Debian 13",
        distributions=("Debian",),
        release="13",
        evidence=Evidence.LAB,
        ran="The whole of the template `lab` on hosts of the lab, by `tests/e2e/test_debian_13.py`; with "
        "the same stand-ins. Its own Slurm 24.11 runs jobs there, and is upgraded to 26.05",
        lacks=_NVIDIA,
    ),
    System(
        id="ubuntu-22.04",
        title="Ubuntu 22.04",
        distributions=("Ubuntu",),
        release="22.04",
        evidence=Evidence.STATIC,
        ran=_KERNELS.format("`dpkg-query`"),
        lacks=f"{_NVIDIA}; a Slurm newer than its own 21.08",
    ),
    System(
        id="ubuntu-24.04",
        title="Ubuntu 24.04",
        distributions=("Ubuntu",),
        release="24.04",
        evidence=Evidence.STATIC,
        ran=_KERNELS.format("`dpkg-query`"),
        lacks=_NVIDIA,
    ),
    System(
        id="el-9",
        title="RHEL 9, Rocky Linux 9 and AlmaLinux 9",
        distributions=("RedHat", "Rocky", "AlmaLinux"),
        release="9",
        evidence=Evidence.STATIC,
        ran=_KERNELS.format("`rpm`"),
        lacks=f"{_NVIDIA}; EPEL; Slurm's packages; RPMs of Prometheus, its node exporter and "
        "Alertmanager",
    ),
    System(
        id="amazon-linux-2023",
        title="Amazon Linux 2023",
        distributions=("Amazon",),
        release="2023",
        evidence=Evidence.DOCUMENTS,
        ran="Nothing. Its files and services are taken to be those of the RHEL family",
        lacks=f"{_NVIDIA}; MUNGE and Slurm's packages, as EPEL does not support it; RPMs of "
        "Prometheus, its node exporter and Alertmanager",
    ),
    System(
        id="dgx-os-6",
        title="DGX OS 6",
        distributions=("Ubuntu",),
        release="22.04",
        evidence=Evidence.DOCUMENTS,
        ran="Nothing. It is Ubuntu 22.04 with NVIDIA's own kernel settings and driver packages",
        lacks="a Slurm newer than Ubuntu's 21.08",
        mark="/etc/dgx-release",
    ),
    System(
        id="dgx-os-7",
        title="DGX OS 7",
        distributions=("Ubuntu",),
        release="24.04",
        evidence=Evidence.DOCUMENTS,
        ran="Nothing. It is Ubuntu 24.04 with NVIDIA's own kernel settings and driver packages",
        mark="/etc/dgx-release",
    ),
)


def known_system(given: str) -> str:
    """Return ``given``, where it is the id of a system that the roles are written for.

    Raises:
        ValueError: it is not; the message lists those that are.
    """
    known = [system.id for system in SYSTEMS]
    if given not in known:
        raise ValueError(
            f"the roles are not written for '{given}'; they are for {', '.join(known[:-1])} and "
            f"{known[-1]} (docs/systems.md)"
        )
    return given
