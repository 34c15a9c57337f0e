"""The power shelves of a class of racks, and what the connectors of a site stand."""

from __future__ import annotations

from typing import Any

from factories import CATALOGUE, a_hall, a_rack_group, a_row, a_site_plan, some_feeds, some_nodes
from rackwright.plan.racks.feeds.shelves import shelves_of
from rackwright.plan.records.products import ConnectorLimits, ShelfSet


def shelves_in(shelves: dict[str, Any] | None, **entry: Any) -> ShelfSet | None:
    more: dict[str, Any] = {} if shelves is None else {"shelves": shelves}
    group = a_rack_group(feeds=some_feeds("AB", pdu=None), **more)
    site = a_site_plan(
        CATALOGUE.patched({"mgx-33kw": entry}), halls=[a_hall(rows=[a_row(group)])], node_groups=[]
    )
    return shelves_of(site, site.racks[0])


def test_shelves_are_dealt_over_the_feeds_with_their_rating() -> None:
    assert shelves_in({"type": "mgx-33kw", "count": 5}) == ShelfSet(
        shelf="mgx-33kw",
        count=5,
        rating_w=33_000,
        rating_n1_w=27_500,
        backup_s=None,
        feeds=("A", "B"),
        on_feeds=(3, 2),
        phases=3,
        voltage_min_v=346,
        voltage_max_v=480,
    )


def test_a_battery_lasts_no_longer_than_the_catalogue_says() -> None:
    said = {"type": "mgx-33kw", "count": 2, "per_feed": {"A": 2}, "backup": "90 s"}
    found = shelves_in(said, backup={"value": "60 s", "source": "x"})
    assert found is not None
    assert (found.on_feeds, found.backup_s) == ((2, 0), 60)
    found = shelves_in({**said, "backup": "45 s"}, backup={"value": "60 s", "source": "x"})
    assert found is not None
    assert found.backup_s == 45


def test_a_rack_without_shelves_has_none() -> None:
    assert shelves_in(None) is None


def test_connectors_of_a_site_are_those_of_its_devices() -> None:
    catalogue = CATALOGUE.patched({"gb200-nvl72": {"liquid": {"connector": "uqd04"}}})
    loop = {
        "name": "tcs",
        "cdu": "cdu-spec-1mw",
        "count": 2,
        "fluid": "pg25",
        "temperature_rise": "10 K",
    }
    group = a_rack_group(cooling={"mode": "liquid", "loop": "tcs"})
    site = a_site_plan(
        catalogue,
        loops=[loop],
        halls=[a_hall(rows=[a_row(group)])],
        node_groups=[some_nodes(type="gb200-nvl72", count=1)],
    )
    assert site.connectors == {
        "uqd04": ConnectorLimits(connector="uqd04", flow_lpm=6.4, fluid_max_c=60, pressure_kpa=None)
    }
    assert a_site_plan().connectors == {}
