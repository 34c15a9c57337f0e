"""Hosts of a site: their names, as DNS, Slurm, inventory and cable labels have them, and their racks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache

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


def names_of(group: str, hosts: int, own: str | None) -> tuple[str, ...]:
    """The names of the hosts of a group, in the order in which racks are filled.

    Args:
        group: by which they are called.
        hosts: number of them.
        own: their names as a host list, where they have names of their own.
    """
    return numbered(group, hosts) if own is None else listed(own)


def name_of(group: str, hosts: int, own: str | None, index: int) -> str:
    """One of ``names_of``, by its index."""
    if own is not None:
        return listed(own)[index]
    return f"{group}-{index + 1:0{len(str(hosts))}d}"


def index_of(group: str, hosts: int, own: str | None, name: str) -> int | None:
    """The index of ``name`` among ``names_of``; None where it is none of them."""
    return numbered_index(group, hosts, name) if own is None else index_in(own, name)


def numbered_index(prefix: str, count: int, name: str) -> int | None:
    """The index of ``name`` among ``numbered(prefix, count)``, of which none is made."""
    stem, _, digits = name.rpartition("-")
    if stem != prefix or not digits.isdecimal() or len(digits) != len(str(count)):
        return None
    number = int(digits)
    return number - 1 if 1 <= number <= count else None


@lru_cache(maxsize=256)
def listed(names: str) -> tuple[str, ...]:
    """The names that a host list stands for; of one group they are asked for again and again."""
    return expand_hostlist(names)


def index_in(names: str, name: str) -> int | None:
    """The index of ``name`` among those that a host list stands for; None where it is none of them."""
    return _indexes(names).get(name)


@lru_cache(maxsize=256)
def _indexes(names: str) -> Mapping[str, int]:
    return {name: index for index, name in enumerate(listed(names))}


def filled(group: NodeGroup | SwitchTier) -> Iterator[tuple[str, int]]:
    """The racks of a group in the order in which they are filled, each with its units."""
    left = group.count
    for rack in listed(group.racks):
        units = min(left, group.per_rack)
        if not units:
            return
        yield rack, units
        left -= units
