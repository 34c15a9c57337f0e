"""``design`` in a facility of 2,000 rack positions; a minute is wanted, and only printed."""

from __future__ import annotations

import time
from typing import Any

import pytest

from design_factories import a_document, a_facility, a_hall, a_judge, a_ups, an_rpp, some_positions
from rackwright.design.explain import bindings_of
from rackwright.design.search import design

pytestmark = pytest.mark.bench

BLOCKS = 50
POSITIONS = 40
HALLS = 5


def blocks(capacity: str) -> dict[str, Any]:
    """Blocks of positions, each with three UPSs and RPPs of its own, in several halls."""
    sources: list[dict[str, Any]] = [
        {"name": "utility", "kind": "utility", "capacity": "40 MW", "fault_current": "18.5 kA"}
    ]
    halls = []
    for h in range(HALLS):
        groups = []
        for b in range(BLOCKS // HALLS):
            number = h * (BLOCKS // HALLS) + b
            lanes = [f"{lane}{number}" for lane in "abc"]
            for lane in lanes:
                sources += [
                    a_ups(f"ups-{lane}", capacity),
                    an_rpp(f"rpp-{lane}", f"ups-{lane}", "1600 A"),
                ]
            first, last = number * POSITIONS + 1, (number + 1) * POSITIONS
            groups.append(some_positions(f"c[{first:04d}-{last:04d}]", tuple(lanes)))
        hall = a_hall(*groups, units=60)
        halls.append({**hall, "name": f"hall-{h + 1}"})
    facility = a_facility(contract="35 MW", sources=sources, halls=halls)
    for plant in facility["plant"]:
        plant["count"] = 200
    return facility


def test_two_thousand_positions(capsys: pytest.CaptureFixture[str]) -> None:
    judge = a_judge(a_document(blocks("210 kW")))
    assert judge.builder.positions == 2_000
    (product,) = judge.builder.document.wanted.products
    began = time.perf_counter()
    found = design(judge, product)
    took = time.perf_counter() - began
    bindings = bindings_of(found)
    whole = time.perf_counter() - began
    assert found.passes
    with capsys.disabled():
        print(
            f"\n{judge.builder.positions:,} positions, {len(found.survey.options):,} kinds of racks, "
            f"{len(found.survey.lines):,} sums: {found.value:,} accelerators, at most {found.bound:,}, "
            f"{found.ending} after {found.judged:,} layouts in {took:.1f} s, "
            f"what binds ({len(bindings)}) in {whole - took:.1f} s"
        )
