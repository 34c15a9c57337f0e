"""Flows that take the same links above a pod by chance: the low end of a prediction's range."""

from __future__ import annotations

import random
import statistics
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from rackwright.plan.load import load_plan
from rackwright.plan.workload.links import Links
from rackwright.plan.workload.prediction import Prediction
from rackwright.policy.packs.loader import builtin_pack

PODS = Links(domain=8, link=450e9, delay=5e-6, rail=50e9, pod=256)


def simulated(flows: int, links: int) -> float:
    """Return the mean number of flows on the busiest link when each takes one by chance."""
    draw = random.Random(1)
    most = []
    for _ in range(2000):
        loads = [0] * links
        for _ in range(flows):
            loads[draw.randrange(links)] += 1
        most.append(max(loads))
    return statistics.fmean(most)


@pytest.mark.parametrize("flows", [8, 32, 128, 512])
def test_busiest_link_is_that_of_a_simulation(flows: int) -> None:
    """Rings with one member in each pod, so that each host of a pod has a flow over the uplinks of its leaf."""
    crowded = replace(PODS, oversubscription=flows / 32, uplinks=32)
    free = replace(PODS, oversubscription=1.0)
    slower = free.rate(16, 16 * 256) / crowded.rate(16, 16 * 256)
    assert slower == pytest.approx(max(1.0, simulated(flows, 32)), rel=0.03)


@given(
    st.floats(1, 64), st.floats(1, 64), st.integers(1, 512), st.integers(2, 512), st.integers(1, 64)
)
def test_flows_by_chance_are_never_faster(
    one: float, other: float, uplinks: int, members: int, stretch: int
) -> None:
    low, high = sorted((one, other))
    span = members * stretch
    rates = [
        replace(PODS, oversubscription=ratio, uplinks=links).rate(members, span)
        for ratio, links in ((low, 0), (low, uplinks), (high, uplinks))
    ]
    assert rates == sorted(rates, reverse=True)


def predicted(folder: Path, **fabric: Any) -> Prediction:
    """Return the prediction of a job with exchanges over four scalable units."""
    document = yaml.safe_load(
        (builtin_pack() / "fixtures/workloads.yaml").read_text(encoding="utf-8")
    )
    document["sites"][0]["fabric"] |= {"unit_hosts": 16, **fabric}
    layout = {"tensor": 1, "pipeline": 2, "expert": 256}
    document["workloads"][0] |= {"model": "deepseek-v3", "sequence": 4096, "layout": layout}
    path = folder / "blueprint.yaml"
    path.write_text(yaml.safe_dump(document))
    (found,) = load_plan(path).plan.predictions
    return found


def test_equal_paths_of_ethernet_lower_the_low_end_alone(tmp_path: Path) -> None:
    routed, hashed = (
        predicted(tmp_path, technology=name).speed for name in ("infiniband", "ethernet")
    )
    assert routed is not None
    assert hashed is not None
    assert hashed.low < routed.low
    assert (hashed.value, hashed.high) == (routed.value, routed.high)


@pytest.mark.parametrize(("adaptive", "uplinks"), [(True, 0), (False, 64), (None, 64)])
def test_adaptive_routing_of_ethernet_keeps_flows_apart(
    tmp_path: Path, adaptive: bool | None, uplinks: int
) -> None:
    """An engine of InfiniBand does not."""
    found = predicted(
        tmp_path, technology="ethernet", adaptive_routing=adaptive, routing_engine="ftree"
    )
    assert found.placement is not None
    assert found.placement.uplinks == uplinks
    assert (found.collisions == 0) is bool(adaptive)


def test_routes_of_the_fat_tree_engine_do_not_collide(tmp_path: Path) -> None:
    found = predicted(tmp_path)
    assert found.placement is not None
    assert found.placement.uplinks == 0
    assert found.collisions == 0


def test_a_job_within_a_pod_meets_no_collisions(tmp_path: Path) -> None:
    assert predicted(tmp_path, technology="ethernet", unit_hosts=64).collisions == 0
