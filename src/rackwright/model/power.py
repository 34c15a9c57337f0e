"""The electrical side of a site: sources, feeds and shelves."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from rackwright.model.base import Model
from rackwright.model.field_kinds import (
    GRANTED,
    HARDWARE,
    KEY,
    PART,
    POLICIES_ONLY,
    STATEMENT,
    Claim,
    OnChange,
)
from rackwright.model.names import DISTINCT, Name
from rackwright.model.units import (
    Amperes,
    Celsius,
    CubicMetres,
    LitresPerMinute,
    Metres,
    MilliohmsPerMetre,
    Percent,
    Seconds,
    SquareMillimetres,
    VoltAmperes,
    Volts,
    Watts,
)


class Modules(Model):
    """Parallel modules of one UPS or generator plant."""

    count: Annotated[int, Field(gt=0), HARDWARE]
    """Number of modules, spare ones included."""
    capacity: Annotated[Watts | None, Claim(looser="higher", absent="elsewhere")] = None
    """Capacity of one module, in kW. The rating of the source's ``product`` if omitted."""
    spare: Annotated[int | None, Field(ge=0), Claim(looser="lower")] = None
    """Modules that may fail without loss: 1 for N+1, 0 where every module is needed. The capacity of
    the plant is unknown if omitted."""

    @model_validator(mode="after")
    def _something_is_left(self) -> Modules:
        if self.spare is not None and self.spare >= self.count:
            raise ValueError(f"{self.spare} spare of {self.count} modules leaves no capacity")
        return self

    @property
    def needed(self) -> int | None:
        """Modules that are not spare; None if their number is unknown."""
        return None if self.spare is None else self.count - self.spare


class Circuit(Model):
    """An overcurrent device."""

    voltage: Annotated[Volts, Field(ge=1), HARDWARE]
    """Voltage of the circuit in V, line to line for three phases; currents are computed with it."""
    current: Annotated[Amperes, HARDWARE]
    """Rating of the breaker, in A."""
    phases: Annotated[Literal[1, 3], HARDWARE]
    """Number of phases."""
    continuous_rated: Annotated[bool, GRANTED] = False
    """True if the device is rated for 100 % continuous load, so that no derating applies."""


class Conductors(Model):
    """The cable of one circuit, by the metal of its lines, or cable or busbars by a data sheet."""

    length: Annotated[Metres, Claim(looser="either")]
    """Length of the cable one way, in m."""
    parallel: Annotated[int, Field(gt=0, le=100), HARDWARE]
    """Conductors of each line, 1 where there is a single one."""
    cross_section: Annotated[Annotated[SquareMillimetres, Field(ge=0.1)] | None, HARDWARE] = None
    """Cross-section of one conductor, in mm2; with ``material``."""
    material: Annotated[Literal["copper", "aluminium"] | None, HARDWARE] = None
    """Metal of the conductors."""
    resistance: Annotated[MilliohmsPerMetre | None, Claim(looser="either")] = None
    """Resistance of one conductor in service by the data sheet, in mΩ/m; with ``reactance``, instead of
    ``cross_section`` and ``material``."""
    reactance: Annotated[MilliohmsPerMetre | None, Claim(looser="either")] = None
    """Reactance of one conductor by its length, in mΩ/m."""
    ampacity: Annotated[Amperes | None, Claim(looser="higher", absent="elsewhere")] = None
    """Current that one line carries without limit of time where it is laid, all its conductors together,
    in A. That of the site's ``cabling`` if omitted; unknown for busbars."""

    @model_validator(mode="after")
    def _one_way_to_say_it(self) -> Conductors:
        said = {name for name in _BY_METAL + _BY_DATA_SHEET if getattr(self, name) is not None}
        if said not in (set(_BY_METAL), set(_BY_DATA_SHEET)):
            raise ValueError(
                "conductors have either 'cross_section' and 'material', or 'resistance' and 'reactance'"
            )
        return self


class SiteCabling(Model):
    """Installation of the cables of a site, from which their ampacity follows."""

    standard: Annotated[Literal["nec", "iec"], Claim(looser="either")]
    """Tables of ampacity that the site is wired by: NEC 310.16 or IEC 60364-5-52."""
    temperature: Annotated[Celsius, Claim(looser="higher")]
    """Temperature that insulation and terminals stand, in °C: 60, 75 or 90 under the NEC, 70 (PVC) or
    90 (XLPE) under IEC."""
    installation: Annotated[
        Literal["tray", "conduit"] | None,
        Claim(strictest_first=("conduit", "tray"), absent="strict"),
    ] = None
    """Installation under IEC: on a perforated tray (method E) or in conduit (B2). Needed under IEC."""
    ambient: Annotated[Celsius, Claim(looser="lower")]
    """Warmest air around the cables, in °C."""
    circuits: Annotated[int, Field(gt=0, le=100), Claim(looser="lower")]
    """Loaded circuits that touch on a tray or share a conduit; each set of parallel conductors counts."""

    @model_validator(mode="after")
    def _is_in_a_table(self) -> SiteCabling:
        known = {"nec": (60.0, 75.0, 90.0), "iec": (70.0, 90.0)}[self.standard]
        if self.temperature not in known:
            listed = ", ".join(f"{celsius:g}" for celsius in known)
            raise ValueError(
                f"'temperature' is one of {listed} °C in the tables of {self.standard.upper()}, "
                f"not {self.temperature:g} °C"
            )
        if self.standard == "iec" and self.installation is None:
            raise ValueError("IEC 60364-5-52 needs the 'installation': tray or conduit")
        return self


