"""Tuning of node groups reaches the role ``host_tuning`` on their hosts alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from rackwright.errors import SpecErrors
from rackwright.inventory.inventory import build_inventory, host_variables
from rackwright.plan.load import load_plan
from rackwright.policy.packs.loader import builtin_pack

FABRIC = builtin_pack() / "fixtures/fabric.yaml"


def test_hosts_of_the_group_are_tuned(tmp_path: Path) -> None:
    layer = tmp_path / "layer.yaml"
    layer.write_text(
        "operations: {tuning: [{group: dgx, governor: performance, numa_balancing: false, acs: false}]}\n"
    )
    made = build_inventory(load_plan(FABRIC, [layer]).plan)
    assert len(made["tuned_hosts"]["hosts"]) == 31
    found = host_variables(made, "dgx-01")
    assert found is not None
    assert {key: value for key, value in found.items() if key.startswith("host_tuning")} == {
        "host_tuning_governor": "performance",
        "host_tuning_numa_balancing": False,
        "host_tuning_acs": False,
    }
    other = host_variables(made, "ufm-1")
    assert other is not None
    assert not any(key.startswith("host_tuning") for key in other)


def test_a_group_that_is_not_there_is_refused(tmp_path: Path) -> None:
    layer = tmp_path / "layer.yaml"
    layer.write_text("operations: {tuning: [{group: dgz, governor: performance}]}\n")
    with pytest.raises(SpecErrors, match="there is no node group 'dgz'"):
        load_plan(FABRIC, [layer])
