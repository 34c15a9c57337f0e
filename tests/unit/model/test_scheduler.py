"""What a scheduler may say, and what contradicts itself."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from rackwright.model.scheduler import Scheduler, job_minutes


def a_scheduler(**more: Any) -> dict[str, Any]:
    return {
        "kind": "slurm",
        "version": "25.05",
        "controllers": [{"host": "head-1"}],
        "partitions": [{"name": "gpu", "groups": ["dgx"], "default": True}],
        "topology": {"plugin": "tree"},
        **more,
    }


def refuse(match: str, **more: Any) -> None:
    with pytest.raises(ValidationError, match=match):
        Scheduler.model_validate(a_scheduler(**more))


def test_the_release_is_a_pair_of_numbers() -> None:
    assert Scheduler.model_validate(a_scheduler(version="24.11.3")).release == (24, 11)


@pytest.mark.parametrize("version", ["25", "25.06", "v25.05", "25.05-rc1", "latest"])
def test_a_version_that_is_no_release_is_refused(version: str) -> None:
    refuse("version", version=version)


@pytest.mark.parametrize("key", ["ClusterName", "clustername", "TOPOLOGYPLUGIN", "NodeName"])
def test_an_extra_option_that_is_generated_is_refused_in_any_case(key: str) -> None:
    refuse("is generated, it cannot be in 'extra'", extra={key: "x"})


def test_an_extra_option_cannot_add_a_line_or_a_comment() -> None:
    refuse("one line", extra={"TreeWidth": "16\nSlurmUser=root"})
    refuse("one line", extra={"TreeWidth": "16 # more"})
    refuse("pattern", extra={"Tree Width": "16"})


def test_an_extra_option_is_given_once() -> None:
    refuse("'treewidth' is named twice", extra={"TreeWidth": 16, "treewidth": 17})


def test_a_qos_needs_a_database() -> None:
    refuse("'qos' needs 'accounting'", qos=[{"name": "high"}])
    refuse("needs 'accounting'", preemption={"by": "qos", "mode": "requeue"})


def test_a_qos_that_does_not_exist_is_named() -> None:
    accounting = {"host": "head-1"}
    refuse(
        "the QOS 'high' names the QOS 'lwo'",
        accounting=accounting,
        qos=[{"name": "high", "preempts": ["lwo"]}],
    )
    partition = {"name": "gpu", "groups": ["dgx"], "allow_qos": ["hihg"]}
    refuse("the partition 'gpu' names the QOS 'hihg'", partitions=[partition])


def test_qos_that_preempt_each_other_are_refused() -> None:
    accounting = {"host": "head-1"}
    itself = [{"name": "high", "preempts": ["high"]}]
    refuse("QOS preempt each other: high → high", accounting=accounting, qos=itself)
    low = {"name": "low", "preempts": ["normal"]}
    ring = [{"name": "normal", "preempts": ["high"]}, {"name": "high", "preempts": ["low"]}, low]
    refuse("QOS preempt each other: ", accounting=accounting, qos=ring)
    Scheduler.model_validate(a_scheduler(accounting=accounting, qos=[*ring[1:]]))


@pytest.mark.parametrize(
    ("limit", "minutes"),
    [("UNLIMITED", None), ("00:30:00", 30), ("2-01:00:00", 2940), ("48:00:01", 2881)],
)
def test_a_time_limit_is_minutes(limit: str, minutes: int | None) -> None:
    assert job_minutes(limit) == minutes


def test_the_qos_of_the_database_itself_is_known() -> None:
    partition = {"name": "gpu", "groups": ["dgx"], "allow_qos": ["normal"]}
    made = Scheduler.model_validate(a_scheduler(partitions=[partition]))
    assert made.partitions[0].allow_qos == ("normal",)


def test_topologies_by_partition_need_a_release_that_has_them() -> None:
    partitions = [{"name": "gpu", "groups": ["dgx"], "topology": "block"}]
    refuse("need Slurm 25.05; this is 24.11", version="24.11", partitions=partitions)
    made = Scheduler.model_validate(a_scheduler(partitions=partitions))
    assert made.partitions[0].topology == "block"


def test_blocks_need_a_release_that_has_them() -> None:
    topology = {"plugin": "block"}
    refuse("topology 'block' needs Slurm 23.11", version="22.05", topology=topology)
    made = Scheduler.model_validate(a_scheduler(version="23.11", topology=topology))
    assert made.topology.plugin == "block"


@pytest.mark.parametrize(
    "more",
    [
        {"partitions": [{"name": "gpu", "groups": ["a"]}, {"name": "gpu", "groups": ["b"]}]},
        {"controllers": [{"host": "head-1"}, {"host": "head-1"}]},
        {"nodes": [{"groups": ["dgx"], "cpus": 8}, {"groups": ["dgx"], "cpus": 9}]},
    ],
)
def test_nothing_is_named_twice(more: dict[str, Any]) -> None:
    refuse("is named twice", **more)


def test_a_declared_switch_has_nodes_or_children() -> None:
    for leads in ({}, {"nodes": "n1", "children": "s1"}):
        switches = [{"name": "leaf", **leads}]
        refuse(
            "needs either 'nodes' or 'children'", topology={"plugin": "tree", "switches": switches}
        )


@pytest.mark.parametrize("gres", ["gpu:h100", "gpu:h100:0", "nic:cx7:8", "gpu:h100:8,gpu:x:1"])
def test_accelerators_are_written_as_slurm_does(gres: str) -> None:
    refuse("gres", nodes=[{"groups": ["dgx"], "gres": gres}])


def test_control_groups_are_needed_by_any_plugin_that_uses_them() -> None:
    none = {"tracking": "linuxproc", "tasks": ["none"], "accounting": "none"}
    assert not Scheduler.model_validate(a_scheduler(processes=none)).processes.use_cgroups
    one = none | {"accounting": "cgroup"}
    assert Scheduler.model_validate(a_scheduler(processes=one)).processes.use_cgroups
