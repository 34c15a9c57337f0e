"""Catalogue entries: what a product is, every number with its source.

An unpublished number stays ``None``: policies report it as unknown, nothing
substitutes a default.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from enum import StrEnum
from typing import Annotated, Any, Generic, Literal, TypeVar

from pydantic import Field, model_validator

from rackwright.harmless import counted
from rackwright.model.base import Model, Prose
from rackwright.model.field_kinds import LABEL, Claim
from rackwright.model.switching import PortPattern, SwitchSystem
from rackwright.model.units import (
    Amperes,
    Celsius,
    CubicFeetPerMinute,
    Gibibytes,
    GigabitsPerSecond,
    Kilograms,
    Kilopascals,
    LitresPerMinute,
    MegabytesPerSecond,
    Metres,
    Percent,
    RackUnits,
    Seconds,
    Volts,
    Watts,
)

T = TypeVar("T")

ID = r"^[a-z0-9][a-z0-9.+-]*$"
"""What an id of a product, or of a price list, is like."""

SOME: Any = Field(ge=1)
"""Of what a product is there to give: how many more are needed is worked out by dividing by it."""
LEAST: Any = Field(ge=0.01)
"""Of a length in m or a rate in Gbps: none is smaller, and much is divided by them."""
Inlet = Literal["C14", "C20", "C22", "GG45", "busbar", "hardwired"]
_MOST_PARTS = 4096
Count = Annotated[int, Field(gt=0, le=_MOST_PARTS)]
"""Equal parts of one product. More are a slip of the pen: the largest chassis has some 600 ports."""


class Confidence(StrEnum):
    """Confidence in a number."""

    OFFICIAL = "official"
    """Read in the vendor's own document."""
    SECONDARY = "secondary"
    """Read in a copy, a reseller's sheet or the press."""
    COMMON = "common"
    """Common engineering knowledge; the original was not opened, and policies refuse it unless allowed."""
    COMPUTED = "computed"
    """Derived from other facts by a stated formula."""
    ESTIMATE = "estimate"
    """A guess; policies refuse it unless the blueprint allows estimates."""
    EXAMPLE = "example"
    """A number of a template or a document, which stands for one of the reader's own."""


class Source(Model):
    """Source of numbers."""

    title: Prose
    """The document, precise enough to be found again."""
    date: date
    """Day on which the document was published or read."""
    confidence: Confidence
    """Confidence in the numbers of the document."""


class Fact(Model, Generic[T]):
    """A number with its source."""

    value: T
    """Value from the source: a number with its unit, a count or a word."""
    source: str
    """Key of the entry's ``sources``."""
    note: Prose | None = None
    """Condition of the value, or the way in which it was worked out."""


class Airflow(StrEnum):
    """Direction of the air through a device, seen from its service side."""

    FRONT_TO_BACK = "front-to-back"
    BACK_TO_FRONT = "back-to-front"
    LEFT_TO_RIGHT = "left-to-right"
    RIGHT_TO_LEFT = "right-to-left"
    SIDE_TO_BACK = "side-to-back"
    BACK_TO_SIDE = "back-to-side"
    PASSIVE = "passive"


class HeatMedium(StrEnum):
    """Medium that carries a device's heat away."""

    AIR = "air"
    LIQUID = "liquid"
    HYBRID = "hybrid"
    """Cold plates for the hot parts, air for the rest."""
    IMMERSION = "immersion"
    """A dielectric fluid around the device, which is made for that."""


