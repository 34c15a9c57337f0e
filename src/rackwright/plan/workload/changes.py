"""Gain of a workload by the change of one field."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from rackwright.model.quantities import format_quantity
from rackwright.plan.base import Path
from rackwright.plan.workload.prediction import Prediction, with_links


@dataclass(frozen=True, slots=True)
class Improvement:
    """A change of the blueprint, and what it brings.

    Attributes:
        path: field of the blueprint in its full form.
        what: the change, for people.
        gain: more tokens a day, as a share; a lower bound for a job that makes no progress.
        dollars: that it costs more in a year; None where it is not known.
    """

    path: Path
    what: str
    gain: float
    dollars: float | None = None


def changes(
    prediction: Prediction, flat_fabrics: Mapping[str, float] | None = None
) -> Iterator[Improvement]:
    """Yield what lifts the tokens of a day, the most first.

    Args:
        prediction: of one workload.
        flat_fabrics: dollars that a site costs more in a year without oversubscription, by site.
    """
    found = [one for one in _candidates(prediction, flat_fabrics or {}) if one.gain >= 0.001]
    yield from sorted(found, key=lambda one: -one.gain)


def _candidates(prediction: Prediction, flat_fabrics: Mapping[str, float]) -> Iterator[Improvement]:
    placement, step = prediction.placement, prediction.step
    if placement is None or placement.links is None or step is None:
        return
    links, fabric = placement.links, placement.fabric
    if links.oversubscription > 1 and fabric is not None:
        flat = with_links(prediction, oversubscription=1.0)
        if flat is not None:
            yield Improvement(
                (*fabric.path, "oversubscription"),
                f"oversubscription {links.oversubscription:.3g}:1 → 1:1",
                step.seconds / flat.seconds - 1,
                flat_fabrics.get(prediction.workload.site),
            )
    if links.rail:
        faster = with_links(prediction, rail=2 * links.rail)
        if faster is not None:
            told = f"{links.rail * 8 / 1e9:.0f} → {links.rail * 16 / 1e9:.0f} Gbps an accelerator"
            place = (*placement.group, "type")
            if fabric is not None:
                place = fabric.wider_ports(prediction.workload.group, placement.group)
            yield Improvement(place, told, step.seconds / faster.seconds - 1)
    if prediction.collisions and fabric is not None:
        now = "not set" if fabric.fabric.adaptive_routing is None else "false"
        field, change = "adaptive_routing", f"{now} → true"
        if fabric.is_infiniband:
            engine = fabric.fabric.routing_engine or "no engine"
            field, change = "routing_engine", f"{engine} → ar_updn"
        yield Improvement(
            (*fabric.path, field),
            f"{change}, adaptive routing (in the low end of the range)",
            1 / (1 - prediction.collisions) - 1,
        )
    reads, speed = prediction.reads, prediction.speed
    wider = None if reads is None else reads.wider(prediction.wanted)
    if wider is not None and reads is not None and speed is not None:
        reached = min(prediction.wanted, reads.next_limit)
        yield Improvement(*wider, reached / speed.value - 1)
    if (lost := prediction.lost) is not None and lost.best_interval is not None:
        now, best = (
            format_quantity(each / 60, "min") for each in (lost.interval, lost.best_interval)
        )
        told = f"a checkpoint each {now} → {best}"
        yield Improvement((*lost.profile, "checkpoint_interval"), told, lost.gain)
    if lost is not None and lost.async_gain:
        told = "checkpoints written in the background"
        yield Improvement((*lost.profile, "async_save"), told, lost.async_gain)
    if prediction.effective:
        share = 1 / prediction.effective - 1
        yield Improvement(("reliability",), "no failures, no checkpoints", share)
