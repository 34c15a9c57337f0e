"""Records of a site plan: their values are of the types that they state, and nobody changes them."""

from __future__ import annotations

import dataclasses
import inspect
import types
from collections.abc import Iterator
from typing import Any, Literal, Union, cast, get_args, get_origin, get_type_hints

import pytest

from factories import (
    a_hall,
    a_rack_group,
    a_row,
    a_site,
    a_site_plan,
    a_source,
    some_feeds,
    some_nodes,
    three_lanes,
)
from rackwright.plan.expansion import SitePlan
from rackwright.plan.load import load_plan
from rackwright.plan.missing import Missing
from rackwright.plan.racks.contributors import NAMES, Quantity, fields_lacking
from rackwright.plan.records import circuits, cooling, facility, power, racks
from rackwright.policy.packs.loader import builtin_pack

RECORDS = [
    kind
    for module in (circuits, racks, power, facility, cooling)
    for _, kind in inspect.getmembers(module, dataclasses.is_dataclass)
    if kind.__module__ == module.__name__
]
UNITS = {
    "w": "in W",
    "a": "in A",
    "v": "in V",
    "kg": "in kg",
    "m": "in m",
    "m2": "in m²",
    "kgm2": "in kg/m²",
    "c": "in °C",
    "k": "in K",
    "kpa": "in kPa",
    "cfm": "in CFM",
    "lpm": "in L/min",
}
"""How the documentation of a field names the unit that its ending says; units of racks are apart."""


def plans() -> Iterator[SitePlan]:
    """Sites with all that there is, with little, and with nothing."""
    yield a_site_plan()
    yield a_site_plan(node_groups=[])
    yield a_site_plan(
        altitude=None,
        pue=None,
        halls=[a_hall(air=None, rows=[a_row(a_rack_group())])],
        node_groups=[some_nodes(type="gb200-nvl72", count=1)],
        loops=[],
    )
    busway = a_source("busway", "ups-a", kind="busway")
    boxes = [{**feed, "tap_off": {"current": "63 A", "racks": 1}} for feed in some_feeds("A")]
    yield a_site_plan(
        power={**a_site()["power"], "sources": [*three_lanes(), busway]},
        halls=[a_hall(rows=[a_row(a_rack_group(feeds=[{**boxes[0], "source": "busway"}]))])],
    )
    generator = {"name": "gen", "kind": "generator"}
    yield a_site_plan(power={**a_site()["power"], "sources": [*three_lanes(), generator]})
    liquid = {"mode": "liquid", "loop": "tcs", "power_limit": "140 kW"}
    loop = {
        "name": "tcs",
        "cdu": "cdu-spec-1mw",
        "count": 2,
        "fluid": "pg25",
        "temperature_rise": "10 K",
    }
    yield a_site_plan(
        loops=[loop],
        halls=[a_hall(rows=[a_row(a_rack_group(cooling=liquid))])],
        node_groups=[some_nodes(type="gb200-nvl72", count=1)],
    )
    for name in ("plant", "electrical"):
        yield from load_plan(builtin_pack() / "fixtures" / f"{name}.yaml").plan.onprem


def records_of(site: SitePlan) -> Iterator[Any]:
    yield site.totals
    yield from site.nvlink_domains
    owners: tuple[Any, ...] = (site.power, site.cooling)
    for owner, field in ((one, field) for one in owners for field in dataclasses.fields(one)):
        value = getattr(owner, field.name)
        for item in value if isinstance(value, tuple) else (value,):
            if type(item) in RECORDS:
                yield item
    for own in site.racks:
        kind = own.kind
        yield own
        yield kind
        yield kind.delivery
        yield from (*kind.devices, *kind.feeds, *kind.circuits, *kind.losses, *kind.fates)


def fits(value: object, wanted: Any) -> bool:
    """Whether a value is exactly of a type: no whole number stands for a real one.

    A text may be a ``Missing``, which says what is not known.
    """
    origin, members = get_origin(wanted), get_args(wanted)
    if origin in {Union, types.UnionType}:
        return any(fits(value, member) for member in members)
    if origin is Literal:
        return type(value) is str and value in members
    if origin is tuple:
        return type(value) is tuple and all(fits(item, members[0]) for item in value)
    return type(value) is wanted or (wanted is str and type(value) is Missing)


