"""The tree that AWS tells of its instances."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from rackwright.model.scheduler import DeclaredSwitch
from rackwright.plan.load import load_plan
from rackwright.plan.slurm.instance_topology import site_tree, switches_layer, told_tree
from rackwright.plan.slurm.nodes import node_sets
from rackwright.plan.slurm.topology import TreeSwitch, slurm_tree, tree_faults
from rackwright.policy.packs.loader import builtin_pack

AWS = builtin_pack() / "fixtures" / "aws.yaml"
SCHEDULER = """
scheduler:
  kind: slurm
  version: "25.05"
  cluster: atlas
  sites: [use1]
  controllers: [{host: head-1, address: 10.20.0.9}]
  topology: {plugin: tree}
  partitions: [{name: train, groups: [train], default: true, max_time: 1-00:00:00}]
"""
TOLD = {
    "train-1": ("nn-1", "nn-2", "nn-4"),
    "train-2": ("nn-1", "nn-2", "nn-4"),
    "train-3": ("nn-1", "nn-3", "nn-5"),
}


def test_hosts_that_share_the_lowest_node_share_a_switch() -> None:
    hosts = ("train-1", "train-2", "train-3")
    assert site_tree("use1", {"train": hosts}, TOLD) == (
        TreeSwitch("nn-4", nodes=("train-1", "train-2")),
        TreeSwitch("nn-5", nodes=("train-3",)),
        TreeSwitch("nn-2", children=("nn-4",)),
        TreeSwitch("nn-3", children=("nn-5",)),
        TreeSwitch("nn-1", children=("nn-2", "nn-3")),
    )


def test_hosts_of_which_aws_tells_nothing_stay_with_their_group() -> None:
    groups = {"train": ("train-1", "train-2"), "cpu": ("cpu-1",)}
    made = site_tree("use1", groups, {"train-1": ("nn-1",)})
    assert made == (
        TreeSwitch("nn-1", nodes=("train-1",)),
        TreeSwitch("use1-train", nodes=("train-2",)),
        TreeSwitch("use1-cpu", nodes=("cpu-1",)),
        TreeSwitch("use1", children=("nn-1", "use1-train", "use1-cpu")),
    )


@pytest.mark.parametrize(
    "above",
    [
        {},
        TOLD,
        {"train-1": ("nn-1", "nn-2"), "train-2": ("nn-1",), "train-3": ("nn-9",)},
        {host: (f"nn-{host}",) for host in TOLD},
    ],
)
def test_every_host_is_in_the_tree_once(above: dict[str, tuple[str, ...]]) -> None:
    hosts = tuple(TOLD)
    made = site_tree("use1", {"train": hosts}, above)
    assert sorted(host for switch in made for host in switch.nodes) == sorted(hosts)
    assert tree_faults(made) == ()
    below = {child for switch in made for child in switch.children}
    assert len([switch for switch in made if switch.name not in below]) == 1


def test_the_layer_makes_slurm_s_tree_of_what_aws_told(tmp_path: Path) -> None:
    scheduler, told = tmp_path / "scheduler.yaml", tmp_path / "told.yaml"
    scheduler.write_text(SCHEDULER)
    above = {f"train-{n}": ("nn-1", f"nn-{2 + n % 3}") for n in range(1, 17)}
    plan = load_plan(AWS, [scheduler]).plan
    switches = told_tree(plan, "use1", above)
    told.write_text(switches_layer(switches))

    for one in yaml.safe_load(told.read_text())["scheduler"]["topology"]["switches"]:
        DeclaredSwitch.model_validate(one)
    again = load_plan(AWS, [scheduler, told]).plan
    tree = slurm_tree(again, node_sets(again))
    assert tree.problems == []
    assert tuple(tree.switches) == switches
    assert {len(switch.nodes) for switch in switches if switch.nodes} == {5, 6}
