"""Names and places that everything in the plan uses."""

from __future__ import annotations

from dataclasses import dataclass

Path = tuple[str | int, ...]
"""A place in a blueprint: keys of mappings and numbers of list items, like ``("sites", 0)``."""


@dataclass(frozen=True, slots=True)
class Subject:
    """What a measure is about, and its place in the blueprint."""

    name: str
    path: Path


@dataclass(frozen=True, slots=True)
class Contributor:
    """Equal things that add up to a value, like ``4 × dgx-h100 at 10.2 kW``."""

    name: str
    count: int
    each: float

    @property
    def total(self) -> float:
        """What all of them contribute."""
        return self.count * self.each
