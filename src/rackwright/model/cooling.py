"""The cooling side of a site: air handlers, liquid loops and what each rack uses."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from rackwright.model.base import Model
from rackwright.model.field_kinds import (
    FOR_REVIEW,
    GRANTED,
    HARDWARE,
    KEY,
    PART,
    POLICIES_ONLY,
    SAID,
    Claim,
    OnChange,
)
from rackwright.model.names import DISTINCT, Name, refuse_twins
from rackwright.model.power import StartStep
from rackwright.model.units import (
    Celsius,
    CubicMetres,
    Kelvin,
    Kilograms,
    KilojoulesPerLitreKelvin,
    Kilopascals,
    LitresPerMinute,
    Metres,
    RackUnits,
    Seconds,
    Watts,
)

_COOLED = "the racks are cooled in another way"

WaterClass = Literal["W17", "W27", "W32", "W40", "W45", "W+"]
AirClass = Literal["A1", "A2", "A3", "A4", "H1"]
Fluid = Literal["water", "pg25", "dielectric"]
PlantKind = Literal["chiller", "dry-cooler", "cooling-tower", "pump", "other"]

MOST_IN_RACK = 20
"""CDUs of one rack; two of the smallest would fill a third of it."""
OUTDOORS = "outdoors"
"""What rejects its heat to the outdoor air; no circuit of water has this name."""
INDOORS = "indoors"
"""CDUs that give their heat to the air of the hall (liquid to air); no circuit of water has this name."""


class Supply(Model):
    """Some units of a machine, and what feeds those."""

    count: Annotated[int, Field(gt=0), HARDWARE]
    """Number of units."""
    fed_by: Annotated[tuple[Name, ...], DISTINCT, Field(min_length=1), KEY]
    """Power sources. The first one that lives carries these units."""


class Machine(Model):
    """Equal units that draw power beside the racks."""

    count: Annotated[int, Field(gt=0), HARDWARE]
    """Number of units."""
    power: Annotated[Watts | None, Claim(looser="lower", absent="elsewhere")] = None
    """Largest electrical power of one unit, in kW. The product's if omitted."""
    fed_by: Annotated[tuple[Name, ...], DISTINCT, HARDWARE] = ()
    """Power sources. The first one that lives carries all units."""
    supplies: Annotated[tuple[Supply, ...], PART] = ()
    """Units by the sources that feed them, instead of ``fed_by``, so that no loss takes all of them."""
    start_step: Annotated[StartStep, Claim(looser="either", absent="strict")] = 1
    """Step in which they are connected when generators start."""
    water: Annotated[Name | None, HARDWARE] = None
    """Circuit of ``facility_water`` that carries their heat away, or ``outdoors`` where they reject it
    to the air outside themselves, or ``indoors`` where CDUs give it to the air of the hall; of a plant,
    the circuit whose heat it carries."""
    outdoor_temperature: Annotated[Celsius | None, Claim(looser="higher")] = None
    """Outdoor temperature at which units that reject heat to the outdoor air have their capacity, in
    °C: the dry bulb, or the wet bulb for a cooling tower."""
    restart: Annotated[Seconds | None, Claim(looser="lower")] = None
    """Time from the return of power, by generators, until the units cool in full again, in s."""
    transfer: Annotated[Seconds | None, Claim(looser="lower")] = None
    """Time without power while another source of ``fed_by`` takes over, by a transfer switch, in s.
    Unknown if omitted."""
    rides_through: Annotated[Seconds, Claim(looser="higher", absent="strict")] = 0.0
    """Longest loss of power through which the units go on cooling, as by a flywheel, in s. 0 s if omitted."""

    @model_validator(mode="after")
    def _every_unit_is_fed_once(self) -> Machine:
        if not self.supplies:
            return self
        if self.fed_by:
            raise ValueError("'fed_by' feeds all units, and 'supplies' some of them: state one")
        refuse_twins("supply", (", ".join(supply.fed_by) for supply in self.supplies))
        fed = sum(supply.count for supply in self.supplies)
        if fed != self.count:
            raise ValueError(f"'supplies' feed {fed} units; there are {self.count}")
        return self


