"""Missing facts, and the fields that would state them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self

from rackwright.plan.base import Path


@dataclass(frozen=True, slots=True)
class ProductField:
    """A field of a product's catalogue entry; ``facts`` of a blueprint may state it as well.

    Attributes:
        product: catalogue id.
        name: dotted, like ``power_supplies.rating``.
    """

    product: str
    name: str


Field = ProductField | Path
"""A field of a catalogue entry, or the place of one in the blueprint, be it there or not."""


class Missing(str):
    """Missing fact in words, with the fields that would state it.

    Each of the fields does by itself; the first is the usual one. A plain text, as a rule may give
    as well, says that something is missing and not where it would be said.
    """

    __slots__ = ("fields",)
    fields: tuple[Field, ...]

    def __new__(cls, text: str, *fields: Field) -> Self:
        """Return ``text`` with its fields."""
        made = super().__new__(cls, text)
        made.fields = fields
        return made


def fields_of(missing: str) -> tuple[Field, ...]:
    """Return the fields that would make it known; none for a plain text."""
    return missing.fields if isinstance(missing, Missing) else ()


def each_once(missing: Iterable[str]) -> tuple[str, ...]:
    """Return the same without those that name what another one names, in the same words."""
    every = tuple(missing)
    if len(every) < 2:  # as of most
        return every
    found: dict[tuple[str, Sequence[Field]], str] = {}
    for one in every:
        found.setdefault((str(one), fields_of(one)), one)
    return tuple(found.values())


def of_product(product: str, name: str, words: str) -> Missing:
    """Return a field that a catalogue entry lacks, like ``dgx-h100: published weight``."""
    return Missing(f"{product}: {words}", ProductField(product, name))


def below(base: Path, missing: Iterable[str]) -> tuple[str, ...]:
    """Return the same, told of a part of the blueprint by places inside of it, with the part at ``base``."""
    return tuple(
        Missing(one, *(f if isinstance(f, ProductField) else (*base, *f) for f in fields_of(one)))
        for one in missing
    )
