"""Chillers and dry coolers that are products, by hand, against numbers that a blueprint writes.

The site is that of ``fixtures/plant.yaml``: 78 kW on two chillers of 90 kW, 490 kW on two dry coolers of
600 kW, at sea level and 28 °C.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from catalogue_team import an_entry, write
from designs import GONE, Changes, Design, said
from rack_records import records
from rackwright.catalog.loader import load_catalogue
from rackwright.plan.cooling.thermal import density_ratio
from rackwright.plan.problems import PlanError
from rackwright.policy.api import Outcome

PASS, FAIL, UNKNOWN = Outcome.PASS, Outcome.FAIL, Outcome.UNKNOWN
CHILLERS, COOLERS = ("plant", 0), ("plant", 1)
CHILLED, WARM = (("facility_water", n, "supply_temperature") for n in (0, 1))
CHILLER = {
    "capacity": "90 kW",
    "supply_temperature": "14 °C",
    "outdoor_temperature": "35 °C",
    "condenser_temperature": "30 °C",
    "power": "25 kW",
    "restart": "60 s",
}
COOLER = {
    "capacity": "600 kW",
    "supply_temperature": "30 °C",
    "outdoor_temperature": "28 °C",
    "power": "10 kW",
}
PLANNED = (
    "sources", "stages", "outdoors", "uncooled", "ride_through", "totals", "halls", "loops",
)  # fmt: skip
WATER = {CHILLED: "14 °C", WARM: "30 °C"}
BY_PRODUCT: Changes = {
    **WATER,
    (*CHILLERS, "product"): "acme-chiller",
    (*COOLERS, "product"): "acme-cooler",
    **{
        (*one, name): GONE
        for one, names in ((CHILLERS, ("restart",)), (COOLERS, ()))
        for name in ("power", "capacity", "outdoor_temperature", *names)
    },
}
OF = {"chilled": "acme-chiller", "warm": "acme-cooler"}


@pytest.fixture(scope="module")
def design(tmp_path_factory: pytest.TempPathFactory) -> Design:
    folder = tmp_path_factory.mktemp("hardware")
    write(folder, Path("chillers/acme-chiller.yaml"), an_entry("chiller", "acme-chiller", CHILLER))
    write(
        folder, Path("dry-coolers/acme-cooler.yaml"), an_entry("dry-cooler", "acme-cooler", COOLER)
    )
    return Design("plant", catalogue=load_catalogue((folder,)))


def judged(
    design: Design,
    water: str,
    entry: Mapping[str, str | None] | None = None,
    changes: Changes | None = None,
    rule: str = "COOL-013",
) -> Any:
    """What a rule says of what cools a circuit, with numbers of its product changed."""
    patch = {key: None if value is None else said(value) for key, value in (entry or {}).items()}
    found = design.judged(rule, {**BY_PRODUCT, **(changes or {})}, {OF[water]: patch})
    return next(r for r in found if r.subject.name == f"lux1 heat rejection of {water}")


def test_the_plan_is_that_of_the_numbers_by_hand(design: Design) -> None:
    one, other = design.site(WATER), design.site(BY_PRODUCT)
    for table in PLANNED:
        assert records(one, table) == records(other, table), table
    assert one.power.overhead.declared_w == other.power.overhead.declared_w
    assert [c.power for c in one.power.overhead.consumers] == [
        c.power for c in other.power.overhead.consumers
    ]


@pytest.mark.parametrize(
    ("entry", "changes", "outcome"),
    [
        ({}, {}, PASS),
        ({"capacity": "490 kW"}, {}, PASS),  # all the heat, one lost
        ({"capacity": "489.9 kW"}, {}, FAIL),
        ({"supply_temperature": None}, {}, UNKNOWN),
        ({"supply_temperature": "30.1 °C"}, {}, UNKNOWN),  # it supplies no such cold water
        ({"outdoor_temperature": None}, {}, UNKNOWN),
        ({"power": None}, {}, PASS),  # fans give it to the air, not to the water
        ({}, {("altitude",): GONE}, UNKNOWN),
        ({}, {WARM: GONE}, UNKNOWN),
        ({}, {WARM: "29 °C"}, UNKNOWN),
        ({}, {(*COOLERS, "outdoor_temperature"): "30 °C"}, UNKNOWN),  # its entry says 28 °C
        ({"supply_temperature": None}, {(*COOLERS, "capacity"): "500 kW"}, PASS),
        ({}, {(*COOLERS, "capacity"): "480 kW"}, FAIL),
    ],
)
def test_dry_coolers_carry_their_capacity_at_their_temperatures(
    design: Design, entry: Mapping[str, str | None], changes: Changes, outcome: Outcome
) -> None:
    assert judged(design, "warm", entry, changes).outcome is outcome


@pytest.mark.parametrize(
    ("entry", "changes", "outcome"),
    [
        ({"capacity": "78 kW"}, {}, PASS),
        ({"capacity": "77.9 kW"}, {}, FAIL),
        ({"condenser_temperature": None}, {}, PASS),  # it is cooled by air
        ({"outdoor_temperature": None}, {}, UNKNOWN),
        ({}, {(*CHILLERS, "rejects_to"): GONE}, UNKNOWN),
        ({}, {CHILLED: "13.9 °C"}, UNKNOWN),
    ],
)
def test_chillers_carry_their_capacity_at_their_temperatures(
    design: Design, entry: Mapping[str, str | None], changes: Changes, outcome: Outcome
) -> None:
    assert judged(design, "chilled", entry, changes).outcome is outcome


def test_in_thin_air_they_carry_less(design: Design) -> None:
    """At 2,000 m the air has 82 % of its density: 493 kW of 600 kW, and 74 kW of 90 kW."""
    high = {("altitude",): "2000 m"}
    cooler = judged(design, "warm", changes=high)
    assert cooler.limit == pytest.approx(600e3 * density_ratio(2000))
    assert cooler.outcome is PASS
    assert judged(design, "chilled", changes=high).outcome is FAIL


def test_a_chiller_on_another_circuit_needs_it_cold_enough(design: Design) -> None:
    """Of the water at its condenser, thin air takes nothing; its dry coolers stand on the same circuit."""
    on_warm = {(*CHILLERS, "rejects_to"): "warm", ("altitude",): "2000 m"}
    assert judged(design, "chilled", changes=on_warm).outcome is PASS
    assert judged(design, "chilled", {"outdoor_temperature": None}, on_warm).outcome is PASS
    for entry in ({"condenser_temperature": "29.9 °C"}, {"condenser_temperature": None}):
        assert judged(design, "chilled", entry, on_warm).outcome is UNKNOWN
    assert judged(design, "chilled", changes={**on_warm, WARM: GONE}).outcome is UNKNOWN


def test_what_would_make_it_known_is_named(design: Design) -> None:
    for field in ("supply_temperature", "outdoor_temperature"):
        found = judged(design, "warm", {field: None})
        assert f"set '{field}' in the entry of 'acme-cooler' (" in found.fix
        assert "sites.lux1.plant.dry-coolers.capacity'" in found.fix
    found = judged(design, "warm", changes={WARM: GONE})
    assert "sites.lux1.facility_water.warm.supply_temperature'" in found.fix
    found = judged(design, "warm", changes={("altitude",): GONE})
    assert "sites.lux1.altitude'" in found.fix
    found = judged(design, "warm", changes={WARM: "20 °C"})
    assert "holds for water of 30 °C and warmer, and 'warm' supplies 20 °C" in "".join(
        found.missing
    )
    assert "in the entry of" not in found.fix


def test_the_design_day_is_compared_with_the_product(design: Design) -> None:
    def day(entry: Mapping[str, str | None], changes: Changes | None = None) -> Any:
        patch = {key: None if v is None else said(v) for key, v in entry.items()}
        found = design.judged("COOL-013", {**BY_PRODUCT, **(changes or {})}, {"acme-cooler": patch})
        return next(r for r in found if r.subject.name == "lux1 plant 'dry-coolers'")

    assert (day({}).outcome, day({}).limit) == (PASS, 28)
    assert day({"outdoor_temperature": "27.9 °C"}).outcome is FAIL
    unsaid = day({"outdoor_temperature": None})
    assert unsaid.outcome is UNKNOWN
    assert "set 'outdoor_temperature' in the entry of 'acme-cooler' (" in unsaid.fix
    # More than it carries is carried in other air, and nobody says in which.
    assert day({}, {(*COOLERS, "capacity"): "601 kW"}).outcome is UNKNOWN
    assert day({}, {(*COOLERS, "capacity"): "600 kW"}).outcome is PASS


def test_power_and_restart_are_those_of_the_product(design: Design) -> None:
    """25 kW and 60 s of each chiller; what the entry does not say is asked for there."""
    (consumer,) = {
        (c.each, c.restart, c.product)
        for c in design.site(BY_PRODUCT).power.overhead.consumers
        if c.machine == "plant 'chillers'"
    }
    assert consumer == (25e3, 60, "acme-chiller")
    site = design.site(BY_PRODUCT, {"acme-chiller": {"power": None, "restart": None}})
    (first, *_) = (c for c in site.power.overhead.consumers if c.machine == "plant 'chillers'")
    assert [getattr(f, "name", "") for f in first.unrated.fields] == ["", "power"]
    assert [getattr(f, "name", "") for f in first.unstarted.fields] == ["", "restart"]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({(*CHILLERS, "product"): "acme-cooler"}, "there is no chiller 'acme-cooler'"),
        ({(*COOLERS, "product"): "acme-coole"}, "there is no dry cooler 'acme-coole'"),
        ({WARM: "31 °C"}, "the CDUs of loop 'tcs-1' get water of 30 °C, and 'warm' supplies 31 °C"),
    ],
)
def test_what_cannot_be_is_refused(design: Design, changes: Changes, words: str) -> None:
    with pytest.raises(PlanError, match=words):
        design.plan({**BY_PRODUCT, **changes})


def test_a_pump_has_no_product(design: Design) -> None:
    with pytest.raises(ValueError, match="'product' is of a chiller or dry cooler, not of a pump"):
        design.plan({("plant", 2, "product"): "acme-chiller"})
