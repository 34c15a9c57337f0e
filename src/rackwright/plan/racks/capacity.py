"""Devices that a rack could hold, circuits that carry it, and stated facts of PDUs and facility water."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

from rackwright.model.cooling import FacilityWater
from rackwright.model.hardware import Pdu
from rackwright.model.names import hostlist_size
from rackwright.model.standing import by_rack
from rackwright.plan.base import Path
from rackwright.plan.expansion import SitePlan
from rackwright.plan.racks.kinds import kind_key
from rackwright.plan.racks.placement import AssignedRacks, Content, Load, PlacedGroup, list_loads
from rackwright.plan.racks.rack import WiredRack, build_rack
from rackwright.plan.records.racks import RackClass


@dataclass(frozen=True, slots=True)
class Fewer:
    """The most units of one group that a rack could hold.

    Attributes:
        group: node group or switch tier.
        entry: catalogue id of the product.
        placed: units in the rack now.
        most: units with which the rack fits, from 1 to ``placed`` - 1.
        path: place of the group in the blueprint.
        enough: the racks that it names have room for all its units with ``most`` in each.
    """

    group: str
    entry: str
    placed: int
    most: int
    path: Path
    enough: bool


class CircuitRoom:
    """Devices that the circuits of a site's racks would carry; racks of one class are computed once."""

    def __init__(self, site: SitePlan, *, after_losses: bool) -> None:
        self._site = site
        self._after_losses = after_losses
        self._loads = list_loads(site.spec, site.path)
        self._found: dict[Hashable, Fewer | None] = {}

    def most(self, racks: RackClass) -> Fewer | None:
        """Return the number of units of the largest group that every circuit of a rack carries.

        With ``after_losses`` the survivors carry them after any single feed or PDU is lost too.
        None when the rack fits as it is, when not even one unit would fit, or when something is
        unknown.
        """
        described = _describe(self._site, racks, self._loads)
        key = (described.content, described.group.hall, kind_key(described.group.spec))
        if key not in self._found:
            self._found[key] = self._search(described)
        return self._found[key]

    def _search(self, described: AssignedRacks) -> Fewer | None:
        rack = self._build(described)
        if _fits(rack, after_losses=self._after_losses) is not False:
            return None
        index, placed = _largest(described, self._loads, rack)
        for most in range(placed - 1, 0, -1):
            content = tuple(
                Content(n, most, units[:most]) if n == index else Content(n, count, units)
                for n, count, units in described.content
            )
            smaller = self._build(replace(described, content=content))
            if _fits(smaller, after_losses=self._after_losses):
                load = self._loads[index]
                group, enough = load.group, _enough(load, most)
                return Fewer(group.name, group.type, placed, most, load.path, enough)
        return None

    def _build(self, described: AssignedRacks) -> WiredRack:
        return build_rack(described, self._loads, self._site.spec, self._site.catalogue)


def wired_rack(site: SitePlan, racks: RackClass) -> WiredRack:
    """Return one rack of a class with its devices on its circuits."""
    loads = list_loads(site.spec, site.path)
    return build_rack(_describe(site, racks, loads), loads, site.spec, site.catalogue)


def pdu_phases(site: SitePlan, pdu: str) -> int:
    """Return the number of phases that a PDU of the catalogue is made for.

    Raises:
        UnknownEntryError: the PDU is not in the catalogue.
    """
    return site.catalogue.get(Pdu, pdu).phases


def facility_water(site: SitePlan) -> Sequence[tuple[FacilityWater, Path]]:
    """Return the circuits of facility water, each with its place in the blueprint."""
    places = enumerate(site.spec.facility_water)
    return [(water, (*site.path, "facility_water", index)) for index, water in places]


def circuits_carry(site: SitePlan, racks: RackClass) -> bool | None:
    """Return True if every circuit of a rack carries its busiest line, after the loss of a feed or PDU too.

    None where a load or a rating is unknown.
    """
    return _fits(wired_rack(site, racks), after_losses=True)


def enough_racks(site: SitePlan, group: Path, each: int) -> bool:
    """Return True if the racks that a group names have room for all its units with ``each`` in one.

    False where no node group or switch tier is at the place ``group``.
    """
    return any(
        _enough(load, each) for load in list_loads(site.spec, site.path) if load.path == group
    )


def _enough(load: Load, each: int) -> bool:
    # Where each unit of a product has its place, fewer in a rack leave some without one.
    return not load.group.units and hostlist_size(load.group.racks) * each >= load.group.count


def _describe(site: SitePlan, racks: RackClass, loads: Sequence[Load]) -> AssignedRacks:
    """Return the racks as they were assigned, read back from their record."""
    path = racks.path
    hall, line = int(path[-5]), int(path[-3])
    paths = [device.path for device in racks.kind.devices]
    rack = racks.names[0]
    content = [
        Content(index, paths.count(load.path), by_rack(load.group.units).get(rack, ()))
        for index, load in enumerate(loads)
    ]
    return AssignedRacks(
        PlacedGroup(site.rack_group(path), hall, line, path, ()),
        tuple(one for one in content if one.number),
    )


def _largest(described: AssignedRacks, loads: Sequence[Load], rack: WiredRack) -> tuple[int, int]:
    """Return the index and units of the group that draws most power in the rack."""
    power: dict[Path | None, float] = {}
    for device in rack.devices:
        power[device.path] = power.get(device.path, 0.0) + (device.power_w or 0.0)
    largest = max(described.content, key=lambda one: power.get(loads[one.load].path, 0.0))
    return largest.load, largest.number


def _fits(rack: WiredRack, *, after_losses: bool) -> bool | None:
    """Return True if every circuit carries its busiest line; None if a load or rating is unknown."""
    states = [frozenset[int]()]
    if after_losses:
        states += [dead for _, _, dead in rack.losses]
    for dead in states:
        for number, load in enumerate(rack.loads_without(dead)):
            usable = rack.circuits[number].usable
            if number in dead:
                continue
            if load.implied is None or usable is None:
                return None
            if load.implied > usable * (1 + 1e-9):
                return False
    return True
