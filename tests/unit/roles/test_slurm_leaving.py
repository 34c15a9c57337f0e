"""Nodes that a new slurm.conf no longer has, and the jobs that Slurm would end."""

from __future__ import annotations

import pytest

from ansible_collections.rackwright.cluster.plugins.filter.slurm_leaving import slurm_leaving

BEFORE = """
NodeName=DEFAULT CPUs=8
NodeName=train-[1-4] State=UNKNOWN
nodename = login-1,rack[1-2]-n[01-02]
# NodeName=old-1
PartitionName=train Nodes=train-[1-4]
"""


@pytest.mark.parametrize(
    ("after", "nodes"),
    [
        (BEFORE, []),
        (BEFORE.replace("[1-4] State", "[1-12] State"), []),
        (BEFORE.replace("[1-4] State", "[1-3] State"), ["train-4"]),
        (BEFORE.replace("[1-4] State", "[01-04] State"), [f"train-{one}" for one in range(1, 5)]),
        (BEFORE.replace("n[01-02]", "n[01]"), ["rack1-n02", "rack2-n02"]),
    ],
)
def test_nodes_that_leave(after: str, nodes: list[str]) -> None:
    assert slurm_leaving(BEFORE, after) == {"nodes": nodes, "jobs": []}


def test_jobs_on_nodes_that_leave() -> None:
    after = BEFORE.replace("[1-4] State", "[1-3] State")
    jobs = "12 train-[2-4]\n13 train-[1,3]\n14_2 train-4\n15 \n"
    assert slurm_leaving(BEFORE, after, jobs)["jobs"] == ["12", "14_2"]


def test_a_host_without_a_configuration_loses_nothing() -> None:
    assert slurm_leaving(None, BEFORE, "") == {"nodes": [], "jobs": []}
