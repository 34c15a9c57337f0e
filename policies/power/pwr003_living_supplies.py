"""PWR-003: devices keep enough power supplies after the loss of a feed or PDU."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rackwright.api import (
    Finding,
    Measure,
    Plan,
    Policy,
    RackDevice,
    RackKind,
    Severity,
    Subject,
    rule,
)
from rackwright.plan.missing import of_product
from rackwright.plan.racks.contributors import subject
from rackwright.plan.racks.feeds.shelves import SHELF_INLETS
from rackwright.plan.records.circuits import DevicesAfterLoss
from rackwright.policy.helpers.racks import MOST_FEEDS


@rule(
    "PWR-003",
    "Devices keep enough power supplies after the loss of a feed or PDU",
    Severity.HIGH,
    since="0.1",
    stage="concept",
)
class LivingSupplies(Policy):
    """Every device keeps the power supplies that full performance needs."""

    accept_degraded: bool = False
    """Accept devices that run degraded, as long as their power in that state is known."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield a measure for the worst loss of each kind of device in each class of racks."""
        for site in plan.onprem:
            for rack in site.racks:
                facts = {device.entry: device for device in rack.kind.devices}
                for row in _worst(rack.kind, facts):
                    at = subject(site, rack, f"{row.entry} {row.group}", row.path)
                    yield self._judge(at, row, facts[row.entry])

    def _judge(self, at: Subject, row: DevicesAfterLoss, facts: RackDevice) -> Measure | Finding:
        alive, needed = row.alive, row.needed_full
        known_degraded = row.state == "degraded" and facts.degraded_power_w is not None
        if self.accept_degraded and known_degraded:
            text = f"{alive} supplies left after losing {row.lost}: degraded, as 'accept_degraded' allows"
            return Finding(at, ok=True, message=text)
        missing = []
        if needed is None:
            words = "supplies that full performance needs"
            missing.append(of_product(row.entry, "power_supplies.full_performance", words))
        if alive is None:
            words = "number of power supplies"
            missing.append(of_product(row.entry, "power_supplies.count", words))
        verdict = {"off": "goes down", "degraded": "is degraded"}.get(row.state, "")
        if row.state == "unknown" and alive is not None and needed is not None and alive < needed:
            verdict = "is degraded or goes down"
        note = f" ({row.entry} {verdict})" if verdict else ""
        return Measure(
            at,
            value=alive,
            limit=needed,
            unit="power supplies",
            what=f"power supplies left in each node after losing {row.lost}{note}",
            sense="at_least",
            fix=_fix(alive, needed, facts.psu_count),
            missing=tuple(missing),
        )


def _fix(alive: int | None, needed: int | None, count: int | None) -> str | None:
    """Return the number of feeds over which the supplies may be spread and survive the loss of one."""
    if alive is None or needed is None or count is None or alive >= needed:
        return None
    spare = count - needed
    if spare <= 0:
        return f"choose a product with spare power supplies; none of these {count} is spare"
    feeds = -(-count // spare)
    if feeds > MOST_FEEDS:
        return (
            f"choose a product with more spare supplies than {spare} of {count}: this one survives the loss "
            f"of a feed only with {feeds} feeds, and racks have at most {MOST_FEEDS}"
        )
    return (
        f"spread the {count} supplies over {feeds} feeds, so that each loss takes {spare} at most"
    )


def _worst(kind: RackKind, facts: Mapping[str, RackDevice]) -> Iterator[DevicesAfterLoss]:
    """Yield the loss that leaves each kind of device the fewest supplies."""
    found: dict[tuple[str, str], DevicesAfterLoss] = {}
    for row in kind.fates:
        if facts[row.entry].psu_inlet in SHELF_INLETS:  # PWR-012 judges these
            continue
        key = (row.entry, row.group)
        so_far = found.get(key)
        if so_far is None or (row.alive or 0) < (so_far.alive or 0):
            found[key] = row
    yield from found.values()
