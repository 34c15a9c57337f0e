"""Changes of a team's products and prices between two revisions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from rackwright.catalog.approved import looser_fields
from rackwright.catalog.loader import KINDS, Catalogue, Key
from rackwright.model.base import Model
from rackwright.model.hardware import Entry
from rackwright.model.prices import Price, each


@dataclass(frozen=True)
class EntryChange:
    """A product, a field of one, or a price that changes.

    Attributes:
        name: the product or the price.
        field: of a product; empty for the whole.
        before: what it was; None where there was none.
        after: what it is; None where there is none.
        held: a pull request is judged by what it was, until it is merged.
    """

    name: str
    field: str
    before: str | None
    after: str | None
    held: bool = False


def compare_catalogues(before: Catalogue, after: Catalogue) -> tuple[EntryChange, ...]:
    """Return the changes of the products and prices that are not built in."""
    return (*_products(before, after), *_prices(before, after))


def _products(before: Catalogue, after: Catalogue) -> Iterator[EntryChange]:
    one, other = _own(before), _own(after)
    for key in sorted(one | other, key=lambda key: (key[1], KINDS[key[0]])):
        name = f"{KINDS[key[0]]}/{key[1]}"
        if key not in one:
            yield EntryChange(name, "", None, after.get(*key).name)
        elif key not in other:
            yield EntryChange(name, "", before.get(*key).name, None)
        else:
            yield from _fields(name, before.get(*key), after.get(*key))


def _own(catalogue: Catalogue) -> set[Key]:
    return {
        (kind, entry_id)
        for kind, found in catalogue.files.items()
        for entry_id in found
        if catalogue.is_own(kind, entry_id)
    }


def _fields(name: str, before: Entry, after: Entry) -> Iterator[EntryChange]:
    held = {".".join(path) for path, _, _ in looser_fields(after, before)}
    one, other = dict(_leaves(before)), dict(_leaves(after))
    for field in dict.fromkeys([*one, *other]):
        was, now = one.get(field), other.get(field)
        if was != now:
            yield EntryChange(name, field, was, now, any(_is_in(field, top) for top in held))


def _is_in(field: str, top: str) -> bool:
    return field == top or field.startswith((f"{top}.", f"{top}["))


def _leaves(model: Model) -> Iterator[tuple[str, str]]:
    """Yield every value of a model with its dotted name; of a number, with its confidence."""
    sources = model.sources if isinstance(model, Entry) else {}
    yield from _values(model.model_dump(mode="json", exclude_none=True), "", sources)


def _values(value: Any, name: str, sources: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict) and {"value", "source"} <= set(value):
        source = sources[value["source"]]
        yield name, f"{value['value']} ({source.title.strip()}, {source.confidence})"
    elif isinstance(value, dict):
        for key, inner in value.items():
            if name or key != "sources":
                yield from _values(inner, f"{name}.{key}" if name else key, sources)
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _values(inner, f"{name}[{number}]", sources)
    else:
        yield name, str(value)


def _prices(before: Catalogue, after: Catalogue) -> Iterator[EntryChange]:
    one, other = _listed(before), _listed(after)
    for name in sorted(one | other):
        was, now = one.get(name), other.get(name)
        if was is None or now is None:
            yield EntryChange(
                name, "", None if was is None else _words(was), None if now is None else _words(now)
            )
        elif _words(was) != _words(now):
            yield EntryChange(name, "", _words(was), _words(now), now.amount < was.amount)


def _listed(catalogue: Catalogue) -> dict[str, Price]:
    known = Catalogue({}).prices
    return {
        f"{price.item} ({price.offer}, {price.region})": price
        for price in each(catalogue.prices.lists)
        if known.find(price.offer, price.region, price.item) is None
    }


def _words(price: Price) -> str:
    return f"{price.amount:f} {price.currency} of {price.source.date} ({price.source.confidence})"
