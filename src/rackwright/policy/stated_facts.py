"""Notices about the numbers that a blueprint states, and those that it leaves open."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from rackwright.errors import Location
from rackwright.harmless import counted
from rackwright.plan.load import LoadedPlan
from rackwright.policy.exception_report import Notice, NoticeKind
from rackwright.reading.tree import Item


def stated_facts(judged: LoadedPlan) -> Iterator[Notice]:
    """Yield one notice for each fact that a plan was judged with; those that are examples are told apart."""
    for number, fact in enumerate(judged.plan.facts):
        text = (
            f"'{fact.value}', which the catalogue has from no document: '{fact.source.strip()}' "
            f"({fact.date}, {fact.confidence})"
        )
        place = judged.tree.locate(("facts", number))
        kind = NoticeKind.EXAMPLE if fact.is_example else NoticeKind.STATED
        yield Notice(kind, f"{fact.product}: {fact.field}", "", text, place)


def unfilled_layers(judged: LoadedPlan) -> Iterator[Notice]:
    """Yield a notice for each layer of which keys have no value yet."""
    places = judged.tree.unfilled
    for file, number in Counter(place.file for place in places).items():
        first = next(place for place in places if place.file == file)
        text = f"{counted(number, 'empty key')}, without effect"
        yield Notice(NoticeKind.UNFILLED, file, "", text, first)


def example_files(loaded: LoadedPlan) -> Iterator[Notice]:
    """Yield a notice for each file whose values are examples, with the number that still apply."""
    for file, number in example_values(loaded).items():
        text = f"{counted(number, 'example value')}: write yours, then remove 'example: true'"
        yield Notice(NoticeKind.EXAMPLE_FILE, file, "", text, Location(file, 1, 1), number)


def example_values(loaded: LoadedPlan) -> Mapping[str, int]:
    """Return the number of values that apply and are examples, by their file."""
    tree = loaded.written
    if tree is None or not tree.examples:
        return {}
    return Counter(item.file for item in _leaves(tree.root) if item.file in tree.examples)


def _leaves(item: Item) -> Iterator[Item]:
    if isinstance(item.value, dict):
        for key, entry in item.value.items():
            if key != "name":  # what tells an entry of a list from the others
                yield from _leaves(entry.item)
    elif isinstance(item.value, list):
        for child in item.value:
            yield from _leaves(child)
    else:
        yield item
