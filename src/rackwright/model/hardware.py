"""Catalogue entries: what a product is, every number with its source.

A number that nobody has published stays ``None``: policies report it as unknown, nothing
substitutes a default.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from enum import StrEnum
from typing import Annotated, Any, Generic, Literal, TypeVar

from pydantic import Field, model_validator

from rackwright.model.base import Model, Prose
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
_LEAST: Any = Field(ge=0.01)
"""Of a length in m or a rate in Gbps: none is smaller, and much is divided by them."""
_MOST_PARTS = 4096
Count = Annotated[int, Field(gt=0, le=_MOST_PARTS)]
"""Equal parts of one product. More are a slip of the pen: the largest chassis has some 600 ports."""


class Confidence(StrEnum):
    """How well a number is founded."""

    OFFICIAL = "official"
    """Read in the vendor's own document."""
    SECONDARY = "secondary"
    """Read in a copy, a reseller's sheet or the press."""
    COMMON = "common"
    """Common engineering knowledge; the original was not opened."""
    COMPUTED = "computed"
    """Derived from other facts by a stated formula."""
    ESTIMATE = "estimate"
    """A guess; policies refuse it unless the blueprint allows estimates."""


class Source(Model):
    """Where numbers come from."""

    title: Prose
    """The document, precise enough to be found again."""
    date: date
    """When the document was published or read."""
    confidence: Confidence


class Fact(Model, Generic[T]):
    """A number with its source."""

    value: T
    """What the source says: a number with its unit, a count or a word."""
    source: str
    """Key of the entry's ``sources``."""
    note: Prose | None = None
    """What has to be known with it: a condition, or how it was worked out."""


class Airflow(StrEnum):
    """Which way air moves through a device, seen from its service side."""

    FRONT_TO_BACK = "front-to-back"
    BACK_TO_FRONT = "back-to-front"
    LEFT_TO_RIGHT = "left-to-right"
    RIGHT_TO_LEFT = "right-to-left"
    SIDE_TO_BACK = "side-to-back"
    BACK_TO_SIDE = "back-to-side"
    PASSIVE = "passive"


class HeatMedium(StrEnum):
    """What carries a device's heat away."""

    AIR = "air"
    LIQUID = "liquid"
    HYBRID = "hybrid"
    """Cold plates for the hot parts, air for the rest."""
    IMMERSION = "immersion"
    """A dielectric fluid around the device, which is made for that."""


class Accelerators(Model):
    """The accelerators of one node."""

    count: Count
    """Of one unit of the product, all its hosts together."""
    model: str
    """What its vendor calls the accelerator, like ``H100 SXM``."""
    vendor: Literal["nvidia", "amd", "aws", "intel"]
    """Who makes the accelerator; AWS's are Neuron devices to Slurm, all others GPUs."""
    tdp: Fact[Watts] | None = None
    """Thermal design power of one accelerator: no cap of the node's power saves more for each."""
    memory: Fact[Gibibytes] | None = None
    """Memory of one accelerator."""
    domain: Fact[int] | None = None
    """Most that one NVLink domain of the product joins, 72 in an NVL72; with fewer it is a partial one."""
    gres: str
    """Type name in Slurm's GRES, like ``h100``."""
    all_reduce: Fact[MegabytesPerSecond] | None = None
    """Least bus bandwidth of an NCCL all-reduce over all of them, with which a node is sound."""


class PowerSupplies(Model):
    """The power supplies of one device and how many it needs."""

    count: Count
    """All of the device, spare ones as well."""
    rating: Fact[Watts] | None = None
    """Output of one supply."""
    efficiency: Fact[Annotated[Percent, Field(gt=0, le=100)]] | None = None
    """Output over input at its rating."""
    input_current: Fact[Amperes] | None = None
    """Most input current of one supply, as on its plate."""
    inlet: Literal["C14", "C20", "C22", "GG45", "busbar", "hardwired"]
    """What feeds one supply: a cord into an IEC 60320 inlet or a GG45, a busbar, or fixed wires."""
    full_performance: Fact[int] | None = None
    """Supplies that must live for full performance."""
    degraded: Fact[int] | None = None
    """Supplies that must live for the device to run at all."""
    degraded_power: Fact[Watts] | None = None
    """Highest input power while degraded."""


