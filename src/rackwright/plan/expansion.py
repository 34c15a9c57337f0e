"""What a blueprint expands to: its sites, as records of equal things."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from rackwright.plan.base import Path

if TYPE_CHECKING:
    from rackwright.catalog.loader import Catalogue
    from rackwright.model.cluster import Blueprint
    from rackwright.model.onprem import OnPremSite
    from rackwright.plan.aws.site import AwsSitePlan
    from rackwright.plan.power.distribution import PowerTree
    from rackwright.plan.power.overhead import Overhead
    from rackwright.plan.records.facility import (
        HallLoad,
        LoopLoad,
        LoopProduct,
        RowLoad,
        SiteTotals,
    )
    from rackwright.plan.records.power import (
        CircuitAfterLoss,
        CircuitLoad,
        DevicesAfterLoss,
        FeedLoad,
        SourceLoad,
        TapOffLoad,
    )
    from rackwright.plan.records.racks import (
        NvlinkDomains,
        RackClass,
        RackDevice,
        RackPosition,
    )


@dataclass(frozen=True)
class SitePlan:
    """A bare-metal site, expanded to tables; ``rackwright.plan.records`` says what their fields mean.

    Racks of one group with the same content are one record of ``rack_classes``, so the work grows
    with the number of distinct racks.
    """

    site: OnPremSite
    path: Path
    racks: tuple[RackPosition, ...] = field(repr=False)
    rack_classes: tuple[RackClass, ...] = field(repr=False)
    devices: tuple[RackDevice, ...] = field(repr=False)
    nvlink_domains: tuple[NvlinkDomains, ...] = field(repr=False)
    feeds: tuple[FeedLoad, ...] = field(repr=False)
    circuits: tuple[CircuitLoad, ...] = field(repr=False)
    tap_offs: tuple[TapOffLoad, ...] = field(repr=False)
    losses: tuple[CircuitAfterLoss, ...] = field(repr=False)
    device_losses: tuple[DevicesAfterLoss, ...] = field(repr=False)
    sources: tuple[SourceLoad, ...] = field(repr=False)
    rows: tuple[RowLoad, ...] = field(repr=False)
    halls: tuple[HallLoad, ...] = field(repr=False)
    loops: tuple[LoopLoad, ...] = field(repr=False)
    loop_products: tuple[LoopProduct, ...] = field(repr=False)
    totals: SiteTotals = field(repr=False)
    distribution: PowerTree = field(repr=False)
    """Its power sources."""
    overhead: Overhead = field(repr=False)
    """What it draws beside its racks."""

    def devices_of(self, rack_class: int) -> Sequence[RackDevice]:
        """The devices in one rack of a class."""
        return self._devices_by_class.get(rack_class, ())

    @cached_property
    def rack_counts(self) -> Mapping[int, int]:
        """Number of racks by rack class."""
        return {racks.rack_class: racks.count for racks in self.rack_classes}

    @cached_property
    def _devices_by_class(self) -> Mapping[int, Sequence[RackDevice]]:
        found: dict[int, list[RackDevice]] = {}
        for device in self.devices:
            found.setdefault(device.rack_class, []).append(device)
        return found


@dataclass(frozen=True)
class Expansion:
    """A blueprint, the catalogue that it names, and its sites expanded."""

    blueprint: Blueprint
    catalogue: Catalogue = field(repr=False)
    onprem: tuple[SitePlan, ...] = ()
    aws: tuple[AwsSitePlan, ...] = ()
