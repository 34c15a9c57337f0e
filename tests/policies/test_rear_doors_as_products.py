"""Rear doors that are products, by hand, against numbers that a blueprint writes.

The site is that of ``fixtures/plates-and-doors.yaml``: twelve racks with 17.6 kW for a door that takes
20 kW where its water is 20 K colder than the air of 44 °C. That heat needs 60 × 17.6 / (0.997 × 4.18 × 6) =
42.23 L/min.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from catalogue_team import an_entry, write
from designs import GONE, Changes, Design, said
from rack_records import as_data, rack_devices
from rackwright.catalog.loader import load_catalogue
from rackwright.plan.audit.catalogue_usage import product_counts, used_entries
from rackwright.plan.problems import PlanError
from rackwright.policy.api import Outcome

PASS, FAIL, UNKNOWN = Outcome.PASS, Outcome.FAIL, Outcome.UNKNOWN
COOLING = ("halls", 0, "rows", 0, "rack_groups", 0, "cooling")
PLATES, DOORS = ("loops", 0), ("loops", 1)
DOOR = {
    "capacity": "20 kW",
    "difference": "20 K",
    "flow": "40 L/min",
    "pressure_drop": "30 kPa",
    "weight": "150 kg",
}
FLOW = 60 * 17.6 / (0.997 * 4.18 * 6)
NUMBERS = ("capacity", "difference", "weight")
BY_PRODUCT: Changes = {
    (*COOLING, "rear_door"): "acme-door",
    **{(*COOLING, f"rear_door_{name}"): GONE for name in NUMBERS},
}
PLANNED = (
    "racks", "rows", "halls", "loops", "stages", "ride_through", "totals", "loop_products",
)  # fmt: skip


@pytest.fixture(scope="module")
def design(tmp_path_factory: pytest.TempPathFactory) -> Design:
    folder = tmp_path_factory.mktemp("hardware")
    write(folder, Path("rear-doors/acme-door.yaml"), an_entry("rear-door", "acme-door", DOOR))
    return Design("plates-and-doors", catalogue=load_catalogue((folder,)))


def patched(entry: Mapping[str, str | None] | None) -> dict[str, Any]:
    return {key: None if value is None else said(value) for key, value in (entry or {}).items()}


def judged(
    design: Design,
    rule: str,
    entry: Mapping[str, str | None] | None = None,
    changes: Changes | None = None,
    **others: Mapping[str, str],
) -> list[Any]:
    """What a rule says, with numbers of the door changed, and of other products."""
    products = {name.replace("_", "-"): patched(fields) for name, fields in others.items()}
    patches = {"acme-door": patched(entry), **products}
    return list(design.judged(rule, {**BY_PRODUCT, **(changes or {})}, patches))


def of_doors(results: list[Any], unit: str) -> Any:
    (found,) = (r for r in results if r.subject.name == "mem1 loop doors" and r.unit == unit)
    return found


def test_the_plan_is_that_of_the_numbers_by_hand(design: Design) -> None:
    """30 kPa at 40 L/min are 30 × (42.23 / 40)² kPa at what its heat needs."""
    drop = {(*COOLING, "rear_door_pressure_drop"): f"{30 * (FLOW / 40) ** 2!r} kPa"}
    one, other = design.site(drop), design.site(BY_PRODUCT)
    for table in PLANNED:
        assert as_data(one, table) == as_data(other, table), table
    (racks,) = other.racks
    assert racks.kind.air_into_loop_w == pytest.approx(17_600)
    assert racks.kind.door_flow_lpm == pytest.approx(42.23, abs=0.005)
    assert racks.kind.door_drop_kpa == pytest.approx(33.44, abs=0.005)
    assert racks.kind.content_kg == 862


def test_the_product_is_used_and_counted_and_stands_in_the_rack(design: Design) -> None:
    plan = design.plan(BY_PRODUCT)
    (use,) = (use for use in used_entries(plan) if use.entry.id == "acme-door")
    assert use.path == ("sites", 0, *COOLING, "rear_door")
    assert product_counts(plan)["mem1", "rear door", "acme-door"] == 12
    (door,) = (one for one in rack_devices(plan.onprem[0]) if one.kind == "door")
    assert (door.entry, door.weight_kg, door.flow_lpm) == ("acme-door", 150, 40)
    (by_hand,) = (one for one in rack_devices(design.site()) if one.kind == "door")
    assert (by_hand.entry, by_hand.flow_lpm) == ("rear door", None)


@pytest.mark.parametrize(
    ("entry", "outcome"),
    [
        (
            {"capacity": "10 kW"},
            PASS,
        ),  # 12 × 7.6 = 91.2 kW are left, and one handler carries as much
        ({"capacity": "9.9 kW"}, FAIL),
        ({"capacity": "10 kW", "difference": "20.1 K"}, FAIL),
        ({"capacity": None}, UNKNOWN),
        ({"difference": None}, UNKNOWN),
        ({"capacity": "10 kW", "weight": None, "flow": None, "pressure_drop": None}, PASS),
    ],
)
def test_a_hall_carries_what_its_doors_leave(
    design: Design, entry: Mapping[str, str | None], outcome: Outcome
) -> None:
    two = {("halls", 0, "air", "count"): 2, ("altitude",): "0 m"}
    handler = {"capacity": "91.2 kW"}
    (found,) = judged(design, "COOL-001", entry, two, crah_spec_100kw=handler)
    assert found.outcome is outcome


@pytest.mark.parametrize(
    ("entry", "outcome"),
    [
        ({}, PASS),  # at half its difference twelve doors take 120 kW, as much as one CDU
        ({"capacity": "20.1 kW"}, FAIL),
        ({"difference": "19.9 K"}, FAIL),
        ({"capacity": None}, UNKNOWN),
    ],
)
def test_the_loop_of_doors_carries_their_heat(
    design: Design, entry: Mapping[str, str | None], outcome: Outcome
) -> None:
    warm = {(*DOORS, "supply_temperature"): "34 °C"}
    results = judged(design, "COOL-004", entry, warm, cdu_spec_1mw={"capacity": "120 kW"})
    heat = of_doors(results, "W")
    assert heat.outcome is outcome
    if outcome is FAIL:
        assert [c.name for c in heat.contributors] == ["acme-door"]


@pytest.mark.parametrize(
    ("flow", "of_cdu", "outcome"),
    [
        ("60 L/min", "720 L/min", PASS),  # what its maker asks for is more than its heat needs
        ("60.1 L/min", "720 L/min", FAIL),
        ("40 L/min", "507 L/min", PASS),  # its heat needs more than its maker asks for
        ("40 L/min", "506 L/min", FAIL),
        (None, "507 L/min", PASS),
    ],
)
def test_a_door_gets_the_flow_that_its_maker_asks_for(
    design: Design, flow: str | None, of_cdu: str, outcome: Outcome
) -> None:
    results = judged(design, "COOL-004", {"flow": flow}, cdu_spec_1mw={"flow": of_cdu})
    (found,) = (
        r
        for r in results
        if r.subject.name == "mem1 loop doors" and r.what == "flow of the loop, one CDU lost,"
    )
    assert found.outcome is outcome
    if outcome is FAIL:
        (share,) = found.contributors
        asked = flow == "60.1 L/min"
        assert (share.name, share.count) == ("acme-door", 12)
        assert share.each == pytest.approx(60.1 if asked else FLOW)
        # A larger rise takes nothing off what a maker asks for.
        assert ("temperature_rise" in found.fix) is not asked


def test_a_door_that_takes_nothing_needs_no_flow(design: Design) -> None:
    warm = {**BY_PRODUCT, (*DOORS, "supply_temperature"): "44 °C"}
    (racks,) = design.site(warm).racks
    assert (racks.kind.air_into_loop_w, racks.kind.door_flow_lpm, racks.kind.door_drop_kpa) == (
        0,
        0,
        0,
    )


@pytest.mark.parametrize(
    ("entry", "outcome", "asked"),
    [
        # 12 × 50 L/min: 30 kPa of the door and 50 × 0.6² = 18 kPa of the piping.
        ({}, PASS, ()),
        ({"pressure_drop": "30.1 kPa"}, FAIL, ()),
        ({"pressure_drop": None}, UNKNOWN, ("pressure_drop",)),
        ({"flow": None}, UNKNOWN, ("flow",)),
        ({"pressure_drop": None, "flow": None}, UNKNOWN, ("pressure_drop", "flow")),
        ({"capacity": None}, UNKNOWN, ("capacity",)),
    ],
)
def test_pumps_give_a_door_its_pressure(
    design: Design, entry: Mapping[str, str | None], outcome: Outcome, asked: tuple[str, ...]
) -> None:
    pumps = {"head": "48 kPa", "shutoff_head": "48 kPa"}
    piping = {(*DOORS, "pressure_drop"): "50 kPa"}
    own = {"flow": "50 L/min", **entry}
    results = judged(design, "COOL-014", own, piping, cdu_spec_1mw=pumps)
    (found,) = (r for r in results if r.subject.name == "mem1 loop doors")
    assert found.outcome is outcome
    for name in asked:
        assert f"'{name}'" in found.fix
    assert ("in the entry of 'acme-door' (" in (found.fix or "")) is bool(asked)


@pytest.mark.parametrize(
    ("weight", "outcome"),
    [("150 kg", PASS), ("150.1 kg", FAIL), ("149.9 kg", PASS), (None, UNKNOWN)],
)
def test_a_rack_carries_its_door(design: Design, weight: str | None, outcome: Outcome) -> None:
    """8 × 80 + 6 × 12 + 150 = 862 kg."""
    results = judged(design, "RACK-003", {"weight": weight}, rack_52u={"static_rating": "862 kg"})
    assert [r.outcome for r in results] == [outcome]


@pytest.mark.parametrize(
    ("rule", "field"),
    [("COOL-001", "capacity"), ("COOL-001", "difference"), ("COOL-004", "capacity"),
     ("COOL-004", "difference"), ("RACK-003", "weight"), ("RACK-004", "weight")],
)  # fmt: skip
def test_what_would_make_it_known_is_named(design: Design, rule: str, field: str) -> None:
    unknown = [r for r in judged(design, rule, {field: None}) if r.outcome is UNKNOWN]
    assert unknown
    for found in unknown:
        assert f"'rear_door_{field}' of racks p[01-12]" in found.missing
        assert f"set '{field}' in the entry of 'acme-door' (" in found.fix


@pytest.mark.parametrize(
    ("written", "taken"),
    [
        ({"capacity": "15 kW"}, 15_000),
        ({"capacity": "15 kW", "difference": "40 K"}, 7_500),
        # At a smaller difference the product takes less, and so does the door.
        ({"difference": "10 K"}, 10_000),
        ({"difference": "40 K"}, 10_000),
    ],
)
def test_field_beside_the_product_has_precedence(
    design: Design, written: Mapping[str, str], taken: float
) -> None:
    changes = {(*COOLING, f"rear_door_{name}"): value for name, value in written.items()}
    (racks,) = design.site({**BY_PRODUCT, **changes}).racks
    assert racks.kind.air_into_loop_w == pytest.approx(taken)


def test_a_weight_and_a_pressure_drop_that_are_written_hold(design: Design) -> None:
    written = {"weight": "160 kg", "pressure_drop": "12 kPa"}
    changes = {(*COOLING, f"rear_door_{name}"): value for name, value in written.items()}
    (racks,) = design.site({**BY_PRODUCT, **changes}).racks
    assert (racks.kind.content_kg, racks.kind.door_drop_kpa) == (872, 12)


@pytest.mark.parametrize(
    ("written", "entry", "words"),
    [
        ({"capacity": "20 kW"}, {}, None),
        (
            {"capacity": "20.1 kW"},
            {},
            "are said to take 20.1 kW at 20 K, and acme-door takes 20 kW",
        ),
        ({"capacity": "10 kW", "difference": "10 K"}, {}, None),
        (
            {"capacity": "10.1 kW", "difference": "10 K"},
            {},
            "10.1 kW at 10 K, and acme-door takes 10",
        ),
        ({"capacity": "20.1 kW", "difference": "40 K"}, {}, "at 40 K, and acme-door takes 20 kW"),
        ({"capacity": "20.1 kW"}, {"difference": None}, "take 20.1 kW, and acme-door takes 20 kW"),
        ({"capacity": "99 kW"}, {"capacity": None}, None),
    ],
)
def test_no_door_takes_more_than_its_product(
    design: Design, written: Mapping[str, str], entry: Mapping[str, str | None], words: str | None
) -> None:
    changes = {(*COOLING, f"rear_door_{name}"): value for name, value in written.items()}
    given = ({**BY_PRODUCT, **changes}, {"acme-door": patched(entry)})
    if words is None:
        assert design.plan(*given).onprem
        return
    with pytest.raises(PlanError, match="the doors of racks") as caught:
        design.plan(*given)
    (problem,) = caught.value.problems
    assert words in problem.message
    assert problem.path == ("sites", 0, *COOLING, "rear_door_capacity")


def test_a_door_that_is_not_in_the_catalogue(design: Design) -> None:
    with pytest.raises(PlanError, match="there is no rear door 'acme-dor' in the catalogue"):
        design.plan({**BY_PRODUCT, (*COOLING, "rear_door"): "acme-dor"})


def test_racks_without_a_door_name_none(design: Design) -> None:
    without = {(*COOLING, "mode"): "liquid", (*COOLING, "rear_door_loop"): GONE}
    with pytest.raises(ValueError, match="cooling mode 'liquid' has no 'rear_door'"):
        design.plan({**BY_PRODUCT, **without})


def test_facts_fill_what_the_entry_of_a_maker_lacks(design: Design) -> None:
    """IBM says what its door weighs, and of its capacity nothing without curves."""
    named = {**BY_PRODUCT, (*COOLING, "rear_door"): "ibm-19in-power8"}
    (racks,) = design.site(named).racks
    assert (racks.kind.content_kg, racks.kind.air_into_loop_w) == (747.6, None)
    facts = design.plan().blueprint.model_dump(mode="json", exclude_none=True)["facts"]
    offer = {"source": "Offer 7", "date": "2026-11-25", "confidence": "official"}
    facts += [
        {"product": "ibm-19in-power8", "field": name, "value": value, **offer}
        for name, value in (("capacity", "12 kW"), ("difference", "24 K"))
    ]
    (racks,) = design.site({**named, ("/", "facts"): facts}).racks
    assert racks.kind.air_into_loop_w == pytest.approx(10_000)
