"""The shortest cables are those of an exhaustive search, measured by the plan."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from design_factories import (
    a_document,
    a_facility,
    a_hall,
    a_judge,
    a_wish,
    all_layouts,
    some_positions,
)
from design_halls import FABRIC, LATER
from rackwright.design.answer.words import value_text
from rackwright.design.cables import cables_of, with_cables
from rackwright.design.classes import Survey
from rackwright.design.document import RackLayout
from rackwright.design.judge import Judge
from rackwright.design.outcome import run
from rackwright.design.search import Design, design
from rackwright.errors import SpecErrors
from rackwright.exit_codes import ExitCode

TRAYS = {"height": "2.7 m", "row_pitch": "3 m", "joined": "first", "fill": "10 %"}
SIDES = (("c[01-02]", "n01", "c[03-05]"),)
"""Rows with the racks of each of their groups: switches stand between the positions."""
ENDS = (("n01", "c[01-03]", "n02"), ("d[01-03]",))
"""Switches stand at both ends of the first row."""


def cabled(
    rows: tuple[tuple[str, ...], ...], *, leaves: str = "n01", per_rack: int = 8, **wish: Any
) -> dict[str, Any]:
    """Positions and racks of switches in rows with trays, and a fabric without stated lengths."""
    fabric = copy.deepcopy(FABRIC)
    leaf, spine = fabric["tiers"]
    leaf |= {"racks": leaves, "per_rack": per_rack}
    spine |= {"racks": "n01"}
    for link in fabric["links"]:
        del link["length"]
    made = [
        {"name": f"row-{n}", "rack_groups": [some_positions(racks) for racks in groups]}
        for n, groups in enumerate(rows)
    ]
    facility = a_facility(fabric=fabric, halls=[a_hall(rows=made, trays=TRAYS)])
    keys = ("congestion_key", "node_key", "vendor_key", "limited_membership")
    facility["security"]["infiniband"] = {"m_key_protection_level": 2, **dict.fromkeys(keys, True)}
    wished = {**a_wish(most_per_rack=2, objective="shortest-cables"), "accelerators": 24, **wish}
    later = dict.fromkeys(("NET-008", "NET-009", "REL-003"), LATER)
    return a_document(facility, wished, policies=later)


def searched(document: dict[str, Any], **more: int) -> tuple[Judge, Design]:
    judge = a_judge(document)
    (product,) = judge.builder.document.wanted.products
    return judge, design(judge, product, **more)


def shortest(judge: Judge, found: Design, units: int) -> int:
    """The shortest cables of all layouts of so many units that pass, in cm."""
    measured = [
        cables_of(judge, layout).centimetres
        for layout in all_layouts(judge, found.product, 2)
        if layout.units == units and judge.judge(layout).passes
    ]
    return min(length for length in measured if length is not None)


@pytest.mark.parametrize(
    ("document", "once"),
    [
        (cabled(SIDES), True),
        (cabled((("c[01-02]", "n01"), ("d[01-03]",))), True),
        (cabled(ENDS, leaves="n[01-02]", per_rack=4, accelerators=16), False),
    ],
    ids=["switches in the middle", "two rows", "switches at both ends"],
)
def test_the_cables_are_the_shortest_of_all_layouts(
    document: dict[str, Any], *, once: bool
) -> None:
    judge, found = searched(document)
    assert found.ending == "optimal"
    assert found.layout is not None
    assert judge.judge(found.layout).passes
    assert found.value == found.bound == shortest(judge, found, found.layout.units)
    assert (found.judged == 1) == once, "with all leaves in one rack the length is a sum over racks"


def test_racks_stand_beside_the_switches() -> None:
    judge, found = searched(cabled(SIDES))
    assert found.layout is not None
    names = [name for *_, names in judge.builder.standing_by_class(found.layout) for name in names]
    assert sorted(names) == ["c02", "c03"]


def test_a_rack_is_never_measured_below_its_least_length() -> None:
    judge, found = searched(cabled(ENDS, leaves="n[01-02]", per_rack=4, accelerators=16))
    measured = with_cables(judge, found.survey)
    assert isinstance(measured, Survey)
    for number, option in enumerate(measured.options):
        racks = tuple(int(n == number) for n in range(len(measured.options)))
        length = cables_of(judge, measured.layout(racks)).centimetres
        assert option.cable_cm is not None
        assert length is not None
        assert option.cable_cm <= length


def test_without_a_proof_the_cables_are_bounded_and_not_called_the_shortest() -> None:
    document = cabled(ENDS, leaves="n[01-02]", per_rack=4, accelerators=16)
    judge, found = searched(document, most_cuts=1)
    best = searched(document)[1].value
    assert found.ending == "bounded"
    assert found.value is not None
    assert found.bound is not None
    assert best is not None
    assert found.bound <= best <= found.value
    assert found.bound < found.value
    assert found.layout is not None
    assert judge.judge(found.layout).passes


def test_lengths_that_do_not_follow_are_asked_for() -> None:
    document = cabled(SIDES)
    del document["facility"]["halls"][0]["trays"]
    judge, found = searched(document)
    assert (found.ending, found.layout) == ("unknown", None)
    assert any("'length' or 'route'" in text for text in found.missing)
    assert run(judge).exit_code is ExitCode.UNKNOWN


def test_lengths_that_are_stated_are_added_up() -> None:
    document = cabled(SIDES)
    document["facility"]["fabric"]["links"][0]["length"] = "20 m"
    _, found = searched(document)
    assert found.ending == "optimal"
    assert found.value == 3 * 8 * 20 * 100
    assert value_text("shortest-cables", found.value) == "480.0 m of cable"


def test_cables_need_a_fabric() -> None:
    document = cabled(SIDES)
    del document["facility"]["fabric"]
    with pytest.raises(SpecErrors, match="'shortest-cables' needs a fabric"):
        a_judge(document)


def test_positions_that_stay_empty_keep_their_floor_in_the_lengths_of_cables() -> None:
    """c01 is two positions of 0.6 m from n01; what stood between them was left out, and cables were too short."""
    document = cabled(SIDES)
    judge = a_judge(document)
    (product,) = judge.builder.document.wanted.products
    near, far = (
        cables_of(judge, RackLayout(product, {(place, 1): 1})).centimetres for place in (1, 0)
    )
    assert near is not None
    assert far is not None
    assert far - near == pytest.approx(8 * 60, abs=1), "eight cables, 0.6 m more along the tray"
    (row,) = judge.builder.blueprint(RackLayout(product, {(0, 1): 1})).data["sites"][0]["halls"][0][
        "rows"
    ]
    assert row["length"] == "3.6 m"
    assert [(one["racks"], one.get("gap")) for one in row["rack_groups"]] == [
        ("c01", None),
        ("n01", "0.6 m"),
    ]
