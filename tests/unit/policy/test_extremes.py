"""A blueprint with an absurd number is refused or judged; no policy and no price breaks down."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from typing import Any

import pytest

from rackwright.errors import RackwrightError
from rackwright.model.units import LARGEST, SMALLEST
from rackwright.plan.cost.summary import summarise
from rackwright.plan.load import load_data
from rackwright.policy.api import Outcome
from rackwright.policy.gate import Gate
from rackwright.policy.packs.loader import builtin_pack
from rackwright.reading.loader import load_tree
from rackwright.report.cost import render_text
from rackwright.report.text import render_text as render_report

FIXTURES = sorted((builtin_pack() / "fixtures").glob("*.yaml"))
QUANTITY = re.compile(r"[+-]?[\d.,_]+(?:[eE][+-]?\d+)?\s*(\D.*)")
NUMBERS = (0, 1e-9, 10**18 - 1, 1e300)
SIZES = ("0", SMALLEST, LARGEST)
LONGEST_WORD = 90
"""Characters; the longest path of a field has 87, a number of a hundred digits is of no use to anybody."""


def numbers(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[Any, Any]]:
    """Every number and quantity with its path."""
    if isinstance(value, dict):
        for key, child in value.items():
            yield from numbers(child, (*path, key))
    elif isinstance(value, list):
        for index, child in enumerate(value):
            yield from numbers(child, (*path, index))
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield path, NUMBERS
    elif isinstance(value, str) and (found := QUANTITY.fullmatch(value)):
        yield path, [f"{size} {found.group(1)}" for size in SIZES]


def with_value(data: Any, path: tuple[str | int, ...], value: Any) -> Any:
    changed = copy.deepcopy(data)
    inner = changed
    for part in path[:-1]:
        inner = inner[part]
    inner[path[-1]] = value
    return changed


def cases() -> Iterator[Any]:
    """Each field of a blueprint once, in the first fixture that has it."""
    seen = set()
    for fixture in FIXTURES:
        data = load_tree(fixture).data
        for path, values in numbers(data):
            kind = tuple(part for part in path if isinstance(part, str))
            if kind not in seen:
                seen.add(kind)
                yield pytest.param(data, path, values, id=".".join(kind))


@pytest.mark.parametrize(("data", "path", "values"), list(cases()))
def test_no_number_breaks_a_policy_or_a_price(data: Any, path: Any, values: Any) -> None:
    assert values
    for value in values:
        try:
            loaded = load_data(with_value(data, path, value))
        except RackwrightError:
            continue
        report = Gate().judge(loaded)
        assert [one for one in report.results if one.outcome is Outcome.ERROR] == [], value
        said = render_report(report)
        said += render_text(loaded.plan.blueprint.name, summarise(loaded.plan), None)
        assert max(map(len, said.split())) <= LONGEST_WORD, value