class LiquidCooling(Model):
    """What a liquid-cooled device asks of its loop."""

    heat: Fact[Watts] | None = None
    """Heat that goes into the liquid at ``max_power``."""
    flow: Fact[LitresPerMinute] | None = None
    """Flow of coolant that its maker asks for; more is planned where its heat needs more."""
    pressure_drop: Fact[Kilopascals] | None = None
    """Between the ends of its hoses at ``flow``, connectors and manifolds of its own included."""
    max_supply: Fact[Celsius] | None = None
    """Warmest supply temperature."""
    water_class: Fact[Literal["W17", "W27", "W32", "W40", "W45", "W+"]] | None = None
    """Warmest class of facility water."""
    coolant_class: Fact[Literal["S30", "S40", "S50"]] | None = None
    """Warmest class of the coolant that a CDU supplies."""
    connector: Fact[Annotated[str, Field(pattern=ID)]] | str | None = None
    """Catalogue id of the quick connector; entries written before it had a source give it alone."""
    max_pressure: Fact[Kilopascals] | None = None
    """Highest pressure of the coolant that it stands."""
    cdu_in_rack: bool = False
    """The product brings its own coolant distribution unit."""


class NetworkPort(Model):
    """A group of equal network ports of a node."""

    role: Literal["compute", "storage", "management"]
    """What the vendor means them for: traffic of accelerators, storage, or management."""
    count: Count
    """Of one unit of the product, all its hosts together."""
    rate: Fact[Annotated[GigabitsPerSecond, _LEAST]]
    """Of one port, in each direction."""
    technology: Literal["infiniband", "ethernet"]
    """What they speak as the product is sold."""
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
                raise ValueError(f"{len(listed)} names are given for {self.count} ports")
        return self


class Entry(Model):
    """What every catalogue entry has."""

    id: Annotated[str, Field(pattern=ID)]
    """What blueprints and price lists call the product; the name of its file, without ``.yaml``."""
    vendor: str
    """Who makes or sells it."""
    name: str
    """What its vendor calls it."""
    description: Prose | None = None
    """What it is, for people who choose."""
    sources: dict[str, Source]
    """Documents that its numbers are read in, by a key that the numbers cite."""
    notes: tuple[Prose, ...] = ()
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
        """Every number with its dotted name, like ``accelerators.tdp``."""
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

    height: Fact[RackUnits] | None = None
    """Rack units that it takes."""
    depth: Fact[Metres] | None = None
    """From front to rear, without cables and their bends."""
    weight: Fact[Kilograms] | None = None
    """Of one unit as it is mounted; its coolant is a number of the racks (``coolant_weight``)."""
    max_power: Fact[Watts] | None = None
    """Nameplate input power: what policies use."""
    typical_power: Fact[Watts] | None = None
    """Measured input power under load: for energy only."""
    peak_power: Fact[Watts] | None = None
    """Short-time peak (EDPp) above ``max_power``."""
    heat: Fact[Watts] | None = None
    """Published heat output; the larger of this and ``max_power`` is used for cooling."""
    medium: HeatMedium = HeatMedium.AIR
    airflow: Fact[CubicFeetPerMinute] | None = None
    """Air that it draws; unknown, it follows from its heat and the ``temperature_rise`` of the hall's air."""
    airflow_direction: Airflow | None = None
    inlet_min: Fact[Celsius] | None = None
    """Coldest air at its intake in which its maker lets it run."""
    inlet_max: Fact[Celsius] | None = None
    """Warmest air at its intake in which its maker lets it run."""
    liquid: LiquidCooling | None = None
    power_supplies: PowerSupplies | None = None
    voltage_min: Fact[Volts] | None = None
    """Lowest voltage at its power inlets."""
    voltage_max: Fact[Volts] | None = None
    """Highest voltage at its power inlets."""