def test_values_are_of_the_type_that_the_field_states() -> None:
    seen: set[type] = set()
    for site in plans():
        for record in records_of(site):
            seen.add(type(record))
            for name, wanted in get_type_hints(type(record)).items():
                value = getattr(record, name)
                assert fits(value, wanted), (type(record).__name__, name, value, wanted)
    assert seen == set(RECORDS)


def test_a_whole_number_is_no_real_one() -> None:
    assert not fits(1, float | None)
    assert not fits("a,b", tuple[str, ...])
    assert not fits(True, int)
    assert fits(("sites", 0), tuple[str | int, ...])


@pytest.mark.parametrize("kind", RECORDS)
def test_each_field_is_described_with_its_unit(kind: type[Any]) -> None:
    text = inspect.getdoc(kind) or ""
    _, _, described = text.partition("Attributes:\n")
    lines = [line.strip().partition(": ") for line in described.splitlines()]
    words = {name: meaning for name, _, meaning in lines}
    assert list(words) == [field.name for field in dataclasses.fields(kind)]
    for name, meaning in words.items():
        unit = UNITS.get(name.rpartition("_")[2]) if "_" in name else None
        assert unit is None or unit in meaning, name


@pytest.mark.parametrize("kind", RECORDS)
def test_no_field_holds_a_mapping_or_anything(kind: type[Any]) -> None:
    allowed = {str, float, int, bool, types.NoneType, *RECORDS}

    def leaves(wanted: Any) -> Iterator[Any]:
        if get_origin(wanted) is Literal:
            yield str
        elif get_args(wanted):
            for member in get_args(wanted):
                if member is not Ellipsis:
                    yield from leaves(member)
        else:
            yield wanted

    hints = get_type_hints(kind)
    assert hints
    assert {name: hint for name, hint in hints.items() if not set(leaves(hint)) <= allowed} == {}


def test_a_policy_cannot_change_what_the_next_one_reads() -> None:
    shared: Any = a_site_plan().racks[0]
    with pytest.raises(dataclasses.FrozenInstanceError):
        shared.hostlist = ""
    with pytest.raises((AttributeError, TypeError)):
        shared.more = 0.0


def test_racks_that_differ_in_names_places_and_sources_share_one_kind() -> None:
    rows = [a_row(a_rack_group("c01")), a_row(a_rack_group("d01"), name="row-2")]
    site = a_site_plan(
        halls=[a_hall(rows=rows)],
        node_groups=[some_nodes(count=2, racks="c01,d01", per_rack=1)],
    )
    one, other = site.racks
    assert one.kind is other.kind
    assert (one.row, other.row) == ("row-1", "row-2")
    (feed, source, path), *_ = other.feeds
    assert (feed, source) == (one.kind.feeds[0], other.sources[0])
    assert path == other.feed_path("A") == (*other.path, "feeds", 0)


def test_racks_of_a_class_are_named_twice() -> None:
    site = a_site_plan(
        halls=[a_hall(rows=[a_row(a_rack_group("c[01-03]"))])],
        node_groups=[some_nodes(count=3, racks="c[01-03]", per_rack=1)],
    )
    (found,) = site.racks
    assert (found.names, found.hostlist) == (("c01", "c02", "c03"), "c[01-03]")


def test_quantities_are_fields_of_a_device_with_words() -> None:
    hints = get_type_hints(racks.RackDevice)
    assert {hints[quantity] for quantity in get_args(Quantity)} == {float | None}
    fields = set()
    for kind, quantities in (
        ("node", get_args(Quantity)),
        ("cdu", ("power_w", "weight_kg")),
        ("fluid", ("weight_kg",)),
    ):
        lacking = types.SimpleNamespace(
            kind=kind, medium="hybrid", power_w=None, heat_liquid_w=None
        )
        device = cast("racks.RackDevice", lacking)
        fields |= {name for one in quantities for name in fields_lacking(device, one)}
    assert fields == set(NAMES)
