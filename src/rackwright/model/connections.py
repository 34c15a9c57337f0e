"""Catalogue entries of cables and liquid connectors."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from rackwright.model.field_kinds import LABEL, Claim
from rackwright.model.hardware import LEAST, Count, Entry, Fact
from rackwright.model.units import (
    Celsius,
    GigabitsPerSecond,
    Kilopascals,
    LitresPerMinute,
    Metres,
)


class Cable(Entry):
    """A cable, or a transceiver with its fibre."""

    kind: Annotated[Literal["cable"], LABEL]
    """Kind of the entry; its file is in the folder ``cables``."""
    part: Annotated[str, Claim(looser="either", absent="elsewhere")]
    """Part number to order it by."""
    medium: Annotated[
        Literal["dac", "acc", "aoc", "mmf", "smf"], Claim(looser="either", absent="elsewhere")
    ]
    """Passive or active copper, an active optical cable, or a transceiver for multi- or single-mode fibre."""
    technology: Annotated[
        tuple[Literal["infiniband", "ethernet"], ...], Claim(looser="either", absent="elsewhere")
    ]
    """Network technologies that the cable is made for."""
    rate: Annotated[
        Fact[Annotated[GigabitsPerSecond, LEAST]] | None,
        Claim(looser="either", absent="elsewhere"),
    ] = None
    """Data rate of the whole cable or transceiver, in Gbps: 800 Gbps where it joins two ports of 400
    Gbps at either end."""
    port_rate: Annotated[
        Fact[Annotated[GigabitsPerSecond, LEAST]] | None,
        Claim(looser="higher", absent="elsewhere"),
    ] = None
    """Highest rate of one InfiniBand port through it, in Gbps: four lanes make a port, so a part of eight
    lanes for 800 Gbps takes ports of 400 Gbps at most."""
    reach: Annotated[Fact[Metres], Claim(looser="higher")]
    """Longest distance of a link, in m; on OM4 where the fibre is multi-mode."""
    reach_om3: Annotated[Fact[Metres] | None, Claim(looser="higher", absent="elsewhere")] = None
    """Longest distance of a link on OM3, in m, of a transceiver for multi-mode fibre."""
    diameter: Annotated[
        Fact[Annotated[Metres, Field(ge=0.0005)]] | None, Claim(looser="lower", absent="elsewhere")
    ] = None
    """Diameter of the cable, in m; a transceiver has none."""
    bend_space: Annotated[Fact[Metres] | None, Claim(looser="lower", absent="elsewhere")] = None
    """Space behind the face of a port for the plug and the tightest bend of the cable, in m."""
    joined_ports: Annotated[Count, Claim(looser="either", absent="elsewhere")] = 1
    """Ports at either end that one cable joins; each is a cable of the fabric."""


class Connector(Entry):
    """A liquid quick connector."""

    kind: Annotated[Literal["connector"], LABEL]
    """Kind of the entry; its file is in the folder ``connectors``."""
    flow: Annotated[Fact[LitresPerMinute] | None, Claim(looser="higher", absent="elsewhere")] = None
    """Largest flow of coolant through the connector, in L/min."""
    max_fluid: Annotated[Fact[Celsius] | None, Claim(looser="higher", absent="elsewhere")] = None
    """Warmest coolant that the connector withstands, in °C."""
    max_pressure: Annotated[
        Fact[Kilopascals] | None, Claim(looser="higher", absent="elsewhere")
    ] = None
    """Highest pressure of the coolant that the connector withstands, in kPa."""
