"""``design`` of large halls; for 2,000 rack positions a minute is wanted, and only printed."""

from __future__ import annotations

import os
import statistics
import time
from pathlib import Path

import pytest

from design_factories import a_judge
from design_halls import LARGE, LargeHall, document_row, row_of
from rackwright.design.answer.explain import bindings_of
from rackwright.design.search import design

pytestmark = pytest.mark.bench

RUNS = int(os.environ.get("RACKWRIGHT_BENCH_RUNS", "3"))


@pytest.mark.parametrize("hall", LARGE, ids=lambda one: one.name)
def test_a_large_hall(hall: LargeHall, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    judge = a_judge(hall.document())
    (product,) = judge.builder.document.wanted.products
    walls, processors, designs = [], [], []
    for _ in range(RUNS):
        began, worked = time.perf_counter(), time.process_time()
        designs.append(design(judge, product))
        bindings_of(designs[-1])
        walls.append(time.perf_counter() - began)
        processors.append(time.process_time() - worked)
    found = designs[-1]
    with capsys.disabled():
        print(
            f"\n{hall.name}: {judge.builder.positions:,} positions, "
            f"{len(found.survey.options):,} kinds of racks, {len(found.survey.lines):,} sums: "
            f"{found.value:,} accelerators, at most {found.bound:,}, {found.ending} after "
            f"{found.judged:,} layouts; median of {RUNS} with what binds "
            f"{statistics.median(walls):.1f} s, {statistics.median(processors):.1f} s of a processor"
        )
    assert row_of(hall, tmp_path) == document_row(hall.name)
