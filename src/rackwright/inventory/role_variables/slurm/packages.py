"""The packages of Slurm that a cluster chooses, as variables of the roles that install them.

The distribution's are the defaults of the roles. SchedMD's names are those of ``debian/control`` and
``slurm.spec`` of its sources.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rackwright.model.scheduler import Scheduler
from rackwright.plan.model import Plan
from rackwright.plan.slurm.nodes import covers

Names = Mapping[str, tuple[str, ...]]

_SCHEDMD: Mapping[str, Names] = {
    "Debian": {
        "client": ("slurm-smd-client", "slurm-smd"),
        "slurmctld": ("slurm-smd-slurmctld",),
        "slurmd": ("slurm-smd-slurmd",),
        "slurmdbd": ("slurm-smd-slurmdbd",),
        "sackd": ("slurm-smd-sackd",),
        "pam_slurm_adopt": ("slurm-smd-libpam-slurm-adopt",),
    },
    "RedHat": {
        "client": ("slurm",),
        "slurmctld": ("slurm-slurmctld",),
        "slurmd": ("slurm-slurmd",),
        "slurmdbd": ("slurm-slurmdbd",),
        "sackd": ("slurm-sackd",),
        "pam_slurm_adopt": ("slurm-pam_slurm",),
    },
}
_DAEMONS = ("slurmctld", "slurmd", "slurmdbd", "sackd")
_ROLES = {
    "slurm_controller": ("slurm_controller_packages", ("slurmctld", "client")),
    "slurm_database": ("slurm_database_packages", ("slurmdbd", "client")),
    "slurm_compute": ("slurm_compute_packages", ("slurmd", "client")),
    "slurm_login": ("slurm_login_packages", ("client",)),
}
"""By group its variable, and what is in the packages that it names."""


def package_variables(scheduler: Scheduler) -> dict[str, dict[str, Any]]:
    """Return the variables by group of hosts; empty where the distribution's packages are installed."""
    source = scheduler.packages.source
    if source == "distribution":
        return {}
    sets = _SCHEDMD if source == "schedmd" else _own(scheduler)

    def of(*parts: str) -> dict[str, list[str]]:
        return {
            family: [name for part in parts for name in names[part]]
            for family, names in sets.items()
        }

    found: dict[str, dict[str, Any]] = {
        "slurm_hosts": {
            "slurm_config_packages": of("client", *_DAEMONS),
            "slurm_config_package_sources": ["slurm-smd"] if source == "schedmd" else [],
            "slurm_config_package_others": (
                ["slurm-wlm", "slurm-wlm-contrib"] if source == "schedmd" else []
            ),
        }
    }
    found |= {group: {name: of(*parts)} for group, (name, parts) in _ROLES.items()}
    if scheduler.mpi == "pmix":
        found["slurm_hosts"]["pmix_slurm_packages"] = of("client")
    if scheduler.auth == "slurm":
        found["slurm_login"]["slurm_login_sackd_packages"] = of("sackd")
    found["slurm_compute"]["ssh_server_adopt_packages"] = of("pam_slurm_adopt")
    return found


def pinned_version(plan: Plan, site: str) -> dict[str, Any]:
    """Return the version of Slurm that hosts of a site are held at; empty where they have no Slurm."""
    slurm = plan.slurm
    if slurm is None or not covers(slurm.scheduler, site):
        return {}
    bill = plan.software[site].bill
    stated = None if bill is None else bill.slurm
    return {"slurm_config_version": stated or slurm.scheduler.version}


def _own(scheduler: Scheduler) -> dict[str, Names]:
    """Return a team's own names, which are the same in both families."""
    names = scheduler.packages.names
    assert names is not None  # noqa: S101 - the model wants them
    made: dict[str, tuple[str, ...]] = names.model_dump()
    return dict.fromkeys(_SCHEDMD, made)
