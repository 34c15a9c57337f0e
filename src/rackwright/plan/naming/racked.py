"""Hosts and switches as the devices of their racks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rackwright.plan.base import Path
from rackwright.plan.expansion import SitePlan
from rackwright.plan.hosts import filled, switch_names
from rackwright.plan.records.racks import RackKind

Racked = Mapping[str, Mapping[int, tuple[str, ...]]]
"""Names of hosts or switches by rack and by the number of their device in it."""


def name_devices(site: SitePlan) -> Racked:
    """Return the names in each rack of ``site``: a rack-scale system has several hosts, a chassis several switches."""
    kinds = {name: racks.kind for racks in site.racks for name in racks.names}
    slots: dict[tuple[RackKind, Path | None], list[int]] = {}
    for kind in set(kinds.values()):
        for slot, device in enumerate(kind.devices):
            slots.setdefault((kind, device.path), []).append(slot)
    found: dict[str, dict[int, tuple[str, ...]]] = {}
    for path, racks, names in _named(site):
        first = 0
        for rack, units in racks:
            end = first + units
            own = slots.get((kinds[rack], path), ())
            # Devices of one path are in the order in which the rack is filled.
            for slot, unit in zip(own, names[first:end], strict=True):
                found.setdefault(rack, {})[slot] = unit
            first = end
    return found


def _named(
    site: SitePlan,
) -> Iterator[tuple[Path, Iterator[tuple[str, int]], Sequence[tuple[str, ...]]]]:
    """Place, racks with their units, and the names of each unit of every node group and switch tier."""
    for group in site.groups:
        names = _in_units(group.host_names, group.spec.count)
        yield group.path, filled(group.spec), names
    for planned in site.fabrics:
        for index, (tier, switches) in enumerate(
            zip(planned.fabric.tiers, planned.switches, strict=True)
        ):
            names = _in_units(switch_names(planned.fabric, tier, switches), tier.count)
            yield (*planned.path, "tiers", index), filled(tier), names


def _in_units(names: Sequence[str], units: int) -> Sequence[tuple[str, ...]]:
    each = len(names) // units if units else 0
    return [tuple(names[unit * each : (unit + 1) * each]) for unit in range(units)]
