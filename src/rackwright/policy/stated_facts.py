"""What a report says of the numbers that a blueprint states of products."""

from __future__ import annotations

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
