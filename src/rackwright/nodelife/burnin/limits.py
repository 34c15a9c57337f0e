"""Limits of measurements: floors of the inventory, and what equal parts of the same hall reach."""

from __future__ import annotations

import datetime as dt
import statistics
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated

from pydantic import Field

from rackwright.model.base import Model
from rackwright.nodelife.burnin.results import Measured
from rackwright.reading.loader import load
from rackwright.resources import bundled

LEAST_NODES = 16
"""Nodes of a model in a hall from which on the hall itself says what is normal."""
DEVIATIONS = 3.0
NORMAL = 1.4826
"""Factor by which the median absolute deviation of normal values is their standard deviation."""
LEAST_SPREAD = 0.01
"""Share of the median that is normal in any case, where measurements hardly differ: our judgement."""


class FloorSource(Model):
    """Source of a floor."""

    title: str
    """Title of the document."""
    date: dt.date
    """Day on which it was read."""
    note: str | None = None
    """Derivation of the floor from the document. The document states the floor itself if omitted."""


class RateFloor(Model):
    """Least value of a measurement, where a document states it."""

    model: Annotated[str, Field(min_length=1)]
    """Word of the model's name, in small letters, like ``h100``."""
    excluding: tuple[str, ...] = ()
    """Words, in small letters, of names that are other products: ``pcie``."""
    measure: Annotated[str, Field(min_length=1)]
    """Name of the measurement, like ``gemm bf16``."""
    size: int | None = None
    """Size for which it was measured; side of matrices, or bytes. Any size if omitted."""
    least: Annotated[float, Field(gt=0)]
    """Least value, in the unit of the measurement."""
    source: FloorSource

    def applies(self, model: str, name: str, size: int) -> bool:
        """Return True if a measurement of this model, name and size is meant."""
        words = model.lower().replace("-", " ").split()
        return (
            self.model in words
            and not set(self.excluding) & set(words)
            and self.measure == name
            and self.size in (None, size)
        )


class FloorFile(Model):
    """Floors of a file."""

    floors: tuple[RateFloor, ...]


def read_floors(files: Iterable[Path] = ()) -> tuple[RateFloor, ...]:
    """Return the floors of the inventory and of more files.

    Raises:
        SpecErrors: a file is not as it must be.
    """
    found: list[RateFloor] = []
    for path in (bundled("inventory") / "burn-in/floors.yaml", *files):
        found += load(path, FloorFile).value.floors
    return tuple(found)


@dataclass(frozen=True, slots=True)
class RateLimit:
    """Least value with its basis in words."""

    least: float
    basis: str


class RateOutcome(StrEnum):
    """Outcome of a measurement: ``recorded`` is one for which nobody knows a limit."""

    PASS = "pass"  # noqa: S105 - not a password
    FAIL = "fail"
    RECORDED = "recorded"


@dataclass(frozen=True, slots=True)
class Judged:
    """A measurement with its limit, None where none is known."""

    measured: Measured
    limit: RateLimit | None

    @property
    def outcome(self) -> RateOutcome:
        """Pass at the limit or above."""
        if self.limit is None:
            return RateOutcome.RECORDED
        return RateOutcome.PASS if self.measured.value >= self.limit.least else RateOutcome.FAIL


def hall_limit(values: Mapping[str, Collection[float]]) -> RateLimit | None:
    """Return what the parts of a hall reach: median − 3 MAD, once 16 nodes are known.

    The median absolute deviation is scaled to the standard deviation of normal values (× 1.4826), and is
    at least 1 % of the median, so that among equal values a difference of 1 % fails nobody.

    Args:
        values: of the parts of each node, for one model, measurement and size.
    """
    if len(values) < LEAST_NODES:
        return None
    flat = [value for own in values.values() for value in own]
    median = statistics.median(flat)
    spread = max(
        NORMAL * statistics.median(abs(value - median) for value in flat), LEAST_SPREAD * median
    )
    return RateLimit(
        median - DEVIATIONS * spread,
        f"median {median:g} of {len(flat)} parts of {len(values)} nodes of the hall, less 3 deviations of {spread:.3g}",
    )


def judge(
    measured: Iterable[Measured],
    floors: Sequence[RateFloor],
    known: Mapping[tuple[str, str, int], Mapping[str, Collection[float]]],
) -> list[Judged]:
    """Return each measurement with its limit: the higher one of the floor and of the hall.

    A hall in which every part is slow does not lower the floor.

    Args:
        measured: of the nodes under test.
        floors: of the inventory.
        known: earlier and present values of the same hall: by model, name and size those of each node.
    """
    limits: dict[tuple[str, str, int], RateLimit | None] = {}
    made = []
    for one in measured:
        key = (one.part.model, one.name, one.size)
        if key not in limits:
            own = [
                RateLimit(floor.least, f"floor: {floor.source.title}")
                for floor in floors
                if floor.applies(*key)
            ]
            hall = hall_limit(known.get(key, {}))
            options = [*own, *([hall] if hall is not None else [])]
            limits[key] = max(options, key=lambda limit: limit.least) if options else None
        made.append(Judged(one, limits[key]))
    return made
