"""A site of bare metal: halls, rows, racks and what stands in them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import Field, model_validator

from rackwright.model.addresses import SiteAddresses
from rackwright.model.base import Model
from rackwright.model.cooling import (
    AirSupply,
    CoolingLoop,
    FacilityWater,
    MechanicalPlant,
    RackCooling,
)
from rackwright.model.fabric import Fabric
from rackwright.model.names import (
    HostList,
    Name,
    NameDigits,
    expand_hostlist,
    hostlist_size,
    refuse_twins,
)
from rackwright.model.power import RackFeed, RackShelves, SitePower
from rackwright.model.security import SiteSecurity
from rackwright.model.storage import LocalScratch, NfsShare, ParallelFileSystem
from rackwright.model.units import (
    Celsius,
    Kilograms,
    KilogramsPerSquareMetre,
    Metres,
    Percent,
    RackUnits,
    Watts,
)

MOST_RACKS = 100_000
"""Racks of one site; a million GPUs on one site fill a third of them."""
MOST_NAMED = 1_000_000
"""Racks that the node groups and switches of one site name, each naming counted."""
MOST_GROUPS = 2_000
"""Rack groups of one site, and node groups and switch tiers together."""


def _refuse_crowds(
    groups: Sequence[RackGroup], nodes: Sequence[NodeGroup], fabrics: Sequence[Fabric]
) -> None:
    """Refuse a site that is larger than any, before a name of it is made.

    Raises:
        ValueError: it has more groups, racks or names of racks than a site can have.
    """
    named = [group.racks for group in nodes]
    named += [tier.racks for fabric in fabrics for tier in fabric.tiers]
    loads = len(named)
    named += [racks for fabric in fabrics for racks in fabric.shared_racks]
    for what, count, most in (
        ("rack groups", len(groups), MOST_GROUPS),
        ("node groups and switch tiers", loads, MOST_GROUPS),
        ("racks", sum(hostlist_size(group.racks) for group in groups), MOST_RACKS),
        ("racks named by its groups", sum(map(hostlist_size, named)), MOST_NAMED),
    ):
        if count > most:
            raise ValueError(f"a site has at most {most:,} {what}, not {count:,}")


class TraySection(Model):
    """The inside of a tray, or of all that lie above each other, as wide as both."""

    width: Annotated[Metres, Field(gt=0)]
    """From side to side, inside."""
    depth: Annotated[Metres, Field(gt=0)]
    """From its bottom to its edge, inside."""


class CableTrays(Model):
    """The trays above the racks of a hall, along each row; lengths of cables follow from them."""

    height: Annotated[Metres, Field(gt=0)]
    """Above the floor of the racks."""
    row_pitch: Annotated[Metres, Field(gt=0)] | None = None
    """From the tray of a row to that of the next."""
    joined: Literal["first", "last", "both"] | None = None
    """The ends of the rows, which begin in one line, at which a tray crosses them: at the first racks,
    the last ones of the longest row, or both."""
    section: TraySection | None = None
    """Of the tray along a row."""
    crossing: TraySection | None = None
    """Of a tray across the rows; absent, as along them."""
    fill: Percent | None = None
    """Share of the inside that cables take where it is fullest, if it does not follow from positions."""


class Floor(Model):
    """What a hall's floor carries."""

    uniform: KilogramsPerSquareMetre | None = None
    """Weight that a square metre bears, evenly spread."""
    concentrated: Kilograms | None = None
    """On one caster."""
    rolling: Kilograms | None = None
    """On one caster while the rack is moved."""


class DeliveryPath(Model):
    """The way from the truck to a hall, by the worst place of each kind on it."""

    height: Metres | None = None
    """Of the lowest door, corridor or lift."""
    width: Metres | None = None
    """Of the narrowest one."""
    rating: Kilograms | None = None
    """Most that a dock, lift, ramp or floor on the way carries at once."""
    rolling: Kilograms | None = None
    """Most on one caster."""
    slope: Annotated[Percent, Field(le=100)] | None = None
    """Of the steepest ramp, rise over run; 0 % without any."""


