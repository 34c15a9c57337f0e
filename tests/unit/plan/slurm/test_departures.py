"""From when on no job may run on nodes of a capacity block."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

from known import known
from rackwright.plan.load import load_plan
from rackwright.plan.model import Plan
from rackwright.plan.slurm.departures import Departure
from rackwright.policy.packs.loader import builtin_pack

AWS = builtin_pack() / "fixtures" / "aws.yaml"
BLOCK = "{kind: capacity-block, id: cr-0123456789abcdef0, ends: '%s'}"
SCHEDULER = """
scheduler:
  kind: slurm
  version: "25.05"
  controllers: [{host: head-1, address: 10.20.0.9}]
  topology: {plugin: tree}
  partitions: [{name: train, groups: [train], default: true, max_time: 1-00:00:00}]
"""
GROUP = """
      - name: %s
        type: p5.48xlarge
        count: %d
        capacity: %s
        image: ami-0123456789abcdef0
        root_volume: 500 GiB
"""


def a_plan(folder: Path, *groups: tuple[str, int, str]) -> Plan:
    """The site of the fixture with other groups as well, all of them in Slurm."""
    path = folder / "layer.yaml"
    added = "".join(GROUP % group for group in groups)
    path.write_text(f"{SCHEDULER}sites:\n  - name: use1\n    node_groups:{added}", "utf-8")
    return load_plan(AWS, (path,)).plan


def test_nodes_are_free_ten_minutes_before_aws_begins_to_end_them(tmp_path: Path) -> None:
    plan = a_plan(tmp_path, ("block", 4, BLOCK % "2026-12-24T11:30:00Z"))
    assert known(plan.slurm).departures == (
        Departure(
            "cr-0123456789abcdef0",
            "block-[1-4]",
            dt.datetime(2026, 12, 24, 10, 50, tzinfo=dt.UTC),
        ),
    )


def test_groups_of_one_block_go_together_and_by_the_earlier_end_that_is_recorded(
    tmp_path: Path,
) -> None:
    plan = a_plan(
        tmp_path,
        ("late", 2, BLOCK % "2026-12-25T11:30:00Z"),
        ("early", 1, BLOCK % "2026-12-24T11:30:00Z"),
    )
    (departure,) = known(plan.slurm).departures
    assert departure.hostlist == "late-[1-2],early-1"
    assert departure.start == dt.datetime(2026, 12, 24, 10, 50, tzinfo=dt.UTC)


def test_reservations_without_instances_and_other_capacity_go_never(tmp_path: Path) -> None:
    reservation = "{kind: reservation, id: cr-0123456789abcdef1, ends: '2026-12-24T11:30:00Z'}"
    plan = a_plan(
        tmp_path,
        ("none", 0, BLOCK % "2026-12-24T11:30:00Z"),
        ("odcr", 2, reservation),  # instances outlive it: they are billed on demand from then on
    )
    assert known(plan.slurm).departures == ()


def test_ultraservers_are_ended_an_hour_before_their_block(tmp_path: Path) -> None:
    block = ("block", 4, BLOCK % "2026-12-24T11:30:00Z")
    path = tmp_path / "type.yaml"
    for name in ("p6e-gb200.36xlarge", "trn2u.48xlarge"):
        a_plan(tmp_path, block)
        path.write_text(f"sites: [{{name: use1, node_groups: [{{name: block, type: {name}}}]}}]\n")
        plan = load_plan(AWS, (tmp_path / "layer.yaml", path)).plan
        (found,) = known(plan.slurm).departures
        assert found.start == dt.datetime(2026, 12, 24, 10, 20, tzinfo=dt.UTC)
