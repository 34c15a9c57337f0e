"""The products and prices that a change is judged by beside its own: those of its base."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from pydantic import ValidationError

from rackwright.catalog.approved import RefusedFact, hold_products
from rackwright.catalog.loader import NOUNS, Catalogue, Key, load_catalogue
from rackwright.catalog.team import catalogue_at
from rackwright.errors import Location, SpecError, SpecErrors
from rackwright.model.facts import ProductFact
from rackwright.model.hardware import Entry
from rackwright.plan.facts import UnfitError, fill, knows, takes
from rackwright.policy.base_approval.approval import Approval
from rackwright.policy.exception_report import Notice, NoticeKind
from rackwright.policy.reasons import decided
from rackwright.reading.loader import load_tree

_MOST = 6
"""Numbers of a new product that a notice names with their source."""


@dataclass(frozen=True)
class HeldProducts:
    """Products that a change is checked with.

    Attributes:
        catalogue: the head's own where all of it holds.
        notices: what is to be said about it.
        base: what the base has; None if no team has a catalogue of its own.
    """

    catalogue: Catalogue
    notices: tuple[Notice, ...] = ()
    base: Catalogue | None = None


def hold_catalogue(head: Catalogue, approval: Approval) -> HeldProducts:
    """Return the catalogue with the base's facts, and what of its own the change makes looser.

    Args:
        head: the catalogue of the change, which has planned it.
        approval: what its base has approved.

    Raises:
        SpecErrors: a price list of the change is not valid.
        RackwrightError: the base revision cannot be read.
    """
    listed = approval.config is not None and any(
        approval.config.pins(listing) for listing in ("catalogue", "prices")
    )
    if not (head.folders or head.price_folders or listed):
        return HeldProducts(head)
    problems: tuple[SpecError, ...]
    try:
        base, problems = catalogue_at(approval.config)
    except SpecErrors as error:
        base, problems = load_catalogue(), error.errors
    held, kept = hold_products(head, _with_stated(base, approval.document))
    notices = (
        *(_lost(problem, approval.ref) for problem in problems),
        *(_kept(one, approval.ref) for one in kept),
        *_new(head, base, approval.ref),
    )
    return HeldProducts(held, notices, base)


def known_facts(document: Any, products: HeldProducts) -> list[int]:
    """Return the facts of a document, by number, that the base's catalogue does not take.

    It knows the number: else a change could take one out of its catalogue and state a milder one. Or
    it lacks the product, which the base's own fact was about.
    """
    found: list[int] = []
    for number, fact in _stated(document):
        key = (products.base or products.catalogue).keys.get(fact.product)
        if key is None:
            if fact.product not in products.catalogue.keys:
                found.append(number)
            continue
        try:
            if products.base is None:
                is_taken = takes(products.catalogue.bare.get(*key), fact.field)
            else:
                entry = products.catalogue.held.get(key) or products.base.get(*key)
                is_taken = not knows(entry, fact.field)
        except SpecErrors:
            continue  # what cannot be read has approved nothing
        if not is_taken:
            found.append(number)
    return found


def _stated(document: Any) -> Iterator[tuple[int, ProductFact]]:
    stated = document.get("facts") if isinstance(document, Mapping) else None
    for number, item in enumerate(stated if isinstance(stated, list) else ()):
        try:
            yield number, ProductFact.model_validate(item)
        except ValidationError:
            continue


def _with_stated(base: Catalogue, document: Any) -> Catalogue:
    """Return the base's catalogue with what its blueprint states: a number may move from there into it."""
    filled: dict[Key, Entry] = {}
    for _, fact in _stated(document):
        key = base.keys.get(fact.product)
        if key is None:
            continue
        try:
            filled[key] = fill(filled.get(key) or base.get(*key), fact)
        except (SpecErrors, UnfitError):
            continue
    return replace(base, filled=filled, _read={}) if filled else base


def _lost(problem: SpecError, ref: str) -> Notice:
    text = f"{problem.summary}; its facts are those of the change, which are not approved"
    return Notice(NoticeKind.LOWERED, f"catalogue of {ref}", "", text, problem.location)


def _kept(one: RefusedFact, ref: str) -> Notice:
    try:
        place = load_tree(one.file).locate(one.path)
    except SpecErrors:
        place = Location(str(one.file), 1, 1)
    now = "not given" if one.now is None else f"'{one.now}'"
    was = "unknown" if one.was is None else f"'{one.was}'"
    name = f"{one.name}: {one.field}" if one.field else one.name
    text = f"{now} in this change; {decided(ref, was)}"
    return Notice(NoticeKind.LOWERED, name, "", text, place)


def _new(head: Catalogue, base: Catalogue, ref: str) -> Iterator[Notice]:
    """Yield the notices about products of the team that are used and absent from the base."""
    for kind, entry_id in sorted(head.used, key=lambda key: key[1]):
        if not head.is_own(kind, entry_id) or entry_id in base.files[kind]:
            continue
        text = f"a {NOUNS[kind]} that is new in this change; '{ref}' does not have it: "
        text += sources_of(head.get(kind, entry_id))
        place = Location(str(head.source_of(kind, entry_id)), 1, 1)
        yield Notice(NoticeKind.PROPOSED, entry_id, "", text, place)


def sources_of(entry: Entry) -> str:
    """Return the sources of the numbers of ``entry``, in words."""
    facts = list(entry.facts())
    by_source: dict[str, list[str]] = {}
    for name, fact in facts:
        by_source.setdefault(fact.source, []).append(name)
    parts = []
    for key, names in by_source.items():
        source = entry.sources[key]
        more = f" and {len(names) - _MOST} more" if len(names) > _MOST else ""
        parts.append(
            f"{', '.join(names[:_MOST])}{more} from '{source.title.strip()}' "
            f"({source.date}, {source.confidence})"
        )
    return "; ".join(parts) or "it has no numbers"