class FacilityWater(Model):
    """A circuit of chilled, process or condenser water, between what it cools and what cools it."""

    name: Annotated[Name, KEY]
    """Name of the circuit, by which the rest of the blueprint refers to it."""
    fluid: Annotated[Literal["water", "pg25"] | None, HARDWARE] = None
    """Fluid in the circuit: water, or water with a quarter of propylene glycol."""
    supply_temperature: Annotated[Celsius | None, Claim(looser="either")] = None
    """Temperature of the water that chillers, dry coolers or towers supply, in °C, at which the
    capacity of a ``product`` must hold."""
    freezing_point: Annotated[Celsius | None, Claim(looser="lower", absent="elsewhere")] = None
    """Temperature at which the fluid freezes by its data sheet, in °C. That of the ``fluid`` if omitted:
    0 °C for water, -10 °C for water with a quarter of propylene glycol."""
    volume: Annotated[CubicMetres | None, Claim(looser="higher")] = None
    """Volume of water that circulates, in m3, with the tanks that it flows through."""
    warming: Annotated[Annotated[Kelvin, Field(ge=0)] | None, Claim(looser="higher")] = None
    """Largest rise of the supply temperature for a while, in K: the loads carry their heat until then."""

    @model_validator(mode="after")
    def _is_indoors(self) -> FacilityWater:
        if self.name == OUTDOORS:
            raise ValueError(f"'{OUTDOORS}' is the air outside, and no circuit of water")
        if self.name == INDOORS:
            raise ValueError(f"'{INDOORS}' is the air of the hall, and no circuit of water")
        return self


class AirSupply(Machine):
    """The air handlers of one hall."""

    type: Annotated[str, HARDWARE]
    """Catalogue id of an air handler."""
    inlet_temperature: Annotated[Celsius, Claim(looser="either")]
    """Design temperature of the air at the inlets of the racks, in °C."""
    ashrae_class: Annotated[AirClass, Claim(strictest_first=("H1", "A1", "A2", "A3", "A4"))]
    """Class the hall is designed for."""
    containment: Annotated[Literal["hot-aisle", "cold-aisle", "none"], HARDWARE]
    """Containment of the aisles, which decides how much supply air leaks past the racks."""
    temperature_rise: Annotated[Annotated[Kelvin, Field(gt=0)] | None, Claim(looser="either")] = (
        None
    )
    """Rise of the air temperature across devices whose maker publishes no airflow, in K. The airflow of
    these devices is unknown if omitted."""
    volume: Annotated[CubicMetres | None, Claim(looser="higher")] = None
    """Volume of air that warms up with the racks while nothing cools it, in m3: the air of their aisles
    where those are closed."""


class CoolingLoop(Machine):
    """A technology coolant loop and the CDUs that feed it."""

    name: Annotated[Name, KEY]
    """Name of the loop, by which the rest of the blueprint refers to it."""
    cdu: Annotated[str, HARDWARE]
    """Catalogue id of the CDU."""
    fluid: Annotated[Fluid, HARDWARE]
    """Fluid in the loop."""
    heat_capacity: Annotated[
        Annotated[KilojoulesPerLitreKelvin, Field(gt=0)] | None, Claim(looser="higher")
    ] = None
    """Volumetric heat capacity of a dielectric fluid by its data sheet, in kJ/L/K: density times
    specific heat."""
    temperature_rise: Annotated[Kelvin, Field(gt=0), Claim(looser="higher")]
    """Return minus supply temperature at design load, in K."""
    supply_temperature: Annotated[Celsius | None, Claim(looser="either")] = None
    """Temperature of the coolant that racks get, in °C. Unknown if omitted."""
    facility_temperature: Annotated[Celsius | None, Claim(looser="lower")] = None
    """Temperature of the facility water that the CDUs get, in °C. Unknown if omitted."""
    facility_class: Annotated[
        WaterClass | None, Claim(strictest_first=("W+", "W45", "W40", "W32", "W27", "W17"))
    ] = None
    """Class of the facility water that its CDUs get, by its warmest temperature."""
    in_rack: Annotated[bool, HARDWARE] = False
    """True if the CDUs are in racks: each rack on the loop has ``count`` of them and a loop of its own,
    and they draw their power from its feeds."""
    approach: Annotated[Kelvin | None, Claim(looser="either")] = None
    """Approach at which the CDU is selected, in K; must be the basis of its catalogue capacity."""
    dew_point: Annotated[Celsius | None, Claim(looser="lower")] = None
    """Highest dew point of the hall, in °C. Unknown if omitted."""
    pressure: Annotated[Kilopascals | None, Claim(looser="either")] = None
    """Supply pressure at the manifold, in kPa. Unknown if omitted."""
    flow_limit: Annotated[LitresPerMinute | None, Claim(looser="either")] = None
    """Largest flow of the piping, in L/min. Unknown if omitted."""
    pressure_drop: Annotated[Kilopascals | None, Claim(looser="lower")] = None
    """Pressure drop of the piping at ``flow_limit``, in kPa, to the furthest rack and back, with
    valves, strainers and tanks. Unknown if omitted."""
    volume: Annotated[CubicMetres | None, Claim(looser="higher")] = None
    """Volume of coolant that circulates, in m3, with the tanks that it flows through; of one rack,
    where CDUs are in racks."""

    @model_validator(mode="after")
    def _fits_together(self) -> CoolingLoop:
        own = [name for name in ("fed_by", "supplies") if getattr(self, name)]
        own += ["start_step"] if self.start_step != 1 else []
        if self.in_rack and own:
            raise ValueError(
                f"CDUs in racks hang on the feeds of their racks and have no '{own[0]}'"
            )
        if self.heat_capacity is not None and self.fluid != "dielectric":
            raise ValueError(
                f"'heat_capacity' is of a dielectric fluid; that of {self.fluid} is known"
            )
        if self.in_rack and self.count > MOST_IN_RACK:
            raise ValueError(f"a rack has at most {MOST_IN_RACK} CDUs, not {self.count:,}")
        return self


