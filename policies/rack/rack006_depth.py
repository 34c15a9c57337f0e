"""RACK-006: a rack is deep enough for its devices and their cables."""

from __future__ import annotations

from collections.abc import Iterator

from rackwright.api import (
    Contributor,
    Finding,
    Measure,
    Missing,
    Plan,
    Policy,
    RackClass,
    RackDevice,
    RackKind,
    Severity,
    SitePlan,
    rule,
)
from rackwright.plan.racks.contributors import subject, unknowns
from rackwright.policy.helpers.racks import excess
from rackwright.policy.helpers.remediation import either, provide


@rule(
    "RACK-006",
    "A rack is deep enough for devices and cables",
    Severity.HIGH,
    since="0.1",
    stage="design",
)
class Depth(Policy):
    """The deepest device and the bend of its cables stay inside the rack."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield a measure for each class of racks that is not a product of its own."""
        for site in plan.onprem:
            for rack in site.racks:
                if rack.kind.mode == "immersion":  # devices hang; RACK-009 judges how long they are
                    continue
                mounted = _mounted(rack.kind)
                if mounted and not any(device.whole_rack for device in mounted):
                    yield _depth(site, rack, mounted)


def _mounted(kind: RackKind) -> list[RackDevice]:
    """Return the nodes and switches on the rails of a rack."""
    return [
        device
        for device in kind.devices
        if device.kind in {"node", "switch"} and device.height_u != 0
    ]


def _depth(site: SitePlan, rack: RackClass, mounted: list[RackDevice]) -> Measure:
    deepest, allowance, limit = (
        rack.kind.deepest_m,
        rack.kind.cable_allowance_m,
        rack.kind.rack_depth_m,
    )
    entries = {device.entry for device in mounted}
    missing = [m for m in unknowns(site, "depth_m", [rack]) if m.split(":")[0] in entries]
    if allowance is None:
        place = (*rack.path, "cable_allowance")
        missing.append(Missing("'cable_allowance' of the racks", place))
    value = None if deepest is None or allowance is None else deepest + allowance
    over = excess(value, limit)
    shares: list[Contributor] = []
    fix = None
    if over and deepest is not None and allowance is not None:
        guilty = [device.entry for device in mounted if device.depth_m == deepest]
        shares = [Contributor(name, 1, deepest) for name in sorted(set(guilty))]
        shares.append(Contributor("cable allowance", 1, allowance))
        room = limit - allowance
        fix = either(
            provide(value, "m", "a rack with a depth"),
            f"choose devices of at most {1000 * room:.0f} mm" if room > 0 else None,
        )
    return Measure(
        subject(site, rack),
        value=value,
        limit=limit,
        unit="m",
        what="depth of the deepest device with its cables",
        contributors=tuple(shares),
        fix=fix,
        missing=tuple(missing),
    )
