"""The networks of a bare-metal site: switches in tiers, and what connects them."""

from __future__ import annotations

from collections.abc import Collection
from datetime import date
from typing import Annotated, Literal

from pydantic import Field, model_validator

from rackwright.model.addresses import Address, InterfacePrefix
from rackwright.model.base import Model
from rackwright.model.field_kinds import (
    FOR_REVIEW,
    HARDWARE,
    KEY,
    PART,
    POLICIES_ONLY,
    STATEMENT,
    Claim,
    OnChange,
    Setting,
)
from rackwright.model.names import DISTINCT, HostList, Name, NameDigits, refuse_twins
from rackwright.model.standing import UnitShare, UnitsOfRacks, check_units
from rackwright.model.switching import Switching, SwitchSystem
from rackwright.model.units import GigabitsPerSecond, Metres, RackUnits

Guid = Annotated[str, Field(pattern=r"^(0x)?[0-9a-fA-F]{1,16}$")]
_CABLES = "the nodes behind these links lose them meanwhile"
_MANAGERS = "the subnet managers restart and compute the routes again"
_ROUTES = "routes are computed again"
_SWITCHES = "switch by switch; routes are computed again"

PciAddress = Annotated[str, Field(pattern=r"^[0-9a-f]{4}:[0-9a-f]{2}:[01][0-9a-f]\.[0-7]$")]
"""Place of a device on the PCI buses of a host, like ``0000:18:00.0``."""
Role = Literal["compute", "storage", "management"]
Technology = Literal["infiniband", "ethernet"]
RoutingEngine = Literal[
    "minhop",
    "updn",
    "dnup",
    "ftree",
    "lash",
    "dor",
    "torus-2QoS",
    "dfsssp",
    "sssp",
    "nue",
    "ar_updn",
    "ar_ftree",
]
"""Engines of opensm, and the adaptive ones (``ar_``) of UFM's subnet manager."""


class SwitchTier(Model):
    """Equal switches of one tier, placed in racks."""

    name: Annotated[Name, KEY]
    """Name of the tier, by which the rest of the blueprint refers to it."""
    type: Annotated[str, HARDWARE, OnChange("drain", _CABLES)]
    """Catalogue id."""
    count: Annotated[
        int,
        Field(gt=0),
        HARDWARE,
        OnChange("rolling", _ROUTES, event="grown"),
        OnChange("drain", _CABLES, event="shrunk"),
    ]
    """Number of switches."""
    racks: Annotated[HostList, HARDWARE, OnChange("drain", _CABLES)]
    """Racks they stand in, like ``n[01-02]``."""
    per_rack: Annotated[int, Field(gt=0), HARDWARE, OnChange("drain", _CABLES)]
    """Most of them in one rack."""
    air_direction: Annotated[
        Literal["front-to-back", "back-to-front"] | None, HARDWARE, OnChange("drain", _CABLES)
    ] = None
    """Air direction of the switches as ordered (P2C or C2P) and mounted. Unknown if omitted."""
    start_unit: Annotated[RackUnits | None, HARDWARE, OnChange("drain", _CABLES)] = None
    """Lowest unit of the first switch in each rack, in U."""
    units: Annotated[UnitsOfRacks | None, HARDWARE, OnChange("drain", _CABLES)] = None
    """Lowest unit of every switch, by racks, in U, where existing switches differ in height or number from
    rack to rack, like ``{n01: [40 U, 42 U], "n[02-04]": [42 U]}``. Instead of ``start_unit``."""
    unit_share: Annotated[
        UnitShare | None, Claim(looser="either", absent="strict"), OnChange("drain", _CABLES)
    ] = None
    """Part of its rack units that each switch takes: ``half-width`` (two side by side), ``half-depth`` (two back to
    back), or the ``front`` or ``rear`` of a switch of half depth. All of them if omitted."""
    split: Annotated[int, Field(gt=0), HARDWARE, OnChange("drain", _CABLES)] = 1
    """Number of links that each port is split into, which share its rate."""
    asn: Annotated[int | None, Field(gt=0, lt=2**32), HARDWARE, OnChange("rolling", _SWITCHES)] = (
        None
    )
    """BGP number of the tier's first switch."""
    asn_shared: Annotated[bool, HARDWARE, OnChange("rolling", _SWITCHES)] = False
    """True if all switches of the tier have the BGP number of the first, as spines do in RFC 7938."""
    loopback: Annotated[Address | None, HARDWARE, OnChange("rolling", _SWITCHES)] = None
    """IPv4 address of the tier's first switch on its loopback, and its BGP router id; each switch that
    follows has the next one. It stays when switches come, so that theirs stay as well."""
    system: Annotated[SwitchSystem | None, HARDWARE, OnChange("replace", "the switches are installed")] = None  # fmt: skip
    """Operating system of the tier's switches. That of the fabric's ``switching`` if omitted."""
    switch_names: Annotated[
        HostList | None, HARDWARE, OnChange("review", "switches are added, given up or renamed")
    ] = None
    """Names of existing switches, in the order in which racks are filled, like ``ib-leaf[01-16]``. Fabric,
    tier and a number, like ``compute-leaf-1``, if omitted."""
    name_digits: Annotated[
        NameDigits | None, HARDWARE, OnChange("review", "the switches of the tier are renamed")
    ] = None
    """Least number of digits in the names of the switches: with 2, the first is ``compute-leaf-01``. As
    many as the last number has if omitted, so that a tier which grows from 9 to 10 renames its switches."""
    oversubscription: Annotated[
        float | None,
        Field(ge=1, le=100),
        Setting(looser="either", absent="elsewhere"),
        POLICIES_ONLY,
    ] = None
    """Downward over upward bandwidth of a switch between the leaves and the top, at most: it is sized
    for it and judged by it. Absent, it is sized for 1. That of the leaves is the fabric's."""

    @model_validator(mode="after")
    def _every_switch_has_a_unit(self) -> SwitchTier:
        check_units(
            self.units,
            racks=self.racks,
            per_rack=self.per_rack,
            count=self.count,
            start=self.start_unit,
        )
        return self


