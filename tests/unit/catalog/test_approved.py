"""What a base has approved of a product: no number of a change is milder than its base's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rackwright.catalog.approved import hold_entry
from rackwright.catalog.loader import load_catalogue
from rackwright.model.base import Model
from rackwright.model.field_kinds import Absent, Direction, Milder, marked_fields
from rackwright.model.hardware import Confidence, Entry, Fact, Node

ENTRIES = tuple(load_catalogue().load_all())


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


def strictest(rule: Milder, now: float | None, was: float | None) -> float | None:
    """What holds of two numbers, written down once more."""
    if now is None or was is None:
        return None if rule.absent is Absent.UNKNOWN else was
    if rule.direction is Direction.HIGHER:
        return min(now, was)
    return max(now, was) if rule.direction is Direction.LOWER else was


@given(st.sampled_from(CASES), st.sampled_from([0.5, 2.0, None]))
def test_no_number_is_milder_than_the_bases(case: Case, factor: float | None) -> None:
    base, path, rule = case
    before = at(base, path)
    was = None if before is None else before.value
    source = next(iter(base.sources), "none") if before is None else before.source
    now = None if factor is None else factor * (7.0 if was is None else was)
    head = put(base, path, None if now is None else Fact(value=now, source=source))
    merged, kept = hold_entry(head, base)
    held = at(merged, path)
    assert (None if held is None else held.value) == strictest(rule, now, was)
    assert {fact.source for _, fact in merged.facts()} == set(merged.sources)
    assert bool(kept) == (merged.model_copy(update={"sources": head.sources}) != head)


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: str(entry.id))
def test_what_does_not_change_is_the_same(entry: Entry) -> None:
    assert hold_entry(entry, entry) == (entry, ())


def node(**changes: Any) -> Node:
    return load_catalogue().get(Node, "dgx-h100").model_copy(update=changes)


@pytest.mark.parametrize(("was", "holds"), [("uqd04", True), ("uqd08", False)])
def test_a_connector_that_gets_a_source_is_the_bases_all_the_same(was: str, holds: bool) -> None:
    """The comparison of an id without a source and one with it ended with a traceback."""
    entry = load_catalogue().get(Node, "gb200-nvl72")
    path = ("liquid", "connector")
    stated = Fact[str](value="uqd04", source=next(iter(entry.sources)))
    base, head = put(entry, path, was), put(entry, path, stated)
    merged, kept = hold_entry(head, base)
    assert at(merged, path) == (stated if holds else was)
    assert [one.path for one in kept] == ([] if holds else [path])
    back, _ = hold_entry(base, head)
    assert at(back, path) == (was if holds else stated)


def test_words_lists_and_switches_are_the_bases() -> None:
    base = node()
    head = node(
        hosts=2,
        ports=base.ports[:1],
        whole_rack=True,
        name="Another name",
        power_supplies=None,
        notes=(),
    )
    merged, kept = hold_entry(head, base)
    assert {".".join(map(str, one.path)) for one in kept} == {
        "hosts",
        "ports",
        "whole_rack",
        "power_supplies",
    }
    assert (merged.name, merged.notes) == ("Another name", ())
    assert merged.model_copy(update={"name": base.name, "notes": base.notes}) == base


def test_an_estimate_in_a_list_stays_one() -> None:
    """The rate of a port is the same; only that it was guessed is gone."""
    base = node()
    guess = {
        key: one.model_copy(update={"confidence": Confidence.ESTIMATE})
        for key, one in base.sources.items()
    }
    merged, kept = hold_entry(base, node(sources=guess))
    assert isinstance(merged, Node)
    assert "ports" in {one.field for one in kept}
    assert merged.ports[0].rate.source.endswith("(base)")
    assert merged.sources[merged.ports[0].rate.source].confidence is Confidence.ESTIMATE


def test_a_number_that_gets_stricter_keeps_how_well_it_was_founded() -> None:
    base = node()
    guess = {
        key: one.model_copy(update={"confidence": Confidence.ESTIMATE})
        for key, one in base.sources.items()
    }
    more = put(base, ("max_power",), Fact(value=12_000.0, source="guide-h100"))
    merged, _ = hold_entry(more, node(sources=guess))
    assert isinstance(merged, Node)
    assert merged.max_power is not None
    assert merged.max_power.value == 12_000.0
    assert merged.sources[merged.max_power.source].confidence is Confidence.ESTIMATE