class Accelerators(Model):
    """The accelerators of one node."""

    count: Annotated[Count, Claim(looser="either", absent="elsewhere")]
    """Number of accelerators in one unit of the product, all its hosts together."""
    model: Annotated[str, Claim(looser="either", absent="elsewhere")]
    """Vendor's name of the accelerator, like ``H100 SXM``."""
    vendor: Annotated[
        Literal["nvidia", "amd", "aws", "intel"], Claim(looser="either", absent="elsewhere")
    ]
    """Maker of the accelerator; AWS's are Neuron devices to Slurm, all others GPUs."""
    tdp: Annotated[Fact[Watts] | None, Claim(looser="either", absent="elsewhere")] = None
    """Thermal design power of one accelerator, in W: a power cap of the node saves no more for each."""
    memory: Annotated[Fact[Gibibytes] | None, Claim(looser="either", absent="elsewhere")] = None
    """Memory of one accelerator, in GiB."""
    domain: Annotated[Fact[int] | None, Claim(looser="either", absent="elsewhere")] = None
    """Most that one NVLink domain of the product joins, 72 in an NVL72; with fewer it is a partial one."""
    min_power: Annotated[Fact[Watts] | None, Claim(looser="lower")] = None
    """Lowest power limit that one accelerator can be set to, in W: a power cap of the node leaves no less.
    That published for the model if omitted."""
    gres: Annotated[str, Claim(looser="either", absent="elsewhere")]
    """Type name in Slurm's GRES, like ``h100``."""
    all_reduce: Annotated[
        Fact[MegabytesPerSecond] | None, Claim(looser="either", absent="elsewhere")
    ] = None
    """Least bus bandwidth of an NCCL all-reduce over all accelerators of a sound node, in MB/s."""


class PowerSupplies(Model):
    """The power supplies of one device and how many it needs."""

    count: Annotated[Count, Claim(looser="either", absent="elsewhere")]
    """Number of supplies of the device, spare ones as well."""
    rating: Annotated[Fact[Watts] | None, Claim(looser="either", absent="elsewhere")] = None
    """Output of one supply, in W."""
    efficiency: Annotated[
        Fact[Annotated[Percent, Field(gt=0, le=100)]] | None,
        Claim(looser="higher", absent="elsewhere"),
    ] = None
    """Output over input of a supply at its rating, in %."""
    input_current: Annotated[Fact[Amperes] | None, Claim(looser="lower", absent="elsewhere")] = None
    """Most input current of one supply, as on its plate, in A."""
    inlet: Annotated[Fact[Inlet] | Inlet | None, Claim(looser="either", absent="elsewhere")] = None
    """Connection that feeds one supply: a cord into an IEC 60320 inlet or a GG45, a busbar, or fixed wires.
    Unknown if omitted; entries written before it had a source give the word alone."""
    full_performance: Annotated[Fact[int] | None, Claim(looser="lower", absent="elsewhere")] = None
    """Supplies that must live for full performance."""
    degraded: Annotated[Fact[int] | None, Claim(looser="lower", absent="elsewhere")] = None
    """Supplies that must live for the device to run at all."""
    degraded_power: Annotated[Fact[Watts] | None, Claim(looser="lower", absent="elsewhere")] = None
    """Highest input power while degraded, in kW."""


class LiquidCooling(Model):
    """Requirements of a liquid-cooled device on its loop."""

    heat: Annotated[Fact[Watts] | None, Claim(looser="either", absent="elsewhere")] = None
    """Heat that goes into the liquid at ``max_power``, in kW."""
    flow: Annotated[Fact[LitresPerMinute] | None, Claim(looser="either", absent="elsewhere")] = None
    """Flow of coolant that its maker asks for, in L/min; more is planned where its heat needs more."""
    pressure_drop: Annotated[Fact[Kilopascals] | None, Claim(looser="lower")] = None
    """Pressure drop between the ends of its hoses at ``flow``, in kPa, with its own connectors and
    manifolds."""
    max_supply: Annotated[Fact[Celsius] | None, Claim(looser="higher", absent="elsewhere")] = None
    """Warmest supply temperature of the coolant, in °C."""
    water_class: Annotated[
        Fact[Literal["W17", "W27", "W32", "W40", "W45", "W+"]] | None,
        Claim(looser="either", absent="elsewhere"),
    ] = None
    """Warmest class of facility water."""
    coolant_class: Annotated[
        Fact[Literal["S30", "S40", "S50"]] | None, Claim(looser="either", absent="elsewhere")
    ] = None
    """Warmest class of the coolant that a CDU supplies."""
    connector: Annotated[
        Fact[Annotated[str, Field(pattern=ID)]] | str | None,
        Claim(looser="either", absent="elsewhere"),
    ] = None
    """Catalogue id of the quick connector; entries written before it had a source give it alone."""
    max_pressure: Annotated[
        Fact[Kilopascals] | None, Claim(looser="higher", absent="elsewhere")
    ] = None
    """Highest pressure of the coolant that it stands, in kPa."""
    cdu_in_rack: Annotated[bool, Claim(looser="either", absent="elsewhere")] = False
    """True if the product has its own coolant distribution unit."""


