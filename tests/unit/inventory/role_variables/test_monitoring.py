"""Monitoring in the inventory: versions and limits from the blueprint, or not at all."""

from __future__ import annotations

from pathlib import Path

from rackwright.catalog.fault_signals import alert_rules
from rackwright.catalog.fault_table import builtin_faults
from rackwright.inventory.inventory import build_inventory, host_variables
from rackwright.inventory.role_variables.monitoring import rack_limits
from rackwright.plan.load import load_plan, plan_tree
from rackwright.policy.packs.loader import builtin_pack
from rackwright.reading.loader import load_tree

FIXTURES = builtin_pack() / "fixtures"

LIMITED = """
operations:
  drain_on_xids: [79, 48]
  software: [{name: all, grafana: 11.6.1}]
"""


def test_the_host_that_watches_gets_the_version_of_grafana(tmp_path: Path) -> None:
    layer = tmp_path / "layer.yaml"
    layer.write_text(LIMITED)
    made = build_inventory(load_plan(FIXTURES / "slurm.yaml", (layer,)).plan)
    assert made["monitoring"]["vars"] == {
        "prometheus_fault_alerts": alert_rules(builtin_faults()),
        "grafana_version": "11.6.1",
    }
    (host,) = made["monitoring"]["hosts"]
    for name in made["_meta"]["hostvars"]:
        found = host_variables(made, name)
        assert found is not None
        assert ("grafana_version" in found) == (name == host)


def test_without_a_bill_there_is_no_grafana() -> None:
    made = build_inventory(load_plan(FIXTURES / "slurm.yaml").plan)
    assert made["monitoring"]["hosts"]
    assert "grafana_version" not in made["monitoring"]["vars"]


def test_racks_carry_their_limits_where_the_blueprint_has_them() -> None:
    plan = load_plan(FIXTURES / "slurm.yaml").plan
    made = build_inventory(plan)
    found = {
        rack: entry["vars"]
        for entry in made.values()
        if (rack := entry.get("vars", {}).get("rackwright_rack")) is not None
    }
    assert found["c01"]["rackwright_rack_power_limit_w"] == 45000
    assert found["n01"]["rackwright_rack_power_limit_w"] == 20000
    bare = load_tree(FIXTURES / "slurm.yaml")
    group = bare.data["sites"][0]["halls"][0]["rows"][0]["rack_groups"][0]
    del group["cooling"]["power_limit"]
    limits = rack_limits(plan_tree(bare).plan)
    assert "c01" not in {rack for _, rack in limits}
    assert limits[plan.onprem[0].name, "n01"] == 20000
