"""RACK-012: cables have room to bend behind devices."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from rackwright.api import (
    FieldPath,
    Finding,
    Measure,
    Missing,
    Plan,
    Policy,
    Profile,
    RackClass,
    Severity,
    SitePlan,
    rule,
)
from rackwright.model.fabric import Cables
from rackwright.plan.fabric.cables import End, bend_space, ends
from rackwright.plan.missing import each_once
from rackwright.plan.racks.contributors import subject
from rackwright.policy.helpers.fabrics import fabrics_of
from rackwright.policy.helpers.remediation import either, provide


@dataclass(frozen=True, slots=True)
class _Plug:
    """An end of a kind of cables; ``path`` is the place of the kind."""

    link: Cables
    path: FieldPath
    end: End

    @property
    def space(self) -> float | None:
        return bend_space(self.link, self.end)

    @property
    def words(self) -> str:
        """The cables, with the part where it is known."""
        part = self.link.cable if self.end.cable is None else self.end.cable.id
        return self.link.name + (f" ({part})" if part else "")


@rule(
    "RACK-012",
    "Cables have room to bend behind devices",
    Severity.MEDIUM,
    since="0.3",
    stage="design",
    profile=Profile.PRODUCTION,
)
class BendSpace(Policy):
    """The space behind the devices of a rack is that of the cable which needs most."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield a measure for each class of racks in which cables of a fabric end."""
        plugs = _plugs(plan)
        for site in plan.onprem:
            for rack in site.racks:
                devices = rack.kind.devices
                if rack.kind.mode == "immersion" or any(device.whole_rack for device in devices):
                    continue
                here = [
                    plug
                    for place in dict.fromkeys(rack.path_of(device) for device in devices)
                    for plug in plugs.get(place, ())
                ]
                if here:
                    yield _measure(site, rack, here)


def _plugs(plan: Plan) -> Mapping[FieldPath, Sequence[_Plug]]:
    """Return the ends of all kinds of cables by the place of the devices that they end at."""
    found: dict[FieldPath, list[_Plug]] = {}
    for fabric in fabrics_of(plan):
        if fabric.layout is None:
            continue
        places = {
            tier.name: (*fabric.path, "tiers", n) for n, tier in enumerate(fabric.fabric.tiers)
        }
        places |= {group.spec.name: group.path for group in fabric.site.groups}
        for at, link in fabric.links():
            for end in ends(fabric.layout, link):
                found.setdefault(places[end.name], []).append(_Plug(link, at.path, end))
    return found


def _measure(site: SitePlan, rack: RackClass, plugs: Sequence[_Plug]) -> Measure:
    # Of those that need as much, the order of the file must not choose.
    widest = max(plugs, key=lambda plug: (plug.space or 0.0, plug.words))
    missing = [
        Missing(f"'bend_space' of the cables '{plug.link.name}'", (*plug.path, "bend_space"))
        for plug in plugs
        if plug.space is None
    ]
    value, limit = None if missing else widest.space, rack.kind.cable_allowance_m
    if limit is None:
        place = (*rack.path, "cable_allowance")
        missing.append(Missing("'cable_allowance' of the racks", place))
    fix = None
    if value is not None and limit is not None and value > limit:
        fix = either(
            provide(value, "m", "space behind the devices ('cable_allowance')"),
            "choose cables that bend tighter",
        )
    return Measure(
        subject(site, rack),
        value=value,
        limit=limit,
        unit="m",
        what=f"plug and bend of the cables {widest.words}",
        fix=fix,
        missing=each_once(missing),
    )
