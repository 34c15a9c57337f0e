"""The accounting database, as variables of the role ``slurm_database``."""

from __future__ import annotations

from typing import Any

from rackwright.model.scheduler import Accounting, Scheduler
from rackwright.model.scheduler_settings import DAY

_OF_SLURMCTLD = frozenset({"nodes", "partitions"})
"""What slurmdbd has no records of."""


def database_variables(scheduler: Scheduler, accounting: Accounting) -> dict[str, Any]:
    """Return the variables of slurmdbd, without the defaults of the role."""
    made: dict[str, Any] = {"slurm_database_host": accounting.address or accounting.host}
    if scheduler.auth != "munge":
        made["slurm_database_auth"] = scheduler.auth
    if accounting.keep is not None:
        ages = accounting.keep.ages
        made["slurm_database_keep_days"] = {kind: round(age / DAY) for kind, age in ages.items()}
        if accounting.keep.archive is not None:
            made["slurm_database_archive_folder"] = accounting.keep.archive
    if private := [what for what in scheduler.private_data if what not in _OF_SLURMCTLD]:
        made["slurm_database_private_data"] = private
    return made
