"""Named facilities for ``rackwright design``: small ones, of which all layouts are tried, and large ones."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from cli_support import run_here
from design_factories import (
    OPERATIONS,
    a_document,
    a_facility,
    a_hall,
    a_judge,
    a_liquid_document,
    a_ups,
    a_wish,
    all_layouts,
    an_rpp,
    some_positions,
    some_sources,
)
from rackwright.model.quantities import format_quantity

LATER = {
    "enforcement": "disabled",
    "reason": "nothing was measured yet",
    "owner": "dc@example.com",
}
COSTS = {
    "budget_per_year": "9_000_000 USD/year",
    "as_of": "2026-11-21",
    "owned": {
        "energy": "0.07 USD/kWh",
        "utilisation": "80 %",
        "amortisation_years": 4,
        "opex": "5 %",
    },
    "capex": {
        "dgx-h100": "300_000 USD",
        "rack-48u": "2_000 USD",
        "pdu-415v-60a-24c19": "3_000 USD",
        "crah-spec-100kw": "40_000 USD",
    },
}
FABRIC: dict[str, Any] = {
    "name": "compute",
    "preset": "rail-optimized",
    "technology": "infiniband",
    "rate": "400 Gbps",
    "network": "10.30.0.0/22",
    "mtu": 4096,
    "m_key": True,
    "sa_key": True,
    "tiers": [
        {
            "name": "leaf",
            "racks": "n[01-02]",
            "start_unit": "1 U",
            "air_direction": "front-to-back",
            "per_rack": 8,
        },
        {
            "name": "spine",
            "racks": "n[01-02]",
            "start_unit": "20 U",
            "air_direction": "front-to-back",
            "per_rack": 8,
        },
    ],
    "links": [
        {
            "name": "nodes",
            "cable": "mms4x00-ns",
            "fibre": "OS2",
            "diameter": "3 mm",
            "bend_space": "80 mm",
            "length": "20 m",
            "lower_shell": "flat-top",
            "upper_shell": "finned-top",
        },
        {
            "name": "spines",
            "cable": "mma4z00",
            "fibre": "OM4",
            "diameter": "3 mm",
            "bend_space": "80 mm",
            "length": "10 m",
            "lower_shell": "finned-top",
            "upper_shell": "finned-top",
        },
    ],
    "segments": [{"name": "default", "prefix": "10.30.0.0/22"}],
}
LOW = {"mode": "air", "power_limit": "25 kW"}
"""What a rack gets in the weaker half of a hall."""


def bound_by_power() -> dict[str, Any]:
    return a_document(a_facility(sources=some_sources(capacity="35 kW")))


def bound_by_cooling() -> dict[str, Any]:
    return a_document(a_facility(halls=[a_hall(units=2)]))


def bound_by_the_floor() -> dict[str, Any]:
    floor = {"uniform": "450 kg/m2", "concentrated": "680 kg", "rolling": "680 kg"}
    return a_document(a_facility(halls=[a_hall(floor=floor)]))


def bound_by_positions() -> dict[str, Any]:
    return a_document(a_facility(halls=[a_hall(some_positions("c[01-02]"))]))


def bound_by_the_contract() -> dict[str, Any]:
    return a_document(a_facility(contract="250 kW"))


def two_feeds_of_which_one_is_lost() -> dict[str, Any]:
    firmware = [{**OPERATIONS["firmware"][0], "type": "dgx-a100"}]
    return a_document(
        a_facility(
            sources=some_sources("ab", capacity="30 kW"),
            halls=[a_hall(some_positions(lanes="ab"))],
        ),
        a_wish(product="dgx-a100", most_per_rack=5),
        operations={**OPERATIONS, "firmware": firmware},
    )


def two_kinds_of_positions() -> dict[str, Any]:
    halls = [a_hall(some_positions("c[01-02]"), some_positions("d[01-02]", cooling=LOW))]
    return a_document(a_facility(halls=halls, sources=some_sources(capacity="30 kW")))


def a_row_with_a_limit() -> dict[str, Any]:
    rows = [
        {"name": "r1", "power_limit": "50 kW", "rack_groups": [some_positions("c[01-02]")]},
        {"name": "r2", "rack_groups": [some_positions("d[01-02]")]},
    ]
    return a_document(a_facility(halls=[a_hall(rows=rows)]))


def reserves() -> dict[str, Any]:
    kept = {"power": "60 %", "cooling": "75 %", "positions": 1}
    return a_document(None, a_wish(reserve=kept))


def a_pue_beside_entries() -> dict[str, Any]:
    return a_document(a_facility(contract="240 kW", pue=1.6))


def a_pue_alone() -> dict[str, Any]:
    facility = a_facility(contract="200 kW", pue=1.4)
    for source in facility["power"]["sources"]:
        source.pop("efficiency", None)
    del facility["plant"][0]["power"], facility["halls"][0]["air"]["power"]
    return a_document(facility)


def bound_by_coolant() -> dict[str, Any]:
    return a_liquid_document("400 L/min")


def batteries_that_charge() -> dict[str, Any]:
    return a_document(a_facility(sources=some_sources(utility="200 kW", recharge="25 kW")))


def cooling_that_is_lost_with_a_utility() -> dict[str, Any]:
    """Only the policies know of it."""
    sources = some_sources()
    sources.insert(1, {**sources[0], "name": "utility-2"})
    for source in sources:
        if source["kind"] == "ups":
            source["fed_by"] = ["utility", "utility-2"]
    hall = a_hall(units=4)
    del hall["air"]["fed_by"]
    hall["air"]["supplies"] = [
        {"count": 3, "fed_by": ["utility"]},
        {"count": 1, "fed_by": ["utility-2"]},
    ]
    facility = a_facility(sources=sources, halls=[hall])
    facility["plant"][0]["fed_by"] = ["utility", "utility-2"]
    return a_document(facility)


def a_budget_of_a_year() -> dict[str, Any]:
    """The same."""
    costs = {**COSTS, "budget_per_year": "1_000_000 USD/year"}
    return a_document(a_facility(pue=1.4), costs=costs)


def switches_that_draw_too() -> dict[str, Any]:
    """The same."""
    facility = a_facility(
        contract="200 kW",
        fabric=FABRIC,
        halls=[a_hall(some_positions(), some_positions("n[01-02]"))],
    )
    keys = ("congestion_key", "node_key", "vendor_key", "limited_membership")
    facility["security"]["infiniband"] = {
        "m_key_protection_level": 2,
        **dict.fromkeys(keys, True),
    }
    return a_document(facility, policies=dict.fromkeys(("NET-008", "NET-009", "REL-003"), LATER))


BLOCK = 40
"""Positions of a block."""


def blocks(
    count: int, *, halls: int = 1, ups: str = "210 kW", handlers: int = 60, **wish: Any
) -> dict[str, Any]:
    """Blocks of positions, each with three UPSs and RPPs of its own, in several halls."""
    sources: list[dict[str, Any]] = [
        {"name": "utility", "kind": "utility", "capacity": "40 MW", "fault_current": "18.5 kA"}
    ]
    made = []
    for h in range(halls):
        groups = []
        for b in range(count // halls):
            number = h * (count // halls) + b
            lanes = [f"{lane}{number}" for lane in "abc"]
            for lane in lanes:
                sources += [
                    a_ups(f"ups-{lane}", ups),
                    an_rpp(f"rpp-{lane}", f"ups-{lane}", "1600 A", parallel=4),
                ]
            first, last = number * BLOCK + 1, (number + 1) * BLOCK
            groups.append(some_positions(f"c[{first:04d}-{last:04d}]", tuple(lanes)))
        made.append({**a_hall(*groups, units=handlers), "name": f"hall-{h + 1}"})
    facility = a_facility(contract="35 MW", sources=sources, halls=made)
    for plant in facility["plant"]:
        plant["count"] = 200
    return a_document(facility, a_wish(**wish))


def ten_blocks() -> dict[str, Any]:
    return blocks(10)


def fifty_blocks() -> dict[str, Any]:
    return blocks(50, halls=5)


def fifty_blocks_in_warm_halls() -> dict[str, Any]:
    return blocks(50, halls=5, handlers=24)


def fifty_blocks_on_a_budget() -> dict[str, Any]:
    document = blocks(50, halls=5)
    document["facility"]["pue"] = 1.4
    costs = {**COSTS, "budget_per_year": "150_000_000 USD/year"}
    return {**document, "blueprint": {**document["blueprint"], "costs": costs}}


def fifty_blocks_for_a_number() -> dict[str, Any]:
    return {**blocks(50, halls=5), "wanted": {**a_wish(), "accelerators": 20_000}}


def too_little_of_all() -> dict[str, Any]:
    low = some_positions(cooling={"mode": "air", "power_limit": "9 kW"})
    sources = some_sources(capacity="2 kW")
    return a_document(a_facility(halls=[a_hall(low)], sources=sources))


@dataclass(frozen=True)
class SmallHall:
    """A facility of which all layouts can be tried.

    Attributes:
        document: makes it.
        most_units: most units in a rack that are tried.
        most: units of the best layout, as trying all of them finds it.
        cut: rule by which layouts are cut off; None where sums say all.
        what: what it is, for the table of ``docs/design.md``; empty where it is not there.
    """

    document: Callable[[], dict[str, Any]]
    most_units: int
    most: int
    cut: str | None = None
    what: str = ""

    @property
    def name(self) -> str:
        """Its name."""
        return self.document.__name__.replace("_", " ")


SMALL = (
    SmallHall(bound_by_power, 5, 13, what="4 positions on three UPSs of 70 kW"),
    SmallHall(bound_by_cooling, 5, 8, what="4 positions and two air handlers of 100 kW"),
    SmallHall(bound_by_the_floor, 5, 12, what="4 positions on a floor of 450 kg/m²"),
    SmallHall(bound_by_positions, 6, 8),
    SmallHall(bound_by_the_contract, 5, 14),
    SmallHall(
        two_feeds_of_which_one_is_lost, 5, 9, what="4 positions on two feeds from UPSs of 60 kW"
    ),
    SmallHall(two_kinds_of_positions, 4, 11, what="2 positions of 45 kW and 2 of 25 kW"),
    SmallHall(a_row_with_a_limit, 4, 12),
    SmallHall(reserves, 5, 12),
    SmallHall(a_pue_beside_entries, 5, 13),
    SmallHall(a_pue_alone, 5, 14),
    SmallHall(bound_by_coolant, 2, 2, what="6 positions of 140 kW on a loop of 400 L/min"),
    SmallHall(batteries_that_charge, 5, 2),
    SmallHall(cooling_that_is_lost_with_a_utility, 5, 8, "COOL-011"),
    SmallHall(a_budget_of_a_year, 5, 9),
    SmallHall(
        switches_that_draw_too, 4, 7, "PWR-006", what="4 positions, 2 for switches, 200 kW in all"
    ),
)


@dataclass(frozen=True)
class LargeHall:
    """A facility of which the bound is all that there is to compare with.

    Attributes:
        document: makes it.
        what: what it is.
    """

    document: Callable[[], dict[str, Any]]
    what: str

    @property
    def name(self) -> str:
        """Its name."""
        return self.document.__name__.replace("_", " ")


LARGE = (
    LargeHall(ten_blocks, "400 positions in 10 blocks, each on three UPSs of 420 kW"),
    LargeHall(fifty_blocks, "2,000 positions in 50 such blocks, five halls"),
    LargeHall(
        fifty_blocks_in_warm_halls, "the same with 24 air handlers per hall instead of 60"
    ),
    LargeHall(fifty_blocks_on_a_budget, "the same as fifty blocks, for 150 M USD a year"),
)
NOTHING = LargeHall(too_little_of_all, "4 positions of 9 kW on three UPSs of 4 kW")

DOCUMENT = Path(__file__).parents[1] / "docs/design.md"
COLUMNS = ("Hall", "What it is", "Answer", "What binds", "How good", "Judged", "`check`")


def document_row(name: str) -> str:
    """The row of a hall in ``docs/design.md``; empty where it has none."""
    found = re.search(rf"^\| {re.escape(name)} \|.*$", DOCUMENT.read_text("utf-8"), re.MULTILINE)
    return found[0] if found else ""


def row_of(hall: SmallHall | LargeHall, folder: Path) -> str:
    """The row of a hall, as ``design`` and ``check`` answer for it; written where that is asked for."""
    document = hall.document()
    text = yaml.safe_dump(document, sort_keys=False, allow_unicode=True)
    (folder / "wanted.yaml").write_text(text, encoding="utf-8")
    words = ("wanted.yaml", "--as-given", "--json", "--output", "blueprint.yaml")
    told = json.loads(run_here(folder, "design", *words).out)
    best = told["best"]
    if not best["racks"]:
        assert not (folder / "blueprint.yaml").exists()
        cells = ["none", "; ".join(told["in_a_rack"]), best["ending"], best["judged"], "–"]
    else:
        racks = sum(one["count"] for one in best["racks"])
        product = f"{best['units']:,} × {best['product']}"
        answer = f"{best['accelerators']:,} accelerators ({product}) in {racks:,} racks"
        binding = [_binding(one) for one in told["binding"]]
        more = [f"and {len(binding) - 1} more"] if len(binding) > 1 else []
        good = f"{best['ending']}: {_compared(hall, document, best)}"
        judged = run_here(folder, "check", "blueprint.yaml")
        passes = "passes" if judged.code == 0 else f"exit code {judged.code}"
        cells = [answer, ", ".join([*binding[:1], *more]), good, best["judged"], passes]
    row = f"| {hall.name} | {hall.what} | {' | '.join(map(str, cells))} |"
    if os.environ.get("UPDATE_GOLDEN"):
        before = DOCUMENT.read_text("utf-8")
        DOCUMENT.write_text(before.replace(document_row(hall.name), row), encoding="utf-8")
    return row


def _binding(one: dict[str, Any]) -> str:
    load, limit = (format_quantity(one[key], one["unit"]) for key in ("load", "limit"))
    return f"{one['what']}: {load} of {limit}"


def _compared(hall: SmallHall | LargeHall, document: dict[str, Any], best: dict[str, Any]) -> str:
    if isinstance(hall, LargeHall):
        return f"no more than {best['bound']:,}"
    judge = a_judge(document)
    (product,) = judge.builder.document.wanted.products
    tried = sum(1 for _ in all_layouts(judge, product, hall.most_units))
    return f"all {tried:,} layouts tried"
