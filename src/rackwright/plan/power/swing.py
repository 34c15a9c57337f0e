"""Swing of synchronous jobs: power between their steps and while all their accelerators compute.

All accelerators of a job wait for each other in every step, so that its power falls to what the nodes
draw without them and rises again, 0.1 to 20 times a second (arXiv 2508.14318). What holds a node at a
``power_floor`` (power smoothing of GB300) takes that part of the swing away.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from rackwright.model.hardware import fact_value
from rackwright.model.reliability import JobProfile
from rackwright.plan.missing import Missing, each_once, of_product
from rackwright.plan.records.nodes import NodeGroupPlan


class Swing(NamedTuple):
    """The largest swing of one job on a site.

    Attributes:
        job: its name; None for all accelerators of the site, where no job is stated.
        watts: from the lowest power to the highest one; None when unknown.
        missing: facts of products that would make it known.
    """

    job: str | None
    watts: float | None
    missing: tuple[str, ...]


def largest_swing(
    site: str, groups: Sequence[NodeGroupPlan], jobs: Iterable[JobProfile]
) -> Swing | None:
    """Return the largest swing of the jobs on a site; None without accelerators in a job.

    Args:
        site: name of the site.
        groups: its node groups.
        jobs: the jobs that the blueprint states; all accelerators swing together without any.
    """
    named = {group.name: group for group in groups if group.product.accelerators is not None}
    found = [
        _swing(job.name, shares) for job in jobs if (shares := list(_shares(site, named, job)))
    ]
    if not found and named:
        every = [(group, float(group.spec.count)) for group in named.values()]
        found = [_swing(None, every)]
    unknown = [swing for swing in found if swing.watts is None]
    return max(unknown or found, key=lambda swing: swing.watts or 0.0, default=None)


def _shares(
    site: str, named: dict[str, NodeGroupPlan], job: JobProfile
) -> Iterator[tuple[NodeGroupPlan, float]]:
    for part in job.parts:
        if part.site == site and part.group in named:
            group = named[part.group]
            yield group, min(part.hosts / group.product.hosts, float(group.spec.count))


def _swing(job: str | None, shares: Sequence[tuple[NodeGroupPlan, float]]) -> Swing:
    each = [(unit_swing(group), units) for group, units in shares]
    missing = each_once(text for group, _ in shares for text in _lacks(group))
    watts = None
    if not missing:
        watts = sum((swing or 0.0) * units for swing, units in each)
    return Swing(job, watts, missing)


def unit_swing(group: NodeGroupPlan) -> float | None:
    """Return the W by which the power of one unit of a group rises and falls; None when unknown."""
    high, low = _highest(group), group.without_accelerators_w
    if high is None or low is None:
        return None
    return max(0.0, high - max(low, group.spec.power_floor or 0.0))


def _highest(group: NodeGroupPlan) -> float | None:
    peak = fact_value(group.product.peak_power)
    cap = group.spec.power_cap
    return peak if peak is None or cap is None else min(peak, cap)


def _lacks(group: NodeGroupPlan) -> Iterator[str]:
    if _highest(group) is None:
        yield of_product(group.product.id, "peak_power", "published peak power")
    if group.without_accelerators_w is None:
        yield from lacks_of_rest(group)


def lacks_of_rest(group: NodeGroupPlan) -> Iterator[Missing]:
    """Yield what the power of a unit without its accelerators lacks: its power, or their TDP."""
    if group.product.max_power is None:
        yield of_product(group.product.id, "max_power", "published power")
    if group.product.accelerators is None or group.product.accelerators.tdp is None:
        yield of_product(group.product.id, "accelerators.tdp", "published TDP of an accelerator")
