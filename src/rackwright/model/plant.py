"""Catalogue entries of what powers and cools a site: UPSs to rear doors."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from rackwright.model.hardware import SOME, Entry, Fact, PowerSupplies
from rackwright.model.units import (
    Amperes,
    Celsius,
    CubicFeetPerMinute,
    Kelvin,
    Kilograms,
    Kilopascals,
    LitresPerMinute,
    Metres,
    Percent,
    RackUnits,
    Seconds,
    VoltAmperes,
    Volts,
    Watts,
)


class Ups(Entry):
    """A UPS, or one of several that share their load, with its batteries."""

    kind: Literal["ups"]
    """Says what the entry is of; its file lies in the folder ``ups``."""
    rating: Fact[Annotated[Watts, SOME]]
    """Power that it carries without limit of time at a site no higher than ``max_altitude``."""
    max_altitude: Fact[Metres] | None = None
    """Highest site at which its rating holds."""
    overload: Fact[Watts] | None = None
    """Power that it carries for a minute from its supply, not from its batteries."""
    efficiency: Fact[Annotated[Percent, Field(gt=0, le=100)]] | None = None
    """Output over input, the lowest at the loads that it may carry, in the mode in which it runs."""
    recharge: Fact[Watts] | None = None
    """Most power that it draws beside its load to charge its batteries."""
    backup: Fact[Seconds] | None = None
    """Time for which its batteries carry its rating; unknown where they are bought by themselves."""
    voltage_tolerance: Fact[Annotated[Percent, Field(le=50)]] | None = None
    """Most deviation of the voltage at its output from the nominal one, up or down."""
    short_circuit_rating: Fact[Amperes] | None = None
    """Largest fault current at its inputs that it stands, by its bypass as well."""


class Transformer(Entry):
    """A transformer of three phases."""

    kind: Literal["transformer"]
    """Says what the entry is of; its file lies in the folder ``transformers``."""
    rating: Fact[Annotated[VoltAmperes, SOME]]
    """Rated power, to which its ``impedance`` refers, at a site no higher than ``max_altitude``."""
    max_altitude: Fact[Metres] | None = None
    """Highest site at which its rating holds."""
    losses: Fact[Watts] | None = None
    """No-load loss and load loss together, at its rating."""
    impedance: Fact[Annotated[Percent, Field(gt=0, le=100)]] | None = None
    """Short-circuit impedance, as on its plate."""
    voltage: Fact[Annotated[Volts, SOME]] | None = None
    """Nominal, line to line, at its output."""


class Generator(Entry):
    """A generator set."""

    kind: Literal["generator"]
    """Says what the entry is of; its file lies in the folder ``generators``."""
    rating: Fact[Annotated[Watts, SOME]]
    """Electrical power that it gives to a constant load without limit of time: continuous or data center
    power of ISO 8528-1, at a site no higher and no hotter than the limits that follow. No standby power."""
    max_altitude: Fact[Metres] | None = None
    """Highest site at which its rating holds."""
    max_ambient: Fact[Celsius] | None = None
    """Hottest air around it at which its rating holds."""
    step_load: Fact[Watts] | None = None
    """Largest load that it takes at once, inside the limits of class G2 of ISO 8528-5 or of a closer one."""
    consumption: Fact[Annotated[LitresPerMinute, Field(gt=0)]] | None = None
    """Fuel that it burns at its rating."""
    voltage_tolerance: Fact[Annotated[Percent, Field(le=50)]] | None = None
    """Most deviation of the voltage at its output from the nominal one, up or down, in steady state."""


class Cdu(Entry):
    """A coolant distribution unit."""

    kind: Literal["cdu"]
    """Says what the entry is of; its file lies in the folder ``cdus``."""
    capacity: Fact[Annotated[Watts, SOME]]
    """Heat that it takes from its loop, at its ``approach``."""
    approach: Fact[Kelvin] | None = None
    """Supply minus facility-water temperature at which ``capacity`` holds."""
    flow: Fact[Annotated[LitresPerMinute, SOME]] | None = None
    """Rated flow of its pumps to the loop."""
    head: Fact[Kilopascals] | None = None
    """Pressure that its pumps give to the loop outside of it, at ``flow``."""
    shutoff_head: Fact[Kilopascals] | None = None
    """The same at no flow."""
    power: Fact[Watts] | None = None
    """Electrical power that it draws at most; of one in a rack all of it counts as heat in the air."""
    in_rack: bool = False
    """It is mounted in the rack that it cools; what follows is of such a one."""
    height: Fact[RackUnits] | None = None
    """Rack units that it takes."""
    weight: Fact[Kilograms] | None = None
    """With its coolant."""
    flow_pump_lost: Fact[LitresPerMinute] | None = None
    """Flow while one of its pumps is lost; 0 where it has a single one."""
    airflow: Fact[CubicFeetPerMinute] | None = None
    """Air that it draws; unknown, it follows from its power and the ``temperature_rise`` of the hall's air."""
    power_supplies: PowerSupplies | None = None
    voltage_min: Fact[Volts] | None = None
    """Lowest voltage at its power inlets."""
    voltage_max: Fact[Volts] | None = None
    """Highest voltage at its power inlets."""


