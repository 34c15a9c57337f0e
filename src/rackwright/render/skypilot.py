"""Files by which users of SkyPilot reach the Slurm clusters of a blueprint.

SkyPilot (0.14, ``sky/clouds/slurm.py``) knows a Slurm cluster by a block of ``~/.slurm/config``, written like one of
``ssh_config``, with the login name as a literal; its ``config.yaml`` has the clusters that may be used, with the words
of accelerators by partition.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import yaml

from rackwright.plan.model import Plan
from rackwright.plan.skypilot import login_host
from rackwright.plan.slurm.nodes import PartitionSets
from rackwright.render.slurm import HEADER

FILES = SSH_CONFIG, SKY_CONFIG = "skypilot/slurm-config", "skypilot/config.yaml"
_APPEND = """\
# Each user appends it, with the login name on the clusters as LOGIN. Remove earlier blocks of these clusters first.
#   mkdir -p ~/.slurm
#   USER=LOGIN envsubst '$USER' < slurm-config >> ~/.slurm/config
"""
_MERGE = "# Merge 'slurm' into ~/.sky/config.yaml, which may have other settings.\n"


def render_skypilot(
    name: str, clusters: Iterable[Plan], allowed: Iterable[str]
) -> Mapping[str, str]:
    """Return the content of each file, by its path in the output folder.

    Args:
        name: name of the blueprint.
        clusters: plan of each Slurm cluster.
        allowed: names of the clusters that take new jobs.
    """
    head, plans = f"{HEADER} '{name}'; change it there.\n", tuple(clusters)
    return {
        SSH_CONFIG: head + _APPEND + "\n".join(map(_ssh_block, plans)),
        SKY_CONFIG: head + _MERGE + _sky_config(plans, allowed),
    }


def _ssh_block(plan: Plan) -> str:
    """Return the block of a cluster, with the first host where users log in."""
    site, host = login_host(plan)
    address = plan.names.address_of(site, host) or host
    return f"Host {_name(plan)}\n    HostName {address}\n    User ${{USER}}\n"


def _sky_config(plans: Iterable[Plan], allowed: Iterable[str]) -> str:
    clusters = {}
    for plan in plans:
        assert plan.slurm is not None  # noqa: S101 - a cluster has a scheduler
        kinds = {entry.partition.name: _kinds(entry) for entry in plan.slurm.partitions}
        clusters[_name(plan)] = {
            "gpu_partition_map": {
                kind: [name for name, kinds_of in kinds.items() if kind in kinds_of]
                for kind in sorted({kind for found in kinds.values() for kind in found})
            }
        }
    document = {"slurm": {"allowed_clusters": list(allowed), "cluster_configs": clusters}}
    return yaml.safe_dump(document, sort_keys=False)


def _name(plan: Plan) -> str:
    return plan.name if plan.slurm is None else plan.slurm.name


def _kinds(entry: PartitionSets) -> list[str]:
    return sorted({g.type.upper() for nodes in entry.sets for g in nodes.counted if g.type})
