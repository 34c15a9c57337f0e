"""Monitoring in the inventory: versions and limits from the blueprint, or not at all."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from rackwright.inventory.inventory import build_inventory, host_variables
from rackwright.inventory.role_variables.monitoring import rack_limits
from rackwright.plan.load import load_plan
from rackwright.policy.packs.loader import builtin_pack

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
        "prometheus_gpu_xids": [48, 79],
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
    assert "vars" not in made["monitoring"]


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
    (planned,) = plan.onprem
    bare = json.loads(planned.site.model_dump_json())
    bare["halls"][0]["rows"][0]["rack_groups"][0]["cooling"]["power_limit"] = None
    site = planned.site.model_validate(bare)
    limits = rack_limits(replace(plan, onprem=(replace(planned, site=site),)))
    assert "c01" not in {rack for _, rack in limits}
    assert limits[site.name, "n01"] == 20000