class NetworkPort(Model):
    """A group of equal network ports of a node."""

    role: Literal["compute", "storage", "management"]
    """Traffic that the vendor means the ports for: that of accelerators, storage, or management."""
    count: Count
    """Number of ports of one unit of the product, all its hosts together."""
    rate: Fact[Annotated[GigabitsPerSecond, LEAST]]
    """Data rate of one port in each direction, in Gbps."""
    technology: Literal["infiniband", "ethernet"]
    """Network technology of the ports as the product is sold."""
    cage: str | None = None
    """Form factor of what is plugged in, like ``OSFP``, ``QSFP112`` or ``RJ45``."""
    names: tuple[str, ...] = ()
    """Device names in accelerator order, where the vendor documents them."""
    cages: tuple[str, ...] = ()
    """Physical cage of each port, in the same order."""

    @model_validator(mode="after")
    def _one_name_a_port(self) -> NetworkPort:
        for listed in (self.names, self.cages):
            if listed and len(listed) != self.count:
                raise ValueError(
                    f"{counted(len(listed), 'name')} for {counted(self.count, 'port')}"
                )
        return self


class Entry(Model):
    """Fields of every catalogue entry."""

    id: Annotated[str, Field(pattern=ID), LABEL]
    """Id of the product in blueprints and price lists; the name of its file, without ``.yaml``."""
    vendor: Annotated[str, LABEL]
    """Maker or seller of the product."""
    name: Annotated[str, LABEL]
    """Vendor's name of the product."""
    part: Annotated[str | None, LABEL] = None
    """Part number to order it by. Unknown if omitted."""
    description: Annotated[Prose | None, LABEL] = None
    """Summary for people who choose a product."""
    sources: Annotated[dict[str, Source], LABEL]
    """Documents that its numbers are read in, by a key that the numbers cite."""
    notes: Annotated[tuple[Prose, ...], LABEL] = ()
    """Contradictions in the sources, and what was decided."""

    @model_validator(mode="after")
    def _sources_match_facts(self) -> Entry:
        cited = {fact.source for _, fact in self.facts()}
        if unknown := sorted(cited - set(self.sources)):
            raise ValueError(f"the source '{unknown[0]}' is cited but not listed in 'sources'")
        if unused := sorted(set(self.sources) - cited):
            raise ValueError(f"the source '{unused[0]}' is listed but no number cites it")
        return self

    def facts(self) -> Iterator[tuple[str, Fact[Any]]]:
        """Yield every number with its dotted name, like ``accelerators.tdp``."""
        yield from _facts(self, "")


def _facts(model: Model, prefix: str) -> Iterator[tuple[str, Fact[Any]]]:
    for name in type(model).model_fields:
        value = getattr(model, name)
        for index, item in enumerate(value if isinstance(value, tuple) else (value,)):
            dotted = f"{prefix}{name}[{index}]" if isinstance(value, tuple) else f"{prefix}{name}"
            if isinstance(item, Fact):
                yield dotted, item
            elif isinstance(item, Model) and not isinstance(item, Source):
                yield from _facts(item, f"{dotted}.")


