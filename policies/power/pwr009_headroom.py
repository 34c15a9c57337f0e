"""PWR-009: circuits keep a reserve, and nothing is oversubscribed without capping."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from pydantic import Field

from rackwright.api import (
    Enforcement,
    Finding,
    Measure,
    Plan,
    Policy,
    RackClass,
    RackKind,
    Severity,
    SitePlan,
    Subject,
    rule,
)
from rackwright.plan.racks.contributors import subject
from rackwright.plan.records.circuits import CircuitAfterLoss, CircuitLoad
from rackwright.policy.helpers.racks import unknown_draw, unrated


@rule(
    "PWR-009",
    "Circuits keep a reserve for growth",
    Severity.LOW,
    since="0.1",
    stage="concept",
    enforcement=Enforcement.ADVISORY,
)
class Headroom(Policy):
    """Circuits keep a share of their capacity free, also after a loss."""

    reserve_percent: Annotated[float, Field(ge=0, lt=100)] = 10
    """Share of the capacity that stays free."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield a measure for the worst case of each feed, and a finding about oversubscription."""
        for site in plan.onprem:
            yield from self._oversubscription(site)
            worst = {kind: _worst(kind) for kind in {rack.kind for rack in site.racks}}
            for rack, row in ((own, row) for own in site.racks for row in worst[own.kind]):
                value = _percent(row)
                yield Measure(
                    subject(site, rack, f"feed {row.feed}", rack.feed_path(row.feed)),
                    value=value,
                    limit=100 - self.reserve_percent,
                    unit="%",
                    what="share of the capacity in use in the worst case",
                    fix="keep this rack as it is, or provide a larger circuit before it grows",
                    missing=() if value is not None else _missing(site, rack, row),
                )

    def _oversubscription(self, site: SitePlan) -> Iterator[Finding]:
        power = site.power.settings
        if power.oversubscription > 1:
            yield Finding(
                Subject(f"{site.name} power", (*site.path, "power")),
                ok=power.capping,
                message=f"power is oversubscribed {power.oversubscription:g} times "
                f"{'under' if power.capping else 'without'} a capping controller",
                fix="install power capping and set 'capping: true', or plan without oversubscription",
            )


def _missing(
    site: SitePlan, rack: RackClass, row: CircuitLoad | CircuitAfterLoss
) -> tuple[str, ...]:
    unsaid = () if row.usable_w else (unrated(rack.feed_path(row.feed)),)
    return (*unknown_draw(site, rack), *unsaid)


def _percent(row: CircuitLoad | CircuitAfterLoss) -> float | None:
    if row.implied_w is None or not row.usable_w:
        return None
    return float(100 * row.implied_w / row.usable_w)


def _worst(kind: RackKind) -> tuple[CircuitLoad | CircuitAfterLoss, ...]:
    """Return the fullest circuit of each feed, normally or after a loss."""
    found: dict[str, CircuitLoad | CircuitAfterLoss] = {}
    rows: tuple[CircuitLoad | CircuitAfterLoss, ...] = (*kind.circuits, *kind.losses)
    for row in rows:
        so_far = found.get(row.feed)
        value = _percent(row)
        if so_far is None or value is None or (_percent(so_far) or 0) < value:
            found[row.feed] = row
    return tuple(found.values())
