"""Names and places that everything in the plan uses."""

from __future__ import annotations

from dataclasses import dataclass

FieldPath = tuple[str | int, ...]
"""Place in a blueprint: keys of mappings and numbers of list items, like ``("sites", 0)``."""

Path = FieldPath
"""Short name of the same inside the plan, which opens no files."""


@dataclass(frozen=True, slots=True)
class Subject:
    """Subject of a measure, and its place in the blueprint."""

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
        """Sum of all its units."""
        return self.count * self.each
