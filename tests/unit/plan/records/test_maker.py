"""Records that are made quickly are the same as those that are made one by one."""

from __future__ import annotations

import dataclasses
import pickle
from typing import Any

import pytest

from rackwright.plan.records.maker import maker
from rackwright.plan.records.power import CircuitLoad, FeedLoad, SourceLoad
from rackwright.plan.records.racks import RackDevice, RackPosition

KINDS = (CircuitLoad, FeedLoad, SourceLoad, RackDevice, RackPosition)


@pytest.mark.parametrize("kind", KINDS)
def test_it_makes_what_the_kind_itself_makes(kind: type[Any]) -> None:
    values = {field.name: number for number, field in enumerate(dataclasses.fields(kind))}
    made, expected = maker(kind)(**values), kind(**values)
    assert type(made) is kind
    assert (made, hash(made), repr(made)) == (expected, hash(expected), repr(expected))
    assert pickle.loads(pickle.dumps(made)) == expected


@pytest.mark.parametrize("kind", KINDS)
def test_nobody_changes_what_it_has_made(kind: type[Any]) -> None:
    names = [field.name for field in dataclasses.fields(kind)]
    made = maker(kind)(**dict.fromkeys(names))
    for name in names:
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(made, name, 1)
        with pytest.raises(dataclasses.FrozenInstanceError):
            delattr(made, name)


def test_it_takes_what_the_kind_takes() -> None:
    with pytest.raises(TypeError, match="position"):
        maker(RackPosition)(rack="c1", rack_class=0, hall="h", row="r")  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="more"):
        maker(RackPosition)(  # type: ignore[call-arg]
            rack="c1", rack_class=0, hall="h", row="r", position=0, more=1
        )


def test_it_is_made_once() -> None:
    assert maker(CircuitLoad) is maker(CircuitLoad)