class Attachment(Model):
    """The nodes of a group on a fabric."""

    group: Annotated[Name, KEY]
    """A node group of the site."""
    ports: Annotated[Role | None, HARDWARE] = None
    """Ports of the product by their role. Those of the fabric's own role if omitted."""
    interfaces: Annotated[int | None, Field(gt=0, le=10_000), HARDWARE] = None
    """Interfaces of each host on this fabric. All ports that the catalogue lists for the role if omitted."""
    rate: Annotated[GigabitsPerSecond | None, Claim(looser="either", absent="elsewhere")] = None
    """Data rate of each interface in Gbps, where the catalogue does not list it or it runs slower."""
    split: Annotated[int, Field(gt=0, le=8), HARDWARE] = 1
    """Each port of a host is split into this many interfaces, which share its rate and go to
    different planes. ``interfaces`` counts them, one after the other for each port."""
    rails: Annotated[bool | None, HARDWARE] = None
    """True if each interface of a host goes to a leaf of its own. As the fabric says if omitted."""
    devices: Annotated[tuple[PciAddress, ...], HARDWARE] = ()
    """PCI addresses of a host's interfaces on this fabric, in the order of their numbers. Interfaces
    are found by the Ethernet addresses in ``macs`` of the site's networks if omitted."""

    @model_validator(mode="after")
    def _devices_differ(self) -> Attachment:
        refuse_twins("device", self.devices)
        return self


class CableRoute(Model):
    """The way of the longest cable of a kind."""

    tray: Annotated[Metres, Claim(looser="lower", absent="elsewhere")]
    """Length along the trays, from above one rack to above the other, in m."""
    drop: Annotated[Metres, Claim(looser="lower", absent="elsewhere")]
    """Length from a device up to the tray at either end, in m."""


