"""Configuration of the switches of a fabric, and the names that operating systems give to ports."""

from __future__ import annotations

import string
from typing import Annotated, Literal, get_args

from pydantic import AfterValidator, Field, model_validator

from rackwright.model.addresses import Address
from rackwright.model.base import Model
from rackwright.model.field_kinds import HARDWARE, PART
from rackwright.model.units import Gibibytes, Percent
from rackwright.model.users import LoginName

SwitchSystem = Literal["cumulus", "eos", "frr", "nvos", "sonic"]
"""Operating systems of switches: Cumulus Linux by NVUE, Arista EOS, Linux with FRR, NVOS, SONiC."""

SYSTEMS: tuple[str, ...] = get_args(SwitchSystem)

PORT_FIELDS = frozenset({"port", "cage", "plug", "part", "lane", "offset"})
"""Parts of a port's name: number of the port, its cage and its place in the cage, all counted from 1;
number of the part of a split port, from 0; first lane counted over all ports from 0; first lane of the
part counted in its port from 1."""


def _check_pattern(text: str) -> str:
    try:
        fields = {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}
    except ValueError as error:
        raise ValueError(f"'{text}' is not a pattern: {error}") from None
    if unknown := sorted(fields - PORT_FIELDS):
        known = ", ".join(sorted(PORT_FIELDS))
        raise ValueError(f"'{{{unknown[0]}}}' in '{text}' is unknown: use {known}")
    return text


PortPattern = Annotated[str, AfterValidator(_check_pattern), Field(max_length=40)]
"""Name of a port with numbers in braces, like ``swp{port}s{part}``."""


class EcnMarking(Model):
    """Queue lengths at which switches mark RDMA packets as having met congestion."""

    begin: Annotated[Gibibytes, Field(gt=0), HARDWARE]
    """Queue length from which some packets are marked, like ``150 KiB``."""
    end: Annotated[Gibibytes, Field(gt=0), HARDWARE]
    """Queue length from which all packets are marked, like ``1500 KiB``."""
    probability: Annotated[Percent, Field(gt=0, le=100), HARDWARE]
    """Share of the packets that are marked just below ``end``, in %."""

    @model_validator(mode="after")
    def _ends_after_its_beginning(self) -> EcnMarking:
        if self.end <= self.begin:
            raise ValueError("'end' must be a longer queue than 'begin'")
        return self


class Switching(Model):
    """Configuration of a fabric's switches, from which ``render`` writes the files of each switch."""

    system: Annotated[SwitchSystem, HARDWARE]
    """Operating system of the switches, unless their tier names another one."""
    evpn: Annotated[bool, HARDWARE] = False
    """True if a VLAN reaches several leaves through VXLAN tunnels (BGP EVPN). False ends each VLAN at
    its leaf."""
    vni_base: Annotated[int, Field(ge=0, le=2**24 - 1 - 4094), HARDWARE] = 10_000
    """Number that is added to that of a VLAN to make its VXLAN number. 10000 if omitted."""
    ecn_marking: Annotated[EcnMarking | None, PART] = None
    """Marking of congestion. Cumulus Linux marks as its RoCE profile does if omitted; SONiC and EOS need
    it where ``ecn`` is true."""
    log_servers: Annotated[tuple[Address, ...], Field(max_length=8), HARDWARE] = ()
    """Servers that the switches send their system logs to. Logs stay on the switches if omitted."""
    administrators: Annotated[tuple[LoginName, ...], Field(max_length=50), HARDWARE] = ()
    """Accounts of ``users`` whose public keys let them in as administrators of the switches."""
    ztp_url: Annotated[
        str | None, Field(pattern=r"^https?://[A-Za-z0-9.:\[\]-]+(/[A-Za-z0-9._-]+)*$"), HARDWARE
    ] = None
    """URL at which the rendered folder ``switches`` is served when switches boot for the first time. No
    files for zero-touch provisioning are written if omitted."""
