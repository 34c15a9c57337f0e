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
    """Kind of the entry; its file is in the folder ``ups``."""
    rating: Annotated[Fact[Annotated[Watts, SOME]], Claim(looser="higher")]
    """Power that it carries without limit of time at a site no higher than ``max_altitude``, in kW."""
    max_altitude: Annotated[Fact[Metres] | None, Claim(looser="higher")] = None
    """Highest site at which its rating holds, in m."""
    overload: Annotated[Fact[Watts] | None, Claim(looser="higher")] = None
    """Power that it carries for a minute from its supply, not from its batteries, in kW."""
    efficiency: Annotated[
        Fact[Annotated[Percent, Field(gt=0, le=100)]] | None,
        Claim(looser="higher", absent="elsewhere"),
    ] = None
    """Output over input, the lowest at the loads that it may carry, in the mode in which it runs, in %."""
    recharge: Annotated[Fact[Watts] | None, Claim(looser="lower")] = None
    """Most power that it draws beside its load to charge its batteries, in kW."""
    backup: Annotated[Fact[Seconds] | None, Claim(looser="higher")] = None
    """Time for which its batteries carry its rating, in s; unknown where they are bought by themselves."""
    voltage_tolerance: Annotated[
        Fact[Annotated[Percent, Field(le=50)]] | None, Claim(looser="lower")
    ] = None
    """Most deviation of the voltage at its output from the nominal one, up or down, in %."""
    short_circuit_rating: Annotated[Fact[Amperes] | None, Claim(looser="higher")] = None
    """Largest fault current at its inputs that it stands, by its bypass as well, in A."""


class Transformer(Entry):
    """A transformer of three phases."""

    kind: Annotated[Literal["transformer"], LABEL]
    """Kind of the entry; its file is in the folder ``transformers``."""
    rating: Annotated[
        Fact[Annotated[VoltAmperes, SOME]], Claim(looser="either", absent="elsewhere")
    ]
    """Rated power, to which its ``impedance`` refers, at a site no higher than ``max_altitude``, in kVA."""
    max_altitude: Annotated[Fact[Metres] | None, Claim(looser="higher")] = None
    """Highest site at which its rating holds, in m."""
    losses: Annotated[Fact[Watts] | None, Claim(looser="lower", absent="elsewhere")] = None
    """No-load loss and load loss together, at its rating, in kW."""
    impedance: Annotated[
        Fact[Annotated[Percent, Field(gt=0, le=100)]] | None, Claim(looser="either")
    ] = None
    """Short-circuit impedance, as on its plate, in %."""
    voltage: Annotated[
        Fact[Annotated[Volts, SOME]] | None, Claim(looser="either", absent="elsewhere")
    ] = None
    """Nominal voltage at its output in V, line to line."""


class Generator(Entry):
    """A generator set."""

    kind: Annotated[Literal["generator"], LABEL]
    """Kind of the entry; its file is in the folder ``generators``."""
    rating: Annotated[Fact[Annotated[Watts, SOME]], Claim(looser="higher")]
    """Electrical power that it gives to a constant load without limit of time, in kW: continuous or
    data center power of ISO 8528-1, at a site no higher and no hotter than the limits that follow. No
    standby power."""
    max_altitude: Annotated[Fact[Metres] | None, Claim(looser="higher")] = None
    """Highest site at which its rating holds, in m."""
    max_ambient: Annotated[Fact[Celsius] | None, Claim(looser="higher")] = None
    """Hottest air around it at which its rating holds, in °C."""
    step_load: Annotated[Fact[Watts] | None, Claim(looser="higher")] = None
    """Largest load that it takes at once, inside the limits of class G2 of ISO 8528-5 or of a closer
    one, in kW."""
    consumption: Annotated[
        Fact[Annotated[LitresPerMinute, Field(gt=0)]] | None, Claim(looser="lower")
    ] = None
    """Fuel that it burns at its rating, in L/min."""
    voltage_tolerance: Annotated[
        Fact[Annotated[Percent, Field(le=50)]] | None, Claim(looser="lower")
    ] = None
    """Most deviation of the voltage at its output from the nominal one, up or down, in steady state, in %."""


