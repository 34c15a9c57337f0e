"""SCH-001: Slurm's topology matches the fabric."""

from __future__ import annotations

from collections.abc import Iterator

from rackwright.api import (
    FieldPath,
    Finding,
    Measure,
    Missing,
    Plan,
    Policy,
    Severity,
    Subject,
    Suggestion,
    rule,
)
from rackwright.model.scheduler import Scheduler
from rackwright.plan.slurm.checks import Cabling, difference
from rackwright.plan.slurm.cluster import SlurmCluster
from rackwright.plan.slurm.topology import TOPOLOGY, declared_tree, members, tree_faults


@rule("SCH-001", "Slurm's topology matches the fabric", Severity.HIGH, since="0.2", stage="design")
class SlurmTopology(Policy):
    """Hosts that share leaves share a switch of Slurm's tree, and no host is missing."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield a finding for each group with accelerators, more where a tree is written by hand."""
        for slurm in plan.clusters:
            yield from _judge(slurm)


def _judge(slurm: SlurmCluster) -> Iterator[Measure | Finding]:
    scheduler, sets = slurm.scheduler, slurm.nodes
    in_tree = {nodes.group for nodes in members(scheduler, sets, "tree")}
    in_blocks = {nodes.group for nodes in members(scheduler, sets, "block")}
    for cabled in slurm.cabling:
        if cabled.nodes.group in in_tree:
            yield _judge_cabling(cabled)
        elif cabled.nodes.group not in in_blocks and cabled.units > 1:
            yield _warn_flat(cabled, scheduler)
    if scheduler.topology.switches:
        yield from _judge_written(slurm)


def _at(cabled: Cabling) -> Subject:
    return Subject(f"{cabled.nodes.site} {cabled.nodes.group}", cabled.nodes.path)


def _judge_cabling(cabled: Cabling) -> Finding:
    at, hosts = _at(cabled), cabled.nodes.count
    if cabled.fabric is None:
        return Finding(
            at,
            ok=None,
            message=f"no compute fabric says where the {hosts:,} hosts are cabled",
            missing=(Missing(f"compute fabric of '{cabled.nodes.group}'", _fabrics(at)),),
        )
    if cabled.unplaced or not cabled.linked:
        open_ = (
            f"{cabled.unplaced:,} of {hosts:,} hosts find no port"
            if cabled.unplaced
            else "a tier leads nowhere"
        )
        return Finding(
            at,
            ok=None,
            message=f"in the fabric '{cabled.fabric}' {open_}",
            missing=(Missing(f"cabling of the fabric '{cabled.fabric}'", _fabrics(at)),),
        )
    units = f"{cabled.units:,} set{'s' if cabled.units != 1 else ''}"
    return Finding(
        at, ok=True, message=f"the {hosts:,} hosts share their leaves in {units}, and so in Slurm"
    )


def _fabrics(at: Subject) -> FieldPath:
    """Return the place of the fabrics of a node group's site."""
    return (*at.path[:2], "fabrics")


def _warn_flat(cabled: Cabling, scheduler: Scheduler) -> Finding:
    flat = scheduler.topology.plugin == "flat"
    return Finding(
        _at(cabled),
        ok=False,
        message=(
            f"Slurm has no topology, although the fabric '{cabled.fabric}' has "
            f"{cabled.units:,} sets of leaves"
        ),
        fix="use the topology 'tree'",
        advisory=True,
        suggest=Suggestion((*TOPOLOGY, "plugin"), "tree") if flat else None,
    )


def _judge_written(slurm: SlurmCluster) -> Iterator[Measure | Finding]:
    """Check a tree that is written by hand against the fabrics."""
    scheduler = slurm.scheduler
    plan = slurm.plan
    at = Subject(f"{slurm.label}scheduler topology", (*TOPOLOGY, "switches"))
    remedy = "remove 'switches': the tree then follows from the fabric"
    for fault in tree_faults(declared_tree(scheduler.topology.switches)):
        yield Finding(at, ok=False, message=fault, fix=remedy)
        return
    places = [(*site.path, "fabrics") for site in plan.onprem]
    found = difference(plan, scheduler, members(scheduler, slurm.nodes, "tree"))
    if found is None:
        yield Finding(
            at,
            ok=None,
            message="the handwritten tree cannot be compared with the fabric",
            missing=(Missing("where every host is cabled", *places),),
        )
        return
    fix = remedy
    if found.first is not None:
        fix = f"put '{found.first[0]}' with the other hosts of '{found.first[1]}', or {remedy}"
    yield Measure(
        at,
        value=len(found.hosts),
        limit=0,
        unit="hosts",
        what="number of hosts on a switch that they are not cabled to",
        fix=fix,
    )
    yield Measure(
        at,
        value=found.above,
        limit=0,
        unit="switches",
        what="number of switches that join other hosts than the upper tiers of the fabric",
        fix=remedy,
    )
