"""Lengths of cables from the positions of racks, the heights of devices and the trays, worked by hand."""

from __future__ import annotations

from typing import Any

import pytest

from fabric_factories import a_tier, some_cables, top_of_rack
from factories import CATALOGUE, a_blueprint, a_hall, a_rack_group, a_row, a_site, some_nodes
from known import known
from rackwright.model.cluster import Blueprint
from rackwright.plan.expand import expand
from rackwright.plan.fabric.cables import wires
from rackwright.plan.fabric.lengths import UNIT_M, CableLength, CableRoutes
from rackwright.plan.problems import PlanError

TRAYS = {"height": "2.7 m", "row_pitch": "3 m", "joined": "first"}
WHERE = ("sites", 0, "fabrics", 0, "links")


def routes_of(
    trays: dict[str, Any] | None = TRAYS,
    *,
    rows: tuple[str | dict[str, Any], ...] = ("c[01-04],n01",),
    halls: tuple[str, ...] = (),
    groups: list[dict[str, Any]] | None = None,
    **more: Any,
) -> CableRoutes:
    """A hall with some rows, and others of one row; racks of 0.6 m: two DGX from unit 1 and a leaf in unit 40 of each, two spines from unit 10 of n01."""
    tiers = [
        a_tier("leaf", 4, racks="c[01-04]", per_rack=1, start_unit="40 U"),
        a_tier("spine", 2, start_unit="10 U"),
    ]
    links = [some_cables("dgx", "leaf", name="nodes"), some_cables(parallel=8)]
    said = [a_row(a_rack_group(row)) if isinstance(row, str) else row for row in rows]
    hall = a_hall(rows=[{**row, "name": f"row-{n}"} for n, row in enumerate(said)])
    if trays is not None:
        hall["trays"] = trays
    others = [{**a_hall(rows=[a_row(a_rack_group(r))]), "name": f"other-{r}"} for r in halls]
    nodes = groups or [some_nodes(count=8, racks="c[01-04]", per_rack=2, start_unit="1 U")]
    fabric = top_of_rack(**{"tiers": tiers, "links": links, "top_of_rack": True, **more})
    site = a_site(halls=[hall, *others], node_groups=nodes, fabrics=[fabric])
    plan = expand(Blueprint.model_validate(a_blueprint(site)), CATALOGUE).onprem[0]
    return known(plan.cable_routes(plan.fabrics[0]))


def longest(routes: CableRoutes, number: int) -> CableLength:
    return routes.longest(routes.layout.fabric.links[number], (*WHERE, number))


def test_a_cable_in_a_rack_goes_up_and_to_its_side_and_back():
    """From the lower edge of unit 1 to that of unit 40: 39 × 44.45 mm = 1.734 m; 0.6 m wide; 1 m of slack."""
    assert longest(routes_of(), 0).metres == pytest.approx(39 * 0.04445 + 0.6 + 1.0)


def test_a_cable_in_a_row_goes_along_its_tray():
    """c01 and n01 are four racks of 0.6 m apart: 2.4 m.

    The drops from 2.7 m are 2.7 - 39 × 0.04445 = 0.966 m and, to unit 10, 2.7 - 9 × 0.04445 = 2.300 m.
    Together 5.666 m, and 1 m of slack, which is more than a tenth.
    """
    way = 2.4 + (2.7 - 39 * UNIT_M) + (2.7 - 9 * UNIT_M)
    assert way == pytest.approx(5.666, abs=0.001)
    assert longest(routes_of(), 1).metres == pytest.approx(way + 1)


def test_positions_that_stay_empty_keep_their_floor():
    """Two positions of 0.6 m stay empty before n01: 1.2 m more along the tray."""
    row = a_row(a_rack_group("c[01-04]"), a_rack_group("n01", gap="1.2 m"))
    before, after = (
        longest(routes_of(rows=rows), 1).metres for rows in (("c[01-04],n01",), (row,))
    )
    assert known(after) - known(before) == pytest.approx(1.2)


def test_a_row_that_goes_on_behind_its_racks_has_its_tray_to_its_end():
    """A row of 2.4 m that is 3.6 m long has the tray across it 1.2 m farther, there and back; slack is a tenth."""
    trays = {**TRAYS, "joined": "last"}
    rows = [(a_row(a_rack_group("c[01-04]"), **more), "n01") for more in ({}, {"length": "3.6 m"})]
    before, after = (longest(routes_of(trays, rows=each), 1).metres for each in rows)
    assert known(after) - known(before) == pytest.approx(1.1 * 2 * 1.2)


def test_slack_is_a_tenth_of_a_long_way():
    """Trays at 9 m: 2.4 + 7.266 + 8.600 = 18.266 m, and 1.827 m of slack."""
    found = known(longest(routes_of({**TRAYS, "height": "9 m"}), 1).metres)
    assert found == pytest.approx(1.1 * (2.4 + 18 - 48 * UNIT_M))


