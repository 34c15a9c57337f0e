"""Catalogue entries of what powers and cools a site: UPSs to rear doors."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from rackwright.model.hardware import SOME, Entry, Fact
from rackwright.model.units import (
    Amperes,
    Celsius,
    Kelvin,
    Kilograms,
    Kilopascals,
    LitresPerMinute,
    Metres,
    Percent,
    Seconds,
    VoltAmperes,
    Volts,
    Watts,
)


class Ups(Entry):
    """A UPS, or one of several that share their load, with its batteries."""

    kind: Literal["ups"]
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


class Chiller(Entry):
    """A chiller, cooled by the air outside or by the water of another circuit."""

    kind: Literal["chiller"]
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
