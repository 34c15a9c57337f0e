"""PWR-002: the remaining circuits carry a rack after the loss of a feed or PDU."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rackwright.api import (
    Finding,
    Measure,
    Plan,
    Policy,
    Profile,
    RackClass,
    RackKind,
    Severity,
    SitePlan,
    rule,
)
from rackwright.plan.racks.feeds.power_shares import circuit_contributors
from rackwright.plan.records.circuits import CircuitAfterLoss
from rackwright.policy.helpers.power import circuit_room
from rackwright.policy.helpers.racks import MOST_FEEDS, circuit, excess, unknown_draw, unrated
from rackwright.policy.helpers.remediation import either, held, hold, provide

if TYPE_CHECKING:
    from rackwright.plan.racks.capacity import CircuitRoom


@rule(
    "PWR-002",
    "The remaining circuits carry a rack after the loss of a feed or PDU",
    Severity.CRITICAL,
    since="0.1",
    stage="concept",
    profile=Profile.LAB,
)
class FeedLoss(Policy):
    """After the loss of one feed or PDU, the others stay inside their capacity."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield a measure for the worst loss of each circuit of each class of racks."""
        for site in plan.onprem:
            room = circuit_room(site, after_losses=True)
            worst = {kind: _worst(kind) for kind in {rack.kind for rack in site.racks}}
            for rack, row in ((own, row) for own in site.racks for row in worst[own.kind]):
                yield _measure(site, room, rack, row)


def _worst(kind: RackKind) -> tuple[CircuitAfterLoss, ...]:
    """Return the loss that loads each circuit most; an unknown load is worse than any."""
    found: dict[tuple[str, int], CircuitAfterLoss] = {}
    for row in kind.losses:
        key = (row.feed, row.pdu)
        so_far = found.get(key)
        if so_far is None or (
            so_far.implied_w is not None
            and (row.implied_w is None or row.implied_w > so_far.implied_w)
        ):
            found[key] = row
    return tuple(found.values())


def _measure(site: SitePlan, room: CircuitRoom, rack: RackClass, row: CircuitAfterLoss) -> Measure:
    value, limit = row.implied_w, row.usable_w
    over = excess(value, limit)
    shares = circuit_contributors(rack, row.feed, row.lost) if over else ()
    fewer = room.most(rack) if over else None
    missing = () if value is not None else unknown_draw(site, rack)
    if limit is None:
        missing += (unrated(rack.feed_path(row.feed)),)
    return Measure(
        circuit(site, rack, row),
        value=value,
        limit=limit,
        unit="W",
        what=f"load implied by the busiest line after losing {row.lost_kind} {row.lost}",
        contributors=shares,
        fix=either(
            hold(fewer),
            provide(value, "W", "circuits"),
            "give the rack one more feed" if len(rack.sources) < MOST_FEEDS else None,
        )
        if over
        else None,
        missing=missing,
        suggest=held(fewer),
    )
