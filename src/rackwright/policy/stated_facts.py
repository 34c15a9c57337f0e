"""Notices about the numbers that a blueprint states, and those that it leaves open."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from rackwright.plan.load import LoadedPlan
from rackwright.policy.exception_report import Notice, NoticeKind


def stated_facts(judged: LoadedPlan) -> Iterator[Notice]:
    """One notice for each fact that a plan was judged with; those that are examples are told apart."""
    for number, fact in enumerate(judged.plan.facts):
        text = (
            f"'{fact.value}', which the catalogue does not know: '{fact.source.strip()}' "
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
        keys = "1 key has" if number == 1 else f"{number} keys have"
        yield Notice(
            NoticeKind.UNFILLED, file, "", f"{keys} no value yet and change nothing", first
        )