@pytest.mark.parametrize(
    ("joined", "along"),
    [
        ("first", 2.1 + 0.3 + 3.0),  # c04 is 2.1 m from the first end, n01 is 0.3 m from it
        ("last", 2.1 + 2.1 + 3.0),  # of 2.4 m: c01 2.1 m from the end of the longest row, n01 2.1 m
        ("both", 1.5 + 0.3 + 3.0),  # c03 by the first end; c04 by the last one is 0.3 + 2.1 = 2.4 m
    ],
)
def test_a_cable_to_another_row_goes_by_the_tray_that_joins_them(joined: str, along: float):
    routes = routes_of({**TRAYS, "joined": joined}, rows=("c[01-04]", "n01"))
    if joined == "both":
        along = max(min(x + 0.3, 4.8 - x - 0.3) for x in (0.3, 0.9, 1.5, 2.1)) + 3.0
    way = along + 5.4 - 48 * UNIT_M
    assert longest(routes, 1).metres == pytest.approx(way + max(1, way / 10))


def test_a_third_row_is_two_pitches_away():
    rows = ("c[01-03]", "c04", "n01")
    way = 2 * 3.0 + 1.5 + 0.3 + 5.4 - 48 * UNIT_M  # c03 is the farthest in the first row
    assert longest(routes_of(rows=rows), 1).metres == pytest.approx(1.1 * way)


def test_stated_length_has_precedence():
    links = [some_cables("dgx", "leaf", name="nodes", length="7 m")]
    assert longest(routes_of(links=links), 0) == CableLength(7.0)


def test_each_cable_has_its_own_length():
    routes = routes_of()
    found = {
        (wire.lower, wire.upper): routes.of_wire(wire)
        for wire in wires(routes.layout)
        if wire.kind == "up"
    }
    near = 0.6 + 5.4 - 48 * UNIT_M + 1
    assert found["compute-leaf-4", "compute-spine-2"] == pytest.approx(near)
    assert found["compute-leaf-3", "compute-spine-1"] == pytest.approx(near + 0.6)
    assert found["compute-leaf-1", "compute-spine-1"] == pytest.approx(near + 1.8)
    assert max(known(length) for length in found.values()) == longest(routes, 1).metres


def test_a_patch_to_another_rack_may_be_the_longest():
    patch = {"node": "dgx-1", "interface": 1, "switch": "compute-leaf-4", "port": 17}
    way = 3 * 0.6 + 2.7 + 2.7 - 39 * UNIT_M
    assert longest(routes_of(patches=[patch]), 0).metres == pytest.approx(way + 1)


def test_without_trays_only_what_is_stated_is_known():
    found = longest(routes_of(None), 1)
    assert (found.metres, found.missing) == (None, ("'length' or 'route'",))
    wire = next(iter(wires(routes_of(None).layout)))
    assert routes_of(None).of_wire(wire) is None


@pytest.mark.parametrize("name", ["row_pitch", "joined"])
def test_the_way_to_another_row_is_unknown_while_nobody_says_it(name: str):
    trays = {key: value for key, value in TRAYS.items() if key != name}
    found = longest(routes_of(trays, rows=("c[01-04]", "n01")), 1)
    assert found.metres is None
    assert found.missing == (f"'{name}' of the trays",)
    assert [one.fields for one in found.missing] == [(("sites", 0, "halls", 0, "trays", name),)]
    same_row = longest(routes_of(trays), 1)
    assert same_row.metres is not None


def test_a_tray_needs_a_height():
    with pytest.raises((ValueError, PlanError)):
        routes_of({"row_pitch": "3 m"})


def test_only_cables_to_other_racks_go_over_the_tray():
    """c02 has no leaf and shares that of c01: 0.6 m along, and 2.7 m + 2.7 m - 39 × 44.45 mm up and down."""
    tiers = [
        a_tier("leaf", 2, racks="c01,c03", per_rack=1, start_unit="40 U"),
        a_tier("spine", 2, start_unit="10 U"),
    ]
    links = [
        some_cables("dgx", "leaf", name="inside", same_rack=True),
        some_cables("dgx", "leaf", name="beside", same_rack=False),
        some_cables(parallel=8),
    ]
    routes = routes_of(tiers=tiers, links=links, shared_racks=["c[01-02]", "c[03-04]"])
    inside, beside = (known(longest(routes, number).metres) for number in (0, 1))
    assert inside == pytest.approx(39 * UNIT_M + 0.6 + 1)
    assert beside == pytest.approx(0.6 + 5.4 - 39 * UNIT_M + 1)
    found = {
        kind: max(known(routes.of_wire(w)) for w in wires(routes.layout) if w.kind == kind)
        for kind in ("inside", "beside")
    }
    assert found == {"inside": inside, "beside": beside}


def test_a_cable_to_another_hall_is_not_known():
    routes = routes_of(rows=("c[01-04]",), halls=("n01",))
    found = longest(routes, 1)
    assert (found.metres, found.missing) == (None, ("'length' or 'route'",))
    assert longest(routes, 0).metres is not None


def test_a_device_without_a_place_in_its_rack_makes_the_length_unknown():
    nodes = [some_nodes(count=8, racks="c[01-04]", per_rack=2, start_unit="41 U")]
    assert longest(routes_of(groups=nodes), 0).metres is None
    assert longest(routes_of(groups=nodes), 1).metres is not None


def test_a_device_above_the_trays_has_its_cables_from_below():
    """Trays at 1 m: 2.4 m along, 0.734 m down from unit 40, 0.600 m down to unit 10."""
    found = known(longest(routes_of({**TRAYS, "height": "1 m"}), 1).metres)
    assert found == pytest.approx(2.4 + (39 * UNIT_M - 1) + (1 - 9 * UNIT_M) + 1)
