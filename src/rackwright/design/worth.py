"""Worth of a number of units: tokens a day of a workload, or FLOP/s at a precision."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from rackwright.design.classes import RackOption
from rackwright.design.model import DesignWish, DesignWorkload, Objective
from rackwright.model.workloads import TrainingWorkload
from rackwright.plan.expansion import Expansion
from rackwright.plan.reliability.failures import DAY
from rackwright.plan.workload.library import accelerator_of, known_models, known_programs
from rackwright.plan.workload.prediction import job_of, place, software_of
from rackwright.plan.workload.search import fastest
from rackwright.reading.suggest import did_you_mean

YEAR = 365.0
"""Days of a year."""
PER = ("power", "cost", "rack")
"""Things that worth may be related to, as objectives name them."""


@dataclass(frozen=True)
class Worths:
    """Worth of each number of units.

    Attributes:
        values: tokens a day or TFLOP/s by number of units, from 1 on; a job may leave units idle.
        missing: facts that would have to be known; there are no values then.
    """

    values: Mapping[int, float]
    missing: tuple[str, ...] = ()


def is_worth(aim: Objective) -> bool:
    """Return True if an objective is about tokens or FLOP/s."""
    return "tokens" in aim or "flops" in aim


def per(aim: Objective) -> str | None:
    """Return what the worth is related to: ``power``, ``cost``, ``rack``; None where nothing."""
    last = aim.rpartition("-")[2]
    return last if last in PER else None


def weight(aim: Objective, option: RackOption) -> int:
    """Return what one rack adds to the denominator of an objective: W, dollars a year or racks."""
    related = per(aim)
    if related == "power":
        return round(option.power_w or 0)
    if related == "cost":
        return option.dollars or 0
    return 1


def related(aim: Objective, worth: float, amount: float) -> float:
    """Return the worth per MW, USD or rack; itself where it is related to nothing.

    Args:
        aim: objective.
        worth: tokens a day, or TFLOP/s.
        amount: denominator: W, dollars a year or racks.
    """
    by = per(aim)
    if by is None:
        return worth
    if by == "power":
        return worth / (amount / 1e6)
    if by == "rack":
        return worth / amount
    if "tokens" in aim:
        return worth * YEAR / amount
    return worth * DAY * YEAR / amount / 1e6  # TFLOP in EFLOP


def unknown_names(workload: DesignWorkload) -> Iterator[tuple[str, str, str | None]]:
    """Yield the fields of a workload that name nothing that is known, with a message and a hint."""
    model = None if workload.config else workload.model
    for field, value, known in (
        ("model", model, list(known_models())),
        ("software", workload.software, list(known_programs())),
    ):
        if value is not None and value not in known:
            hint = did_you_mean(value, known) or f"known: {', '.join(known)}"
            yield field, f"there is no {field} '{value}'", hint


def worths(wanted: DesignWish, site: str, plan: Expansion, units: int, each: int) -> Worths:
    """Return the worth of 1 to ``units`` units of ``each`` accelerators.

    Args:
        wanted: objective with its workload or precision.
        site: name of the facility.
        plan: of the layout with most units: its network joins smaller jobs as well.
        units: most units.
        each: accelerators of a unit.
    """
    stated = dict(wanted.workload) if wanted.workload else {}
    workload = TrainingWorkload.model_construct(site=site, group=wanted.group, **stated)
    placement = place(plan, workload)
    if placement is None:
        return Worths({}, (f"accelerators of '{wanted.group}'",))
    board = placement.board
    accelerator = accelerator_of(board)
    precision = wanted.workload.precision if wanted.workload else wanted.precision
    if accelerator is None or precision is None or precision not in accelerator.gemms:
        return Worths({}, (f"speeds of {board.model} at {precision or 'a precision'}",))
    counts = range(1, units + 1)
    if wanted.workload is None:
        rate = accelerator.gemms[precision].rate / 1e12
        return Worths({count: count * each * rate for count in counts})
    links = placement.links
    if links is None:
        return Worths({}, placement.missing)
    job, software = job_of(workload), software_of(workload)
    values, best = {}, 0.0
    for count in counts:
        accelerators = count * each
        if accelerators <= links.domain or links.rail:
            found = fastest(job, accelerators, accelerator, links, software)
            if found is not None:
                best = max(best, job.tokens / found[1].seconds * DAY)
        values[count] = best
    return Worths(values)