class Device(Entry):
    """Something that is mounted in a rack."""

    height: Annotated[Fact[RackUnits] | None, Claim(looser="lower")] = None
    """Rack units that it takes, in U."""
    depth: Annotated[Fact[Metres] | None, Claim(looser="lower")] = None
    """Depth from front to rear without cables and their bends, in m."""
    full_depth: Annotated[bool | None, Claim(looser="either", absent="elsewhere")] = None
    """True if it takes the front and the rear of its rack units, False if another device fits behind it.
    Unknown if omitted."""
    weight: Annotated[Fact[Kilograms] | None, Claim(looser="lower")] = None
    """Weight of one unit as it is mounted, in kg; its coolant is a number of the racks
    (``coolant_weight``)."""
    max_power: Annotated[Fact[Watts] | None, Claim(looser="lower")] = None
    """Nameplate input power, in kW: what policies use."""
    typical_power: Annotated[Fact[Watts] | None, Claim(looser="lower", absent="elsewhere")] = None
    """Measured input power under load, in kW: for energy only."""
    peak_power: Annotated[Fact[Watts] | None, Claim(looser="lower", absent="elsewhere")] = None
    """Short-time peak (EDPp) above ``max_power``, in kW."""
    heat: Annotated[Fact[Watts] | None, Claim(looser="lower", absent="elsewhere")] = None
    """Published heat output, in kW; the larger of this and ``max_power`` is used for cooling."""
    medium: Annotated[HeatMedium, Claim(looser="either", absent="elsewhere")] = HeatMedium.AIR
    """Medium that carries the heat away."""
    airflow: Annotated[
        Fact[CubicFeetPerMinute] | None, Claim(looser="lower", absent="elsewhere")
    ] = None
    """Air that it draws, in CFM; unknown, it follows from its heat and the ``temperature_rise`` of the
    hall's air."""
    airflow_direction: Annotated[Airflow | None, Claim(looser="either", absent="elsewhere")] = None
    """Direction of the air through the device. Unknown if omitted."""
    inlet_min: Annotated[Fact[Celsius] | None, Claim(looser="lower", absent="elsewhere")] = None
    """Coldest air at its intake in which its maker lets it run, in °C."""
    inlet_max: Annotated[Fact[Celsius] | None, Claim(looser="higher", absent="elsewhere")] = None
    """Warmest air at its intake in which its maker lets it run, in °C."""
    liquid: Annotated[LiquidCooling | None, Claim(looser="either", absent="elsewhere")] = None
    power_supplies: Annotated[PowerSupplies | None, Claim(looser="either", absent="elsewhere")] = (
        None
    )
    voltage_min: Annotated[Fact[Volts] | None, Claim(looser="lower", absent="elsewhere")] = None
    """Lowest voltage at its power inlets, in V."""
    voltage_max: Annotated[Fact[Volts] | None, Claim(looser="higher", absent="elsewhere")] = None
    """Highest voltage at its power inlets, in V."""
    max_altitude: Annotated[Fact[Metres] | None, Claim(looser="higher", absent="strict")] = None
    """Highest site at which its maker lets it run, in m. Unknown above 2,000 m if omitted."""


class LocalDrives(Model):
    """Equal NVMe drives of one host that are there for data, not those of its operating system."""

    count: Annotated[Fact[int] | None, Claim(looser="either", absent="elsewhere")] = None
    """Number of drives of one host."""
    size: Annotated[Fact[Gibibytes] | None, Claim(looser="either", absent="elsewhere")] = None
    """Size of one drive, in GiB."""


class Node(Device):
    """A server, or a rack-scale system that is installed as one."""

    kind: Annotated[Literal["node"], LABEL]
    """Kind of the entry; its file is in the folder ``nodes``."""
    hosts: Annotated[Count, Claim(looser="either", absent="elsewhere")] = 1
    """Operating systems in one unit: 18 for an NVL72, 1 for a server."""
    cpus: Annotated[Fact[int] | None, Claim(looser="either", absent="elsewhere")] = None
    """Logical CPUs of one host, as its operating system counts them."""
    sockets: Annotated[Fact[int] | None, Claim(looser="either", absent="elsewhere")] = None
    """Processors of one host."""
    threads_per_core: Annotated[Fact[int] | None, Claim(looser="either", absent="elsewhere")] = None
    """Hardware threads of one core: with ``cpus`` and ``sockets`` they give the cores."""
    host_memory: Annotated[Fact[Gibibytes] | None, Claim(looser="either", absent="elsewhere")] = (
        None
    )
    """Memory of one host, that of accelerators not counted, in GiB."""
    accelerators: Annotated[Accelerators | None, Claim(looser="either", absent="elsewhere")] = None
    """All accelerators of one unit."""
    whole_rack: Annotated[bool, Claim(looser="either", absent="elsewhere")] = False
    """True if the product is a complete rack."""
    rack_weight_included: Annotated[bool, Claim(looser="either", absent="elsewhere")] = False
    """True if ``weight`` includes the rack."""
    ports: Annotated[tuple[NetworkPort, ...], Claim(looser="either", absent="elsewhere")] = ()
    local_drives: Annotated[LocalDrives | None, Claim(looser="either", absent="elsewhere")] = None