class MechanicalPlant(Machine):
    """Equal units of what draws power beside racks, air handlers and CDUs: chillers, pumps, lights."""

    name: Annotated[Name, KEY]
    """Name of the plant, by which the rest of the blueprint refers to it."""
    kind: Annotated[PlantKind, HARDWARE]
    """Kind of machine."""
    product: Annotated[str | None, HARDWARE] = None
    """Catalogue id of a chiller or dry cooler. What is written beside it holds instead of the
    product's number."""
    capacity: Annotated[Watts | None, Claim(looser="higher", absent="elsewhere")] = None
    """Heat that one unit carries at this site, in kW; for a pump, by its flow at the design rise. The
    product's if omitted, where that holds at the site's altitude and temperatures."""
    outdoor_temperature: Annotated[Celsius | None, Claim(looser="higher", absent="elsewhere")] = (
        None
    )
    """Outdoor temperature at which the units have their capacity, in °C: the dry bulb, or the wet bulb
    for a cooling tower. The product's if omitted."""
    restart: Annotated[Seconds | None, Claim(looser="lower", absent="elsewhere")] = None
    """Time from the return of power, by generators, until the units cool in full again, in s. The
    product's if omitted."""
    freeze_protected: Annotated[bool, GRANTED] = False
    """True if its water cannot freeze while it stands still: it drains by itself, or is heated on batteries."""
    rejects_to: Annotated[Name | None, HARDWARE] = None
    """Circuit of ``facility_water`` that the condenser of a chiller heats, or ``outdoors``."""

    @model_validator(mode="after")
    def _fits_the_kind(self) -> MechanicalPlant:
        if self.product is not None and self.kind not in {"chiller", "dry-cooler"}:
            raise ValueError(f"'product' is of a chiller or dry cooler, not of a {self.kind}")
        if self.rejects_to is not None and self.kind != "chiller":
            raise ValueError(f"'rejects_to' is of a chiller, not of a {self.kind}")
        if self.water == OUTDOORS:
            raise ValueError(
                f"a plant carries the heat of a circuit of water, not of the {OUTDOORS}"
            )
        if self.kind == "other" and (self.water or self.capacity is not None):
            raise ValueError("what is of the kind 'other' carries no heat: say what it is")
        return self


class Manifolds(Model):
    """Equal manifolds of one rack, which bring coolant to its devices."""

    count: Annotated[int, Field(ge=0, le=100), HARDWARE]
    """Number of manifolds of one rack; 0 where units and weight of the devices include them."""
    height: Annotated[RackUnits, Claim(looser="lower")]
    """Rack units that one manifold takes, in U; 0 U where it hangs beside the rails."""
    weight: Annotated[Kilograms | None, Claim(looser="lower")] = None
    """Weight of one manifold filled with coolant, in kg. Unknown if omitted."""