class LocalDrives(Model):
    """Equal NVMe drives of one host that are there for data, not those of its operating system."""

    count: Fact[int] | None = None
    """Of one host."""
    size: Fact[Gibibytes] | None = None
    """Of one drive."""


class Node(Device):
    """A server, or a rack-scale system that is installed as one."""

    kind: Literal["node"]
    """Says what the entry is of; its file lies in the folder ``nodes``."""
    hosts: Count = 1
    """Operating systems in one unit: 18 for an NVL72, 1 for a server."""
    cpus: Fact[int] | None = None
    """Logical CPUs of one host, as its operating system counts them."""
    sockets: Fact[int] | None = None
    """Processors of one host."""
    threads_per_core: Fact[int] | None = None
    """Hardware threads of one core: with ``cpus`` and ``sockets`` they give the cores."""
    host_memory: Fact[Gibibytes] | None = None
    """Memory of one host, that of accelerators not counted."""
    accelerators: Accelerators | None = None
    """All accelerators of one unit."""
    whole_rack: bool = False
    """The product is a complete rack."""
    rack_weight_included: bool = False
    """``weight`` includes the rack."""
    ports: tuple[NetworkPort, ...] = ()
    local_drives: LocalDrives | None = None


class Uplinks(Model):
    """Equal ports of a switch that run at another rate than its radix."""

    count: Count
    """Of one switch."""
    rate: Fact[Annotated[GigabitsPerSecond, _LEAST]]
    """Of one port, in each direction."""


class Switch(Device):
    """A network switch."""

    kind: Literal["switch"]
    """Says what the entry is of; its file lies in the folder ``switches``."""
    technology: Literal["infiniband", "ethernet"]
    """What it switches."""
    radix: Count
    """Logical ports of one switch."""
    switches: Count = 1
    """Independent switches in one chassis, each with ``radix`` ports."""
    rate: Fact[Annotated[GigabitsPerSecond, _LEAST]]
    """Rate of one logical port."""
    uplinks: Uplinks | None = None
    """Ports beside those of the radix."""
    cages: Fact[int] | None = None
    """Cages in its face, each of which takes one cable or transceiver."""
    ports_per_cage: Count = 1
    """Logical ports of one cage: 2 where it takes a twin-port transceiver."""


class Outlets(Model):
    """Equal outlets of a PDU."""

    type: Literal["C13", "C19", "C39", "GG45"]
    """A C39 takes the plugs of a C13 and of a C19."""
    count: Count
    """Of this type on one PDU."""
    rating: Fact[Annotated[Amperes, SOME]]
    """Rated current of one outlet."""


class Pdu(Entry):
    """A rack power distribution unit."""

    kind: Literal["pdu"]
    """Says what the entry is of; its file lies in the folder ``pdus``."""
    voltage: Fact[Annotated[Volts, SOME]]
    """Line to line for three phases."""
    current: Fact[Annotated[Amperes, SOME]]
    """Rating of the input plug and breaker, per line."""
    phases: Literal[1, 3]
    """Of its input."""
    wiring: Literal["wye", "delta"]
    """How outlets see the lines: line to neutral (wye) or line to line (delta)."""
    outlets: tuple[Outlets, ...] | None = None
    """None where they are unknown."""
    branch_count: Fact[int] | None = None
    """Branch circuits inside it, each behind a breaker; outlets are dealt over them in turn."""
    branch_rating: Fact[Amperes] | None = None
    """Of the breaker of one branch circuit."""
    short_circuit_rating: Fact[Amperes] | None = None
    """Largest fault current at its inlet that it and its breakers stand."""
    height: Fact[RackUnits] | None = None
    """Zero for a vertical unit."""
    weight: Fact[Kilograms] | None = None
    """Of one PDU; it counts as content of the rack."""