class Shipping(Model):
    """One rack as it is moved to its place: in its crate, or without where that stays outside."""

    height: Metres | None = None
    """Of the rack on its way."""
    width: Metres | None = None
    """The smaller side of what it stands on."""
    weight: Kilograms | None = None
    """With what is in it on its way and what it is moved by; a product that is a whole rack weighs no
    less than it does in its place."""


class RackGroup(Model):
    """Equal racks in one row."""

    racks: HostList
    """Names, unique in the site."""
    type: str
    """Catalogue id."""
    feeds: tuple[RackFeed, ...]
    cooling: RackCooling
    shelves: RackShelves | None = None
    air_direction: Literal["front-to-back", "back-to-front"] = "front-to-back"
    """Direction in which air passes the rack, cold aisle first."""
    blanking: bool | None = None
    """Empty units are closed by blanking panels."""
    aisle_depth: Metres | None = None
    """Half of the aisles in front and behind that this rack's floor share includes."""
    cable_allowance: Metres | None = None
    """Space behind the devices for cable bends."""
    cable_weight: Kilograms | None = None
    """Of the cables that hang in one rack, with what holds them."""
    shipping: Shipping | None = None
    gap: Metres | None = None
    """Free floor before its first rack, as of positions that stay empty; absent, it stands at the rack
    before, or at the beginning of the row."""

    @model_validator(mode="after")
    def _feeds_differ(self) -> RackGroup:
        refuse_twins("feed", (feed.name for feed in self.feeds))
        return self


class Row(Model):
    """Racks side by side."""

    name: Name
    """How the rest of the blueprint calls it."""
    rack_groups: tuple[RackGroup, ...]
    power_limit: Watts | None = None
    """Most power the row may draw."""
    length: Metres | None = None
    """From its beginning to its end; absent, it ends at its last rack."""


class Hall(Model):
    """A room with its air handlers and its floor."""

    name: Name
    """How the rest of the blueprint calls it."""
    air: AirSupply | None = None
    floor: Floor | None = None
    rows: tuple[Row, ...]
    power_limit: Watts | None = None
    """Most power of all its racks."""
    trays: CableTrays | None = None
    """Absent, cables have the lengths or routes that are stated with them."""
    clear_height: Metres | None = None
    """From the floor to the lowest thing above it."""
    delivery: DeliveryPath | None = None


class NodeGroup(Model):
    """Equal nodes, placed in racks."""

    name: Name
    """How the rest of the blueprint calls it."""
    role: Literal["compute", "login", "head", "storage", "management"]
    """What its hosts are for."""
    type: str
    """Catalogue id."""
    count: Annotated[int, Field(gt=0)]
    """Units of the product: servers, or rack-scale systems."""
    racks: HostList
    """Racks they stand in, like ``c[01-08]``."""
    per_rack: Annotated[int, Field(gt=0)]
    """Most units in one rack; racks are filled in the order written."""
    power_cap: Watts | None = None
    """Enforced cap on a unit's input power, below its nameplate. No less is counted than the product
    draws without its accelerators, where the catalogue knows what those draw."""
    start_unit: RackUnits | None = None
    """Lowest rack unit to use, counted from 1."""
    host_names: HostList | None = None
    """Names of its hosts where they stand already, in the order in which racks are filled, like
    ``node[001-032]``. Absent, they are the group's name and a number, like ``dgx-1``."""
    name_digits: NameDigits = 1
    """Least number of digits in its host names: with 4, the first is ``dgx-0001``. A group that grows
    renames no host. 1 if omitted: numbers have no leading zeros."""
    scratch: LocalScratch | None = None
    """What its local drives are used for; absent, they are left alone."""
    psus_per_feed: dict[str, Annotated[int, Field(ge=0)]] | None = None
    """Power supplies on each feed of the rack; absent, they are spread evenly."""


