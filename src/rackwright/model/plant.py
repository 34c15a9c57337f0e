"""Catalogue entries of what powers and cools a site: UPSs to rear doors."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from rackwright.model.field_kinds import LABEL, Claim
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

    kind: Annotated[Literal["ups"], LABEL]
    """Says what the entry is of; its file lies in the folder ``ups``."""
    rating: Annotated[Fact[Annotated[Watts, SOME]], Claim(looser="higher")]
    """Power that it carries without limit of time at a site no higher than ``max_altitude``."""
    max_altitude: Annotated[Fact[Metres] | None, Claim(looser="higher")] = None
    """Highest site at which its rating holds."""
    overload: Annotated[Fact[Watts] | None, Claim(looser="higher")] = None
    """Power that it carries for a minute from its supply, not from its batteries."""
    efficiency: Annotated[
        Fact[Annotated[Percent, Field(gt=0, le=100)]] | None,
        Claim(looser="higher", absent="elsewhere"),
    ] = None
    """Output over input, the lowest at the loads that it may carry, in the mode in which it runs."""
    recharge: Annotated[Fact[Watts] | None, Claim(looser="lower")] = None
    """Most power that it draws beside its load to charge its batteries."""
    backup: Annotated[Fact[Seconds] | None, Claim(looser="higher")] = None
    """Time for which its batteries carry its rating; unknown where they are bought by themselves."""
    voltage_tolerance: Annotated[
        Fact[Annotated[Percent, Field(le=50)]] | None, Claim(looser="lower")
    ] = None
    """Most deviation of the voltage at its output from the nominal one, up or down."""
    short_circuit_rating: Annotated[Fact[Amperes] | None, Claim(looser="higher")] = None
    """Largest fault current at its inputs that it stands, by its bypass as well."""


class Transformer(Entry):
    """A transformer of three phases."""

    kind: Annotated[Literal["transformer"], LABEL]
    """Says what the entry is of; its file lies in the folder ``transformers``."""
    rating: Annotated[
        Fact[Annotated[VoltAmperes, SOME]], Claim(looser="either", absent="elsewhere")
    ]
    """Rated power, to which its ``impedance`` refers, at a site no higher than ``max_altitude``."""
    max_altitude: Annotated[Fact[Metres] | None, Claim(looser="higher")] = None
    """Highest site at which its rating holds."""
    losses: Annotated[Fact[Watts] | None, Claim(looser="lower", absent="elsewhere")] = None
    """No-load loss and load loss together, at its rating."""
    impedance: Annotated[
        Fact[Annotated[Percent, Field(gt=0, le=100)]] | None, Claim(looser="higher")
    ] = None
    """Short-circuit impedance, as on its plate."""
    voltage: Annotated[
        Fact[Annotated[Volts, SOME]] | None, Claim(looser="either", absent="elsewhere")
    ] = None
    """Nominal, line to line, at its output."""


class Generator(Entry):
    """A generator set."""

    kind: Annotated[Literal["generator"], LABEL]
    """Says what the entry is of; its file lies in the folder ``generators``."""
    rating: Annotated[Fact[Annotated[Watts, SOME]], Claim(looser="higher")]
    """Electrical power that it gives to a constant load without limit of time: continuous or data center
    power of ISO 8528-1, at a site no higher and no hotter than the limits that follow. No standby power."""
    max_altitude: Annotated[Fact[Metres] | None, Claim(looser="higher")] = None
    """Highest site at which its rating holds."""
    max_ambient: Annotated[Fact[Celsius] | None, Claim(looser="higher")] = None
    """Hottest air around it at which its rating holds."""
    step_load: Annotated[Fact[Watts] | None, Claim(looser="higher")] = None
    """Largest load that it takes at once, inside the limits of class G2 of ISO 8528-5 or of a closer one."""
    consumption: Annotated[
        Fact[Annotated[LitresPerMinute, Field(gt=0)]] | None, Claim(looser="lower")
    ] = None
    """Fuel that it burns at its rating."""
    voltage_tolerance: Annotated[
        Fact[Annotated[Percent, Field(le=50)]] | None, Claim(looser="lower")
    ] = None
    """Most deviation of the voltage at its output from the nominal one, up or down, in steady state."""


class Cdu(Entry):
    """A coolant distribution unit."""

    kind: Annotated[Literal["cdu"], LABEL]
    """Says what the entry is of; its file lies in the folder ``cdus``."""
    capacity: Annotated[Fact[Annotated[Watts, SOME]], Claim(looser="higher")]
    """Heat that it takes from its loop, at its ``approach``."""
    approach: Annotated[Fact[Kelvin] | None, Claim(looser="either", absent="elsewhere")] = None
    """Supply minus facility-water temperature at which ``capacity`` holds."""
    flow: Annotated[
        Fact[Annotated[LitresPerMinute, SOME]] | None, Claim(looser="higher", absent="elsewhere")
    ] = None
    """Rated flow of its pumps to the loop."""
    head: Annotated[Fact[Kilopascals] | None, Claim(looser="higher")] = None
    """Pressure that its pumps give to the loop outside of it, at ``flow``."""
    shutoff_head: Annotated[Fact[Kilopascals] | None, Claim(looser="higher")] = None
    """The same at no flow."""
    power: Annotated[Fact[Watts] | None, Claim(looser="lower", absent="elsewhere")] = None
    """Electrical power that it draws at most; of one in a rack all of it counts as heat in the air."""
    in_rack: Annotated[bool, Claim(looser="either", absent="elsewhere")] = False
    """It is mounted in the rack that it cools; what follows is of such a one."""
    height: Annotated[Fact[RackUnits] | None, Claim(looser="lower", absent="elsewhere")] = None
    """Rack units that it takes."""
    weight: Annotated[Fact[Kilograms] | None, Claim(looser="lower", absent="elsewhere")] = None
    """With its coolant."""
    flow_pump_lost: Annotated[Fact[LitresPerMinute] | None, Claim(looser="higher")] = None
    """Flow while one of its pumps is lost; 0 where it has a single one."""
    airflow: Annotated[
        Fact[CubicFeetPerMinute] | None, Claim(looser="lower", absent="elsewhere")
    ] = None
    """Air that it draws; unknown, it follows from its power and the ``temperature_rise`` of the hall's air."""
    power_supplies: Annotated[PowerSupplies | None, Claim(looser="either", absent="elsewhere")] = (
        None
    )
    voltage_min: Annotated[Fact[Volts] | None, Claim(looser="lower", absent="elsewhere")] = None
    """Lowest voltage at its power inlets."""
    voltage_max: Annotated[Fact[Volts] | None, Claim(looser="higher", absent="elsewhere")] = None
    """Highest voltage at its power inlets."""


