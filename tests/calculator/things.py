"""What a site is made of: plain numbers in W, V, A, kg, m, K, °C, L/min, CFM and rack units.

None is unknown.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

Number = float | None


def total(numbers: Iterable[Number]) -> Number:
    """The sum; unknown where one of them is."""
    known = 0.0
    for number in numbers:
        if number is None:
            return None
        known += number
    return known


def times(first: Number, *others: Number) -> Number:
    """The product; unknown where one of them is."""
    made = first
    for other in others:
        made = None if made is None or other is None else made * other
    return made


@dataclass(frozen=True, slots=True, kw_only=True)
class Supplies:
    """Power supplies of one device."""

    count: int
    inlet: str
    full: int | None = None
    degraded: int | None = None
    degraded_power: Number = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Product:
    """A server, a rack-scale system or a switch."""

    id: str
    height: Number
    weight: Number
    power: Number
    depth: float = 0.9
    peak: Number = None
    heat: Number = None
    medium: str = "air"
    airflow: Number = None
    liquid_heat: Number = None
    flow: Number = None
    supplies: Supplies | None = None
    accelerators: int = 0
    tdp: Number = None
    hosts: int = 1
    whole_rack: bool = False
    rack_included: bool = False
    ports: int = 0
    """Of a server, for a compute fabric."""
    radix: int = 0
    """Of a switch; 0 for a server."""
    rate: float = 400.0
    """Of a port, in Gbps."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pdu:
    """A rack PDU; 3 phases in wye or delta, or one."""

    id: str
    voltage: float
    current: float
    phases: int
    wiring: str
    c13: int
    c19: int
    height: Number
    weight: Number


@dataclass(frozen=True, slots=True, kw_only=True)
class Shelf:
    """A power shelf."""

    id: str
    rating: float
    rating_n1: Number
    height: Number
    weight: Number


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """An empty rack."""

    id: str
    height: float
    width: float
    depth: float
    weight: Number
    tank: bool = False
    """Devices hang in a fluid."""
    fluid_weight: Number = None
    """Of a tank: what fills it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """An air handler or a CDU: the heat that it carries, and its CFM or L/min."""

    id: str
    capacity: float
    flow: Number
    power: Number
    in_rack: Product | None = None
    """Of a CDU that stands in a rack: what it is there."""
    pump_lost: Number = None
    """L/min of such a CDU when one of its pumps is lost."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Circuit:
    """An overcurrent device."""

    voltage: float
    current: float
    phases: int
    continuous: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TapOff:
    """The box by which racks take a feed from a busway."""

    current: float
    racks: int
    continuous: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Feed:
    """A feed of a rack."""

    name: str
    source: str
    pdu: Pdu | None
    pdus: int
    circuit: Circuit | None
    tap_off: TapOff | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Door:
    """A rear door."""

    capacity: float
    difference: float
    weight: Number


@dataclass(frozen=True, slots=True, kw_only=True)
class Shelves:
    """Power shelves of a rack."""

    shelf: Shelf
    count: int
    per_feed: tuple[int, ...] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifolds:
    """Coolant manifolds in each rack: how many, the units and the kg of one."""

    count: int
    height: float
    weight: Number


@dataclass(frozen=True, slots=True, kw_only=True)
class RackGroup:
    """Equal racks of a row."""

    racks: tuple[str, ...]
    frame: Frame
    feeds: tuple[Feed, ...]
    mode: str
    loop: str | None = None
    door_loop: str | None = None
    """Of a door beside cold plates; it may be the same."""
    manifolds: Manifolds | None = None
    door: Door | None = None
    shelves: Shelves | None = None
    aisle: Number = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeGroup:
    """Equal servers, or rack-scale systems."""

    name: str
    product: Product
    count: int
    racks: tuple[str, ...]
    per_rack: int
    cap: Number = None
    per_feed: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Tier:
    """Equal switches of a fabric."""

    name: str
    product: Product
    count: int
    racks: tuple[str, ...]
    per_rack: int
    split: int = 1
    oversubscription: float | None = None

    @property
    def radix(self) -> int:
        """Ports of a switch, each part of a port that is split counted."""
        return self.product.radix * self.split

    @property
    def rate(self) -> float:
        """Of each of these ports, in Gbps."""
        return self.product.rate / self.split


@dataclass(frozen=True, slots=True, kw_only=True)
class Attached:
    """Nodes of a group on a fabric."""

    group: str
    interfaces: int | None = None
    split: int = 1
    rails: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Cables:
    """Equal cables between two tiers."""

    name: str
    lower: str
    upper: str
    parallel: int | None
    pods: int = 1
    pod_switches: int | None = None
    planes: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Fabric:
    """A network of switches."""

    name: str
    tiers: tuple[Tier, ...]
    attached: tuple[Attached, ...]
    links: tuple[Cables, ...] = ()
    rails: bool | None = None
    unit_hosts: int | None = None
    last_unit_hosts: int | None = None
    top_of_rack: bool | None = None
    shared_racks: tuple[tuple[str, ...], ...] = ()
    oversubscription: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Air:
    """The air handlers of a hall."""

    unit: Unit
    count: int
    inlet: float
    rise: Number
    containment: str
    fed_by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Hall:
    """A room; its racks are in one row."""

    name: str
    air: Air | None
    groups: tuple[RackGroup, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Loop:
    """A coolant loop."""

    name: str
    unit: Unit
    count: int
    fluid: str
    rise: float
    supply: Number
    fed_by: tuple[str, ...] = ()
    heat_capacity: Number = None
    """Of a dielectric fluid, in kJ for each L and K."""
    in_rack: bool = False
    """Its CDUs stand in each rack on it, ``count`` in each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """Chillers, pumps, or what else draws power in no rack."""

    name: str
    count: int
    power: Number
    fed_by: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A source of power. One of ``capacity``, ``modules`` (count, W, spare) and ``circuit``, or none."""

    name: str
    kind: str
    fed_by: tuple[str, ...] = ()
    capacity: Number = None
    modules: tuple[int, float, int] | None = None
    circuit: Circuit | None = None
    efficiency: Number = None
    """Output over input, from 0 to 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """A site of bare metal."""

    seed: int
    design: str
    derate: float
    power_factor: float
    sources: tuple[Source, ...]
    halls: tuple[Hall, ...]
    groups: tuple[NodeGroup, ...]
    loops: tuple[Loop, ...] = ()
    plant: tuple[Machine, ...] | None = None
    fabrics: tuple[Fabric, ...] = ()
    altitude: Number = None
    pue: Number = None

    def rack_groups(self) -> tuple[RackGroup, ...]:
        """Of all halls, in the order written."""
        return tuple(group for hall in self.halls for group in hall.groups)


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """A server or switch in a rack, with what it draws and its power supplies on each feed.

    ``supplies`` is None where nobody says how many there are. ``on_bus`` is set for what draws from
    shelves or is wired without plugs: then it has the share of each feed for each feed.
    """

    owner: str
    product: Product
    watts: Number
    peak: Number
    supplies: tuple[int, ...] | None
    on_bus: bool


def placed(count: int, racks: tuple[str, ...], per_rack: int) -> dict[str, int]:
    """How many of ``count`` things are in each rack: racks are filled in the order written."""
    left, made = count, {}
    for rack in racks:
        made[rack] = min(left, per_rack)
        left -= made[rack]
    return made
