"""Faults of the table, the team's own among them, in every program that watches."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
import yaml

from rackwright.catalog.fault_signals import alert_rules, exporter_fields, faults_of_node
from rackwright.catalog.fault_table import FaultTable, builtin_faults, load_faults
from rackwright.errors import SpecErrors
from rackwright.inventory.inventory import build_inventory, host_variables
from rackwright.model.faults import FaultSeverity
from rackwright.nodelife.signs.detect import detect_in
from rackwright.plan.load import load_plan
from rackwright.policy.packs.loader import builtin_pack

FIXTURES = builtin_pack() / "fixtures"
TREE = Path(__file__).parents[2] / "golden/slurm/tree/layer.yaml"
OWN = """
sources: {us: {title: "Our own hall", date: 2026-11-27, confidence: judgement}}
faults:
  - id: own-retimer
    name: Retimer of our boards is lost
    subject: pcie
    severity: drain
    signals:
      - {xid: 900}
      - {log: kernel, pattern: "retimer (?P<device>\\\\S+): lost"}
      - {reading: dcgm.DCGM_FI_DEV_PCIE_REPLAY_COUNTER, above: 1000}
    action: cold-cycle
    source: [us]
    examples:
      - {name: its line, material: {kernel: "[ 1.0] retimer r3: lost\\n"}}
"""


def table(folder: Path, text: str = OWN) -> FaultTable:
    (folder / "faults").mkdir()
    (folder / "faults/own.yaml").write_text(text)
    return load_faults([folder / "faults"])


def test_fault_of_a_team_is_in_health_check_loop_alerts_and_exporter(tmp_path: Path) -> None:
    """The health check had the built-in names alone, and the alerts a list of their own."""
    table(tmp_path)
    (tmp_path / "blueprint.yaml").write_text((FIXTURES / "slurm.yaml").read_text())
    layer = {
        "operations": {"health_checks": True, "software": [{"name": "metal", "dcgm": "4.5.2"}]}
    }
    (tmp_path / "layer.yaml").write_text(yaml.safe_dump(layer))
    (tmp_path / "rackwright.yaml").write_text("faults: [{path: faults}]\n")
    plan = load_plan(tmp_path / "blueprint.yaml", [TREE, tmp_path / "layer.yaml"]).plan
    made = build_inventory(plan)
    known = host_variables(made, "dgx-01")
    assert known is not None
    own = [one for one in known["health_check_faults"] if one["fault"] == "own-retimer"]
    assert [sorted(set(one) - {"fault", "name"}) for one in own] == [["xid"], ["log", "pattern"]]
    alerts = made["monitoring"]["vars"]["prometheus_fault_alerts"]
    rules = {one["alert"]: one for one in alerts if one["fault"] == "own-retimer"}
    assert {one["expr"] for one in alerts if one["fault"] == "own-retimer"} == {
        "DCGM_FI_DEV_XID_ERRORS == 900", "DCGM_FI_DEV_PCIE_REPLAY_COUNTER > 1000",
    }  # fmt: skip
    assert rules["OwnRetimer"]["severity"] == "critical"
    assert "DCGM_FI_DEV_PCIE_REPLAY_COUNTER" in known["dcgm_exporter_fault_counters"]
    assert {event.fault for event in detect_in(plan.faults, {"kernel": "[ 1.0] retimer r3: lost\n"})} == {"own-retimer"}  # fmt: skip


def test_every_drain_of_the_kernel_or_the_gpu_is_a_sign_for_the_node() -> None:
    wanted = {
        fault.id
        for fault in builtin_faults().faults.values()
        for one in fault.signals
        if fault.severity in {FaultSeverity.DRAIN, FaultSeverity.FATAL}
        and (
            (one.xid is not None and one.xid != 154)
            or one.log == "kernel"
            or (one.reading or "").startswith("nvidia-smi.")
        )
    }
    assert {one["fault"] for one in faults_of_node(builtin_faults())} == wanted


def test_xid_that_the_blueprint_adds_drains_and_alerts_once() -> None:
    faults = builtin_faults()
    assert [one["fault"] for one in faults_of_node(faults, [79, 31]) if one.get("xid") in {79, 31}] == ["gpu-off-bus", "xid-031"]  # fmt: skip
    rules = [one["expr"] for one in alert_rules(faults, [79, 31])]
    assert sum("== 79" in one for one in rules) == 1
    assert rules[-1] == "DCGM_FI_DEV_XID_ERRORS == 31"


@pytest.mark.parametrize(
    ("fault", "expr"),
    [
        ("gpu-hot", "DCGM_FI_DEV_CLOCKS_EVENT_REASONS % 128 >= 64"),
        ("gpu-slowed", "DCGM_FI_DEV_CLOCKS_EVENT_REASONS % 16 >= 8 or DCGM_FI_DEV_CLOCKS_EVENT_REASONS % 64 >= 32"),
        ("port-symbol-errors", "increase(node_infiniband_symbol_error_total[120s]) > 1200"),
        ("port-flaps", "increase(node_infiniband_link_downed_total[300s]) > 1"),
        ("nvlink-recovers", "increase(DCGM_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_TOTAL[600s]) > 0"),
    ],
)  # fmt: skip
def test_alert_of_a_sign_in_promql(fault: str, expr: str) -> None:
    (rule,) = [one for one in alert_rules(builtin_faults()) if one["fault"] == fault]
    assert rule["expr"] == expr


def test_mistake_of_a_program_and_an_unused_number_alert_nobody() -> None:
    told = {one["fault"] for one in alert_rules(builtin_faults())}
    assert "gpu-page-fault" not in told
    assert "xid-001" not in told
    assert {"gpu-off-bus", "xid-046"} <= told


def test_fields_of_the_exporter_are_those_of_the_alerts() -> None:
    fields = exporter_fields(builtin_faults())
    used = " ".join(one["expr"] for one in alert_rules(builtin_faults()))
    assert all(name in used for name in fields)
    assert list(csv.reader([json.dumps(text) for _, text in fields.values()]))


@pytest.mark.parametrize("mark", ["{{", "{%", "{#"])
def test_mark_of_a_template_in_a_table_is_refused(tmp_path: Path, mark: str) -> None:
    with pytest.raises(SpecErrors, match="mark of Ansible's templates"):
        table(tmp_path, OWN.replace("retimer (?P", f"{mark} retimer (?P"))
