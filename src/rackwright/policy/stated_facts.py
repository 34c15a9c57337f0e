"""Notices about the numbers that a blueprint states, and those that it leaves open."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from rackwright.errors import Location
from rackwright.harmless import counted
from rackwright.plan.load import LoadedPlan
from rackwright.policy.exception_report import Notice, NoticeKind
from rackwright.reading.yaml_reader import is_table


def stated_facts(judged: LoadedPlan) -> Iterator[Notice]:
    """Yield one notice for each fact of a plan; those that are examples are told apart."""
    told = zip(judged.plan.facts, judged.plan.superseded_facts, strict=True)
    for number, (fact, superfluous) in enumerate(told):
        text = superfluous or (
            f"'{fact.value}', which the catalogue has from no document: '{fact.source.strip()}' "
            f"({fact.date}, {fact.confidence})"
        )
        place = judged.tree.locate(("facts", number))
        used_example = fact.is_example and not superfluous
        kind = NoticeKind.EXAMPLE if used_example else NoticeKind.STATED
        yield Notice(kind, f"{fact.product}: {fact.field}", "", text, place)


def unfilled_layers(judged: LoadedPlan) -> Iterator[Notice]:
    """Yield a notice for each layer of which keys have no value yet."""
    places = judged.tree.unfilled
    for file, number in Counter(place.file for place in places).items():
        first = next(place for place in places if place.file == file)
        empty = "empty answer" if is_table(file) else "empty key"
        text = f"{counted(number, empty)}, without effect"
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
    # A name tells an entry of a list from the others, and is no value.
    return Counter(item.file for item in tree.root.leaves(but="name") if item.file in tree.examples)