class Cables(Model):
    """Equal cables from the nodes of a group, or from the switches of a tier, up to a tier."""

    name: Annotated[Name, KEY]
    """Name of the cables, by which the rest of the blueprint refers to them."""
    lower: Annotated[Name, HARDWARE]
    """Lower end of the cables: a node group that is attached, or a tier."""
    upper: Annotated[Name, HARDWARE]
    """Upper end of the cables: a tier."""
    parallel: Annotated[int | None, Field(gt=0), HARDWARE] = None
    """Cables between a lower and an upper switch that are connected; not for nodes."""
    pods: Annotated[int | None, Field(gt=0), HARDWARE] = None
    """Number of blocks that both tiers are cut into; switches are connected inside a block only."""
    pod_switches: Annotated[int | None, Field(gt=0), HARDWARE] = None
    """Lower switches of each pod but the last, which has the rest. Pods are equal if omitted."""
    planes: Annotated[int | None, Field(gt=0), HARDWARE] = None
    """Number of blocks that the upper tier is cut into; the n-th switch of each pod goes to the n-th."""
    count: Annotated[int | None, Field(gt=0), HARDWARE] = None
    """Cables of this kind from a node group. All of them if omitted."""
    same_rack: Annotated[bool | None, HARDWARE] = None
    """Choice of a node group's cables: true for those to switches in the rack of their host, false for
    the others. All of them if omitted."""
    cable: Annotated[str | None, HARDWARE] = None
    """Catalogue id of the cable, or of the transceiver at the lower end."""
    upper_cable: Annotated[str | None, HARDWARE] = None
    """Catalogue id of the transceiver at the upper end, where it is another one."""
    fibre: Annotated[Literal["OM3", "OM4", "OS2"] | None, HARDWARE] = None
    """Fibre between two transceivers."""
    length: Annotated[Metres | None, Claim(looser="lower", absent="elsewhere")] = None
    """Length of the longest cable along its route and with its slack, in m. Computed from the route if
    omitted."""
    route: Annotated[CableRoute | None, STATEMENT] = None
    """Route that the length is computed from, where it is not given."""
    diameter: Annotated[
        Annotated[Metres, Field(ge=0.0005)] | None, Claim(looser="lower", absent="elsewhere")
    ] = None
    """Diameter of one cable in m, where the catalogue has none; of the fibre between two transceivers."""
    bend_space: Annotated[Metres | None, Claim(looser="lower", absent="elsewhere")] = None
    """Space behind a port for the plug and the tightest bend of the cable in m, where the catalogue has
    none."""
    lower_shell: Annotated[Literal["flat-top", "finned-top"] | None, HARDWARE] = None
    """Shape of the OSFP shell at the lower end."""
    upper_shell: Annotated[Literal["flat-top", "finned-top"] | None, HARDWARE] = None
    """Shape of the OSFP shell at the upper end."""

    @model_validator(mode="after")
    def _one_way_of_saying_it(self) -> Cables:
        if self.length is not None and self.route is not None:
            raise ValueError("give either 'length' or 'route', not both")
        if self.pods is not None and self.planes is not None:
            raise ValueError("give either 'pods' or 'planes', not both")
        if self.pod_switches is not None and self.pods is None:
            raise ValueError("'pod_switches' are those of a pod: give 'pods' as well")
        if self.count is not None and self.same_rack is not None:
            raise ValueError("leave out 'count': how many there are follows from 'same_rack'")
        return self


class Patch(Model):
    """A cable that is meant to depart from the fabric's pattern."""

    node: Annotated[Name, KEY]
    """Name of a host, like ``dgx-01``."""
    interface: Annotated[int, Field(gt=0), KEY]
    """Number of the host's interface on this fabric, counted from 1."""
    switch: Annotated[Name, HARDWARE]
    """Name of a leaf switch, like ``compute-leaf-1``."""
    port: Annotated[int, Field(gt=0), HARDWARE]
    """Number of the port."""


class SubnetManagers(Model):
    """Subnet managers of a fabric: on hosts of a group, or on switches of a tier."""

    at: Annotated[Name, KEY]
    """Hosts of the subnet managers: a node group of the site or a tier of the fabric."""
    count: Annotated[int, Field(gt=0), HARDWARE]
    """Number of subnet managers in each subnet; in a node group, its first hosts."""
    priority: Annotated[int | None, Field(ge=0, le=15), HARDWARE] = None
    """Priority of the first one, and one less for each that follows; the highest is the master. 14 for
    the first subnet manager of the fabric if omitted."""


class RoceTraffic(Model):
    """Marks of RDMA traffic on Ethernet; hosts and switches must agree."""

    dscp: Annotated[int, Field(ge=0, lt=64), HARDWARE]
    """Code point of the packets, like 26."""
    priority: Annotated[int, Field(ge=0, lt=8), HARDWARE]
    """Priority that the code point stands for, which flow control pauses; commonly 3."""


class RoutingRun(Model):
    """Result of routing this fabric in a simulator."""

    date: Annotated[date, Claim(looser="higher")]
    """Day of the run."""
    engine: Annotated[RoutingEngine, Claim(looser="either", absent="elsewhere")]
    """The engine whose tables were loaded, read from the log: not the one asked for."""
    balance: Annotated[float | None, Field(ge=1, le=100), Claim(looser="lower")] = None
    """Most destinations on one link over their mean, of the links of equal kind."""
    fabric: Annotated[str, Field(pattern=r"^[0-9a-f]{16}$"), KEY]
    """Digest of the fabric that was routed."""


class Segment(Model):
    """A partition, a VLAN or an address range of a fabric."""

    name: Annotated[Name, KEY]
    """Name of the segment, by which the rest of the blueprint refers to it."""
    pkey: Annotated[int | None, Field(gt=0, lt=0x8000), HARDWARE] = None
    """InfiniBand partition without its membership bit; 32767 is the default partition."""
    vlan: Annotated[int | None, Field(gt=0, lt=4095), HARDWARE] = None
    """Number of the VLAN."""
    prefix: Annotated[InterfacePrefix | None, HARDWARE] = None
    """Addresses, like ``10.30.0.0/22``."""
    groups: Annotated[tuple[Name, ...], DISTINCT, HARDWARE] = ()
    """Node groups whose hosts have an address in it."""