class Uplinks(Model):
    """Equal ports of a switch that run at another rate than its radix."""

    count: Annotated[Count, Claim(looser="either", absent="elsewhere")]
    """Number of uplink ports of one switch."""
    rate: Annotated[
        Fact[Annotated[GigabitsPerSecond, LEAST]], Claim(looser="either", absent="elsewhere")
    ]
    """Data rate of one port in each direction, in Gbps."""


class PortNames(Model):
    """Names that one operating system gives to the ports of a switch."""

    system: SwitchSystem
    """Operating system of the switch."""
    port: Fact[PortPattern]
    """Name of a port that is not split, like ``swp{port}``."""
    split_port: Fact[PortPattern] | None = None
    """Name of a part of a split port, like ``swp{port}s{part}``. Unknown if omitted."""
    lanes: Fact[Count] | None = None
    """Electrical lanes of one port. Unknown if omitted."""
    first_lanes: Fact[tuple[int, ...]] | None = None
    """First lane of each port as the chip counts them. In the order of the ports if omitted."""

    @model_validator(mode="after")
    def _lanes_are_known(self) -> PortNames:
        patterns = [fact.value for fact in (self.port, self.split_port) if fact is not None]
        if self.lanes is None and any("{lane}" in one or "{offset}" in one for one in patterns):
            raise ValueError(f"port names of '{self.system}' count lanes: give 'lanes' of a port")
        return self


class Switch(Device):
    """A network switch."""

    kind: Annotated[Literal["switch"], LABEL]
    """Kind of the entry; its file is in the folder ``switches``."""
    technology: Annotated[
        Literal["infiniband", "ethernet"], Claim(looser="either", absent="elsewhere")
    ]
    """Network technology of the switch."""
    radix: Annotated[Count, Claim(looser="either", absent="elsewhere")]
    """Logical ports of one switch."""
    switches: Annotated[Count, Claim(looser="either", absent="elsewhere")] = 1
    """Independent switches in one chassis, each with ``radix`` ports."""
    rate: Annotated[
        Fact[Annotated[GigabitsPerSecond, LEAST]], Claim(looser="either", absent="elsewhere")
    ]
    """Rate of one logical port, in Gbps."""
    uplinks: Annotated[Uplinks | None, Claim(looser="either", absent="elsewhere")] = None
    """Ports beside those of the radix."""
    cages: Annotated[Fact[int] | None, Claim(looser="either", absent="elsewhere")] = None
    """Cages in its face, each of which takes one cable or transceiver."""
    ports_per_cage: Annotated[Count, Claim(looser="either", absent="elsewhere")] = 1
    """Logical ports of one cage: 2 where it takes a twin-port transceiver."""
    port_names: Annotated[tuple[PortNames, ...], Claim(looser="either", absent="elsewhere")] = ()
    """Names of the ports by operating system. Configurations are written for these systems alone."""


class Outlets(Model):
    """Equal outlets of a PDU."""

    type: Literal["C13", "C19", "C39", "GG45"]
    """Type of the outlet; a C39 takes the plugs of a C13 and of a C19."""
    count: Count
    """Number of outlets of this type on one PDU."""
    rating: Fact[Annotated[Amperes, SOME]]
    """Rated current of one outlet, in A."""


