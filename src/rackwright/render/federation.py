"""Files of a federation: those of each cluster, the flows between sites, and what SkyPilot's users need.

SkyPilot knows a Slurm cluster by a block of ``~/.slurm/config``, written like one of ``ssh_config``; its
``config.yaml`` has the clusters that may be used, with the words of accelerators by partition.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from pathlib import Path

import yaml

from rackwright.plan.federation.flows import flows
from rackwright.plan.federation.members import Member
from rackwright.plan.model import Plan
from rackwright.plan.problems import PlanError
from rackwright.plan.slurm.nodes import PartitionSets
from rackwright.render.slurm import FILES, HEADER, render_slurm

FLOWS = "federation/flows.csv"
SSH_CONFIG, SKY_CONFIG = "skypilot/slurm-config", "skypilot/config.yaml"


def render_federation(plan: Plan) -> Mapping[str, str]:
    """Return the content of each file, by its path in the output folder.

    Raises:
        PlanError: a cluster's files cannot be made; with every reason.
    """
    files: dict[str, str] = {}
    problems = [problem for slurm in plan.clusters for problem in slurm.problems]
    if problems:
        raise PlanError(tuple(dict.fromkeys(problems)))
    for member in plan.members:
        made = render_slurm(member.plan)
        files |= {f"slurm/{member.cluster}/{name}": text for name, text in made.items()}
    head = f"{HEADER} '{plan.name}'; change it there.\n"
    files[FLOWS] = head + _flows(plan)
    files[SSH_CONFIG] = head + "\n".join(_ssh_blocks(plan))
    files[SKY_CONFIG] = head + _sky_config(plan)
    return files


def known_files(folder: Path) -> Iterator[Path]:
    """Yield the files in ``folder`` that this module may have written."""
    for name in FILES:
        yield from sorted(folder.glob(f"slurm/*/{name}"))
    yield from (
        path for name in (FLOWS, SSH_CONFIG, SKY_CONFIG) if (path := folder / name).exists()
    )


def _flows(plan: Plan) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("from_site", "from", "to_site", "to", "port", "protocol", "reason"))
    for flow in flows(plan, plan.names):
        writer.writerow(
            (flow.source, flow.prefix, flow.target, flow.address, flow.port, "tcp", flow.reason)
        )
    return text.getvalue()


def _ssh_blocks(plan: Plan) -> Iterator[str]:
    """Yield a block for each cluster, with the first host where users log in."""
    for member in plan.members:
        host = login_host(member)
        address = member.plan.names.address_of(member.spec.site, host) or host
        yield f"Host {member.cluster}\n    HostName {address}\n"


def login_host(member: Member[Plan]) -> str:
    """Return the host that users log in to: the first login host, else the first controller."""
    scheduler = member.plan.scheduler
    for site in member.plan.onprem:
        for group in site.groups:
            if group.spec.role == "login" and group.host_names:
                return group.host_names[0]
    for cloud in member.plan.aws:
        for servers in cloud.servers:
            if servers.role == "login" and servers.names:
                return servers.names[0]
    return scheduler.controllers[0].host if scheduler is not None else member.cluster


def _sky_config(plan: Plan) -> str:
    clusters = {}
    for member in plan.members:
        slurm = member.plan.slurm
        assert slurm is not None  # noqa: S101 - a federation has a scheduler
        kinds = {entry.partition.name: _kinds(entry) for entry in slurm.partitions}
        clusters[member.cluster] = {
            "gpu_partition_map": {
                kind: [name for name, kinds_of in kinds.items() if kind in kinds_of]
                for kind in sorted({kind for found in kinds.values() for kind in found})
            }
        }
    allowed = [member.cluster for member in plan.members if member.spec.state == "active"]
    document = {"slurm": {"allowed_clusters": allowed, "cluster_configs": clusters}}
    return yaml.safe_dump(document, sort_keys=False)


def _kinds(entry: PartitionSets) -> list[str]:
    return sorted({g.type.upper() for nodes in entry.sets for g in nodes.counted if g.type})