class Fabric(Model):
    """A network: its switches, tier by tier from the nodes upwards."""

    name: Annotated[Name, KEY]
    """Name of the fabric, by which the rest of the blueprint refers to it."""
    role: Annotated[Role, Claim(looser="either"), POLICIES_ONLY]
    """Traffic that the fabric carries."""
    tiers: Annotated[
        tuple[SwitchTier, ...],
        PART,
        OnChange("rolling", _ROUTES, event="added"),
        OnChange("drain", _CABLES, event="removed"),
        OnChange(
            "review",
            "equal things are dealt out in this order: see which places and power cords change",
            event="reordered",
        ),
    ]
    technology: Annotated[Technology | None, HARDWARE, OnChange("drain", _CABLES)] = None
    """Network technology. That of the switches if omitted."""
    attached: Annotated[tuple[Attachment, ...], PART, OnChange("drain", _CABLES)] = ()
    """Node groups on the fabric. Switches and cables are checked once it is known whom they serve."""
    links: Annotated[tuple[Cables, ...], PART, OnChange("drain", _CABLES)] = ()
    rail_optimized: Annotated[bool | None, HARDWARE, OnChange("drain", _CABLES)] = None
    """True if interface n of every host of a scalable unit goes to leaf n of the unit, on one port."""
    unit_hosts: Annotated[int | None, Field(gt=0), HARDWARE, OnChange("drain", _CABLES)] = None
    """Hosts of a scalable unit. As many hosts as a leaf has ports for if omitted."""
    last_unit_hosts: Annotated[int | None, Field(gt=0), HARDWARE, OnChange("drain", _CABLES)] = None
    """Hosts that the last unit has leaves for, where it is smaller than the others."""
    top_of_rack: Annotated[bool | None, HARDWARE, OnChange("drain", _CABLES)] = None
    """Hosts are cabled to the leaves that stand in their racks. Absent, they are where no interface
    has a rail, and leaves stand in each of several racks with hosts and in no other; else hosts fill
    the leaves in their order."""
    shared_racks: Annotated[tuple[HostList, ...], HARDWARE, OnChange("drain", _CABLES)] = ()
    """Racks of a top-of-rack fabric whose hosts share the leaves in any of them. The hosts of any other
    rack have the leaves in their own rack."""
    patches: Annotated[tuple[Patch, ...], PART, OnChange("drain", _CABLES)] = ()
    guids: Annotated[
        dict[Guid, Annotated[str, Field(min_length=1, max_length=64)]],
        HARDWARE,
        OnChange("in place", "cables are compared by these names"),
    ] = {}
    """Names in the plan by the GUIDs of switches and adapters, or by MAC addresses, whose descriptions do not name
    them, like ``{"0xb83fd20300a1b2c3": leaf-01, "0xa088c20300ab0000": "dgx-01 mlx5_0"}``."""
    oversubscription: Annotated[
        float, Field(ge=1, le=100), Setting(looser="higher", absent="strict"), POLICIES_ONLY
    ] = 1.0
    """Downward over upward bandwidth of a leaf that the fabric is sized for."""
    rate: Annotated[GigabitsPerSecond | None, HARDWARE, OnChange("drain", _CABLES)] = None
    """Data rate at which every link of a node must come up, in Gbps."""
    subnets: Annotated[int, Field(gt=0), HARDWARE, OnChange("drain", _CABLES)] = 1
    """InfiniBand subnets that the fabric is cut into, with equal shares of its ports."""
    routing_engine: Annotated[RoutingEngine | None, HARDWARE, OnChange("rolling", _MANAGERS)] = None
    """Engine of opensm that routes it."""
    adaptive_routing: Annotated[bool | None, HARDWARE, OnChange("rolling", _SWITCHES)] = None
    """True if the switches of an Ethernet fabric choose among equal paths by their load. A hash of each flow
    chooses if omitted. InfiniBand has the engines ``ar_updn`` and ``ar_ftree`` instead."""
    routing_run: Annotated[RoutingRun | None, PART, POLICIES_ONLY] = None
    subnet_managers: Annotated[
        tuple[SubnetManagers, ...], PART, OnChange("rolling", _MANAGERS)
    ] = ()
    m_key: Annotated[bool | None, HARDWARE, OnChange("rolling", _MANAGERS)] = None
    """Ports are protected by a management key."""
    sa_key: Annotated[bool | None, HARDWARE, OnChange("rolling", _MANAGERS)] = None
    """True if the subnet administrator asks for a key of its own (M_Key does not protect it)."""
    mtu: Annotated[
        int | None, Field(gt=0), HARDWARE, OnChange("drain", "both ends of every link change")
    ] = None
    """Largest packet (MTU), in bytes."""
    pfc: Annotated[bool | None, HARDWARE, OnChange("rolling", _SWITCHES)] = None
    """True if priority flow control is on for RDMA traffic, at every port."""
    ecn: Annotated[bool | None, HARDWARE, OnChange("rolling", _SWITCHES)] = None
    """True if switches mark congestion, and hosts react to the marks."""
    roce: Annotated[RoceTraffic | None, PART, FOR_REVIEW] = None
    """Traffic class of RoCE on the hosts' adapters. The adapters are left as they are if omitted."""
    segments: Annotated[tuple[Segment, ...], PART, OnChange("rolling", _SWITCHES)] = ()
    switching: Annotated[Switching | None, PART, OnChange("rolling", _SWITCHES)] = None
    """Configuration of the switches. No files are written for them if omitted."""

    @model_validator(mode="after")
    def _references_resolve(self) -> Fabric:
        tiers = [tier.name for tier in self.tiers]
        groups = [attachment.group for attachment in self.attached]
        refuse_twins("tier", tiers)
        refuse_twins("attached node group", groups)
        refuse_twins("cables", (link.name for link in self.links))
        refuse_twins("segment", (segment.name for segment in self.segments))
        patched = [f"interface {patch.interface} of {patch.node}" for patch in self.patches]
        refuse_twins("patch of", patched)
        for group in groups:
            if group in tiers:
                raise ValueError(f"'{group}' is both a tier and a node group")
        for link in self.links:
            self._check_link(link, tiers, groups)
        self._check_shape()
        return self

    def _check_shape(self) -> None:
        """Refuse sizes and places that contradict one another.

        Raises:
            ValueError: they do; the message names the first.
        """
        last, unit = self.last_unit_hosts, self.unit_hosts
        if last is not None and (unit is None or last >= unit):
            raise ValueError(
                f"'last_unit_hosts' is {last} and 'unit_hosts' is {unit or 'not given'}: give the hosts of "
                "a whole unit, which are more"
            )
        if self.shared_racks and self.top_of_rack is not True:
            raise ValueError("'shared_racks' is for a fabric with 'top_of_rack: true'")
        for index, tier in enumerate(self.tiers):
            if tier.oversubscription is not None and index in {0, len(self.tiers) - 1}:
                what = (
                    "has nothing above it" if index else "is of the leaves: give that of the fabric"
                )
                raise ValueError(f"'oversubscription' of '{tier.name}': the tier {what}")

    def check_groups(self, known: Collection[str]) -> None:
        """Refuse node groups that the site does not have.

        Raises:
            ValueError: naming the first one.
        """
        tiers = {tier.name for tier in self.tiers}
        named = [(a.group, known) for a in self.attached]
        named += [(m.at, {*known, *tiers}) for m in self.subnet_managers]
        named += [(group, known) for segment in self.segments for group in segment.groups]
        for name, allowed in named:
            if name not in allowed:
                noun = "node group" if allowed is known else "node group or tier"
                raise ValueError(
                    f"the fabric '{self.name}' names the {noun} '{name}', which is not there"
                )

    def _check_link(self, link: Cables, tiers: list[str], groups: list[str]) -> None:
        """Refuse cables that lead nowhere or downwards.

        Raises:
            ValueError: they do, or have a field that such cables cannot have.
        """
        if link.upper not in tiers:
            raise ValueError(f"'{link.upper}' of the cables '{link.name}' is not a tier")
        if link.lower in groups:
            if wrong := [key for key in ("parallel", "pods", "planes") if getattr(link, key)]:
                raise ValueError(f"'{wrong[0]}' of '{link.name}' is for cables between switches")
            return
        if link.lower not in tiers:
            raise ValueError(
                f"'{link.lower}' of the cables '{link.name}' is neither attached nor a tier"
            )
        if tiers.index(link.lower) >= tiers.index(link.upper):
            raise ValueError(f"the cables '{link.name}' do not lead upwards")
        if link.count is not None:
            raise ValueError(f"'count' of '{link.name}' is for cables of nodes; use 'parallel'")
        if link.same_rack is not None:
            raise ValueError(f"'same_rack' of '{link.name}' is for cables of nodes")
