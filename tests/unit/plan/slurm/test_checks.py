"""Sizes of blocks, times of jobs and the hosts that a tree written by hand misplaces."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from rackwright.model.job_time import job_seconds
from rackwright.plan.hosts import numbered
from rackwright.plan.load import load_plan
from rackwright.plan.slurm.checks import (
    cabling,
    difference,
    right_sizes,
    wrong_sizes,
)
from rackwright.plan.slurm.nodes import node_sets
from rackwright.policy.packs.loader import builtin_pack


def test_the_sizes_seen_in_the_field_are_right() -> None:
    assert wrong_sizes([18, 36, 72]) == ()
    assert wrong_sizes([18, 576]) == ()
    assert wrong_sizes([18, 54]) == (54,)
    assert wrong_sizes([18, 18]) == (18,)
    assert wrong_sizes([36, 18]) == (18,)


@given(st.integers(1, 200), st.integers(1, 100_000))
def test_the_sizes_that_are_offered_are_allowed(base: int, hosts: int) -> None:
    sizes = right_sizes(base, hosts)
    assert wrong_sizes(sizes) == ()
    assert len(sizes) == 1 or sizes[-1] <= hosts < 2 * sizes[-1]


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("00:30:00", 1800), ("1-00:00:00", 86400), ("10-01:02:03", 867723), ("UNLIMITED", None)],
)
def test_job_times_in_seconds(text: str, seconds: float | None) -> None:
    assert job_seconds(text) == seconds


def a_written_tree(tmp_path: Path, *switches: dict[str, Any]) -> Any:
    layer = tmp_path / "layer.yaml"
    topology = {"plugin": "tree", "switches": list(switches)}
    layer.write_text(yaml.safe_dump({"scheduler": {"topology": topology}}))
    return load_plan(builtin_pack() / "fixtures" / "slurm.yaml", [layer]).plan


@pytest.mark.parametrize(
    ("first", "second", "misplaced"),
    [
        ("dgx-[01-32]", "dgx-[33-64]", 0),
        ("dgx-[33-64]", "dgx-[01-32]", 0),
        ("dgx-[01-31]", "dgx-[32-64]", 1),
        ("dgx-[01-31]", "dgx-[33-64]", 1),
        ("dgx-[01-16,33-48]", "dgx-[17-32,49-64]", 32),
    ],
)
def test_the_fewest_hosts_that_must_move_are_counted(
    first: str, second: str, misplaced: int, tmp_path: Path
) -> None:
    plan = a_written_tree(
        tmp_path,
        {"name": "a", "nodes": first},
        {"name": "b", "nodes": second},
        {"name": "top", "children": "a,b"},
    )
    found = difference(plan, plan.blueprint.scheduler, node_sets(plan))
    assert found is not None
    assert len(found.hosts) == misplaced
    assert found.above == 0


def test_two_units_on_one_switch_are_half_misplaced(tmp_path: Path) -> None:
    plan = a_written_tree(tmp_path, {"name": "a", "nodes": "dgx-[01-64]"})
    found = difference(plan, plan.blueprint.scheduler, node_sets(plan))
    assert found is not None
    assert len(found.hosts) == 32
    assert found.first == ("dgx-33", "compute-unit-2")


def test_names_and_host_lists_agree_with_those_of_the_plan() -> None:
    plan = load_plan(builtin_pack() / "fixtures" / "slurm.yaml").plan
    (nodes,) = node_sets(plan)
    assert nodes.names == numbered("dgx", 64, 2)
    assert nodes.hostlist == "dgx-[01-64]"
    (cabled,) = cabling(plan, [nodes])
    assert (cabled.units, cabled.unplaced, cabled.linked) == (2, 0, True)


@pytest.mark.parametrize(
    ("said", "shape"),
    [({}, (2, 56, 2)), ({"cpus": 224}, (2, 56, 2)), ({"cpus": 112}, None)],
)
def test_the_shape_of_the_processors_goes_with_the_catalogue_s_cpus(
    said: dict[str, Any], shape: tuple[int, int, int] | None, tmp_path: Path
) -> None:
    layer = tmp_path / "layer.yaml"
    layer.write_text(yaml.safe_dump({"scheduler": {"nodes": [{"groups": ["dgx"], **said}]}}))
    plan = load_plan(builtin_pack() / "fixtures" / "slurm.yaml", [layer]).plan
    (nodes,) = node_sets(plan)
    assert nodes.shape == shape
