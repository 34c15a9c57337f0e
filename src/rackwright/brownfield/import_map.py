"""Names of products, roles, places and devices in a source, with those of the blueprint."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated

from pydantic import Field

from rackwright.brownfield.records import Found
from rackwright.model.base import Model

_Text = Annotated[str, Field(min_length=1, max_length=200)]


class ImportMap(Model):
    """A file for ``init --from``."""

    products: dict[_Text, _Text] = {}
    """Ids of the catalogue by the names of products in the source, or ``leave out``."""
    roles: dict[_Text, _Text] = {}
    """Roles of nodes (compute, login, head, storage, management) or tiers of switches by the roles of the source,
    or ``leave out``."""
    names: dict[_Text, _Text] = {}
    """Names of sites, halls, rows, racks, hosts and switches by those in the source."""


def renamed(found: Found, names: Mapping[str, str], used: set[str]) -> Found:
    """Return a file with other names of places and devices; those that it has are added to ``used``.

    Nodes of Slurm stay, since a running cluster has their names.
    """

    def called(name: str) -> str:
        if name in names:
            used.add(name)
        return names.get(name, name)

    devices = []
    for device in found.devices:
        place = device.place
        if place is not None:
            site, hall, row, rack = map(called, (place.site, place.hall, place.row, place.rack))
            place = replace(place, site=site, hall=hall, row=row, rack=rack)
        devices.append(replace(device, names=tuple(map(called, device.names)), place=place))
    networks = tuple(
        replace(
            network,
            switches={called(name): model for name, model in network.switches.items()},
            occupied=frozenset(map(called, network.occupied)),
            cables=tuple(
                replace(cable, device=called(cable.device), far=called(cable.far))
                for cable in network.cables
            ),
        )
        for network in found.networks
    )
    return replace(found, devices=tuple(devices), networks=networks)
