"""Changes that lift the tokens of a day: each with the field that makes it, and what it brings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from rackwright.errors import RackwrightError
from rackwright.model.quantities import format_quantity
from rackwright.plan.load import load_plan
from rackwright.plan.reliability.failures import DAY, daly_interval
from rackwright.plan.workload.changes import Improvement, changes
from rackwright.plan.workload.prediction import Prediction
from rackwright.policy.packs.loader import builtin_pack

FIXTURE = builtin_pack() / "fixtures/workloads.yaml"


def predicted(folder: Path, interval: str = "60 min", **fabric: Any) -> Prediction:
    """Return the prediction of a job with exchanges of experts over four scalable units."""
    document = yaml.safe_load(FIXTURE.read_text(encoding="utf-8"))
    document["sites"][0]["fabric"] |= {"unit_hosts": 16, **fabric}
    document["reliability"]["jobs"][0]["checkpoint_interval"] = interval
    layout = {"tensor": 1, "pipeline": 2, "expert": 256}
    document["workloads"][0] |= {"model": "deepseek-v3", "sequence": 4096, "layout": layout}
    path = folder / "blueprint.yaml"
    path.write_text(yaml.safe_dump(document))
    (found,) = load_plan(path).plan.predictions
    return found


def of_field(found: Prediction, field: str) -> list[Improvement]:
    return [one for one in changes(found) if one.path[-1] == field]


def test_adaptive_routing_is_suggested_where_flows_take_the_same_links(tmp_path: Path) -> None:
    """It lifts the low end of the range to that of routes which do not collide."""
    crowded = predicted(tmp_path, routing_engine="minhop")
    (change,) = of_field(crowded, "routing_engine")
    assert change.path == ("sites", 0, "fabrics", 0, "routing_engine")
    adaptive = predicted(tmp_path, routing_engine="ar_updn")
    assert crowded.a_day is not None
    assert adaptive.a_day is not None
    assert change.gain == pytest.approx(adaptive.a_day.low / crowded.a_day.low - 1)
    assert change.gain > 0.001
    assert of_field(adaptive, "routing_engine") == []
    assert of_field(predicted(tmp_path, routing_engine="ftree"), "routing_engine") == []


def test_adaptive_routing_of_ethernet_is_suggested_where_a_hash_chooses_paths(
    tmp_path: Path,
) -> None:
    hashed = predicted(tmp_path, technology="ethernet")
    (change,) = of_field(hashed, "adaptive_routing")
    assert change.path == ("sites", 0, "fabrics", 0, "adaptive_routing")
    assert change.what.startswith("not set → true, adaptive routing")
    (stated,) = of_field(
        predicted(tmp_path, technology="ethernet", adaptive_routing=False), "adaptive_routing"
    )
    assert stated.what.startswith("false → true, adaptive routing")
    adaptive = predicted(tmp_path, technology="ethernet", adaptive_routing=True)
    assert hashed.a_day is not None
    assert adaptive.a_day is not None
    assert change.gain == pytest.approx(adaptive.a_day.low / hashed.a_day.low - 1)
    assert change.gain > 0.001
    assert adaptive.a_day.value == hashed.a_day.value
    assert of_field(adaptive, "adaptive_routing") == of_field(adaptive, "routing_engine") == []


def test_faster_ports_are_those_of_the_attached_group(tmp_path: Path) -> None:
    """``rate`` of the fabric was named, which changes no speed."""
    found = predicted(tmp_path, attached=[{"group": "dgx", "rate": "200 Gbps"}])
    (change,) = of_field(found, "rate")
    assert change.path == ("sites", 0, "fabrics", 0, "attached", 0, "rate")
    faster = predicted(tmp_path, attached=[{"group": "dgx", "rate": "400 Gbps"}])
    assert found.speed is not None
    assert faster.speed is not None
    assert change.gain == pytest.approx(faster.speed.value / found.speed.value - 1)
    assert change.gain > 0.001
    (change,) = of_field(faster, "type")  # NET-018 allows no rate above that of the product
    assert change.path == ("sites", 0, "node_groups", 0, "type")
    fewer = predicted(tmp_path, attached=[{"group": "dgx", "interfaces": 4}])
    (change,) = of_field(fewer, "interfaces")
    assert change.path == ("sites", 0, "fabrics", 0, "attached", 0, "interfaces")


def test_adaptive_routing_of_ethernet_is_refused_for_infiniband(tmp_path: Path) -> None:
    with pytest.raises(RackwrightError, match="is for Ethernet, and 'compute' is InfiniBand"):
        predicted(tmp_path, adaptive_routing=True)


def test_the_best_interval_between_checkpoints_is_suggested(tmp_path: Path) -> None:
    best = daly_interval(30, DAY / (64 * 6.5e-3)) / 60
    found = predicted(tmp_path, "480 min")
    (change,) = of_field(found, "checkpoint_interval")
    assert change.path == ("reliability", "jobs", 0, "checkpoint_interval")
    assert change.what == f"a checkpoint each 480 min → {format_quantity(best, 'min')}"
    better = predicted(tmp_path, f"{best} min")
    assert better.a_day is not None
    assert found.a_day is not None
    assert change.gain == pytest.approx(better.a_day.value / found.a_day.value - 1, rel=1e-6)
    assert of_field(better, "checkpoint_interval") == []
