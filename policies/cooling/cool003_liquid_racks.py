"""COOL-003: liquid-cooled devices are in liquid-cooled racks."""

from __future__ import annotations

from collections.abc import Iterator

from rackwright.api import (
    Finding,
    Measure,
    Plan,
    Policy,
    Profile,
    RackClass,
    RackDevice,
    RackKind,
    Severity,
    SitePlan,
    Subject,
    rule,
)
from rackwright.model.quantities import format_quantity
from rackwright.plan.missing import of_product
from rackwright.plan.racks.contributors import NAMES, fields_lacking, subject


@rule(
    "COOL-003",
    "Liquid-cooled devices are in liquid-cooled racks",
    Severity.CRITICAL,
    since="0.1",
    stage="concept",
    profile=Profile.LAB,
)
class LiquidRacks(Policy):
    """Devices that need liquid get it, and the heat that is left for the air is known."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield a finding for each group of liquid-cooled devices in each class of racks.

        A second one tells how its heat is split, where there is liquid to take it.
        """
        for site in plan.onprem:
            for rack in site.racks:
                yield from _rack(site, rack)


def _rack(site: SitePlan, rack: RackClass) -> Iterator[Finding]:
    at, kind = subject(site, rack), rack.kind
    seen = set()
    for device in kind.devices:
        if device.kind not in {"node", "switch"}:
            continue
        if device.medium == "air" and kind.mode != "immersion":
            continue
        path = rack.path_of(device)
        if path not in seen:
            seen.add(path)
            where = Subject(f"{at.name} {device.group}", path)
            yield _mode(device, kind, where)
            if kind.cold_plates and device.medium != "immersion":
                yield _split(device, where)


def _mode(device: RackDevice, rack: RackKind, at: Subject) -> Finding:
    entry, medium = device.entry, device.medium
    if rack.mode == "immersion" or medium == "immersion":
        return _immersed(device, rack, at)
    if rack.cold_plates:
        return Finding(at, ok=True, message=f"{entry} ({medium}) is in a liquid-cooled rack")
    return Finding(
        at,
        ok=False,
        message=f"{entry} needs liquid ({medium}), but its rack has cooling mode '{rack.mode}'",
        fix="put the racks on a loop: 'cooling: {mode: liquid, loop: …}'",
    )


def _immersed(device: RackDevice, rack: RackKind, at: Subject) -> Finding:
    entry = device.entry
    if device.medium != "immersion":
        return Finding(
            at,
            ok=False,
            message=f"{entry} ({device.medium}) is not made for immersion, but its rack is a tank",
            fix="choose a product whose maker allows it ('medium: immersion'), or put it in a rack",
        )
    if rack.mode != "immersion":
        return Finding(
            at,
            ok=False,
            message=f"{entry} needs immersion, but its rack has cooling mode '{rack.mode}'",
            fix="put it in a tank: 'cooling: {mode: immersion, loop: …}'",
        )
    return Finding(at, ok=True, message=f"{entry} is made for immersion and is in a tank")


_SPLIT = "split of the heat"


def _split(device: RackDevice, at: Subject) -> Finding:
    entry, air, liquid = device.entry, device.heat_air_w, device.heat_liquid_w
    if air is None or liquid is None:
        return Finding(
            at,
            ok=None,
            message=f"how the heat of {entry} is split between liquid and air",
            missing=tuple(
                of_product(entry, name, NAMES[name])
                for name in fields_lacking(device, "heat_liquid_w")
            ),
            what=_SPLIT,
        )
    split = f"{format_quantity(liquid, 'W')} into liquid and {format_quantity(air, 'W')} into air"
    return Finding(at, ok=True, message=f"{entry} gives {split}", what=_SPLIT)
