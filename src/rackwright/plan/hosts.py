"""Hosts of a site: their names, as DNS, Slurm, inventory and cable labels have them, and their racks."""

from __future__ import annotations

from collections.abc import Iterator

from rackwright.catalog.loader import Catalogue
from rackwright.model.fabric import Fabric, SwitchTier
from rackwright.model.hardware import Node, Switch
from rackwright.model.names import expand_hostlist
from rackwright.model.onprem import NodeGroup


def host_count(group: NodeGroup, catalogue: Catalogue) -> int:
    """The number of operating systems in ``group``: 18 for each NVL72, 1 for each server.

    Raises:
        UnknownEntryError: the group's product is not in the catalogue.
    """
    return group.count * catalogue.get(Node, group.type).hosts


def switch_stem(fabric: Fabric, tier: SwitchTier) -> str:
    """What the names of a tier's switches begin with: ``compute-leaf``."""
    return f"{fabric.name}-{tier.name}"


def switch_count(tier: SwitchTier, catalogue: Catalogue) -> int:
    """The number of independent switches in ``tier``; a chassis may hold several.

    Raises:
        UnknownEntryError: the tier's product is not in the catalogue.
    """
    return tier.count * catalogue.get(Switch, tier.type).switches


def numbered(prefix: str, count: int) -> tuple[str, ...]:
    """``count`` names: ``prefix``, a dash and a number of equal width, counted from 1."""
    width = len(str(count))
    return tuple(f"{prefix}-{number:0{width}d}" for number in range(1, count + 1))


def filled(group: NodeGroup | SwitchTier) -> Iterator[tuple[str, int]]:
    """The racks of a group in the order in which they are filled, each with its units."""
    left = group.count
    for rack in expand_hostlist(group.racks):
        units = min(left, group.per_rack)
        if not units:
            return
        yield rack, units
        left -= units