class Pdu(Entry):
    """A rack power distribution unit."""

    kind: Annotated[Literal["pdu"], LABEL]
    """Kind of the entry; its file is in the folder ``pdus``."""
    voltage: Annotated[Fact[Annotated[Volts, SOME]], Claim(looser="either", absent="elsewhere")]
    """Voltage of the input in V, line to line for three phases."""
    current: Annotated[Fact[Annotated[Amperes, SOME]], Claim(looser="higher")]
    """Rating of the input plug and breaker, per line, in A."""
    phases: Annotated[Literal[1, 3], Claim(looser="either", absent="elsewhere")]
    """Number of phases of its input."""
    wiring: Annotated[Literal["wye", "delta"], Claim(looser="either", absent="elsewhere")]
    """Wiring of the outlets: line to neutral (wye) or line to line (delta)."""
    outlets: Annotated[tuple[Outlets, ...] | None, Claim(looser="either", absent="elsewhere")] = (
        None
    )
    """Outlets of the PDU. Unknown if omitted."""
    branch_count: Annotated[Fact[int] | None, Claim(looser="either", absent="elsewhere")] = None
    """Branch circuits inside it, each behind a breaker; outlets are dealt over them in turn."""
    branch_rating: Annotated[Fact[Amperes] | None, Claim(looser="either", absent="elsewhere")] = (
        None
    )
    """Rating of the breaker of one branch circuit, in A."""
    short_circuit_rating: Annotated[Fact[Amperes] | None, Claim(looser="higher")] = None
    """Largest fault current at its inlet that it and its breakers stand, in A."""
    height: Annotated[Fact[RackUnits] | None, Claim(looser="lower", absent="elsewhere")] = None
    """Rack units that it takes, in U; zero for a vertical unit."""
    weight: Annotated[Fact[Kilograms] | None, Claim(looser="lower", absent="elsewhere")] = None
    """Weight of one PDU, in kg; it counts as content of the rack."""


class PowerShelf(Entry):
    """An ORv3 or MGX power shelf that feeds a busbar."""

    kind: Annotated[Literal["power-shelf"], LABEL]
    """Kind of the entry; its file is in the folder ``power-shelves``."""
    rating: Annotated[Fact[Annotated[Watts, SOME]], Claim(looser="higher")]
    """Output of the shelf with all its supplies, in kW."""
    supplies: Annotated[Count, Claim(looser="either", absent="elsewhere")]
    """Power supplies in one shelf."""
    rating_n_plus_1: Annotated[
        Fact[Annotated[Watts, SOME]] | None, Claim(looser="higher", absent="elsewhere")
    ] = None
    """Usable power with one supply lost, in kW."""
    backup: Annotated[Fact[Seconds] | None, Claim(looser="higher", absent="elsewhere")] = None
    """Battery backup at full load, in s."""
    phases: Annotated[Literal[1, 3] | None, Claim(looser="either", absent="strict")] = None
    """Number of phases of its input. 3 if omitted."""
    voltage_min: Annotated[Fact[Volts] | None, Claim(looser="lower", absent="strict")] = None
    """Lowest voltage of its input in V, line to line for three phases. 346 V, of ORv3 shelves, if omitted."""
    voltage_max: Annotated[Fact[Volts] | None, Claim(looser="higher", absent="strict")] = None
    """Highest voltage of its input in V, line to line for three phases. 480 V, of ORv3 shelves, if omitted."""
    height: Annotated[Fact[RackUnits] | None, Claim(looser="lower", absent="elsewhere")] = None
    """Rack units that it takes, in U."""
    weight: Annotated[Fact[Kilograms] | None, Claim(looser="lower", absent="elsewhere")] = None
    """Weight of the shelf with its supplies, in kg."""


def supply_inlet(supplies: PowerSupplies | None) -> Inlet | None:
    """Return the inlet of ``supplies``, or None if it is unknown or there are none."""
    inlet = supplies.inlet if supplies else None
    return inlet.value if isinstance(inlet, Fact) else inlet


def fact_value(fact: Fact[T] | None) -> T | None:
    """Return the number of ``fact``, or None where it is unknown."""
    return None if fact is None else fact.value
