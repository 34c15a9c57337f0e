"""Files of a federation: those of each cluster, the flows between sites, and those of SkyPilot's users."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from pathlib import Path

from rackwright.plan.federation.flows import flows
from rackwright.plan.model import Plan
from rackwright.plan.problems import PlanError
from rackwright.render.skypilot import render_skypilot
from rackwright.render.slurm import FILES, HEADER, render_slurm

FLOWS = "federation/flows.csv"


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
    files[FLOWS] = f"{HEADER} '{plan.name}'; change it there.\n{_flows(plan)}"
    active = (member.cluster for member in plan.members if member.spec.state == "active")
    sky = render_skypilot(plan.name, (member.plan for member in plan.members), active)
    return {**files, **sky}


def known_files(folder: Path) -> Iterator[Path]:
    """Yield the files in ``folder`` that this module may have written."""
    for name in FILES:
        yield from sorted(folder.glob(f"slurm/*/{name}"))
    if (flows_file := folder / FLOWS).exists():
        yield flows_file


def _flows(plan: Plan) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("from_site", "from", "to_site", "to", "port", "protocol", "reason"))
    for flow in flows(plan, plan.names):
        writer.writerow(
            (flow.source, flow.prefix, flow.target, flow.address, flow.port, "tcp", flow.reason)
        )
    return text.getvalue()
