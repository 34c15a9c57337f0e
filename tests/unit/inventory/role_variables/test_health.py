"""What health checks ask of GPUs and ports: only what the bill's own software can answer."""

from __future__ import annotations

from pathlib import Path

from rackwright.inventory.inventory import build_inventory, host_variables
from rackwright.plan.load import load_plan
from rackwright.policy.packs.loader import builtin_pack

TREE = Path(__file__).parents[3] / "golden/slurm/tree/layer.yaml"
FIXTURE = builtin_pack() / "fixtures/slurm.yaml"
BILL = """\
operations:
  health_checks: {generated}
  software:
    - {{name: metal{versions}}}
"""
GPUS = {"ecc": True, "nvlink": True, "persistence": True}


def asked(folder: Path, versions: str, *, generated: str = "true") -> dict[str, object]:
    layer = folder / "layer.yaml"
    layer.write_text(BILL.format(generated=generated, versions=versions))
    found = host_variables(build_inventory(load_plan(FIXTURE, (TREE, layer)).plan), "dgx-01")
    assert found is not None
    names = ("gpus", "dcgm", "ports", "clock_s")
    return {
        name: found[f"health_check_{name}"] for name in names if f"health_check_{name}" in found
    }


def test_gpus_are_asked_for_where_the_bill_brings_what_answers(tmp_path: Path) -> None:
    assert asked(tmp_path, ", driver: 570.133.20") == {"gpus": GPUS, "dcgm": False}
    assert asked(tmp_path, ", driver: 570.133.20, dcgm: 4.4.1")["dcgm"] is True


def test_without_a_driver_in_the_bill_nobody_is_asked(tmp_path: Path) -> None:
    assert asked(tmp_path, "") == {}
    assert asked(tmp_path, ", dcgm: 4.4.1") == {}


def test_checks_that_are_not_generated_ask_nobody(tmp_path: Path) -> None:
    assert asked(tmp_path, ", driver: 570.133.20", generated="false") == {}


def test_ports_are_those_of_the_fabrics_once_their_driver_is_named(tmp_path: Path) -> None:
    ports = asked(tmp_path, ", kernel: 6.8.0-60-generic, ofed: {version: 3.2.1}")["ports"]
    assert ports == [{"technology": "infiniband", "rate_gbps": 400.0, "count": 8}]


def test_the_clock_is_compared_where_time_servers_are_named(tmp_path: Path) -> None:
    hosts = "\n  hosts: [{name: all, time_servers: [ntp-1.example.com]}]"
    layer = tmp_path / "hosts.yaml"
    layer.write_text(f"operations:\n  health_checks: true{hosts}\n")
    plan = load_plan(FIXTURE, (TREE, layer)).plan
    found = host_variables(build_inventory(plan), "dgx-01")
    assert found is not None
    assert found["health_check_clock_s"] == 1.0
    assert found["base_time_servers"] == ["ntp-1.example.com"]