_BY_METAL = ("cross_section", "material")
_BY_DATA_SHEET = ("resistance", "reactance")


SourceKind = Literal[
    "utility", "generator", "switchgear", "transformer", "ups", "rpp", "panel", "busway", "sts"
]

StartStep = Annotated[int, Field(ge=1, le=100)]
"""Steps in which loads are connected to generators, counted from 1."""

LEAST_PARENTS: dict[SourceKind, int] = {"utility": 0, "generator": 0, "sts": 2}
"""Parents that an element has by its kind; those that are not listed have at least one.

Power begins at a utility or a generator only, and a transfer switch chooses between two parents.
"""

LOSSY: tuple[SourceKind, ...] = ("ups", "transformer")
"""Kinds whose losses count; those of cables, busways and switchgear are not worked out."""
REGULATING: tuple[SourceKind, ...] = ("utility", "generator", "transformer", "ups")
"""Kinds at whose output the voltage has a deviation of its own."""
_ONLY: dict[str, tuple[SourceKind, ...]] = {
    "product": ("ups", "transformer", "generator"),
    "efficiency": LOSSY,
    "losses": ("transformer",),
    "recharge": ("ups",),
    "walk_in": ("ups",),
    "step_load": ("generator",),
    "backup": ("ups",),
    "battery_room": ("ups",),
    "fuel": ("generator",),
    "consumption": ("generator",),
    "rating": ("transformer",),
    "impedance": ("transformer",),
}


