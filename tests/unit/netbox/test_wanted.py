"""Objects that NetBox should have: devices that share units have the faces of the plan."""

from __future__ import annotations

from fabric_factories import a_fabric, a_tier
from factories import CATALOGUE, a_blueprint, a_site
from rackwright.model.cluster import Blueprint
from rackwright.netbox.wanted import wanted_of
from rackwright.plan.expand import expand


def test_devices_that_share_units_have_their_faces_and_no_unit_twice() -> None:
    tiers = [
        a_tier("leaf", 2, racks="c01", start_unit="40 U", unit_share="half-depth"),
        a_tier("edge", 2, "sn2201", racks="c01", start_unit="42 U", unit_share="half-width"),
    ]
    fabric = a_fabric(tiers=tiers, attached=None, links=None, rail_optimized=None)
    plan = expand(Blueprint.model_validate(a_blueprint(a_site(fabrics=[fabric]))), CATALOGUE)
    wanted = list(wanted_of(plan, plan.onprem[0], CATALOGUE))
    placed = {
        str(one.key[1]): (one.fields["position"], one.first.get("face"))
        for one in wanted
        if one.kind == "device" and str(one.key[1]).startswith("compute-")
    }
    assert placed == {
        "compute-leaf-1": (40, "front"),
        "compute-leaf-2": (40, "rear"),
        "compute-edge-1": (42, "front"),
        # NetBox has one device at a face of a unit.
        "compute-edge-2": (None, None),
    }
    depths = {one.key[1]: one.first.get("is_full_depth") for one in wanted if one.kind == "type"}
    assert (depths["qm9700"], depths["sn2201"]) == (False, None)
