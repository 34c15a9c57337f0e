"""The configuration that controllers serve to nodes of Slurm, as variables of roles."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rackwright.model.scheduler import Controller
from rackwright.plan.host_list import Host
from rackwright.plan.model import Plan
from rackwright.plan.slurm.cluster import SlurmCluster
from rackwright.plan.slurm.nodes import covers

SERVED = "/run/slurm/conf/slurm.conf"
"""Where slurmd keeps what it was served (slurm.conf(5), 22.05: ``SlurmdSpoolDir/conf-cache``, to
which this folder leads)."""

DEFAULT_PORT = "6817"
"""``SlurmctldPort`` (slurm.conf(5))."""


def served_variables(plan: Plan) -> dict[str, dict[str, Any]]:
    """Return the variables by group of hosts; empty where each host has files of its own."""
    slurm = plan.slurm
    if slurm is None or not slurm.scheduler.configless:
        return {}
    return {
        "slurm_controller": {"slurm_config_serves": True},
        "slurm_compute": {
            "slurm_config_served": True,
            "slurm_compute_servers": [
                _server(plan, slurm, one) for one in slurm.scheduler.controllers
            ],
            "ssh_server_slurm_config": SERVED,
            **({"pmix_config": ""} if slurm.scheduler.mpi == "pmix" else {}),
        },
    }


def hosts_with_files(plan: Plan, hosts: Mapping[str, Host]) -> tuple[str, ...]:
    """Return the nodes that have files all the same, since another of their daemons or commands reads them."""
    scheduler = plan.scheduler
    if scheduler is None or not scheduler.configless:
        return ()
    readers = {controller.host for controller in scheduler.controllers}
    if scheduler.accounting is not None:
        readers.add(scheduler.accounting.host)
    return tuple(
        name
        for name, host in hosts.items()
        if host.role == "compute" and host.name in readers and covers(scheduler, host.site)
    )


WITH_FILES = {
    "slurm_config_served": False,
    "slurm_compute_servers": [],
    "ssh_server_slurm_config": "/etc/slurm/slurm.conf",
    "pmix_config": "/etc/slurm/slurm.conf",
}
"""Variables of such a host."""


def _server(plan: Plan, slurm: SlurmCluster, controller: Controller) -> str:
    """Return a controller as ``slurmd --conf-server`` is told of it."""
    address = controller.address or plan.names.address_in(slurm.sites, controller.host)
    if address is None or ":" in address:  # slurmd would take the last part of it for a port
        address = controller.host
    port = slurm.scheduler.extra_value("SlurmctldPort") or DEFAULT_PORT
    return f"{address}:{port.partition('-')[0]}"
