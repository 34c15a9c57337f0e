"""The products and prices that a change is judged by beside its own: those of its base.

Of a product or a price that the base has, the base's numbers are judged as well; the change's are
judged as they are written, so that the stricter of both counts. A number that the base does not know
stays unknown. What is new counts as the change says.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rackwright.catalog.loader import Catalogue, Key
from rackwright.catalog.prices import builtin_prices
from rackwright.errors import SpecErrors
from rackwright.model.base import Model
from rackwright.model.field_kinds import Absent, Direction, Milder, marked_fields
from rackwright.model.hardware import Confidence, Entry, Fact, Source
from rackwright.model.prices import Offer, Price, PriceList, Prices, each
from rackwright.reading.loader import load_tree
from rackwright.reading.yaml_reader import read_raw

GUESS = ", an estimate"


@dataclass(frozen=True)
class RefusedFact:
    """A fact or price of a change that does not hold.

    Attributes:
        name: the product or the price.
        field: of it; empty for a price.
        now: what the change says; None where it says nothing.
        was: what holds; None where nothing is known.
        file: where the change says it.
        path: the place in the file.
    """

    name: str
    field: str
    now: str | None
    was: str | None
    file: Path
    path: tuple[str | int, ...]


def hold_products(head: Catalogue, base: Catalogue) -> tuple[Catalogue, tuple[RefusedFact, ...]]:
    """Return ``head`` with the base's facts and prices, and each of its own that is looser.

    Args:
        head: the catalogue of the change.
        base: that of the base.

    Raises:
        SpecErrors: a price list is wrong.
    """
    held: dict[Key, Entry] = {}
    looser: list[RefusedFact] = []
    for key, path in _shared(head, base):
        try:
            before = base.get(*key)
        except SpecErrors:
            continue  # what cannot be read has approved nothing
        try:
            after = head.bare.get(*key)
        except SpecErrors:
            continue  # it is reported when it is used
        if after != before:
            held[key] = before
        data, old = load_tree(path).data, load_tree(base.source_of(*key)).data
        looser += [
            RefusedFact(
                after.id,
                ".".join(where),
                _written(data, where, _shown(now, after)),
                _written(old, where, _shown(was, before)),
                path,
                where,
            )
            for where, now, was in looser_fields(after, before)
        ]
    prices, dearer = _hold_prices(head, base)
    if not held and prices is None:
        return head, ()
    return replace(head.bare, held=held, held_prices=prices, _read={}), (*looser, *dearer)


def _written(data: Any, path: Sequence[str | int], shown: str | None) -> str | None:
    """Return a number as its file has it, where it is one; else ``shown``."""
    for part in path:
        data = data.get(part) if isinstance(data, Mapping) else None
    if shown is None or not isinstance(data, Mapping) or "value" not in data:
        return shown
    return f"{data['value']}{GUESS if shown.endswith(GUESS) else ''}"


def _shared(head: Catalogue, base: Catalogue) -> Iterator[tuple[Key, Path]]:
    """Yield the products of teams that both have, in files that are not the same."""
    for kind, found in head.files.items():
        for entry_id, path in found.items():
            before = base.files[kind].get(entry_id)
            if before is None or not head.is_own(kind, entry_id):
                continue
            if read_raw(path) != read_raw(before):
                yield (kind, entry_id), path


Found = tuple[tuple[str, ...], Any, Any]
"""Path of a field, its value in a change, and its value in the base."""


def looser_fields(head: Entry, base: Entry) -> Iterator[Found]:
    """Yield the fields of a product that a change makes looser, or better founded than a guess."""

    def guesses(entry: Entry, value: Any) -> int:
        """Return how many numbers in a value are estimates."""
        return sum(
            entry.sources[fact.source].confidence is Confidence.ESTIMATE for fact in _facts(value)
        )

    def compare(now: Model, was: Model, path: tuple[str, ...]) -> Iterator[Found]:
        fields = marked_fields(type(now))
        for name in type(now).model_fields:
            if name in fields.labels:
                continue
            here, there, where = getattr(now, name), getattr(was, name), (*path, name)
            if type(here) is type(there) and _has_claims(here):
                yield from compare(here, there, where)
            elif is_looser(fields.milder(name), here, there) or (
                here is not None and guesses(head, here) < guesses(base, there)
            ):
                yield where, here, there

    yield from compare(head, base, ())


def _facts(value: Any) -> Iterator[Fact[Any]]:
    """Yield the facts in a value."""
    if isinstance(value, Fact):
        yield value
    elif isinstance(value, tuple):
        for one in value:
            yield from _facts(one)
    elif isinstance(value, Model):
        for name in type(value).model_fields:
            yield from _facts(getattr(value, name))


def _has_claims(value: Any) -> bool:
    """True if a value is a model whose fields are compared one by one."""
    return isinstance(value, Model) and bool(marked_fields(type(value)).claims)


def is_looser(rule: Milder | None, now: Any, was: Any) -> bool:
    """Return True if a value of a field is not as strict as another one, the base's or the catalogue's."""
    here, there = _values(now), _values(was)
    if here == there:
        return False
    # A connector may also stand without its source.
    if rule is None or not all(one is None or isinstance(one, Fact) for one in (now, was)):
        return True
    if here is None or there is None:
        return there is None or rule.absent is not Absent.UNKNOWN
    if rule.direction is Direction.HIGHER:
        return bool(here > there)
    return rule.direction is not Direction.LOWER or bool(here < there)


def _values(value: Any) -> Any:
    """Return the content of a field without its sources."""
    if isinstance(value, tuple):
        return [_values(one) for one in value]
    if isinstance(value, Fact):
        return _values(value.value)
    if isinstance(value, Model):
        return {
            name: _values(getattr(value, name))
            for name in type(value).model_fields
            if getattr(value, name) is not None
        }
    return value


def _shown(value: Any, entry: Entry) -> str | None:
    if value is None:
        return None
    if isinstance(value, Fact):
        data = value.model_dump(mode="json")["value"]
        guess = entry.sources[value.source].confidence is Confidence.ESTIMATE
        return f"{data}{GUESS if guess else ''}"
    plain = _values(value)
    return ", ".join(map(str, plain)) if isinstance(plain, list) else str(plain)


def _hold_prices(head: Catalogue, base: Catalogue) -> tuple[Prices | None, list[RefusedFact]]:
    """Return the base's prices with those of products that are new, and the looser ones of the change."""
    if not head.price_folders or head.price_folders == base.price_folders:
        return None, []
    try:
        before = base.prices
    except SpecErrors:
        before = builtin_prices()  # what cannot be read has approved nothing
    if head.prices.lists == before.lists:
        return None, []
    files = {path.stem: path for folder in head.price_folders for path in folder.glob("*.yaml")}
    built_in = set(map(id, builtin_prices().lists))
    new: list[PriceList] = []
    looser = []
    for own in head.prices.lists:
        if id(own) in built_in:
            continue
        fresh = {}
        for now in each([own]):
            was = before.find(now.offer, now.region, now.item)
            if was is None and own.offer is Offer.CAPEX and now.item not in base.keys:
                fresh[now.item] = own.prices[now.item]
            elif was is None or _is_better(now, was):
                name = f"{now.item} ({now.offer}, {now.region})"
                file, path = files.get(own.id, Path(own.id)), ("prices", now.item)
                before_words = None if was is None else _words(was)
                looser.append(RefusedFact(name, "", _words(now), before_words, file, path))
        cited = {fact.source for fact in fresh.values()}
        sources: dict[str, Source] = {key: own.sources[key] for key in cited}
        new.append(own.model_copy(update={"prices": fresh, "sources": sources}))
    return Prices((*before.lists, *new)), looser


def _is_better(now: Price, was: Price) -> bool:
    """True if a price is lower, newer, or better founded than an estimate."""
    guessed = was.is_estimate and not now.is_estimate
    return now.amount < was.amount or now.source.date > was.source.date or guessed


def _words(price: Price) -> str:
    return f"{price.amount:f} of {price.source.date} ({price.source.confidence})"
