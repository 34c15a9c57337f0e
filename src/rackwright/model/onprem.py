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
from rackwright.model.field_kinds import (
    FOR_REVIEW,
    GRANTED,
    HARDWARE,
    KEY,
    PART,
    POLICIES_ONLY,
    SAID,
    STATEMENT,
    Claim,
    OnChange,
    Setting,
)
from rackwright.model.names import (
    HostList,
    Name,
    NameDigits,
    PlaceName,
    expand_hostlist,
    hostlist_size,
    refuse_twins,
)
from rackwright.model.power import RackFeed, RackShelves, SitePower
from rackwright.model.provisioning import Provisioning
from rackwright.model.security import SiteSecurity
from rackwright.model.standing import UnitShare, UnitsOfRacks, check_units
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

_DEALT = "equal things are dealt out in this order: see which places and power cords change"
_MOVED = "the nodes are moved or recabled"
_PLANT = "work on the plant: settle with facilities which racks must be drained"
_RACKS = "its racks are given up"
_UNPOWERED = "the racks lose this feed meanwhile"

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

    width: Annotated[Metres, Field(gt=0), HARDWARE]
    """Inner width from side to side, in m."""
    depth: Annotated[Metres, Field(gt=0), HARDWARE]
    """Inner depth from the bottom to the edge, in m."""


class CableTrays(Model):
    """The trays above the racks of a hall, along each row; lengths of cables follow from them."""

    height: Annotated[Metres, Field(gt=0), Claim(looser="either")]
    """Height of the trays above the floor of the racks, in m."""
    row_pitch: Annotated[Annotated[Metres, Field(gt=0)] | None, Claim(looser="either")] = None
    """Distance from the tray of a row to that of the next, in m. Unknown if omitted."""
    joined: Annotated[Literal["first", "last", "both"] | None, HARDWARE] = None
    """The ends of the rows, which begin in one line, at which a tray crosses them: at the first racks,
    the last ones of the longest row, or both."""
    section: Annotated[TraySection | None, PART] = None
    """Section of the tray along a row. Unknown if omitted."""
    crossing: Annotated[TraySection | None, PART] = None
    """Section of a tray across the rows. As along them if omitted."""
    fill: Annotated[Percent | None, Claim(looser="lower")] = None
    """Share of the inside that cables take where it is fullest, if it does not follow from positions."""


class Floor(Model):
    """Floor of a hall, with the loads that it carries."""

    uniform: Annotated[KilogramsPerSquareMetre | None, Claim(looser="higher")] = None
    """Evenly spread load that a square metre bears, in kg/m2. Unknown if omitted."""
    concentrated: Annotated[Kilograms | None, Claim(looser="higher")] = None
    """Largest load on one caster at rest, in kg. Unknown if omitted."""
    rolling: Annotated[Kilograms | None, Claim(looser="higher")] = None
    """Largest load on one caster while the rack is moved, in kg. Unknown if omitted."""


class DeliveryPath(Model):
    """The way from the truck to a hall, by the worst place of each kind on it."""

    height: Annotated[Metres | None, Claim(looser="higher")] = None
    """Height of the lowest door, corridor or lift, in m. Unknown if omitted."""
    width: Annotated[Metres | None, Claim(looser="higher")] = None
    """Width of the narrowest door, corridor or lift, in m. Unknown if omitted."""
    rating: Annotated[Kilograms | None, Claim(looser="higher")] = None
    """Largest load that a dock, lift, ramp or floor on the way carries at once, in kg. Unknown if omitted."""
    rolling: Annotated[Kilograms | None, Claim(looser="higher")] = None
    """Largest load on one caster, in kg. Unknown if omitted."""
    slope: Annotated[Annotated[Percent, Field(le=100)] | None, Claim(looser="lower")] = None
    """Slope of the steepest ramp in %, rise over run; 0 % without any. Unknown if omitted."""


class Shipping(Model):
    """One rack as it is moved to its place: in its crate, or without where that stays outside."""

    height: Annotated[Metres | None, Claim(looser="lower")] = None
    """Height of the rack on its way, in m. Unknown if omitted."""
    width: Annotated[Metres | None, Claim(looser="lower")] = None
    """Smaller side of the footprint of the rack on its way, in m. Unknown if omitted."""
    weight: Annotated[Kilograms | None, Claim(looser="lower")] = None
    """Weight of the rack on its way with its content and the means of transport, in kg; a product that
    is a whole rack weighs no less than in its place. Unknown if omitted."""