class Cdu(Entry):
    """A coolant distribution unit."""

    kind: Annotated[Literal["cdu"], LABEL]
    """Kind of the entry; its file is in the folder ``cdus``."""
    capacity: Annotated[Fact[Annotated[Watts, SOME]], Claim(looser="higher")]
    """Heat that it takes from its loop, at its ``approach``, in kW."""
    approach: Annotated[Fact[Kelvin] | None, Claim(looser="either", absent="elsewhere")] = None
    """Supply minus facility-water temperature at which ``capacity`` holds, in K."""
    flow: Annotated[
        Fact[Annotated[LitresPerMinute, SOME]] | None, Claim(looser="higher", absent="elsewhere")
    ] = None
    """Rated flow of its pumps to the loop, in L/min."""
    head: Annotated[Fact[Kilopascals] | None, Claim(looser="higher")] = None
    """Pressure that its pumps give to the loop outside of it at ``flow``, in kPa."""
    shutoff_head: Annotated[Fact[Kilopascals] | None, Claim(looser="higher")] = None
    """Pressure that its pumps give to the loop at no flow, in kPa."""
    power: Annotated[Fact[Watts] | None, Claim(looser="lower", absent="elsewhere")] = None
    """Electrical power that it draws at most, in kW; of one in a rack all of it counts as heat in the air."""
    rejects_to: Annotated[Literal["water", "air"], Claim(looser="either", absent="elsewhere")] = (
        "water"
    )
    """Medium that takes the heat of the unit: facility water, or the air around it (liquid to air)."""
    in_rack: Annotated[bool, Claim(looser="either", absent="elsewhere")] = False
    """True if the unit is mounted in the rack that it cools; the fields that follow are about such a unit."""
    height: Annotated[Fact[RackUnits] | None, Claim(looser="lower", absent="elsewhere")] = None
    """Rack units that it takes, in U."""
    weight: Annotated[Fact[Kilograms] | None, Claim(looser="lower", absent="elsewhere")] = None
    """Weight of the unit filled with coolant, in kg."""
    flow_pump_lost: Annotated[Fact[LitresPerMinute] | None, Claim(looser="higher")] = None
    """Flow while one of its pumps is lost, in L/min; 0 where it has a single one."""
    airflow: Annotated[
        Fact[CubicFeetPerMinute] | None, Claim(looser="lower", absent="elsewhere")
    ] = None
    """Air that it draws, in CFM; unknown, it follows from its power and the ``temperature_rise`` of the
    hall's air."""
    power_supplies: Annotated[PowerSupplies | None, Claim(looser="either", absent="elsewhere")] = (
        None
    )
    voltage_min: Annotated[Fact[Volts] | None, Claim(looser="lower", absent="elsewhere")] = None
    """Lowest voltage at its power inlets, in V."""
    voltage_max: Annotated[Fact[Volts] | None, Claim(looser="higher", absent="elsewhere")] = None
    """Highest voltage at its power inlets, in V."""


class AirHandler(Entry):
    """A CRAH, CRAC or fan-wall unit."""

    kind: Annotated[Literal["air-handler"], LABEL]
    """Kind of the entry; its file is in the folder ``air-handlers``."""
    capacity: Annotated[Fact[Annotated[Watts, SOME]], Claim(looser="higher")]
    """Sensible cooling at ``return_temperature``, in kW."""
    return_temperature: Annotated[
        Fact[Celsius] | None, Claim(looser="either", absent="elsewhere")
    ] = None
    """Temperature of the air that returns to the unit, in °C."""
    airflow: Annotated[
        Fact[Annotated[CubicFeetPerMinute, SOME]] | None, Claim(looser="higher", absent="elsewhere")
    ] = None
    """Air that it supplies, in CFM."""
    power: Annotated[Fact[Watts] | None, Claim(looser="lower", absent="elsewhere")] = None
    """Electrical power that it draws at most, in kW."""
    water_temperature: Annotated[Fact[Celsius] | None, Claim(looser="higher")] = None
    """Water into its coil at which it has its capacity, in °C; none for a unit with its own refrigerant."""


