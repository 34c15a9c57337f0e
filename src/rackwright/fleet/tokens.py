"""Loss of tokens of the workloads of a site while its accelerators are power-limited."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from rackwright.fleet.caps import Cap
from rackwright.fleet.cells import IDLE
from rackwright.plan.workload.prediction import Prediction, slowed_by
from rackwright.plan.workload.run import Bounds


@dataclass(frozen=True, slots=True)
class LimitedWorkload:
    """Tokens per day of a workload on limited hosts; its steps wait for the slowest accelerator.

    Attributes:
        limit_w: lowest limit of an accelerator in the node group, idle hosts aside, in W.
        before: tokens per day without a limit.
        speed: speed with this limit divided by the speed without it.
    """

    workload: str
    limit_w: int
    before: Bounds
    speed: Bounds

    @property
    def after(self) -> Bounds:
        """Tokens per day with the limit."""
        return self.before.scaled(self.speed.value)


def limited_workloads(
    predictions: Iterable[Prediction], site: str, caps: Iterable[Cap]
) -> Iterator[LimitedWorkload]:
    """Yield the workloads of a site that may run on limited hosts, as if they did."""
    lowest: dict[str, Cap] = {}
    for cap in caps:
        if cap.job_class != IDLE:
            known = lowest.get(cap.group, cap)
            lowest[cap.group] = min(known, cap, key=lambda one: one.limit_w)
    for found in predictions:
        own = lowest.get(found.workload.group) if found.workload.site == site else None
        if own is None or found.step is None or found.a_day is None:
            continue
        speed = slowed_by(found.step, min(1.0, own.limit_w / own.full_w))
        yield LimitedWorkload(found.workload.name, own.limit_w, found.a_day, speed)
