"""Regions and zones in which EC2 offers instance types: ``inventory/offerings/ec2.yaml``."""

from __future__ import annotations

import datetime as dt
from functools import lru_cache

from rackwright.model.base import Model
from rackwright.reading.loader import load
from rackwright.resources import bundled


class RegionZones(Model):
    """Zone ids of a region: ``use1-az1`` to ``use1-az6``."""

    stem: str
    """Beginning of each zone id."""
    zones: tuple[int, ...]
    """Numbers of the zones."""


class TypeOfferings(Model):
    """Places in which one instance type is offered."""

    in_all_zones_of: tuple[str, ...] = ()
    """Regions with the type in every zone."""
    in_zones_of: dict[str, tuple[int, ...]] = {}
    """Numbers of the zones, for regions with the type in some."""


class Offerings(Model):
    """Instance types by region and zone id, as recorded on a day."""

    title: str
    """Source."""
    date: dt.date
    """Day of the record."""
    confidence: str
    """How far the source is to be trusted."""
    regions: dict[str, RegionZones]
    """Zones of each region of the record."""
    types: dict[str, TypeOfferings]
    """Instance types of the record."""

    def zone_ids(self, instance_type: str, region: str) -> frozenset[str] | None:
        """Return the zone ids of ``region`` with the type; None if the record lacks the type or the region."""
        here, found = self.regions.get(region), self.types.get(instance_type)
        if here is None or found is None:
            return None
        every = here.zones if region in found.in_all_zones_of else found.in_zones_of.get(region, ())
        return frozenset(f"{here.stem}{number}" for number in every)

    def regions_of(self, instance_type: str) -> tuple[str, ...]:
        """Return the regions with the type, sorted."""
        found = self.types.get(instance_type)
        return () if found is None else tuple(sorted((*found.in_all_zones_of, *found.in_zones_of)))

    def all_zone_ids(self, region: str) -> frozenset[str]:
        """Return the zone ids of a region of the record."""
        here = self.regions[region]
        return frozenset(f"{here.stem}{number}" for number in here.zones)


@lru_cache(maxsize=1)
def builtin_offerings() -> Offerings:
    """Return the record that comes with Rackwright."""
    return load(bundled("inventory") / "offerings" / "ec2.yaml", Offerings).value