class RackGroup(Model):
    """Equal racks in one row."""

    racks: Annotated[HostList, KEY, OnChange("review", "racks are added, given up or renamed")]
    """Names of the racks, unique in the site."""
    type: Annotated[str, HARDWARE, OnChange("drain", "another rack: its nodes are moved")]
    """Catalogue id of the rack."""
    feeds: Annotated[
        tuple[RackFeed, ...],
        PART,
        OnChange("drain", _UNPOWERED),
        OnChange("review", _DEALT, event="reordered"),
    ]
    cooling: Annotated[RackCooling, PART]
    shelves: Annotated[RackShelves | None, PART, OnChange("drain", _UNPOWERED)] = None
    air_direction: Annotated[
        Literal["front-to-back", "back-to-front"],
        HARDWARE,
        OnChange("drain", "fans or devices are turned round"),
    ] = "front-to-back"
    """Direction in which air passes the rack, cold aisle first."""
    blanking: Annotated[bool | None, SAID, POLICIES_ONLY] = None
    """True if empty units are closed by blanking panels. Unknown if omitted."""
    aisle_depth: Annotated[Metres | None, Claim(looser="higher"), POLICIES_ONLY] = None
    """Half of the aisles in front and behind that this rack's floor share includes."""
    cable_allowance: Annotated[Metres | None, Claim(looser="either"), POLICIES_ONLY] = None
    """Space behind the devices for cable bends, in m."""
    cable_weight: Annotated[Kilograms | None, Claim(looser="lower"), FOR_REVIEW] = None
    """Weight of the cables that hang in one rack, with their holders, in kg. Unknown if omitted."""
    shipping: Annotated[Shipping | None, STATEMENT, FOR_REVIEW] = None
    gap: Annotated[
        Metres | None, HARDWARE, OnChange("review", "racks stand elsewhere in their row")
    ] = None
    """Free floor before its first rack in m, as of positions that stay empty. The rack is beside the
    one before, or at the beginning of the row, if omitted."""

    @model_validator(mode="after")
    def _feeds_differ(self) -> RackGroup:
        refuse_twins("feed", (feed.name for feed in self.feeds))
        return self


class Row(Model):
    """Racks side by side."""

    name: Annotated[PlaceName, KEY]
    """Name of the row, by which the rest of the blueprint refers to it."""
    rack_groups: Annotated[
        tuple[RackGroup, ...],
        PART,
        OnChange("in place", "new racks", event="added"),
        OnChange("drain", "the racks are given up", event="removed"),
        OnChange("review", _DEALT, event="reordered"),
    ]
    power_limit: Annotated[
        Watts | None, Setting(looser="higher", absent="loose"), POLICIES_ONLY
    ] = None
    """Largest power of the row, in kW. No limit if omitted."""
    length: Annotated[
        Metres | None, Claim(looser="either", absent="elsewhere"), OnChange("review", _PLANT)
    ] = None
    """Length of the row from its beginning to its end, in m. Ends at its last rack if omitted."""


class Hall(Model):
    """A room with its air handlers and its floor."""

    name: Annotated[PlaceName, KEY]
    """Name of the hall, by which the rest of the blueprint refers to it."""
    air: Annotated[AirSupply | None, PART, OnChange("review", _PLANT)] = None
    floor: Annotated[Floor | None, STATEMENT, POLICIES_ONLY] = None
    rows: Annotated[
        tuple[Row, ...],
        PART,
        OnChange("in place", "a new row", event="added"),
        OnChange("drain", _RACKS, event="removed"),
    ]
    power_limit: Annotated[
        Watts | None, Setting(looser="higher", absent="loose"), POLICIES_ONLY
    ] = None
    """Largest power of all its racks, in kW. No limit if omitted."""
    trays: Annotated[CableTrays | None, PART, OnChange("review", _PLANT)] = None
    """Cable trays above the racks. Cables have the lengths or routes stated with them if omitted."""
    clear_height: Annotated[Metres | None, Claim(looser="higher"), POLICIES_ONLY] = None
    """Clear height from the floor to the lowest obstacle above it, in m. Unknown if omitted."""
    delivery: Annotated[DeliveryPath | None, STATEMENT, FOR_REVIEW] = None


