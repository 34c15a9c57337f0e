"""Markers of fields: class of a field, direction in which it is looser, and roll-out of a change.

A marker is part of the annotation, beside pydantic's own; pydantic ignores it:

    power_cap: Annotated[
        Watts | None,
        Claim(looser="lower", absent="strict"),
        OnChange("in place", "set through the management controllers"),
    ] = None

Hardware is bought, built or set up from the blueprint, so a change may change it. A claim describes
hardware, and only its word makes it true. A setting is a wish of the owner. A change does not
approve its own claims and settings.

A field without a class fails a test, and so does a field of the blueprint whose roll-out is neither
stated at the field nor around it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Any, Literal, get_args

from pydantic.fields import FieldInfo

from rackwright.model.base import Model


class Direction(StrEnum):
    """Looser one of two values of a field."""

    HIGHER = "higher"
    LOWER = "lower"
    ORDER = "order"
    """The value that is later in a list."""
    MORE = "more"
    """The list with entries that the other list lacks."""
    OTHER = "either"
    """Any other value: a change either way can help."""
    APART = "apart"
    """Compared elsewhere: the policy settings of a blueprint."""


class Absent(StrEnum):
    """Meaning of a field that is left out."""

    STRICT = "strict"
    """Nothing is granted, or the default of the field applies."""
    UNKNOWN = "unknown"
    """The value is unknown, which is as strict; something new cannot be checked without it."""
    MILD = "loose"
    """Nothing is asked."""
    ELSEWHERE = "elsewhere"
    """Another field or the catalogue has the value, which may be stricter or looser."""


@dataclass(frozen=True)
class Milder:
    """Comparison of two values of a field.

    Attributes:
        order: the values from the strictest to the loosest, for ``Direction.ORDER``.
    """

    direction: Direction
    absent: Absent = Absent.UNKNOWN
    order: tuple[object, ...] = ()


class _Compared(Milder):
    def __init__(
        self,
        *,
        looser: Literal["higher", "lower", "more", "either", "apart"] | None = None,
        strictest_first: tuple[object, ...] = (),
        absent: Literal["strict", "unknown", "loose", "elsewhere"] = "unknown",
    ) -> None:
        super().__init__(Direction(looser or "order"), Absent(absent), strictest_first)


class Claim(_Compared):
    """A statement about hardware that only the blueprint or the catalogue entry makes.

    Args:
        looser: direction of the looser value: ``lower`` for a load, ``higher`` for a capacity,
            ``either`` where both ways can help.
        strictest_first: the values in order instead, where they are words.
        absent: meaning of a field that is left out.
    """


class Setting(_Compared):
    """A wish of the owner, like a budget; arguments as of ``Claim``."""


SAID = Claim(strictest_first=(False, True))
"""A claim that something good is true; unknown if omitted."""
GRANTED = Claim(strictest_first=(False, True), absent="strict")
"""A permission, which applies only where it is written."""
APART = Setting(looser="apart", absent="strict")
"""A setting by which policies are applied; base approval compares it on its own."""


@dataclass(frozen=True)
class _Marker:
    name: str


HARDWARE = _Marker("hardware")
"""Something bought, built or set up, or a name of it."""
KEY = _Marker("key")
"""Hardware that tells an entry of a list from the others: with another value it is another entry."""
ABOUT = _Marker("about")
"""Beside the class: the claims of the model are about this value; the base says nothing of another one."""
PART = _Marker("part")
"""Hardware described by models of their own, whose fields have their own classes."""
STATEMENT = _Marker("statement")
"""Models with claims and settings about the model around them."""
ASKED = _Marker("asked")
"""Models of wishes of the owner; a list with one entry less is looser."""
LABEL = _Marker("label")
"""Name or description of a product, which no rule reads."""

Event = Literal["any", "added", "removed", "changed", "grown", "shrunk", "reordered"]


@dataclass(frozen=True)
class OnChange:
    """Effect of a change of a field on a running cluster.

    Attributes:
        action: a value of ``rackwright.diff.actions.Action``.
        reason: words that follow the action.
        event: the event it is about; ``added`` and ``removed`` are about entries where the field is a
            list of models, ``grown`` and ``shrunk`` about numbers. ``any`` covers everything inside
            of the field as well, unless the field inside states its own.
        keeps_data: refuse the change where the entry around the field stores data.
        given: a field, from the entry around this one, that must be set for the roll-out to apply.
    """

    action: Literal["in place", "rolling", "drain", "replace", "review", "refused"]
    reason: str
    event: Event = "any"
    keeps_data: bool = False
    given: str = ""


POLICIES_ONLY = OnChange("in place", "read by the policies only; nothing on the cluster changes")
"""A number that nothing but the policies reads."""
FOR_REVIEW = OnChange("review", "no rule says how this field reaches a running cluster")
"""A field whose effect depends on more than the blueprint says."""


@dataclass(frozen=True)
class Fields:
    """Fields of a model by class.

    Attributes:
        hardware: names of fields marked ``HARDWARE`` or ``KEY``.
        identity: names of fields marked ``KEY``.
        about: names of fields marked ``ABOUT``.
        labels: names of fields marked ``LABEL``.
    """

    hardware: tuple[str, ...]
    parts: tuple[str, ...]
    statements: tuple[str, ...]
    asked: tuple[str, ...]
    claims: Mapping[str, Milder]
    settings: Mapping[str, Milder]
    identity: tuple[str, ...]
    about: tuple[str, ...]
    labels: tuple[str, ...]

    @property
    def inside(self) -> tuple[str, ...]:
        """Names of fields whose models have fields with their own classes."""
        return (*self.parts, *self.statements, *self.asked)

    def milder(self, name: str) -> Milder | None:
        """Return the comparison of a claim or a setting; None for any other field."""
        return self.claims.get(name) or self.settings.get(name)


@cache
def marked_fields(model: type[Model]) -> Fields:
    """Return the fields of ``model`` by class, as marked."""
    marked = {name: info.metadata for name, info in model.model_fields.items()}

    def names(*markers: _Marker) -> tuple[str, ...]:
        return tuple(name for name, found in marked.items() if any(m in found for m in markers))

    def compared(kind: type[Milder]) -> dict[str, Milder]:
        return {name: m for name, found in marked.items() for m in found if isinstance(m, kind)}

    return Fields(
        hardware=names(HARDWARE, KEY),
        parts=names(PART),
        statements=names(STATEMENT),
        asked=names(ASKED),
        claims=compared(Claim),
        settings=compared(Setting),
        identity=names(KEY),
        about=names(ABOUT),
        labels=names(LABEL),
    )


def rollouts_of(field: FieldInfo) -> tuple[OnChange, ...]:
    """Return the roll-outs stated at a field."""
    return tuple(marker for marker in field.metadata if isinstance(marker, OnChange))


def models_in(annotation: Any) -> Iterator[type[Model]]:
    """Yield the models that a type is made of."""
    if isinstance(annotation, type) and issubclass(annotation, Model):
        yield annotation
    for part in get_args(annotation):
        yield from models_in(part)