class PowerSource(Model):
    """One element of the distribution above the racks: utility down to RPP or busway.

    Exactly one of ``capacity``, ``modules`` and ``circuit`` states what it can carry; none of
    them means that it is unknown.
    """

    name: Annotated[Name, KEY]
    """Name of the source, by which the rest of the blueprint refers to it."""
    kind: Annotated[SourceKind, HARDWARE]
    """Kind of source."""
    fed_by: Annotated[tuple[Name, ...], DISTINCT, HARDWARE] = ()
    """Parents. The first one carries the load, the others take over when it is lost. The source of the
    load is unknown if omitted, except for a utility or a generator."""
    product: Annotated[str | None, HARDWARE] = None
    """Catalogue id of a UPS, transformer or generator. What is written beside it holds instead of
    the product's number."""
    capacity: Annotated[Watts | None, Claim(looser="higher", absent="elsewhere")] = None
    """Continuous power that the source may carry in kW, derating already applied. The rating of its
    ``product``, where it applies at the site, if omitted."""
    modules: Annotated[Modules | None, PART] = None
    circuit: Annotated[Circuit | None, PART] = None
    redundancy: Annotated[
        Literal["N", "N-1"], Claim(strictest_first=("N-1", "N"), absent="strict")
    ] = "N-1"
    """Redundancy that is checked: in normal state only (N), or also after any other source is lost (N-1)."""
    overload: Annotated[Watts | None, Claim(looser="higher", absent="elsewhere")] = None
    """Short-time power it survives, for synchronous training swings, in kW."""
    efficiency: Annotated[
        Annotated[Percent, Field(gt=0, le=100)] | None, Claim(looser="higher", absent="elsewhere")
    ] = None
    """Output over input of a UPS or transformer in %, the lowest at the loads that it may carry. The
    product's if omitted."""
    losses: Annotated[Watts | None, Claim(looser="lower", absent="elsewhere")] = None
    """Losses of a transformer in kW, instead of its ``efficiency``: no-load loss and load loss together
    at its rating, of all that are in parallel. They count in full whatever it carries: P₀ + x²·Pₖ at a
    share x of the rating (IEC 60076-1) is no more."""
    recharge: Annotated[Watts | None, Claim(looser="lower", absent="elsewhere")] = None
    """Most power that a UPS draws beside its load to charge its batteries after an outage, 0 where it
    has none, in kW."""
    walk_in: Annotated[bool, GRANTED] = False
    """True if a UPS takes its load from its batteries back little by little, so that it is no load step."""
    step_load: Annotated[Watts | None, Claim(looser="higher", absent="elsewhere")] = None
    """Largest load that a generator takes at once, whatever it carries already, inside the limits of
    the performance class (ISO 8528-5) that its loads need, in kW."""
    start_step: Annotated[StartStep, Claim(looser="either", absent="strict")] = 1
    """Step in which its load is connected when generators start, or a later step of one of its parents
    or of its loads."""
    backup: Annotated[Seconds | None, Claim(looser="higher", absent="elsewhere")] = None
    """Time for which the batteries of a UPS carry its capacity, in s."""
    fuel: Annotated[CubicMetres | None, Claim(looser="higher")] = None
    """Usable fuel that is stored for a generator, all of its modules together, in m3."""
    consumption: Annotated[
        Annotated[LitresPerMinute, Field(gt=0)] | None, Claim(looser="lower", absent="elsewhere")
    ] = None
    """Fuel that a generator burns at its capacity, all of its modules together, in L/min."""
    voltage: Annotated[
        Annotated[Volts, Field(ge=1)] | None, Claim(looser="either", absent="elsewhere")
    ] = None
    """Nominal voltage at its output in V, line to line. That of its ``circuit``, or of its parent
    unless it is a transformer, if omitted."""
    voltage_tolerance: Annotated[
        Annotated[Percent, Field(le=50)] | None, Claim(looser="lower", absent="elsewhere")
    ] = None
    """Most deviation of the voltage at its output from the nominal one, up or down, of what makes or
    changes voltage, in %: a utility, generator, transformer or UPS."""
    rating: Annotated[
        Annotated[VoltAmperes, Field(ge=1)] | None, Claim(looser="either", absent="elsewhere")
    ] = None
    """Rated power of a transformer, to which its ``impedance`` refers, in kVA; of all that are in parallel."""
    impedance: Annotated[
        Annotated[Percent, Field(gt=0, le=100)] | None, Claim(looser="either", absent="elsewhere")
    ] = None
    """Short-circuit impedance of a transformer, as on its plate, in %."""
    fault_current: Annotated[
        Annotated[Amperes, Field(ge=1)] | None, Claim(looser="either", absent="elsewhere")
    ] = None
    """Largest symmetrical current of a short circuit of three phases at its output, as the utility
    states it or a study finds it, in A. Absent from a transformer, that by its ``rating``,
    ``impedance`` and ``voltage``; from what power passes through, that of what feeds it less what
    conductors limit."""
    short_circuit_rating: Annotated[Amperes | None, Claim(looser="higher", absent="elsewhere")] = (
        None
    )
    """Largest fault current that it stands, the lowest of its bus bars, switches and breakers, those of
    the circuits that leave it among them, in A."""
    conductors: Annotated[Conductors | None, PART] = None
    """Conductors from each of its parents. No voltage drop is computed if omitted."""
    room: Annotated[Name | None, Claim(looser="either", absent="elsewhere")] = None
    """Name of its room or fire compartment, whose fire or flood takes all that is in it. Not judged if no source
    of the site names one."""
    battery_room: Annotated[Name | None, Claim(looser="either", absent="elsewhere")] = None
    """Name of the room of the batteries of a UPS. That of the UPS if omitted."""
    route: Annotated[Name | None, Claim(looser="either", absent="elsewhere")] = None
    """Name of the trench, riser or tray of the cables from its parents. Not judged if omitted."""
    max_altitude: Annotated[Metres | None, Claim(looser="higher", absent="strict")] = None
    """Highest site at which its ratings apply as stated, by its maker, in m. 2000 m, the normal service
    condition of IEC 60947-1 and IEC 61439-1, if omitted."""
    swing_limit: Annotated[Watts | None, Claim(looser="higher")] = None
    """Largest change of its load within a second, up and down again and again, that it accepts with the
    batteries and load banks beside it, in kW, by its maker or the utility. Unknown if omitted."""

    @model_validator(mode="after")
    def _one_statement_of_capacity(self) -> PowerSource:
        stated = [n for n in ("capacity", "modules", "circuit") if getattr(self, n) is not None]
        if len(stated) > 1:
            raise ValueError(f"the capacity is stated {len(stated)} times: {', '.join(stated)}")
        if self.product is not None and self.circuit is not None:
            raise ValueError(
                "a source with a 'product' has its capacity and no 'circuit'; state 'voltage' for its voltage"
            )
        if self.product is None and self.modules is not None and self.modules.capacity is None:
            raise ValueError("'modules' lack the 'capacity' of one, and there is no 'product'")
        return self

    @model_validator(mode="after")
    def _fits_the_kind(self) -> PowerSource:
        for name, kinds in _ONLY.items():
            if getattr(self, name) not in (None, False) and self.kind not in kinds:
                raise ValueError(f"'{name}' is of a {' or '.join(kinds)}, not of a {self.kind}")
        if self.voltage_tolerance is not None and self.kind not in REGULATING:
            raise ValueError(f"a {self.kind} has the 'voltage_tolerance' of what feeds it")
        if self.efficiency is not None and self.losses is not None:
            raise ValueError("what it loses is stated twice: efficiency, losses")
        if self.conductors is not None and LEAST_PARENTS.get(self.kind) == 0:
            raise ValueError(f"'conductors' lead to what is fed, and a {self.kind} is not")
        return self

    @model_validator(mode="after")
    def _one_voltage(self) -> PowerSource:
        circuit = self.circuit
        if circuit is not None and self.voltage not in (None, circuit.voltage):
            raise ValueError(
                f"its voltage is {self.voltage:g} V, and that of its circuit {circuit.voltage:g} V"
            )
        return self

    @property
    def missing_parents(self) -> int:
        """Number of parents that are required but not named."""
        return max(0, LEAST_PARENTS.get(self.kind, 1) - len(set(self.fed_by)))