class OnPremSite(Model):
    """A site of bare metal."""

    provider: Literal["onprem"]
    """The site has halls of one's own."""
    name: Name
    """How the rest of the blueprint calls it."""
    power: SitePower
    halls: tuple[Hall, ...]
    loops: tuple[CoolingLoop, ...] = ()
    plant: tuple[MechanicalPlant, ...] | None = None
    """What rejects the heat, and whatever else draws power beside racks, air handlers and CDUs; empty
    where there is nothing. Absent, it is what the ``pue`` says."""
    facility_water: tuple[FacilityWater, ...] = ()
    """Circuits of water that air handlers and CDUs give their heat to."""
    node_groups: tuple[NodeGroup, ...]
    fabrics: tuple[Fabric, ...] = ()
    file_systems: tuple[ParallelFileSystem, ...] = ()
    nfs: tuple[NfsShare, ...] = ()
    """Directories that hosts export to others, like the home directories."""
    addresses: SiteAddresses | None = None
    """Absent, names are looked up wherever hosts look them up."""
    security: SiteSecurity | None = None
    altitude: Metres | None = None
    """Above the sea: thinner air carries less heat."""
    design_dry_bulb: Celsius | None = None
    """Outdoor temperature that cooling is designed for, as the extreme of 20 years."""
    design_wet_bulb: Celsius | None = None
    """The same of the wet bulb, which cooling towers need."""
    pue: Annotated[float, Field(ge=1, le=10)] | None = None
    """Expected ratio of facility to IT power, at full load."""
    pue_budget: Annotated[float, Field(ge=1, le=10)] | None = None
    """Highest ratio of facility to IT power that is wanted."""
    allow_estimates: bool = False
    """Accept catalogue numbers whose confidence is ``estimate``."""

    @model_validator(mode="after")
    def _references_resolve(self) -> OnPremSite:
        groups = [g for h in self.halls for r in h.rows for g in r.rack_groups]
        _refuse_crowds(groups, self.node_groups, self.fabrics)
        racks = [name for group in groups for name in expand_hostlist(group.racks)]
        refuse_twins("hall", (hall.name for hall in self.halls))
        for hall in self.halls:
            refuse_twins(f"row of hall '{hall.name}'", (row.name for row in hall.rows))
        refuse_twins("rack", racks)
        refuse_twins("power source", (source.name for source in self.power.sources))
        refuse_twins("cooling loop", (loop.name for loop in self.loops))
        refuse_twins("mechanical plant", (plant.name for plant in self.plant or ()))
        refuse_twins("circuit of facility water", (water.name for water in self.facility_water))
        refuse_twins("node group", (group.name for group in self.node_groups))
        refuse_twins("fabric", (fabric.name for fabric in self.fabrics))
        refuse_twins("file system", (system.name for system in self.file_systems))
        nodes = {group.name for group in self.node_groups}
        for fabric in self.fabrics:
            fabric.check_groups(nodes)
        refuse_twins("NFS share", (share.name for share in self.nfs))
        for share in self.nfs:
            for name in (share.server, *share.clients):
                if name not in nodes:
                    raise ValueError(
                        f"the NFS share '{share.name}' names the node group '{name}', "
                        "which is not there"
                    )
        return self


ASHRAE_RECOMMENDED: dict[str, tuple[float, float]] = {
    **dict.fromkeys(("A1", "A2", "A3", "A4"), (18.0, 27.0)),
    "H1": (18.0, 22.0),
}
"""Recommended inlet range in °C by class (ASHRAE TC 9.9, 5th edition, quoted second-hand)."""

ASHRAE_ALLOWABLE: dict[str, tuple[float, float]] = {
    "A1": (15.0, 32.0),
    "A2": (10.0, 35.0),
    "A3": (5.0, 40.0),
    "A4": (5.0, 45.0),
    "H1": (5.0, 25.0),
}
"""Allowable inlet range in °C by class (ASHRAE TC 9.9, 5th edition, quoted second-hand)."""
