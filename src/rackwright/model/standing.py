"""Units in which existing devices are, where racks differ."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field

from rackwright.model.names import HostList, expand_hostlist, refuse_twins
from rackwright.model.units import RackUnits

UnitsOfRacks = Annotated[
    dict[HostList, Annotated[tuple[RackUnits, ...], Field(min_length=1)]], Field(min_length=1)
]
"""Lowest units of the devices in each rack, by host lists of racks."""

UnitShare = Literal["half-width", "half-depth", "front", "rear"]
"""Part of its rack units that a device takes."""


def by_rack(units: Mapping[str, tuple[float, ...]] | None) -> dict[str, tuple[float, ...]]:
    """Return the units of each rack; empty where they follow from ``start_unit`` and ``per_rack``."""
    return {rack: each for names, each in (units or {}).items() for rack in expand_hostlist(names)}


def check_units(
    units: Mapping[str, tuple[float, ...]] | None,
    *,
    racks: str,
    per_rack: int,
    count: int,
    start: float | None,
) -> None:
    """Refuse units that do not fit the racks and the number of devices of a group.

    Raises:
        ValueError: naming the first contradiction.
    """
    if units is None:
        return
    if start is not None:
        raise ValueError("give either 'start_unit' or 'units', not both")
    refuse_twins("rack in 'units'", (rack for names in units for rack in expand_hostlist(names)))
    known = by_rack(units)
    if strange := sorted(known.keys() ^ set(expand_hostlist(racks))):
        where = "racks" if strange[0] in known else "units"
        raise ValueError(
            f"'{where}' does not name the rack '{strange[0]}': name it in both or in none"
        )
    if (total := sum(map(len, known.values()))) != count:
        raise ValueError(f"'units' has {total:,} units and 'count' is {count:,}: give one for each")
    if (most := max(map(len, known.values()))) != per_rack:
        raise ValueError(f"'per_rack' is {per_rack:,} and 'units' has up to {most:,} in a rack")
