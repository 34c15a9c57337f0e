"""Views of training jobs for the page: throughput, step and possible improvements."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from rackwright.drawings.job import draw_job
from rackwright.plan.base import Path
from rackwright.plan.model import Plan
from rackwright.plan.workload.changes import changes
from rackwright.plan.workload.economy import economy
from rackwright.report.prediction import facts, gain_text, headline
from rackwright.report.wording import printable


@dataclass(frozen=True, slots=True)
class JobView:
    """View of one workload.

    Attributes:
        headline: model, precision and place.
        problem: reason for a missing prediction; empty if there is one.
        facts: names and values.
        drawing: bars of the step; empty without a prediction.
        bottleneck: longest part of the step, with its share.
        changes: gain, field and change, largest gain first.
    """

    headline: str
    problem: str
    facts: Sequence[tuple[str, str]]
    drawing: Markup
    bottleneck: str
    changes: Sequence[tuple[str, str, str]]


def job_views(plan: Plan, name_of: Callable[[Path], str]) -> Iterator[JobView]:
    """Yield a view of each workload of a plan; ``name_of`` returns the name of a field as written in the blueprint."""
    for one in plan.predictions:
        if one.step is None:
            problem = "; ".join(printable(text) for text, _ in one.lacking)
            yield JobView(headline(one), problem, (), Markup(), "", ())
            continue
        part, seconds = next(iter(one.step.by_part().items()))
        drawing = draw_job(printable(one.workload.name), one.step).inline()
        yield JobView(
            headline(one),
            "",
            tuple(facts(one, economy(plan, plan.cost, one))),
            Markup(drawing),  # noqa: S704 - drawings escape # nosec B704
            f"{part}, {seconds / one.step.seconds:.0%} of the step",
            tuple((gain_text(one, c), printable(name_of(c.path)), c.what) for c in changes(one)),
        )