class AirHandler(Entry):
    """A CRAH, CRAC or fan-wall unit."""

    kind: Literal["air-handler"]
    """Says what the entry is of; its file lies in the folder ``air-handlers``."""
    capacity: Fact[Annotated[Watts, SOME]]
    """Sensible cooling at ``return_temperature``."""
    return_temperature: Fact[Celsius] | None = None
    """Of the air that comes back to it."""
    airflow: Fact[Annotated[CubicFeetPerMinute, SOME]] | None = None
    """Air that it supplies."""
    power: Fact[Watts] | None = None
    """Electrical power that it draws at most."""


class Chiller(Entry):
    """A chiller, cooled by the air outside or by the water of another circuit."""

    kind: Literal["chiller"]
    """Says what the entry is of; its file lies in the folder ``chillers``."""
    capacity: Fact[Annotated[Watts, SOME]]
    """Heat that it takes from the water, at the temperatures that follow and at sea level."""
    supply_temperature: Fact[Celsius] | None = None
    """Coldest water that it supplies at its capacity."""
    outdoor_temperature: Fact[Celsius] | None = None
    """Hottest air at its condenser in which it has its capacity, where it is cooled by air."""
    condenser_temperature: Fact[Celsius] | None = None
    """Warmest water into its condenser with which it has its capacity, where it is cooled by water."""
    power: Fact[Watts] | None = None
    """Most electrical power that it draws, with the fans and pumps in it."""
    restart: Fact[Seconds] | None = None
    """Time from the return of power until it cools in full again."""


class DryCooler(Entry):
    """A dry cooler: a coil with fans that gives the heat of water to the air outside."""

    kind: Literal["dry-cooler"]
    """Says what the entry is of; its file lies in the folder ``dry-coolers``."""
    capacity: Fact[Annotated[Watts, SOME]]
    """Heat that it takes from what flows through it, at the temperatures that follow and at sea level."""
    supply_temperature: Fact[Celsius] | None = None
    """Coldest water that leaves it at its capacity."""
    outdoor_temperature: Fact[Celsius] | None = None
    """Hottest air outside in which it has its capacity."""
    power: Fact[Watts] | None = None
    """Electrical power of its fans at full speed."""


class RearDoor(Entry):
    """A rear door of a rack: a heat exchanger that takes heat from the air behind it into water."""

    kind: Literal["rear-door"]
    """Says what the entry is of; its file lies in the folder ``rear-doors``."""
    capacity: Fact[Annotated[Watts, SOME]] | None = None
    """Heat that it takes from the air at ``difference`` and ``flow``."""
    difference: Fact[Annotated[Kelvin, SOME]] | None = None
    """Air that reaches it minus water that reaches it, at which it has its capacity."""
    flow: Fact[Annotated[LitresPerMinute, Field(gt=0)]] | None = None
    """Water that its maker asks for, at which it has its capacity and its pressure drop."""
    pressure_drop: Fact[Kilopascals] | None = None
    """Between the ends of its hoses at ``flow``."""
    weight: Fact[Kilograms] | None = None
    """Of the door with its water."""
