"""A change's catalogue and prices as far as its base lets them speak for themselves.

A product that the base has keeps the base's facts where the change's are milder, and a price that
it has where the change's is lower; where they are stricter, the change's hold. A number that the
base does not know stays unknown. What is new holds as the change says.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

from rackwright.catalog.loader import Catalogue, Key
from rackwright.catalog.prices import builtin_prices
from rackwright.errors import SpecErrors
from rackwright.model.base import Model
from rackwright.model.field_kinds import Absent, Direction, Milder, marked_fields
from rackwright.model.hardware import Confidence, Entry, Fact, Source
from rackwright.model.prices import Offer, PriceList, Prices
from rackwright.reading.loader import load_tree
from rackwright.reading.yaml_reader import read_raw

GUESS = ", an estimate"

_KNOWN = {one: rank for rank, one in enumerate(reversed(Confidence))}
"""How well a number is founded: an estimate the least."""


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
    """``head`` as its base lets it be judged, and what of it does not hold.

    Args:
        head: the catalogue of the change.
        base: that of the base.

    Raises:
        SpecErrors: a price list is wrong.
    """
    head = head.bare
    held: dict[Key, Entry] = {}
    kept: list[RefusedFact] = []
    for key, path in _shared(head, base):
        try:
            before = base.get(*key)
        except SpecErrors:
            continue  # what cannot be read has approved nothing
        try:
            after = head.get(*key)
        except SpecErrors:
            continue  # it is told when somebody asks for it
        merged, found = hold_entry(after, before)
        if merged != after:
            held[key] = merged
            data, old = load_tree(path).data, load_tree(base.source_of(*key)).data
            kept += [
                replace(
                    one,
                    name=after.id,
                    file=path,
                    now=_written(data, one.path, one.now),
                    was=_written(old, one.path, one.was),
                )
                for one in found
            ]
    prices, changed = _hold_prices(head, base)
    if not held and prices is None:
        return head, ()
    return replace(head, held=held, held_prices=prices, _read={}), (*kept, *changed)


def _written(data: Any, path: Sequence[str | int], shown: str | None) -> str | None:
    """A number as its file has it, where it is one, and ``shown`` where it is not."""
    for part in path:
        data = data.get(part) if isinstance(data, Mapping) else None
    if shown is None or not isinstance(data, Mapping) or "value" not in data:
        return shown
    return f"{data['value']}{GUESS if shown.endswith(GUESS) else ''}"


def _shared(head: Catalogue, base: Catalogue) -> Iterator[tuple[Key, Path]]:
    """The products of teams that both have, in files that are not the same."""
    for kind, found in head.files.items():
        for entry_id, path in found.items():
            before = base.files[kind].get(entry_id)
            if before is None or not head.is_own(kind, entry_id):
                continue
            if read_raw(path) != read_raw(before):
                yield (kind, entry_id), path


def hold_entry(head: Entry, base: Entry) -> tuple[Entry, tuple[RefusedFact, ...]]:
    """One product as its base lets it be judged, and what of it does not hold."""
    own = {key: _unused(key, head.sources) for key, one in base.sources.items()
           if head.sources.get(key, one) != one}  # fmt: skip
    base = _cite(base, own)
    sources = {own.get(key, key): one for key, one in base.sources.items()}
    walk = _Walk({**sources, **head.sources}, [])
    merged = walk.hold(head, base, ())
    assert isinstance(merged, Entry)  # noqa: S101 - a model stays what it is
    cited = {fact.source for _, fact in merged.facts()}
    kept = {key: one for key, one in walk.sources.items() if key in cited}
    return merged.model_copy(update={"sources": kept}), tuple(walk.kept)


def _unused(key: str, sources: Mapping[str, Source]) -> str:
    name = f"{key} (base)"
    while name in sources:
        name += "'"
    return name


def _cite(model: Any, names: Mapping[str, str]) -> Any:
    """``model`` with other keys of sources."""
    if isinstance(model, tuple):
        return tuple(_cite(one, names) for one in model)
    if isinstance(model, Fact):
        return model.model_copy(update={"source": names.get(model.source, model.source)})
    if not isinstance(model, Model) or isinstance(model, Source):
        return model
    return model.model_copy(
        update={name: _cite(getattr(model, name), names) for name in type(model).model_fields}
    )


@dataclass
class _Walk:
    sources: Mapping[str, Source]
    kept: list[RefusedFact]

    def hold(self, head: Model, base: Model, path: tuple[str, ...]) -> Model:
        """One model as it may be judged."""
        updates: dict[str, Any] = {}
        fields = marked_fields(type(head))
        for name in type(head).model_fields:
            if name in fields.labels:
                continue
            now, was = getattr(head, name), getattr(base, name)
            where = (*path, name)
            if type(now) is type(was) and _has_claims(now):
                updates[name] = self.hold(now, was, where)
            elif _are_facts(now, was):
                updates[name] = self._fact(fields.claims[name], now, was, where)
            elif _values(now) != _values(was) or self._guesses(now) < self._guesses(was):
                updates[name] = was
                self._keep(where, now, was)
        return head.model_copy(update=updates)

    def _fact(
        self, rule: Milder, now: Fact[Any] | None, was: Fact[Any] | None, where: tuple[str, ...]
    ) -> Fact[Any] | None:
        if now is None or was is None:
            if rule.absent is Absent.UNKNOWN and was is not None:
                return None  # the change says less, so that it is unknown at once
            if now is not was:
                self._keep(where, now, was)
            return was
        value = now.value if _is_stricter(rule, now.value, was.value) else was.value
        founded = self._confidence(now) <= self._confidence(was)
        if value == now.value and (founded or self._confidence(was) > 0):
            return now
        self._keep(where, now, was)
        return was if value == was.value else now.model_copy(update={"source": was.source})

    def _confidence(self, fact: Fact[Any]) -> int:
        return _KNOWN[self.sources[fact.source].confidence]

    def _guesses(self, value: Any) -> int:
        """How many numbers in a value are estimates."""
        if isinstance(value, tuple):
            return sum(map(self._guesses, value))
        if isinstance(value, Fact):
            return int(self._confidence(value) == 0)
        if not isinstance(value, Model):
            return 0
        return sum(self._guesses(getattr(value, name)) for name in type(value).model_fields)

    def _keep(self, where: tuple[str, ...], now: Any, was: Any) -> None:
        told = (self._shown(now), self._shown(was))
        self.kept.append(RefusedFact("", ".".join(where), *told, Path(), where))

    def _shown(self, value: Any) -> str | None:
        if value is None:
            return None
        if isinstance(value, Fact):
            data = value.model_dump(mode="json")["value"]
            guess = self.sources[value.source].confidence is Confidence.ESTIMATE
            return f"{data}{GUESS if guess else ''}"
        plain = _values(value)
        return ", ".join(map(str, plain)) if isinstance(plain, list) else str(plain)


def _has_claims(value: Any) -> bool:
    """True if a value is a model whose fields are compared one by one."""
    return isinstance(value, Model) and bool(marked_fields(type(value)).claims)


def _are_facts(*values: Any) -> bool:
    """Whether what there is of two values is facts: a connector may also stand without its source."""
    there = [value for value in values if value is not None]
    return bool(there) and all(isinstance(value, Fact) for value in there)


def _values(value: Any) -> Any:
    """What a field says, without where it says it from."""
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


def _is_stricter(rule: Milder, now: Any, was: Any) -> bool:
    """Whether the change's value is as strict as the base's, or more so."""
    if now == was:
        return True
    if rule.direction is Direction.HIGHER:
        return bool(now < was)
    return rule.direction is Direction.LOWER and bool(now > was)


def _hold_prices(head: Catalogue, base: Catalogue) -> tuple[Prices | None, tuple[RefusedFact, ...]]:
    """The prices that may be judged by, if those of ``head`` may not, and what does not hold."""
    if not head.price_folders or head.price_folders == base.price_folders:
        return None, ()
    try:
        before = base.prices
    except SpecErrors:
        before = builtin_prices()  # what cannot be read has approved nothing
    built_in = set(map(id, builtin_prices().lists))
    kept: list[RefusedFact] = []
    lists = [
        one if id(one) in built_in else _hold_list(one, before, base.keys, kept)
        for one in head.prices.lists
    ]
    if not kept:
        return None, ()
    files = {path.stem: path for folder in head.price_folders for path in folder.glob("*.yaml")}
    return Prices(tuple(lists)), tuple(
        replace(one, file=files.get(str(one.file), one.file)) for one in kept
    )


def _hold_list(
    head: PriceList, before: Prices, products: Container[str], kept: list[RefusedFact]
) -> PriceList:
    facts: dict[str, Fact[Decimal]] = {}
    sources: dict[str, Source] = {}
    for item, fact in head.prices.items():
        source = head.sources[fact.source]
        was = before.find(head.offer, head.region, item)
        if was is None:
            if head.offer is Offer.CAPEX and item not in products:
                facts[item], sources[fact.source] = fact, source
                continue
            kept.append(_price(head, item, _words(fact.value, source), None))
            continue
        amount = max(fact.value, was.amount)
        if amount == fact.value and not _is_milder(source, was.source):
            facts[item], sources[fact.source] = fact, source
            continue
        key = f"{item} (base)"
        facts[item] = fact.model_copy(update={"value": amount, "source": key})
        sources[key] = was.source
        kept.append(_price(head, item, _words(fact.value, source), _words(amount, was.source)))
    return head.model_copy(update={"prices": facts, "sources": sources})


def _is_milder(now: Source, was: Source) -> bool:
    """Whether a price is said to be newer, or better founded than an estimate."""
    guess = Confidence.ESTIMATE
    return now.date > was.date or (was.confidence is guess and now.confidence is not guess)


def _words(amount: Decimal, source: Source) -> str:
    when: date = source.date
    return f"{amount:f} of {when} ({source.confidence})"


def _price(head: PriceList, item: str, now: str, was: str | None) -> RefusedFact:
    name = f"{item} ({head.offer}, {head.region})"
    return RefusedFact(name, "", now, was, Path(head.id), ("prices", item))
