"""Measures, findings and results are frozen at run time too, and behave as dataclasses do."""

from __future__ import annotations

import copy
import inspect
import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError, replace
from typing import Any

import pytest

from policy_factories import a_measure
from rackwright.api import Finding, Measure, Outcome, Subject
from rackwright.policy.engine import Result

A_FINDING = Finding(Subject("site a", ()), ok=True, message="it is")


@pytest.fixture(params=[a_measure(), A_FINDING], ids=["measure", "finding"])
def record(request: pytest.FixtureRequest) -> Any:
    """A record that a rule yields."""
    return request.param


@pytest.mark.parametrize(
    "change",
    [
        lambda one: setattr(one, "what", "another"),
        lambda one: setattr(one, "unknown_field", 1),
        lambda one: delattr(one, "what"),
        lambda one: one.__dict__,
    ],
)
def test_a_record_cannot_be_changed(record: Any, change: Callable[[Any], object]) -> None:
    before = hash(record), record.outcome, record.what
    with pytest.raises((FrozenInstanceError, AttributeError, TypeError)):
        change(record)
    assert (hash(record), record.outcome, record.what) == before


def test_a_copy_is_equal_and_frozen(record: Any) -> None:
    for other in (copy.copy(record), copy.deepcopy(record), pickle.loads(pickle.dumps(record))):
        assert (other, hash(other), type(other)) == (record, hash(record), type(record))
        with pytest.raises(FrozenInstanceError):
            other.what = "another"
    assert replace(record, what="another") != record
    assert replace(record, what="another").what == "another"


def test_wrong_arguments_are_refused_as_by_a_dataclass() -> None:
    with pytest.raises(TypeError, match="missing 4 required positional arguments"):
        Measure(Subject("a", ()))  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="unexpected keyword argument 'colour'"):
        Finding(Subject("a", ()), ok=True, message="b", colour=1)  # type: ignore[call-arg]
    names = list(inspect.signature(Result).parameters)
    assert names[:4] == ["policy", "title", "severity", "enforcement"]


def test_a_subclass_is_frozen_too() -> None:
    class Mine(Measure):
        """A measure of a team."""

    made = Mine(Subject("a", ()), 1.0, 2.0, "W", "power")
    assert type(made) is Mine
    assert made.outcome is Outcome.PASS
    with pytest.raises(FrozenInstanceError):
        made.value = 9.0  # type: ignore[misc]