class PowerShelf(Entry):
    """An ORv3 or MGX power shelf that feeds a busbar."""

    kind: Literal["power-shelf"]
    """Says what the entry is of; its file lies in the folder ``power-shelves``."""
    rating: Fact[Annotated[Watts, SOME]]
    """Output with all its supplies."""
    supplies: Count
    """Power supplies in one shelf."""
    rating_n_plus_1: Fact[Annotated[Watts, SOME]] | None = None
    """Usable power with one supply lost."""
    backup: Fact[Seconds] | None = None
    """Battery backup at full load."""
    height: Fact[RackUnits] | None = None
    """Rack units that it takes."""
    weight: Fact[Kilograms] | None = None
    """With its supplies."""


class Immersion(Model):
    """What makes a tank of a rack; its units lie beside each other, and devices hang in them."""

    fluid_weight: Fact[Kilograms] | None = None
    """Of the fluid of a tank that is filled for operation."""
    top: Fact[Metres] | None = None
    """Height above the floor of the edge over which devices are lifted."""


class RackType(Entry):
    """An empty rack."""

    kind: Literal["rack"]
    """Says what the entry is of; its file lies in the folder ``racks``."""
    height: Fact[Annotated[RackUnits, SOME]]
    """Rack units that it offers; of a tank, the units that lie beside each other."""
    width: Fact[Annotated[Metres, _LEAST]]
    """Outside, across the row."""
    depth: Fact[Annotated[Metres, _LEAST]]
    """Outside, from front to rear: what is in it and the cables behind must fit."""
    weight: Fact[Kilograms] | None = None
    """Without devices and PDUs and, of a tank, without its fluid."""
    static_rating: Fact[Kilograms] | None = None
    """Content it may carry when it stands still."""
    gross_rating: Fact[Kilograms] | None = None
    """What it may weigh when it stands still, with itself: at least its ``static_rating``."""
    dynamic_rating: Fact[Kilograms] | None = None
    """Content it may carry when it is rolled."""
    casters: Count = 4
    """Casters or feet that carry it."""
    immersion: Immersion | None = None
    """It is an immersion tank."""

    @model_validator(mode="after")
    def _more_with_itself(self) -> RackType:
        if self.gross_rating is None or self.static_rating is None:
            return self
        gross, payload = self.gross_rating.value, self.static_rating.value
        if gross < payload:
            raise ValueError(
                f"gross_rating is {gross:g} kg, below the {payload:g} kg of content that "
                "static_rating allows: give what the rack may weigh with itself"
            )
        return self


class Cable(Entry):
    """A cable, or a transceiver with its fibre."""

    kind: Literal["cable"]
    """Says what the entry is of; its file lies in the folder ``cables``."""
    part: str
    """Part number to order it by."""
    medium: Literal["dac", "acc", "aoc", "mmf", "smf"]
    """Passive or active copper, an active optical cable, or a transceiver for multi- or single-mode fibre."""
    technology: tuple[Literal["infiniband", "ethernet"], ...]
    """What it is made for."""
    rate: Fact[Annotated[GigabitsPerSecond, _LEAST]] | None = None
    """Of the whole cable or transceiver: 800 Gbps where it joins two ports of 400 Gbps at either end."""
    reach: Fact[Metres]
    """On OM4 where the fibre is multi-mode."""
    reach_om3: Fact[Metres] | None = None
    """Reach on OM3, of a transceiver for multi-mode fibre."""
    diameter: Fact[Annotated[Metres, Field(ge=0.0005)]] | None = None
    """Of the cable; a transceiver has none."""
    bend_space: Fact[Metres] | None = None
    """Behind the face of a port, for the plug and the tightest bend that the cable may have."""
    joined_ports: Count = 1
    """Ports at either end that one cable joins; each is a cable of the fabric."""


class Connector(Entry):
    """A liquid quick connector."""

    kind: Literal["connector"]
    """Says what the entry is of; its file lies in the folder ``connectors``."""
    flow: Fact[LitresPerMinute] | None = None
    """Most flow of coolant through it."""
    max_fluid: Fact[Celsius] | None = None
    """Warmest coolant that it stands."""
    max_pressure: Fact[Kilopascals] | None = None
    """Highest pressure of the coolant that it stands."""


def fact_value(fact: Fact[T] | None) -> T | None:
    """The number of ``fact``, or None where it is unknown."""
    return None if fact is None else fact.value
