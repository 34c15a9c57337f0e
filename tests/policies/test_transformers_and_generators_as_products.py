"""Transformers and generators that are products, by hand, against numbers that a blueprint writes.

The site is that of ``fixtures/electrical.yaml``: a transformer of 1 MVA with 5.75 % at 415 V, a generator of
800 kW with 4,000 L, at 30 m and a power factor of 0.95.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from catalogue_team import an_entry, write
from designs import GONE, Changes, Design, said
from rack_records import as_data
from rackwright.catalog.loader import load_catalogue
from rackwright.plan.power.demand import Draws
from rackwright.plan.problems import PlanError
from rackwright.policy.api import Outcome

PASS, FAIL, UNKNOWN = Outcome.PASS, Outcome.FAIL, Outcome.UNKNOWN
SOURCES = ("power", "sources")
GEN, TRAFO = (*SOURCES, 1), (*SOURCES, 2)
TRANSFORMER = {
    "rating": "1 MVA",
    "max_altitude": "1 km",
    "losses": "12 kW",
    "impedance": "5.75 %",
    "voltage": "415 V",
}
GENERATOR = {
    "rating": "800 kW",
    "max_altitude": "1 km",
    "max_ambient": "40 °C",
    "step_load": "400 kW",
    "consumption": "220 L/h",
    "voltage_tolerance": "5 %",
}
PLANNED = (
    "sources", "autonomies", "fault_currents", "voltage_drops", "totals", "racks",
)  # fmt: skip
HOT = {("design_dry_bulb",): "38 °C"}
BY_PRODUCT: Changes = {
    **HOT,
    (*TRAFO, "product"): "acme-trafo",
    (*GEN, "product"): "acme-gen",
    **dict.fromkeys(
        [(*TRAFO, n) for n in ("capacity", "efficiency", "rating", "impedance", "voltage")], GONE
    ),
    **dict.fromkeys([(*GEN, n) for n in ("capacity", "consumption", "voltage_tolerance")], GONE),
}


@pytest.fixture(scope="module")
def design(tmp_path_factory: pytest.TempPathFactory) -> Design:
    folder = tmp_path_factory.mktemp("hardware")
    write(
        folder,
        Path("transformers/acme-trafo.yaml"),
        an_entry("transformer", "acme-trafo", TRANSFORMER),
    )
    write(folder, Path("generators/acme-gen.yaml"), an_entry("generator", "acme-gen", GENERATOR))
    return Design("electrical", catalogue=load_catalogue((folder,)))


def judged(
    design: Design,
    rule: str,
    name: str,
    entry: Mapping[str, str | None] | None = None,
    changes: Changes | None = None,
) -> Any:
    """What a rule says of a source, with numbers of its product changed; None makes one unknown."""
    patch = {key: None if value is None else said(value) for key, value in (entry or {}).items()}
    product = {"trafo": "acme-trafo"}.get(name, "acme-gen")
    found = design.judged(rule, {**BY_PRODUCT, **(changes or {})}, {product: patch})
    return next(r for r in found if r.subject.name == f"el1 source {name}")


def test_the_plan_is_that_of_the_numbers_by_hand(design: Design) -> None:
    """950 kW of 1 MVA at 0.95, with 12 kW lost."""
    by_hand: dict[Any, Any] = {
        **HOT,
        (*TRAFO, "capacity"): "950 kW",
        (*TRAFO, "efficiency"): GONE,
        (*TRAFO, "losses"): "12 kW",
        (*GEN, "step_load"): "400 kW",
    }
    one, other = design.site(by_hand), design.site(BY_PRODUCT)
    for table in PLANNED:
        assert as_data(one, table) == as_data(other, table), table
    assert one.power.overhead == other.power.overhead


def test_modules_of_a_product_are_those_of_the_numbers_by_hand(design: Design) -> None:
    """3 of 400 kW, one spare: 800 kW, a step of 2 × 200 kW, 3 × 110 L/h. Two transformers of 500 kVA."""
    by_hand: dict[Any, Any] = {
        **HOT,
        (*TRAFO, "capacity"): GONE,
        (*TRAFO, "modules"): {"count": 2, "spare": 0, "capacity": "475 kW"},
        (*TRAFO, "efficiency"): GONE,
        (*TRAFO, "losses"): "12 kW",
        (*GEN, "capacity"): GONE,
        (*GEN, "modules"): {"count": 3, "spare": 1, "capacity": "400 kW"},
        (*GEN, "step_load"): "400 kW",
        (*GEN, "consumption"): "330 L/h",
    }
    products = {
        **BY_PRODUCT,
        (*TRAFO, "modules"): {"count": 2, "spare": 0},
        (*GEN, "modules"): {"count": 3, "spare": 1},
    }
    patches = {
        "acme-trafo": {"rating": said("500 kVA"), "losses": said("6 kW")},
        "acme-gen": {
            "rating": said("400 kW"), "step_load": said("200 kW"), "consumption": said("110 L/h"),
        },
    }  # fmt: skip
    one, other = design.site(by_hand), design.site(products, patches)
    for table in PLANNED:
        assert as_data(one, table) == as_data(other, table), table


@pytest.mark.parametrize("share", [0.02, 0.1, 0.5, 1.0])
def test_losses_of_a_transformer_are_no_less_than_the_true_ones_at_any_load(share: float) -> None:
    """No load 2 kW, load 10 kW, 1 MW: taken in proportion, they were too little below a share of P₀ / Pₖ."""
    draws = Draws(beside={"trafo": 12e3})
    drawn = draws.of("trafo", share * 1e6)
    assert drawn is not None
    assert drawn - share * 1e6 >= 2e3 + share**2 * 10e3


def test_losses_of_a_transformer_load_its_source_at_any_load(design: Design) -> None:
    """12 kW more at the utility, and at the generator in its step; a PUE would have them in it."""
    changes: Changes = {
        **BY_PRODUCT,
        **dict.fromkeys([("pue",), ("pue_budget",)], GONE),
        ("plant",): [],
        ("halls", 0, "air", "fed_by"): ["board"],
        **{(*SOURCES, number, "recharge"): "0 W" for number in (4, 5, 6)},
        (*TRAFO, "fed_by"): ["utility", "gen"],
        (*SOURCES, 3, "fed_by"): ["trafo"],
    }
    whole = design.site(changes)
    none = design.site(changes, {"acme-trafo": {"losses": said("0 W")}})

    def drawn(site: Any, name: str) -> float:
        (row,) = (r for r in site.power.sources if r.source == name)
        return float(row.facility_w)

    assert drawn(whole, "trafo") == drawn(none, "trafo")
    assert drawn(whole, "utility") == pytest.approx(drawn(none, "utility") + 12e3)
    steps: list[float] = []
    for losses in ("12 kW", "0 W"):
        found = design.judged("PWR-014", changes, {"acme-trafo": {"losses": said(losses)}})
        steps += [r.value or 0 for r in found if r.subject.name == "el1 source gen"]
    assert steps[0] == pytest.approx(steps[1] + 12e3)


def test_a_written_efficiency_holds_in_the_place_of_the_losses_of_a_product(design: Design) -> None:
    changes = {**BY_PRODUCT, (*TRAFO, "efficiency"): "98 %"}
    one, other = design.site(changes), design.site(changes, {"acme-trafo": {"losses": None}})
    assert one.power.sources == other.power.sources


def test_losses_are_stated_once(design: Design) -> None:
    both: Changes = {(*TRAFO, "efficiency"): "98 %", (*TRAFO, "losses"): "12 kW"}
    with pytest.raises(ValidationError, match="what it loses is stated twice: efficiency, losses"):
        design.site(both)


@pytest.mark.parametrize(
    ("entry", "changes", "outcome"),
    [
        ({}, {}, PASS),
        ({"rating": "400 kVA"}, {}, FAIL),  # 380 kW of some 450 kW
        ({"max_altitude": "30 m"}, {}, PASS),  # the altitude of the site
        ({"max_altitude": "29 m"}, {}, UNKNOWN),
        ({"max_altitude": None}, {}, UNKNOWN),
        ({"max_altitude": None}, {(*TRAFO, "capacity"): "900 kW"}, PASS),
        ({}, {("altitude",): GONE}, UNKNOWN),
    ],
)
def test_a_transformer_carries_its_rating_at_the_power_factor(
    design: Design, entry: Mapping[str, str | None], changes: Changes, outcome: Outcome
) -> None:
    assert judged(design, "PWR-006", "trafo", entry, changes).outcome is outcome


@pytest.mark.parametrize(
    ("entry", "changes", "outcome"),
    [
        ({}, {}, PASS),
        ({"rating": "400 kW"}, {}, FAIL),
        ({"max_ambient": "38 °C"}, {}, PASS),  # the design day itself
        ({"max_ambient": "37.9 °C"}, {}, UNKNOWN),
        ({"max_ambient": None}, {}, UNKNOWN),
        ({"max_altitude": None}, {}, UNKNOWN),
        ({}, {("design_dry_bulb",): GONE}, UNKNOWN),
        ({"max_ambient": None}, {(*GEN, "capacity"): "700 kW"}, PASS),
    ],
)
def test_a_generator_carries_its_rating_up_to_its_altitude_and_temperature(
    design: Design, entry: Mapping[str, str | None], changes: Changes, outcome: Outcome
) -> None:
    assert judged(design, "PWR-006", "gen", entry, changes).outcome is outcome


@pytest.mark.parametrize(
    ("entry", "outcome"),
    [
        ({"consumption": "333 L/h"}, PASS),  # 12.01 h of 12 h
        ({"consumption": "333.4 L/h"}, FAIL),
        ({"consumption": None}, UNKNOWN),
    ],
)
def test_fuel_lasts_by_what_the_product_burns(
    design: Design, entry: Mapping[str, str | None], outcome: Outcome
) -> None:
    assert judged(design, "PWR-019", "gen", entry).outcome is outcome


def test_a_generator_takes_the_step_of_its_product(design: Design) -> None:
    """All that the site draws at once: batteries take nothing."""
    calm = {(*SOURCES, number, "recharge"): "0 W" for number in (4, 5, 6)}
    found = judged(design, "PWR-014", "gen", changes=calm)
    assert found.outcome is FAIL
    for watts, outcome in ((found.value, PASS), (found.value * 0.999, FAIL)):
        entry = {"step_load": f"{watts!r} W"}
        assert judged(design, "PWR-014", "gen", entry, calm).outcome is outcome
    unsaid = judged(design, "PWR-014", "gen", {"step_load": None}, calm)
    assert unsaid.outcome is UNKNOWN
    assert "set 'step_load' in the entry of 'acme-gen' (" in unsaid.fix


@pytest.mark.parametrize("field", ["impedance", "voltage"])
def test_a_plate_that_is_not_known_leaves_fault_currents_unknown(
    design: Design, field: str
) -> None:
    results = design.judged("PWR-016", BY_PRODUCT, {"acme-trafo": {field: None}})
    found = next(r for r in results if r.subject.name == "el1 source board")
    assert found.outcome is UNKNOWN
    assert f"set '{field}' in the entry of 'acme-trafo' (" in str(found.fix)


def test_less_impedance_is_a_larger_fault_current(design: Design) -> None:
    """24,195 A × 5.75 / 4 are 34,781 A, and 35 kA and more at less than 3.97 %."""
    for impedance, outcome in (("4 %", PASS), ("3.9 %", FAIL)):
        patch = {"acme-trafo": {"impedance": said(impedance)}}
        found = design.judged("PWR-016", BY_PRODUCT, patch)
        (board,) = (r for r in found if r.subject.name == "el1 source board")
        assert board.outcome is outcome


def test_losses_that_nobody_says_are_asked_for_in_the_file(design: Design) -> None:
    changes = {**BY_PRODUCT, ("pue",): GONE}
    site = design.site(changes, {"acme-trafo": {"losses": None}})
    assert [str(one) for one in site.power.overhead.lacking if "trafo" in one] == [
        "'losses' of 'trafo'"
    ]
    (lack,) = (one for one in site.power.overhead.lacking if "trafo" in one)
    assert getattr(lack.fields[-1], "name", None) == "losses"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({(*TRAFO, "capacity"): "951 kW"}, "'trafo' is said to carry 951 kW, and .* is 950 kW"),
        ({(*TRAFO, "rating"): "800 kVA"}, "'trafo' has 800 kVA, and acme-trafo 1,000 kVA"),
        ({(*TRAFO, "voltage"): "480 V"}, "'trafo' has 480 V, and acme-trafo 415 V"),
        ({(*GEN, "capacity"): "801 kW"}, "'gen' is said to carry 801 kW, and .* is 800 kW"),
        ({(*GEN, "product"): "acme-trafo"}, "there is no generator 'acme-trafo'"),
        ({(*TRAFO, "product"): "acme-traf"}, "there is no transformer 'acme-traf'"),
    ],
)
def test_value_that_contradicts_the_product_is_refused(
    design: Design, changes: Changes, words: str
) -> None:
    with pytest.raises(PlanError, match=words):
        design.plan({**BY_PRODUCT, **changes})
