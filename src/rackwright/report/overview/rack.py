"""One rack: what stands where in it, what it weighs and draws, and what its feeds carry."""

from __future__ import annotations

from dataclasses import dataclass

from rackwright.errors import UsageError
from rackwright.plan.expansion import SitePlan
from rackwright.plan.model import Plan
from rackwright.plan.records.circuits import CircuitAfterLoss, DevicesAfterLoss, FeedLoad
from rackwright.plan.records.racks import RackClass, RackDevice
from rackwright.reading.suggest import did_you_mean


@dataclass(frozen=True, slots=True)
class StandingDevice:
    """A device of the rack with the names of what it is.

    Attributes:
        device: its record.
        number: its number in the rack, counted from 0.
        names: hosts of a node, switches of a switch; empty for anything else.
        low: lowest unit, counted from 1; None beside the rails and without a place.
        height: in units; 0 with no ``low``.
    """

    device: RackDevice
    number: int
    names: tuple[str, ...]
    low: float | None
    height: float

    @property
    def units(self) -> str:
        """The units that it takes, like ``U9-16``; empty without a place."""
        if self.low is None:
            return ""
        top = self.low + max(self.height, 1) - 1
        units = f"U{self.low:g}" if top <= self.low else f"U{self.low:g}-{top:g}"
        return f"{units} {self.device.share}".rstrip()

    @property
    def label(self) -> str:
        """Name of the racks in a report: the first name and the last, or the product."""
        if not self.names:
            return self.device.entry
        first, last = self.names[0], self.names[-1]
        return first if first == last else f"{first} … {last}"


@dataclass(frozen=True, slots=True)
class RackView:
    """One rack of a site.

    Attributes:
        site: name of the site.
        name: name of the rack.
        position: its place in the row, counted from 0.
        racks: all racks like it in its group.
        devices: what stands in it, the highest first.
        beside: what hangs beside the rails, or found no place.
        feeds: its feeds, in the order written.
        losses: what its living circuits carry after a feed is lost.
        fates: what becomes of its devices after that.
    """

    site: str
    name: str
    position: int
    racks: RackClass
    devices: tuple[StandingDevice, ...]
    beside: tuple[StandingDevice, ...]
    feeds: tuple[FeedLoad, ...]
    losses: tuple[CircuitAfterLoss, ...]
    fates: tuple[DevicesAfterLoss, ...]


def find_rack(plan: Plan, name: str, site: str | None = None) -> RackView:
    """Return the rack called ``name``.

    Raises:
        UsageError: there is none, or several sites have one.
    """
    found = [
        (one, racks)
        for one in plan.onprem
        if site in {None, one.name}
        for racks in one.racks
        if name in racks.names
    ]
    if len(found) == 1:
        return view_rack(plan, *found[0], name)
    if found:
        sites = ", ".join(f"'{one.name}'" for one, _ in found)
        raise UsageError(f"racks of {sites} are called '{name}'", hint="name one with '--site'")
    searched = [one for one in plan.onprem if site in {None, one.name}]
    known = [rack for one in searched for racks in one.racks for rack in racks.names]
    if not known:
        where = "blueprint" if site is None else f"site '{site}'"
        raise UsageError(f"the {where} has no racks")
    hint = did_you_mean(name, known[:100_000]) or f"there are '{known[0]}' to '{known[-1]}'"
    raise UsageError(f"there is no rack '{name}'", hint=hint)


def view_rack(plan: Plan, site: SitePlan, racks: RackClass, name: str) -> RackView:
    """Return the view of one of the ``racks`` of ``site``.

    Raises:
        ValueError: none of them has the name.
    """
    kind = racks.kind
    names = plan.racked[site.name].get(name, {})
    standing = [
        _standing(device, number, names.get(number, ()))
        for number, device in enumerate(kind.devices)
    ]
    placed = [one for one in standing if one.low is not None]
    return RackView(
        site=site.name,
        name=name,
        position=racks.positions[racks.names.index(name)],
        racks=racks,
        devices=tuple(sorted(placed, key=lambda one: -(one.low or 0))),
        beside=tuple(one for one in standing if one.low is None),
        feeds=kind.feeds,
        losses=tuple(one for one in kind.losses if one.lost_kind == "feed"),
        fates=kind.fates,
    )


def _standing(device: RackDevice, number: int, names: tuple[str, ...]) -> StandingDevice:
    if device.unit_low is None or not device.height_u or not device.fits:
        return StandingDevice(device, number, names, None, 0.0)
    return StandingDevice(device, number, names, device.unit_low, device.height_u)
