"""The Slurm cluster of a plan: its parts, and what keeps its files from being written."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from known import known
from rackwright.plan.load import load_plan
from rackwright.plan.model import Plan
from rackwright.plan.slurm.nodes import node_sets, partition_sets
from rackwright.plan.slurm.topology import topologies
from rackwright.policy.packs.loader import builtin_pack

BLUEPRINT = builtin_pack() / "fixtures" / "slurm.yaml"
TREE = Path(__file__).parents[3] / "golden" / "slurm" / "tree" / "layer.yaml"


def a_plan(folder: Path, layer: str) -> Plan:
    path = folder / "layer.yaml"
    path.write_text(layer, "utf-8")
    return load_plan(BLUEPRINT, (TREE, path)).plan


def test_its_parts_are_those_of_the_plan() -> None:
    plan = load_plan(BLUEPRINT, (TREE,)).plan
    slurm = known(plan.slurm)
    assert slurm.scheduler is plan.scheduler
    assert slurm.sites == plan.site_names
    assert slurm.nodes == node_sets(plan)
    assert slurm.partitions == partition_sets(plan, slurm.nodes)
    assert slurm.topologies == topologies(plan, slurm.nodes)[0]
    assert slurm.problems == ()
    assert {one.nodes.group for one in slurm.cabling} <= {nodes.group for nodes in slurm.nodes}


def test_cluster_name_is_the_declared_one_or_that_of_the_blueprint(tmp_path: Path) -> None:
    plan = a_plan(tmp_path, "scheduler: {cluster: other}\n")
    assert known(plan.slurm).name == "other"
    unnamed = known(plan.scheduler).model_copy(update={"cluster": None})
    blueprint = plan.blueprint.model_copy(update={"scheduler": unnamed})
    assert known(replace(plan, blueprint=blueprint).slurm).name == plan.name


def test_problems_of_names_come_before_those_of_topologies(tmp_path: Path) -> None:
    nodes = "nodes: [{groups: [nobody], weight: 1}]"
    switches = "topology: {plugin: tree, switches: [{name: s1, nodes: 'nobody-1'}]}"
    plan = a_plan(tmp_path, f"scheduler: {{{nodes}, {switches}}}\n")
    first, *others = known(plan.slurm).problems
    assert "there is no group of compute nodes 'nobody'" in first.message
    assert any("there is no compute node 'nobody-1'" in one.message for one in others)
