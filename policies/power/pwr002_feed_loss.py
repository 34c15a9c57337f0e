"""PWR-002: the surviving circuits carry the load after any single feed or PDU is lost."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rackwright.api import (
    CircuitAfterLoss,
    Finding,
    Measure,
    Plan,
    Policy,
    Profile,
    Severity,
    SitePlan,
    rule,
)
from rackwright.policy.helpers.power import circuit_contributors, circuit_room
from rackwright.policy.helpers.racks import MOST_FEEDS, RackNames, excess, unknown_draw, unrated
from rackwright.policy.helpers.remediation import either, held, hold, provide

if TYPE_CHECKING:
    from rackwright.api import CircuitRoom


@rule(
    "PWR-002",
    "The other circuits carry a rack after one feed or PDU is lost",
    Severity.CRITICAL,
    since="0.1",
    profile=Profile.LAB,
)
class FeedLoss(Policy):
    """After the loss of one feed or PDU, the others stay inside their capacity."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """A measure for the worst loss of each circuit of each class of racks."""
        for site in plan.onprem:
            names = RackNames(site)
            room = circuit_room(site, after_losses=True)
            for row in _worst(site):
                yield _measure(site, names, room, row)


def _worst(site: SitePlan) -> Iterator[CircuitAfterLoss]:
    """The loss that loads each circuit most; an unknown load is worse than any."""
    found: dict[tuple[int, str, int], CircuitAfterLoss] = {}
    for row in site.losses:
        key = (row.rack_class, row.feed, row.pdu)
        so_far = found.get(key)
        if so_far is None or (
            so_far.implied_w is not None
            and (row.implied_w is None or row.implied_w > so_far.implied_w)
        ):
            found[key] = row
    yield from found.values()


def _feeds(site: SitePlan, rack_class: int) -> int:
    return len(site.feeds_of(rack_class))


def _measure(site: SitePlan, names: RackNames, room: CircuitRoom, row: CircuitAfterLoss) -> Measure:
    number, value, limit = row.rack_class, row.implied_w, row.usable_w
    over = excess(value, limit)
    shares = circuit_contributors(site, number, row.feed, row.lost) if over else ()
    fewer = room.most(number) if over else None
    missing = () if value is not None else unknown_draw(site, number)
    if limit is None:
        missing += (unrated(row.path),)
    return Measure(
        names.circuit(row),
        value=value,
        limit=limit,
        unit="W",
        what=f"load that the busiest line implies after losing {row.lost_kind} {row.lost}",
        contributors=shares,
        fix=either(
            hold(fewer),
            provide(value, "W", "circuits"),
            "give the rack one more feed" if _feeds(site, number) < MOST_FEEDS else None,
        )
        if over
        else None,
        missing=missing,
        suggest=held(fewer),
    )
