"""Containers and PMIx for jobs, as variables of the roles ``enroot``, ``pyxis`` and ``pmix``."""

from __future__ import annotations

from typing import Any

from rackwright.model.scheduler import Scheduler
from rackwright.plan.model import Plan


def container_variables(plan: Plan, site: str) -> dict[str, Any]:
    """Return the versions for the hosts of a site; what its bill does not state is absent."""
    bill = plan.software[site].bill
    if bill is None:
        return {}
    known = {"enroot_version": bill.enroot, "pyxis_version": bill.pyxis}
    return {key: value for key, value in known.items() if value is not None}


def mpi_variables(scheduler: Scheduler) -> dict[str, Any]:
    """Return the variables of every host of the Slurm cluster; empty where srun starts tasks without PMIx."""
    return {"pmix_default": True} if scheduler.mpi == "pmix" else {}
