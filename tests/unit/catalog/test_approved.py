"""Each number of a product that a change makes looser than its base is told."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalogue_entries import all_entries
from rackwright.catalog.approved import looser_fields
from rackwright.catalog.loader import load_catalogue
from rackwright.model.base import Model
from rackwright.model.field_kinds import Absent, Direction, Milder, marked_fields
from rackwright.model.hardware import Confidence, Entry, Fact, Node, Source

A_SOURCE = Source(title="A data sheet", date=date(2026, 10, 1), confidence=Confidence.OFFICIAL)
ENTRIES = tuple(all_entries(load_catalogue()))


def at(model: Any, path: tuple[str, ...]) -> Any:
    for part in path:
        model = getattr(model, part)
    return model


def numbers(entry: Any, model: Model, path: tuple[str, ...] = ()) -> Iterator[Case]:
    """Every field of a product that holds or may hold a number, with its class."""
    for name, field in type(model).model_fields.items():
        value = getattr(model, name)
        if isinstance(value, Model) and marked_fields(type(value)).claims:
            yield from numbers(entry, value, (*path, name))
        elif "Fact[" in str(field.annotation) and not isinstance(value, tuple | str):
            was = None if value is None else value.value
            if was is None or isinstance(was, int | float):
                yield entry, (*path, name), marked_fields(type(model)).claims[name]


Case = tuple[Entry, tuple[str, ...], Milder]
CASES = tuple(case for entry in ENTRIES for case in numbers(entry, entry))


def put(model: Any, path: tuple[str, ...], value: Any) -> Any:
    """``model`` with another value at a place."""
    first, *rest = path
    inner = put(getattr(model, first), tuple(rest), value) if rest else value
    return model.model_copy(update={first: inner})


def told(head: Entry, base: Entry) -> set[str]:
    """Names of the fields that a change makes looser."""
    return {".".join(path) for path, _, _ in looser_fields(head, base)}


def is_looser(rule: Milder, now: float | None, was: float | None) -> bool:
    """True if the first of two numbers is looser, written down once more."""
    if now == was:
        return False
    if now is None or was is None:
        return was is None or rule.absent is not Absent.UNKNOWN
    if rule.direction is Direction.HIGHER:
        return now > was
    return now < was if rule.direction is Direction.LOWER else True


@given(st.sampled_from(CASES), st.sampled_from([0.5, 2.0, None]))
def test_each_number_that_a_change_makes_looser_is_told(case: Case, factor: float | None) -> None:
    base, path, rule = case
    before = at(base, path)
    was = None if before is None else before.value
    source = next(iter(base.sources), "none") if before is None else before.source
    now = None if factor is None else factor * (7.0 if was is None else was)
    head = put(base, path, None if now is None else Fact(value=now, source=source))
    if source == "none":
        head = head.model_copy(update={"sources": {"none": A_SOURCE}})
    assert told(head, base) == ({".".join(path)} if is_looser(rule, now, was) else set())


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: str(entry.id))
def test_nothing_is_looser_where_nothing_changes(entry: Entry) -> None:
    assert told(entry, entry) == set()


def node(**changes: Any) -> Node:
    return load_catalogue().get(Node, "dgx-h100").model_copy(update=changes)


@pytest.mark.parametrize(("was", "same"), [("uqd04", True), ("uqd08", False)])
def test_connector_with_and_without_a_source_is_compared(was: str, same: bool) -> None:
    """The comparison of an id without a source and one with it ended with a traceback."""
    entry = load_catalogue().get(Node, "gb200-nvl72")
    path = ("liquid", "connector")
    stated = Fact[str](value="uqd04", source=next(iter(entry.sources)))
    base, head = put(entry, path, was), put(entry, path, stated)
    expected = set() if same else {"liquid.connector"}
    assert told(head, base) == told(base, head) == expected


def test_words_lists_and_switches_are_compared_either_way() -> None:
    base = node()
    head = node(
        hosts=2,
        ports=base.ports[:1],
        whole_rack=True,
        name="Another name",
        power_supplies=None,
        notes=(),
    )
    assert told(head, base) == {"hosts", "ports", "whole_rack", "power_supplies"}


def guessed(entry: Node) -> Node:
    guess = {
        key: one.model_copy(update={"confidence": Confidence.ESTIMATE})
        for key, one in entry.sources.items()
    }
    return entry.model_copy(update={"sources": guess})


def test_estimate_that_becomes_official_is_told_in_lists_as_well() -> None:
    """The rate of a port is the same; only that it was guessed is gone."""
    assert {"ports", "max_power"} <= told(node(), guessed(node()))
    assert told(guessed(node()), node()) == set()


def test_stricter_number_that_becomes_official_is_told() -> None:
    more = put(node(), ("max_power",), Fact(value=12_000.0, source="guide-h100"))
    assert "max_power" in told(more, guessed(node()))
    assert told(more, node()) == set()