class RackCooling(Model):
    """Cooling of one rack, and the limits of its density."""

    mode: Annotated[
        Literal["air", "rear-door", "liquid", "liquid-rear-door", "immersion"],
        HARDWARE,
        OnChange("drain", _COOLED),
    ]
    """Cooling of the racks: ``liquid`` brings coolant to cold plates, ``liquid-rear-door`` adds a rear
    door; racks with ``immersion`` are tanks, whose fluid is in the loop."""
    power_limit: Annotated[Watts | None, Claim(looser="higher"), POLICIES_ONLY] = None
    """Largest power of one rack in this mode by the hall's design, in kW."""
    loop: Annotated[Name | None, HARDWARE, OnChange("drain", _COOLED)] = None
    """Loop of the cold plates; of the door where there is nothing but a door."""
    rear_door_loop: Annotated[Name | None, HARDWARE, OnChange("drain", _COOLED)] = None
    """Loop of the door of a ``liquid-rear-door``; that of the cold plates may be too warm for it."""
    rear_door: Annotated[str | None, HARDWARE, OnChange("drain", _COOLED)] = None
    """Catalogue id of the door. What is written beside it holds instead of the product's number."""
    rear_door_capacity: Annotated[
        Watts | None, Claim(looser="higher", absent="elsewhere"), OnChange("drain", _COOLED)
    ] = None
    """Heat that the rear door takes from the air at ``rear_door_difference``, in kW. The product's if
    omitted."""
    rear_door_difference: Annotated[
        Annotated[Kelvin, Field(gt=0)] | None,
        Claim(looser="lower", absent="elsewhere"),
        OnChange("drain", _COOLED),
    ] = None
    """Air minus water temperature at the rear door at which its capacity is rated, in K. The product's
    if omitted."""
    rear_door_pressure_drop: Annotated[
        Kilopascals | None, Claim(looser="lower", absent="elsewhere"), FOR_REVIEW
    ] = None
    """Pressure drop of the rear door at the flow that its heat needs, in kPa. The product's if omitted."""
    rear_door_weight: Annotated[
        Kilograms | None, Claim(looser="lower", absent="elsewhere"), OnChange("drain", _COOLED)
    ] = None
    """Weight of the rear door filled with water, in kg. The product's if omitted."""
    coolant_weight: Annotated[Kilograms | None, Claim(looser="lower"), FOR_REVIEW] = None
    """Weight of the coolant in cold plates and hoses of one rack, in kg; 0 kg where weights of devices
    include it. Unknown if omitted."""
    lift_allowance: Annotated[Metres | None, Claim(looser="lower"), POLICIES_ONLY] = None
    """Height of hoist and hook above a device that is lifted out of a tank, in m. Unknown if omitted."""
    manifolds: Annotated[Manifolds | None, PART, OnChange("drain", _COOLED)] = None
    """Manifolds of one rack. The space and weight of those in a rack with its own CDUs are unknown if
    omitted."""
    leak_detection: Annotated[bool | None, SAID, POLICIES_ONLY] = None
    """True if leaks of coolant in the racks are detected. Unknown if omitted."""
    isolation: Annotated[bool | None, SAID, POLICIES_ONLY] = None
    """True if valves shut this rack off by themselves when a leak is found."""

    @model_validator(mode="after")
    def _loops_fit_the_mode(self) -> RackCooling:
        if self.mode != "air" and self.loop is None:
            raise ValueError(f"cooling mode '{self.mode}' needs a 'loop'")
        if self.mode == "liquid-rear-door" and self.rear_door_loop is None:
            raise ValueError("cooling mode 'liquid-rear-door' needs a 'rear_door_loop'")
        if self.mode != "liquid-rear-door" and self.rear_door_loop is not None:
            raise ValueError("'rear_door_loop' is of the cooling mode 'liquid-rear-door' only")
        if self.rear_door is not None and self.door_loop is None:
            raise ValueError(f"cooling mode '{self.mode}' has no 'rear_door'")
        if self.lift_allowance is not None and self.mode != "immersion":
            raise ValueError("'lift_allowance' is of the cooling mode 'immersion' only")
        if self.coolant_weight is not None and not self.has_cold_plates:
            raise ValueError(f"cooling mode '{self.mode}' has no 'coolant_weight'")
        if self.manifolds is not None and not self.has_cold_plates:
            raise ValueError(f"cooling mode '{self.mode}' has no 'manifolds'")
        return self

    @property
    def has_cold_plates(self) -> bool:
        """True if coolant reaches the devices of the rack."""
        return self.mode in {"liquid", "liquid-rear-door"}

    @property
    def door_loop(self) -> str | None:
        """Loop of the rear door; None without a door."""
        return self.loop if self.mode == "rear-door" else self.rear_door_loop