class NodeGroup(Model):
    """Equal nodes, placed in racks."""

    name: Annotated[Name, KEY]
    """Name of the node group, by which the rest of the blueprint refers to it."""
    role: Annotated[
        Literal["compute", "login", "head", "storage", "management"],
        HARDWARE,
        OnChange("drain", "the nodes are set up again", keeps_data=True),
    ]
    """Role of the hosts."""
    type: Annotated[
        str, HARDWARE, OnChange("replace", "other hardware takes their place", keeps_data=True)
    ]
    """Catalogue id of the node."""
    count: Annotated[
        int,
        Field(gt=0),
        HARDWARE,
        OnChange("in place", "more nodes", event="grown"),
        OnChange("drain", "the last nodes are taken out", event="shrunk", keeps_data=True),
    ]
    """Units of the product: servers, or rack-scale systems."""
    racks: Annotated[
        HostList,
        HARDWARE,
        OnChange("drain", _MOVED),
        OnChange("in place", "more racks; nodes stay in theirs", event="grown"),
    ]
    """Racks they stand in, like ``c[01-08]``."""
    per_rack: Annotated[int, Field(gt=0), HARDWARE, OnChange("drain", _MOVED)]
    """Most units in one rack; racks are filled in the order written."""
    power_cap: Annotated[
        Watts | None,
        Claim(looser="lower", absent="strict"),
        OnChange("in place", "set through the management controllers"),
    ] = None
    """Enforced cap on a unit's input power, below its nameplate, in kW. No less is counted than the
    product draws without its accelerators, where the catalogue knows what those draw."""
    power_floor: Annotated[
        Watts | None,
        Claim(looser="higher", absent="strict"),
        OnChange("in place", "set through the management controllers"),
    ] = None
    """Least power that a unit draws while a job runs, held by power smoothing, in kW. None is held if
    omitted."""
    start_unit: Annotated[RackUnits | None, HARDWARE, OnChange("drain", _MOVED)] = None
    """Lowest rack unit to use, in U, counted from 1."""
    units: Annotated[UnitsOfRacks | None, HARDWARE, OnChange("drain", _MOVED)] = None
    """Lowest rack unit of every unit of the product, by racks, in U, where existing nodes differ in height
    or number from rack to rack, like ``{c01: [1 U, 11 U], "c[02-04]": [1 U]}``. Instead of ``start_unit``."""
    unit_share: Annotated[
        UnitShare | None, Claim(looser="either", absent="strict"), OnChange("drain", _MOVED)
    ] = None
    """Part of its rack units that each unit of the product takes: ``half-width`` (two side by side), ``half-depth``
    (two back to back), or the ``front`` or ``rear`` of a device of half depth. All of them if omitted."""
    host_names: Annotated[
        HostList | None, HARDWARE, OnChange("review", "hosts are added, given up or renamed")
    ] = None
    """Names of existing hosts, in the order in which racks are filled, like ``node[001-032]``. The
    group's name and a number, like ``dgx-1``, if omitted."""
    name_digits: Annotated[
        NameDigits,
        HARDWARE,
        OnChange("in place", "hosts that it renames are listed with the group's hosts"),
    ] = 1
    """Least number of digits in its host names: with 4, the first is ``dgx-0001``. A group that grows
    renames no host. 1 if omitted: numbers have no leading zeros."""
    scratch: Annotated[LocalScratch | None, PART, FOR_REVIEW] = None
    """Use of the local drives. They are left alone if omitted."""
    psus_per_feed: Annotated[
        dict[str, Annotated[int, Field(ge=0)]] | None, HARDWARE, OnChange("drain", _MOVED)
    ] = None
    """Number of power supplies on each feed of the rack. They are spread evenly if omitted."""

    @model_validator(mode="after")
    def _every_node_has_a_unit(self) -> NodeGroup:
        check_units(
            self.units,
            racks=self.racks,
            per_rack=self.per_rack,
            count=self.count,
            start=self.start_unit,
        )
        return self


