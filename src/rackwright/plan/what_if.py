"""How many devices a rack could hold: the rack is built again with fewer until it fits."""

from __future__ import annotations

from dataclasses import dataclass, replace

from rackwright.catalog.loader import Catalogue
from rackwright.plan.assignment import Load, RackClass, assign, list_loads, place_groups
from rackwright.plan.model import SitePlan
from rackwright.plan.rack import Rack, build_rack
from rackwright.plan.tables import to_text


@dataclass(frozen=True, slots=True)
class Fewer:
    """The most units of one group that a rack could hold.

    Attributes:
        group: node group or switch tier.
        entry: catalogue id of the product.
        placed: units in the rack now.
        most: units with which the rack fits, from 1 to ``placed`` - 1.
    """

    group: str
    entry: str
    placed: int
    most: int


def most_on_circuits(
    site: SitePlan, catalogue: Catalogue, rack_class: int, *, after_losses: bool
) -> Fewer | None:
    """How many units of the largest group every circuit of a rack carries.

    With ``after_losses`` the survivors carry them after any single feed or PDU is lost as well.
    None when the rack fits as it is, when not even one unit would fit, or when something is
    unknown.
    """
    loads = list_loads(site.site, site.path)
    found = assign(place_groups(site.site, site.path), loads, [])[rack_class]
    rack = build_rack(found, loads, site.site, catalogue)
    if _fits(rack, after_losses=after_losses) is not False:
        return None
    index, placed = _largest(found, loads, rack)
    for most in range(placed - 1, 0, -1):
        content = tuple((n, most if n == index else count) for n, count in found.content)
        smaller = build_rack(replace(found, content=content), loads, site.site, catalogue)
        if _fits(smaller, after_losses=after_losses):
            group = loads[index].group
            return Fewer(group.name, group.type, placed, most)
    return None


def _largest(found: RackClass, loads: list[Load], rack: Rack) -> tuple[int, int]:
    """Index and units of the group that draws most power in the rack."""
    power: dict[str, float] = {}
    for device in rack.devices:
        power[device.path] = power.get(device.path, 0.0) + (device.power or 0.0)
    return max(found.content, key=lambda pair: power.get(to_text(loads[pair[0]].path), 0.0))


def _fits(rack: Rack, *, after_losses: bool) -> bool | None:
    """Whether every circuit carries its busiest line; None when a load or rating is unknown."""
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
