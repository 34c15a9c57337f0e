"""The records of all racks of a site in one list, for tests that look at one rack or count over all."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from rackwright.plan.expansion import SitePlan
from rackwright.plan.records.circuits import (
    CircuitAfterLoss,
    CircuitLoad,
    DevicesAfterLoss,
    FeedLoad,
)
from rackwright.plan.records.racks import RackDevice


def rack_devices(site: SitePlan) -> list[RackDevice]:
    """Return the devices of one rack of each class."""
    return [device for racks in site.racks for device in racks.kind.devices]


def rack_feeds(site: SitePlan) -> list[FeedLoad]:
    """Return the feeds of one rack of each class."""
    return [feed for racks in site.racks for feed in racks.kind.feeds]


def rack_circuits(site: SitePlan) -> list[CircuitLoad]:
    """Return the circuits of one rack of each class."""
    return [circuit for racks in site.racks for circuit in racks.kind.circuits]


def rack_losses(site: SitePlan) -> list[CircuitAfterLoss]:
    """Return the remaining circuits of one rack of each class after each single loss."""
    return [loss for racks in site.racks for loss in racks.kind.losses]


def rack_fates(site: SitePlan) -> list[DevicesAfterLoss]:
    """Return what becomes of the devices of one rack of each class after each single loss."""
    return [fate for racks in site.racks for fate in racks.kind.fates]


def records(site: SitePlan, table: str) -> Any:
    """Return records of a site, of its power or of its cooling, by the name of their attribute."""
    owner = next((one for one in (site.power, site.cooling) if hasattr(one, table)), site)
    return getattr(owner, table)


def as_data(site: SitePlan, table: str) -> list[dict[str, Any]]:
    """Return the records of a site as plain data to compare; racks without their devices."""
    found = records(site, table)
    data = [asdict(record) for record in (found if isinstance(found, tuple) else [found])]
    for record in data if table == "racks" else ():
        del record["kind"]["devices"]
    return data