class OnPremSite(Model):
    """A site of bare metal."""

    provider: Annotated[Literal["onprem"], HARDWARE]
    """Marks a site with halls of one's own."""
    name: Annotated[Name, KEY]
    """Name of the site, by which the rest of the blueprint refers to it."""
    power: Annotated[SitePower, PART]
    halls: Annotated[
        tuple[Hall, ...],
        PART,
        OnChange("in place", "a new hall", event="added"),
        OnChange("drain", _RACKS, event="removed"),
    ]
    loops: Annotated[tuple[CoolingLoop, ...], PART, OnChange("review", _PLANT)] = ()
    plant: Annotated[tuple[MechanicalPlant, ...] | None, PART, FOR_REVIEW] = None
    """Machines that reject the heat, and all else that draws power beside racks, air handlers and CDUs;
    empty where there is nothing. Computed from the ``pue`` if omitted."""
    facility_water: Annotated[tuple[FacilityWater, ...], PART, FOR_REVIEW] = ()
    """Circuits of water that air handlers and CDUs give their heat to."""
    node_groups: Annotated[
        tuple[NodeGroup, ...],
        PART,
        OnChange("in place", "new nodes", event="added"),
        OnChange("drain", "the nodes are taken out", event="removed", keeps_data=True),
        OnChange("review", _DEALT, event="reordered"),
    ]
    fabrics: Annotated[
        tuple[Fabric, ...],
        PART,
        OnChange("in place", "a new network", event="added"),
        OnChange("drain", "the nodes lose it", event="removed"),
        OnChange("review", _DEALT, event="reordered"),
    ] = ()
    file_systems: Annotated[
        tuple[ParallelFileSystem, ...],
        PART,
        OnChange("in place", "a new file system", event="added"),
        OnChange("refused", "all data in it would go", event="removed"),
    ] = ()
    nfs: Annotated[tuple[NfsShare, ...], PART, FOR_REVIEW] = ()
    """Directories that hosts export to others, like the home directories."""
    addresses: Annotated[
        SiteAddresses | None,
        PART,
        OnChange(
            "in place", "names, zones, and the addresses known to DHCP and Slurm are rewritten"
        ),
    ] = None
    """Address plan of the site. Names are looked up by the hosts' own resolvers if omitted."""
    provisioning: Annotated[
        Provisioning | None,
        PART,
        OnChange("in place", "used when hosts are discovered or provisioned next"),
    ] = None
    """Provisioning of the hosts from their management controllers on. Hosts are installed by others if
    omitted."""
    security: Annotated[SiteSecurity | None, STATEMENT, POLICIES_ONLY] = None
    altitude: Annotated[Metres | None, Claim(looser="lower"), POLICIES_ONLY] = None
    """Altitude above sea level, in m: thinner air carries less heat. Unknown if omitted."""
    design_dry_bulb: Annotated[Celsius | None, Claim(looser="lower"), FOR_REVIEW] = None
    """Outdoor dry-bulb temperature that cooling is designed for, in °C, as the extreme of 20 years.
    Unknown if omitted."""
    design_coldest: Annotated[Celsius | None, Claim(looser="higher"), FOR_REVIEW] = None
    """Coldest outdoor air that the site is designed for, in °C, as the extreme of 20 years. Unknown if
    omitted."""
    design_wet_bulb: Annotated[Celsius | None, Claim(looser="lower"), FOR_REVIEW] = None
    """Outdoor wet-bulb temperature that cooling towers are designed for, in °C, as the extreme of 20
    years. Unknown if omitted."""
    pue: Annotated[
        float | None, Field(ge=1, le=10), Claim(looser="lower", absent="elsewhere"), POLICIES_ONLY
    ] = None
    """Expected ratio of facility to IT power, at full load."""
    pue_budget: Annotated[
        float | None, Field(ge=1, le=10), Setting(looser="higher"), POLICIES_ONLY
    ] = None
    """Highest ratio of facility to IT power that is wanted."""
    allow_estimates: Annotated[bool, GRANTED, POLICIES_ONLY] = False
    """True to accept catalogue numbers whose confidence is ``estimate``."""
    allow_common: Annotated[bool, GRANTED, POLICIES_ONLY] = False
    """True to accept catalogue numbers whose confidence is ``common``: no one has opened their document."""

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
        for provisioned in () if self.provisioning is None else self.provisioning.groups:
            if provisioned.group not in nodes:
                raise ValueError(
                    f"'provisioning' names the node group '{provisioned.group}', which is not there"
                )
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
