"""Data volumes of head nodes on AWS, as variables of the role ``data_volume``.

Which volume it is, the outputs of the stacks tell: without them the role stops, so that nothing is written to a
root volume in its place.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rackwright.plan.host_list import Host
from rackwright.plan.model import Plan
from rackwright.plan.slurm.state import state_folders

DEVICE = "data_volume_device"
"""Variable of a host with its volume, by its name below /dev/disk/by-id."""


def data_volume_variables(plan: Plan, hosts: Mapping[str, Host]) -> dict[str, dict[str, Any]]:
    """The variables of each of ``hosts`` that has a data volume, by its name in the inventory."""
    volumes = {(site.name, name): site.data_volume for site in plan.aws for name in site.data_hosts}
    found: dict[str, dict[str, Any]] = {}
    for name, host in hosts.items():
        volume = volumes.get((host.site, host.name))
        if volume is not None:
            found[name] = {
                "data_volume_size_gib": volume.size,
                "data_volume_folders": [
                    {
                        "name": folder.name,
                        "path": folder.path,
                        "user": folder.user,
                        "services": list(folder.services),
                    }
                    for folder in state_folders(plan, host)
                ],
            }
    return found