class Chiller(Entry):
    """A chiller, cooled by the air outside or by the water of another circuit."""

    kind: Annotated[Literal["chiller"], LABEL]
    """Kind of the entry; its file is in the folder ``chillers``."""
    capacity: Annotated[Fact[Annotated[Watts, SOME]], Claim(looser="higher")]
    """Heat that it takes from the water, at the temperatures that follow and at sea level, in kW."""
    supply_temperature: Annotated[Fact[Celsius] | None, Claim(looser="lower")] = None
    """Coldest water that it supplies at its capacity, in °C."""
    outdoor_temperature: Annotated[Fact[Celsius] | None, Claim(looser="higher")] = None
    """Hottest air at its condenser in which it has its capacity, where it is cooled by air, in °C."""
    condenser_temperature: Annotated[Fact[Celsius] | None, Claim(looser="higher")] = None
    """Warmest water into its condenser with which it has its capacity, where it is cooled by water, in °C."""
    power: Annotated[Fact[Watts] | None, Claim(looser="lower", absent="elsewhere")] = None
    """Most electrical power that it draws, with the fans and pumps in it, in kW."""
    restart: Annotated[Fact[Seconds] | None, Claim(looser="lower")] = None
    """Time from the return of power until it cools in full again, in s."""


class DryCooler(Entry):
    """A dry cooler: a coil with fans that gives the heat of water to the air outside."""

    kind: Annotated[Literal["dry-cooler"], LABEL]
    """Kind of the entry; its file is in the folder ``dry-coolers``."""
    capacity: Annotated[Fact[Annotated[Watts, SOME]], Claim(looser="higher")]
    """Heat that it takes from what flows through it, at the temperatures that follow and at sea level,
    in kW."""
    supply_temperature: Annotated[Fact[Celsius] | None, Claim(looser="lower")] = None
    """Coldest water that leaves it at its capacity, in °C."""
    outdoor_temperature: Annotated[Fact[Celsius] | None, Claim(looser="higher")] = None
    """Hottest air outside in which it has its capacity, in °C."""
    power: Annotated[Fact[Watts] | None, Claim(looser="lower", absent="elsewhere")] = None
    """Electrical power of its fans at full speed, in kW."""


class RearDoor(Entry):
    """A rear door of a rack: a heat exchanger that takes heat from the air behind it into water."""

    kind: Annotated[Literal["rear-door"], LABEL]
    """Kind of the entry; its file is in the folder ``rear-doors``."""
    capacity: Annotated[Fact[Annotated[Watts, SOME]] | None, Claim(looser="higher")] = None
    """Heat that it takes from the air at ``difference`` and ``flow``, in kW."""
    difference: Annotated[Fact[Annotated[Kelvin, SOME]] | None, Claim(looser="lower")] = None
    """Air that reaches it minus water that reaches it, at which it has its capacity, in K."""
    flow: Annotated[
        Fact[Annotated[LitresPerMinute, Field(gt=0)]] | None,
        Claim(looser="either", absent="elsewhere"),
    ] = None
    """Water that its maker asks for, at which it has its capacity and its pressure drop, in L/min."""
    pressure_drop: Annotated[Fact[Kilopascals] | None, Claim(looser="lower")] = None
    """Pressure drop between the ends of its hoses at ``flow``, in kPa."""
    weight: Annotated[Fact[Kilograms] | None, Claim(looser="lower")] = None
    """Weight of the door filled with water, in kg."""
