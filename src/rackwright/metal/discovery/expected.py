"""Planned machines of a blueprint, one for each host of a site."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from rackwright.brownfield.products import letters
from rackwright.errors import UsageError
from rackwright.model.addresses import split_span
from rackwright.model.hardware import Node
from rackwright.model.provisioning import MOST_CONTROLLERS, Provisioning
from rackwright.plan.expansion import SitePlan
from rackwright.plan.host_list import Host
from rackwright.plan.model import Plan


@dataclass(frozen=True, slots=True)
class ExpectedMachine:
    """Planned machine of one host.

    Attributes:
        host: name of the host.
        group: node group of the host.
        rack: rack of the machine.
        product: catalogue id of the product.
        models: names of the product without spaces and punctuation, like ``dgxh100``.
        bmc: address of the controller; None if the blueprint has none.
        bmc_mac: Ethernet address of the controller; None if unknown.
        mac: Ethernet address that the machine boots from; None if unknown.
        serial: serial number; None if unknown.
        accelerators: number of GPUs; None if unknown.
        firmware: planned version by component.
    """

    host: str
    group: str
    rack: str
    product: str
    models: frozenset[str]
    bmc: str | None
    bmc_mac: str | None
    mac: str | None
    serial: str | None
    accelerators: int | None
    firmware: Mapping[str, str] = field(default_factory=dict)


def expected_machines(plan: Plan, site: SitePlan) -> tuple[ExpectedMachine, ...]:
    """Return the machines of a site, in the order of the blueprint."""
    provisioning = site.provisioning
    serials = {} if provisioning is None else provisioning.serials
    operations = plan.operations
    firmware: dict[str, dict[str, str]] = {
        one.type: {str(part): version for part, version in one.versions.items()}
        for one in (operations.firmware if operations else ())
    }
    own: dict[str, tuple[str, str | None]] = {}
    macs: dict[str, str] = {}
    for network in plan.names.networks:
        if network.site != site.name or network.kind == "fabric":
            continue
        for one in network.addresses():
            if network.kind == "bmc":
                own[one.owner] = (str(one.address), one.mac)
            elif one.mac is not None:
                macs[one.owner] = one.mac
    products = {group.name: group.product for group in site.groups}
    return tuple(
        _machine(host, products[host.group], own, macs, serials, firmware.get(host.hardware, {}))
        for host in plan.hosts
        if host.site == site.name
    )


def _machine(
    host: Host,
    product: Node,
    own: Mapping[str, tuple[str, str | None]],
    macs: Mapping[str, str],
    serials: Mapping[str, str],
    firmware: Mapping[str, str],
) -> ExpectedMachine:
    address, mac = own.get(host.name, (None, None))
    names = (product.id, product.name, f"{product.vendor} {product.name}")
    return ExpectedMachine(
        host=host.name,
        group=host.group,
        rack="" if host.place is None else host.place.rack,
        product=product.id,
        models=frozenset(map(letters, names)),
        bmc=address,
        bmc_mac=mac,
        mac=macs.get(host.name),
        serial=serials.get(host.name),
        accelerators=None if host.equipment is None else host.equipment.accelerators,
        firmware=dict(firmware),
    )


def bmc_addresses(plan: Plan, site: SitePlan, ranges: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Return the addresses at which the controllers of a site are searched.

    Args:
        plan: plan of the blueprint.
        site: plan of the site.
        ranges: address ranges instead of those of the blueprint; those of the blueprint if empty.

    Raises:
        UsageError: there are no addresses, or too many.
    """
    provisioning = site.provisioning
    spans = ranges or (() if provisioning is None else provisioning.bmc.ranges)
    if spans:
        found = _spread(spans)
    else:
        found = [
            str(part.address(index))
            for network in plan.names.networks
            if network.site == site.name and network.kind == "bmc"
            for part in network.ranges
            if not part.is_switches
            for index in range(part.count)
        ]
    if not found:
        raise UsageError(
            f"the site '{site.name}' has no addresses of management controllers",
            hint="give --range, 'provisioning.bmc.ranges', or a network of kind 'bmc' in 'addresses'",
        )
    if len(found) > MOST_CONTROLLERS:
        raise UsageError(
            f"{len(found):,} addresses are too many: the limit is {MOST_CONTROLLERS:,}",
            hint="give --range",
        )
    return tuple(found)


def _spread(spans: tuple[str, ...]) -> list[str]:
    """Return every address of ranges.

    Raises:
        UsageError: an item is not a range, or the ranges have too many addresses.
    """
    found: list[str] = []
    for span in spans:
        try:
            first, last = split_span(span)
        except ValueError as error:
            raise UsageError(f"'{span}' is not a range of addresses: {error}") from None
        if int(last) - int(first) + len(found) >= MOST_CONTROLLERS:
            raise UsageError(f"'{span}' has too many addresses: the limit is {MOST_CONTROLLERS:,}")
        found += [str(first + number) for number in range(int(last) - int(first) + 1)]
    return found


def provisioning_of(site: SitePlan) -> Provisioning:
    """Return the provisioning settings of a site.

    Raises:
        UsageError: the blueprint has none.
    """
    if site.provisioning is None:
        raise UsageError(
            f"the site '{site.name}' has no 'provisioning'",
            hint="add 'provisioning' with 'bmc', the access to its management controllers: docs/bare-metal.md",
        )
    return site.provisioning
