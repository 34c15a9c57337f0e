"""Hosts of a site: their names, as DNS, Slurm, inventory and cable labels have them, and their racks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache

from rackwright.catalog.loader import Catalogue
from rackwright.model.fabric import Fabric, SwitchTier
from rackwright.model.hardware import Node, Switch
from rackwright.model.names import expand_hostlist
from rackwright.model.onprem import NodeGroup
from rackwright.model.standing import by_rack


def host_count(group: NodeGroup, catalogue: Catalogue) -> int:
    """Return the number of operating systems in ``group``: 18 for each NVL72, 1 for each server.

    Raises:
        UnknownEntryError: the group's product is not in the catalogue.
    """
    return group.count * catalogue.get(Node, group.type).hosts


def switch_stem(fabric: Fabric, tier: SwitchTier) -> str:
    """Return the prefix of the names of a tier's switches: ``compute-leaf``."""
    return f"{fabric.name}-{tier.name}"


def switch_count(tier: SwitchTier, catalogue: Catalogue) -> int:
    """Return the number of independent switches in ``tier``; a chassis may hold several.

    Raises:
        UnknownEntryError: the tier's product is not in the catalogue.
    """
    return tier.count * catalogue.get(Switch, tier.type).switches


def numbered(prefix: str, count: int, digits: int | None = None) -> tuple[str, ...]:
    """Return ``count`` names: ``prefix``, a dash and a number, counted from 1.

    Args:
        prefix: beginning of each name.
        count: number of names.
        digits: least number of digits, which keeps a name however many there are; None for as many
            as the last number has.
    """
    width = _width(count, digits)
    return tuple(f"{prefix}-{number:0{width}d}" for number in range(1, count + 1))


def _width(count: int, digits: int | None) -> int:
    return len(str(count)) if digits is None else digits


def switch_names(fabric: Fabric, tier: SwitchTier, count: int) -> tuple[str, ...]:
    """Return the names of the switches of a tier, like ``compute-leaf-1``, or those that they have."""
    return names_of(switch_stem(fabric, tier), count, tier.switch_names, tier.name_digits)


def names_of(group: str, hosts: int, own: str | None, digits: int | None) -> tuple[str, ...]:
    """Return the names of the hosts of a group or the switches of a tier, in the order in which racks are filled.

    Args:
        group: beginning of the names.
        hosts: number of hosts or switches.
        own: names of their own, as a host list.
        digits: as of ``numbered``.
    """
    return numbered(group, hosts, digits) if own is None else listed(own)


def name_of(group: str, hosts: int, own: str | None, index: int, digits: int | None) -> str:
    """Return one of ``names_of``, by its index."""
    if own is not None:
        return listed(own)[index]
    return f"{group}-{index + 1:0{_width(hosts, digits)}d}"


def index_of(group: str, hosts: int, own: str | None, name: str, digits: int | None) -> int | None:
    """Return the index of ``name`` among ``names_of``; None for any other name."""
    return numbered_index(group, hosts, name, digits) if own is None else index_in(own, name)


def numbered_index(prefix: str, count: int, name: str, digits: int | None = None) -> int | None:
    """Return the index of ``name`` among ``numbered(prefix, count, digits)``, of which none is made."""
    stem, _, number = name.rpartition("-")
    if stem != prefix or not number.isdecimal() or not number.isascii():
        return None
    index = int(number) - 1
    same = f"{index + 1:0{_width(count, digits)}d}" == number
    return index if same and 0 <= index < count else None


def numbered_hostlist(prefix: str, count: int, digits: int, start: int = 1) -> str:
    """Return ``numbered(prefix, count, digits)`` from a number on as Slurm lists hosts: ``dgx-[01-32]``."""
    if count < start:
        return ""
    first, last = f"{start:0{digits}d}", f"{count:0{digits}d}"
    return f"{prefix}-{first}" if count == start else f"{prefix}-[{first}-{last}]"


@lru_cache(maxsize=256)
def listed(names: str) -> tuple[str, ...]:
    """Return the names that a host list stands for; of one group they are asked for again and again."""
    return expand_hostlist(names)


def index_in(names: str, name: str) -> int | None:
    """Return the index of ``name`` among those that a host list stands for; None where it is none of them."""
    return _indexes(names).get(name)


@lru_cache(maxsize=256)
def _indexes(names: str) -> Mapping[str, int]:
    return {name: index for index, name in enumerate(listed(names))}


def filled(group: NodeGroup | SwitchTier) -> Iterator[tuple[str, int]]:
    """Yield the racks of a group in the order in which they are filled, each with its units."""
    if group.units:
        stated = by_rack(group.units)
        yield from ((rack, len(stated[rack])) for rack in listed(group.racks))
        return
    left = group.count
    for rack in listed(group.racks):
        units = min(left, group.per_rack)
        if not units:
            return
        yield rack, units
        left -= units