class AirHandler(Entry):
    """A CRAH, CRAC or fan-wall unit."""

    kind: Annotated[Literal["air-handler"], LABEL]
    """Says what the entry is of; its file lies in the folder ``air-handlers``."""
    capacity: Annotated[Fact[Annotated[Watts, SOME]], Claim(looser="higher")]
    """Sensible cooling at ``return_temperature``."""
    return_temperature: Annotated[
        Fact[Celsius] | None, Claim(looser="either", absent="elsewhere")
    ] = None
    """Of the air that comes back to it."""
    airflow: Annotated[
        Fact[Annotated[CubicFeetPerMinute, SOME]] | None, Claim(looser="higher", absent="elsewhere")
    ] = None
    """Air that it supplies."""
    power: Annotated[Fact[Watts] | None, Claim(looser="lower", absent="elsewhere")] = None
    """Electrical power that it draws at most."""


class Chiller(Entry):
    """A chiller, cooled by the air outside or by the water of another circuit."""

    kind: Annotated[Literal["chiller"], LABEL]
    """Says what the entry is of; its file lies in the folder ``chillers``."""
    capacity: Annotated[Fact[Annotated[Watts, SOME]], Claim(looser="higher")]
    """Heat that it takes from the water, at the temperatures that follow and at sea level."""
    supply_temperature: Annotated[Fact[Celsius] | None, Claim(looser="lower")] = None
    """Coldest water that it supplies at its capacity."""
    outdoor_temperature: Annotated[Fact[Celsius] | None, Claim(looser="higher")] = None
    """Hottest air at its condenser in which it has its capacity, where it is cooled by air."""
    condenser_temperature: Annotated[Fact[Celsius] | None, Claim(looser="higher")] = None
    """Warmest water into its condenser with which it has its capacity, where it is cooled by water."""
    power: Annotated[Fact[Watts] | None, Claim(looser="lower", absent="elsewhere")] = None
    """Most electrical power that it draws, with the fans and pumps in it."""
    restart: Annotated[Fact[Seconds] | None, Claim(looser="lower")] = None
    """Time from the return of power until it cools in full again."""


class DryCooler(Entry):
    """A dry cooler: a coil with fans that gives the heat of water to the air outside."""

    kind: Annotated[Literal["dry-cooler"], LABEL]
    """Says what the entry is of; its file lies in the folder ``dry-coolers``."""
    capacity: Annotated[Fact[Annotated[Watts, SOME]], Claim(looser="higher")]
    """Heat that it takes from what flows through it, at the temperatures that follow and at sea level."""
    supply_temperature: Annotated[Fact[Celsius] | None, Claim(looser="lower")] = None
    """Coldest water that leaves it at its capacity."""
    outdoor_temperature: Annotated[Fact[Celsius] | None, Claim(looser="higher")] = None
    """Hottest air outside in which it has its capacity."""
    power: Annotated[Fact[Watts] | None, Claim(looser="lower", absent="elsewhere")] = None
    """Electrical power of its fans at full speed."""


class RearDoor(Entry):
    """A rear door of a rack: a heat exchanger that takes heat from the air behind it into water."""

    kind: Annotated[Literal["rear-door"], LABEL]
    """Says what the entry is of; its file lies in the folder ``rear-doors``."""
    capacity: Annotated[Fact[Annotated[Watts, SOME]] | None, Claim(looser="higher")] = None
    """Heat that it takes from the air at ``difference`` and ``flow``."""
    difference: Annotated[Fact[Annotated[Kelvin, SOME]] | None, Claim(looser="lower")] = None
    """Air that reaches it minus water that reaches it, at which it has its capacity."""
    flow: Annotated[
        Fact[Annotated[LitresPerMinute, Field(gt=0)]] | None,
        Claim(looser="either", absent="elsewhere"),
    ] = None
    """Water that its maker asks for, at which it has its capacity and its pressure drop."""
    pressure_drop: Annotated[Fact[Kilopascals] | None, Claim(looser="lower")] = None
    """Between the ends of its hoses at ``flow``."""
    weight: Annotated[Fact[Kilograms] | None, Claim(looser="lower")] = None
    """Of the door with its water."""
