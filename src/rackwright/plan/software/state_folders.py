"""Folders that a cluster loses with a host: state of Slurm's controller and its accounting database."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rackwright.plan.expansion import Expansion
from rackwright.plan.host_list import Host
from rackwright.plan.slurm.nodes import covers

DATABASE = "/var/lib/mysql"
"""Where MariaDB of Debian, Ubuntu and the RHEL family keeps its files (``datadir``)."""
BACKUPS = "/var/backups/slurm"
"""Where the role ``slurm_backup`` keeps copies."""


@dataclass(frozen=True, slots=True)
class StateFolder:
    """A folder that must outlive its host.

    Attributes:
        name: unique on the host.
        user: who owns all of its files.
        services: those that use it, in the order in which they are stopped.
    """

    name: str
    path: str
    user: str
    services: tuple[str, ...] = ()


def state_folders(plan: Expansion, host: Host) -> tuple[StateFolder, ...]:
    """Return the folders that a cluster cannot do without on ``host``; empty on hosts that can be made again."""
    return tuple(_folders(plan, host))


def _folders(plan: Expansion, host: Host) -> Iterator[StateFolder]:
    scheduler = plan.scheduler
    if scheduler is None or not covers(scheduler, host.site):
        return
    accounting = scheduler.accounting
    # Several controllers have their state on storage that they share, of which no host is the keeper.
    controls = [one.host for one in scheduler.controllers] == [host.name]
    accounts = accounting is not None and accounting.host == host.name
    if controls:
        yield StateFolder("slurmctld", scheduler.folders.state, "slurm", ("slurmctld",))
    if accounts:
        yield StateFolder("mysql", DATABASE, "mysql", ("slurmdbd", "mariadb"))
    if accounting is not None and accounts and accounting.keep and accounting.keep.archive:
        yield StateFolder("archive", accounting.keep.archive, "slurm", ("slurmdbd",))
    if controls or accounts:
        yield StateFolder("backups", BACKUPS, "root")