class SitePower(Model):
    """The rules and sources of a site's electrical plant."""

    continuous_derate: Annotated[
        Percent, Field(gt=0, le=100), Claim(looser="higher"), POLICIES_ONLY
    ]
    """Share of an overcurrent device that continuous load may use: 80 % under the NEC."""
    power_factor: Annotated[float, Field(ge=0.1, le=1), Claim(looser="higher"), POLICIES_ONLY]
    """Power factor of the IT load."""
    sources: Annotated[
        tuple[PowerSource, ...],
        PART,
        OnChange("review", "work on the plant: settle with facilities which racks must be drained"),
    ]
    contract: Annotated[Watts | None, Claim(looser="higher"), POLICIES_ONLY] = None
    """Power the utility has contracted, in kW."""
    oversubscription: Annotated[
        float, Field(ge=1, le=100), Claim(looser="lower", absent="strict"), POLICIES_ONLY
    ] = 1.0
    """Planned ratio of nameplate to provisioned power; above 1 needs ``capping``."""
    capping: Annotated[bool, GRANTED, POLICIES_ONLY] = False
    """True if a power-capping controller enforces the budgets."""
    cabling: Annotated[
        SiteCabling | None,
        STATEMENT,
        OnChange("review", "the cables are laid otherwise or replaced"),
    ] = None
    generator_acceptance: Annotated[Seconds | None, Claim(looser="lower"), POLICIES_ONLY] = None
    """Time until the generators among the sources carry the load, in s; battery backup must outlast it."""


class TapOff(Model):
    """The box by which racks take a feed from a busway, with the breakers of their circuits in it."""

    current: Annotated[Amperes, HARDWARE]
    """Rating of the box, per line, in A."""
    racks: Annotated[int, Field(gt=0, le=100), HARDWARE]
    """Racks beside each other that share one box."""
    continuous_rated: Annotated[bool, GRANTED] = False
    """True if the box is rated for 100 % continuous load, so that no derating applies."""


class RackFeed(Model):
    """One electrical feed of a rack: a source, the circuit from it and the PDU at its end."""

    name: Annotated[str, Field(pattern=r"^[A-Z][A-Z0-9]?$"), KEY]
    """Letter of the feed, like ``A``."""
    source: Annotated[Name, HARDWARE]
    """Power source at its beginning."""
    pdu: Annotated[str | None, HARDWARE] = None
    """Catalogue id of the PDU. None where the circuit ends in power shelves or a rack-scale product."""
    pdus: Annotated[int, Field(gt=0, le=100), HARDWARE] = 1
    """Equal PDUs on this feed, each on its own circuit."""
    circuit: Annotated[Circuit | None, PART] = None
    """Branch circuit of each PDU. Its capacity is unknown if omitted."""
    tap_off: Annotated[TapOff | None, PART] = None
    """Tap-off box of a feed from a busway. The capacity of the box is unknown if omitted."""
    conductors: Annotated[Conductors | None, PART] = None
    """Conductors of each circuit, from the source or its tap-off box to the PDU."""


class RackShelves(Model):
    """Power shelves of a busbar rack."""

    type: Annotated[str, HARDWARE]
    """Catalogue id of the power shelf."""
    count: Annotated[int, Field(gt=0, le=100), HARDWARE]
    """Number of shelves in a rack."""
    per_feed: Annotated[dict[str, Annotated[int, Field(ge=0)]] | None, HARDWARE] = None
    """Number of shelves on each feed of the rack. They are dealt in turn if omitted."""
    backup: Annotated[Seconds | None, Claim(looser="higher", absent="elsewhere")] = None
    """Battery backup at full load, in s."""

    @property
    def key(self) -> tuple[object, ...]:
        """Key of equal sets of shelves, which can be an element of a set."""
        placed = None if self.per_feed is None else tuple(sorted(self.per_feed.items()))
        return self.type, self.count, placed, self.backup
