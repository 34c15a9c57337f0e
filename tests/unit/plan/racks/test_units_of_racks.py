"""Existing devices that differ in height or number from rack to rack."""

from __future__ import annotations

from typing import Any

import pytest

from fabric_factories import a_fabric, a_tier
from factories import a_hall, a_rack_group, a_row, a_site, a_site_plan, some_nodes
from rack_records import rack_devices
from rackwright.model.onprem import NodeGroup, OnPremSite
from rackwright.plan.fabric.racks import racks_in_order
from rackwright.plan.hosts import filled
from rackwright.policy.base_approval.moves import loads_of

UNITS = {"c01": ["11 U", "1 U"], "c[02-03]": ["21 U"]}
GROUP = some_nodes(count=4, racks="c[01-03]", per_rack=2, units=UNITS)
HALLS = [a_hall(rows=[a_row(a_rack_group("c[01-03]"))])]


def test_nodes_are_in_the_units_that_are_stated() -> None:
    plan = a_site_plan(halls=HALLS, node_groups=[GROUP])
    found = {
        name: [device.unit_low for device in racks.kind.devices if device.kind == "node"]
        for racks in plan.racks
        for name in racks.names
    }
    assert found == {"c01": [11, 1], "c02": [21], "c03": [21]}


def test_other_nodes_leave_stated_units_free() -> None:
    heavy = some_nodes("more", count=2, racks="c02", per_rack=2)
    fixed = some_nodes(count=1, racks="c02", per_rack=1, units={"c02": ["5 U"]})
    plan = a_site_plan(node_groups=[heavy, fixed], halls=HALLS)
    (rack,) = [racks for racks in plan.racks if "c02" in racks.names]
    units = {device.group: device.unit_low for device in rack.kind.devices if device.kind == "node"}
    assert units["dgx"] == 5
    assert units["more"] is not None
    assert units["more"] >= 13


def test_unit_that_is_taken_does_not_fit_elsewhere() -> None:
    one = some_nodes("a", count=1, racks="c01", per_rack=1, units={"c01": ["1 U"]})
    other = some_nodes("b", count=1, racks="c01", per_rack=1, units={"c01": ["5 U"]})
    plan = a_site_plan(node_groups=[one, other], halls=HALLS)
    fits = [device.fits for device in rack_devices(plan) if device.kind == "node"]
    assert sorted(fits) == [False, True]


def test_hosts_are_in_the_racks_of_their_units() -> None:
    group = NodeGroup.model_validate(GROUP)
    assert list(filled(group)) == [("c01", 2), ("c02", 1), ("c03", 1)]
    rack_of = racks_in_order(group, 2)
    assert [rack_of(host) for host in range(8)] == ["c01"] * 4 + ["c02"] * 2 + ["c03"] * 2


def test_cables_are_as_long_as_for_switches_at_one_height() -> None:
    """The same switches, written either way, have the same cables."""
    spread: dict[str, Any] = {"racks": "c[01-02]", "per_rack": 4}
    fixed = {"c[01-02]": ["1 U", "2 U", "3 U", "4 U"]}
    made = []
    for place in ({"start_unit": "1 U"}, {"units": fixed}):
        tiers = [a_tier("leaf", 8, **{**spread, **place}), a_tier("spine", 4, racks="c03")]
        plan = a_site_plan(
            halls=HALLS,
            fabrics=[a_fabric(tiers=tiers)],
            node_groups=[some_nodes(count=4, racks="c03")],
        )
        ways = plan.cable_routes(plan.fabrics[0])
        assert ways is not None
        made.append([ways.switch_rack(0, switch) for switch in range(8)])
    assert made[0] == made[1] == ["c01"] * 4 + ["c02"] * 4


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"start_unit": "1 U"}, "either 'start_unit' or 'units'"),
        ({"racks": "c[01-02]"}, "'racks' does not name the rack 'c03'"),
        ({"racks": "c[01-04]"}, "'units' does not name the rack 'c04'"),
        ({"count": 5}, "'units' has 4 units and 'count' is 5"),
        ({"per_rack": 1}, "'per_rack' is 1 and 'units' has up to 2 in a rack"),
        ({"units": {**UNITS, "c02": ["3 U"]}}, "c02"),
        ({"units": {"c01": []}}, "at least 1 item"),
    ],
)
def test_units_that_contradict_the_group_are_refused(change: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        OnPremSite.model_validate(a_site(halls=HALLS, node_groups=[GROUP | change]))


def test_base_approval_counts_the_units_of_each_rack() -> None:
    loads = loads_of(a_site(halls=HALLS, node_groups=[GROUP]))
    assert [loads[rack, "dgx"] for rack in ("c01", "c02", "c03")] == [2, 1, 1]
