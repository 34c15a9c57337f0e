"""Configurations of all switches of a plan, or every reason why they cannot be written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Interface, IPv6Interface, ip_interface
from typing import Any

from rackwright.harmless import counted
from rackwright.model.hardware import Switch
from rackwright.model.switching import Switching, SwitchSystem
from rackwright.plan.base import Path
from rackwright.plan.expansion import Expansion, SitePlan
from rackwright.plan.fabric.cables import Wire, wires
from rackwright.plan.fabric.fabrics import FabricPlan
from rackwright.plan.fabric.layout import Hosts, Layout, port_rate
from rackwright.plan.problems import PlanError, PlanProblem
from rackwright.plan.records.names import NamePlan, PlannedNetwork
from rackwright.plan.switches.numbers import asn_of, loopback_of, number_problems
from rackwright.plan.switches.ports import PortNaming, port_naming, systems_of
from rackwright.plan.switches.records import (
    VXLAN_HEADERS,
    Administrator,
    RoceQueue,
    SwitchConfig,
    SwitchPeer,
    SwitchPort,
    SwitchVlan,
)
from rackwright.plan.switches.vlans import HostVlans, host_vlans, vlan_problems

_LARGEST_MTU = {"cumulus": 9216, "sonic": 9216}
"""Largest MTU in bytes that NVUE and SONiC's model of ports accept."""
_EOS_KEYS = 2
"""Public keys that EOS takes of one account."""
_CUMULUS_PRIORITY = 3
"""Priority that the RoCE profile of Cumulus Linux makes lossless."""


def plan_switches(plan: Expansion, names: NamePlan) -> tuple[SwitchConfig, ...]:
    """Return the configuration of every switch of the fabrics with ``switching``, tier by tier.

    Raises:
        PlanError: something that the configurations need is missing, unknown or given twice.
    """
    problems: list[PlanProblem] = []
    made: list[SwitchConfig] = []
    for site in plan.onprem:
        for planned in site.fabrics:
            if planned.fabric.switching is None:
                continue
            networks = [one for one in names.networks if one.site == site.name]
            found = list(_problems(plan, site, planned, networks, planned.fabric.switching))
            problems += found
            if not found and planned.layout is not None:
                configured = _Fabric(
                    plan, names, site, planned, planned.layout, planned.fabric.switching
                )
                found = list(configured.problems())
                problems += found
                if not found and not problems:
                    made += configured.switches()
    if problems:
        raise PlanError(problems)
    return tuple(made)


def system_of(planned: FabricPlan, tier: int, switching: Switching) -> SwitchSystem:
    """Return the operating system of the switches of a tier."""
    return planned.fabric.tiers[tier].system or switching.system


def _problems(
    plan: Expansion,
    site: SitePlan,
    planned: FabricPlan,
    networks: Sequence[PlannedNetwork],
    switching: Switching,
) -> Iterator[PlanProblem]:
    """Yield what keeps a fabric from being configured, before its ports are looked at."""
    path, fabric = (*planned.path, "switching"), planned.fabric
    layout = planned.layout
    if layout is None:
        message = f"no node group is attached to the fabric '{planned.name}'"
        yield PlanProblem(planned.path, message, "declare 'attached' in the fabric")
        return
    for index, tier in enumerate(fabric.tiers):
        yield from _product_problem(site, planned, index, switching)
        place = (*planned.path, "tiers", index) if tier.system is not None else path
        system = system_of(planned, index, switching)
        if (layout.tiers[index].technology == "infiniband") != (system == "nvos"):
            noun = "InfiniBand" if layout.tiers[index].technology == "infiniband" else "Ethernet"
            other = "nvos" if noun == "InfiniBand" else "cumulus, eos, frr or sonic"
            message = f"'{tier.name}' is of {noun} switches, which '{system}' is not for"
            yield PlanProblem((*place, "system"), message, f"use {other}")
    if routed(layout):
        yield from number_problems(planned, site.fabrics, networks)
    elif switching.evpn:
        message = f"tunnels go over BGP, and the switches of '{planned.name}' have no links or are InfiniBand"
        yield PlanProblem((*path, "evpn"), message, "leave out 'evpn'")
    if any(layout.unplaced):
        message = f"{sum(layout.unplaced)} hosts of the fabric '{planned.name}' have no port"
        yield PlanProblem(planned.path, message, "'rackwright check' says why: NET-001 and NET-010")
    yield from _roce_problems(planned, switching)
    if not planned.is_infiniband:
        yield from _mtu_problems(planned, switching)
    users = plan.users.accounts if plan.users is not None else ()
    known = {one.name for one in users if not one.removed}
    keys = {one.name: len(one.keys) for one in users}
    systems = {system_of(planned, index, switching) for index in range(len(fabric.tiers))}
    for index, name in enumerate(switching.administrators):
        if "eos" in systems and keys.get(name, 0) > _EOS_KEYS:
            message = f"'{name}' has {keys[name]} keys, and EOS takes {_EOS_KEYS} of an account"
            hint = "give the account no more keys, or name others"
            yield PlanProblem((*path, "administrators", index), message, hint)
        if name not in known:
            message = f"'{name}' is not an account of 'users'"
            yield PlanProblem((*path, "administrators", index), message, "declare it in 'users'")


def _mtu_problems(planned: FabricPlan, switching: Switching) -> Iterator[PlanProblem]:
    """Yield an MTU that is larger than the switches accept, tunnels included."""
    mtu = planned.fabric.mtu
    added = VXLAN_HEADERS if switching.evpn and planned.layout and routed(planned.layout) else 0
    for index, tier in enumerate(planned.fabric.tiers):
        system = system_of(planned, index, switching)
        limit = _LARGEST_MTU.get(system)
        if mtu is None or limit is None or mtu + added <= limit:
            continue
        tunnels = f" and {added} bytes of VXLAN" if added else ""
        message = f"an MTU of {mtu}{tunnels} is more than the {limit} bytes that '{system}' of '{tier.name}' takes"
        yield PlanProblem((*planned.path, "mtu"), message, f"set 'mtu' to {limit - added} or less")
        return


def routed(layout: Layout) -> bool:
    """Return True if the switches of a fabric have BGP sessions."""
    return layout.technology == "ethernet" and bool(layout.links)


def _product_problem(
    site: SitePlan, planned: FabricPlan, index: int, switching: Switching
) -> Iterator[PlanProblem]:
    tier = planned.fabric.tiers[index]
    product = site.catalogue.get(Switch, tier.type)
    system = system_of(planned, index, switching)
    laid_out = planned.layout and planned.layout.tiers[index]
    if laid_out and port_naming(laid_out, product, system) is None:
        known = systems_of(product)
        split = system in known
        field = "'split_port'" if split else f"'port_names' with 'system: {system}'"
        noun = "parts of split ports" if split else "ports"
        message = f"the catalogue does not name the {noun} of '{tier.type}' in '{system}'"
        choice = f", or choose {' or '.join(s for s in known if s != system)}" if known else ""
        hint = f"add {field} to the product '{tier.type}'{'' if split else choice}"
        yield PlanProblem((*planned.path, "tiers", index, "type"), message, hint)


def _roce_problems(planned: FabricPlan, switching: Switching) -> Iterator[PlanProblem]:
    fabric, path = planned.fabric, planned.path
    if not (fabric.pfc or fabric.ecn) or planned.is_infiniband:
        return
    if fabric.roce is None:
        message = "'pfc' and 'ecn' are for the traffic of 'roce', which is not set"
        yield PlanProblem(
            path, message, "set 'roce' to the code point and priority of RDMA packets"
        )
        return
    systems = {system_of(planned, index, switching) for index in range(len(fabric.tiers))}
    marked = sorted(systems & {"eos", "sonic"})
    if fabric.ecn and marked and switching.ecn_marking is None:
        message = f"'ecn' is on, and '{marked[0]}' has no queue lengths to mark packets at"
        hint = "set 'ecn_marking' to those that the maker of the switch recommends"
        yield PlanProblem((*path, "switching"), message, hint)
    if "cumulus" not in systems:
        return
    if fabric.roce.priority != _CUMULUS_PRIORITY or fabric.roce.dscp // 8 != _CUMULUS_PRIORITY:
        message = (
            f"the RoCE profile of Cumulus Linux is for priority 3 and the code points 24 to 31, not "
            f"priority {fabric.roce.priority} and {fabric.roce.dscp}"
        )
        yield PlanProblem((*path, "roce"), message, "use priority 3 and code point 26")


def _lower(wire: Wire) -> str:
    return f"{wire.lower} port {wire.lower_port}"


@dataclass
class _Fabric:
    """A fabric whose switches are configured."""

    plan: Expansion
    names: NamePlan
    site: SitePlan
    planned: FabricPlan
    layout: Layout
    switching: Switching

    def __post_init__(self) -> None:
        self.namings: dict[str, PortNaming] = {}
        self.tier_of: dict[str, tuple[int, int]] = {}
        for index, tier in enumerate(self.layout.tiers):
            product = self.site.catalogue.get(Switch, tier.type)
            naming = port_naming(tier, product, system_of(self.planned, index, self.switching))
            if naming is None:  # _problems() has told it
                continue
            for number, name in enumerate(tier.names()):
                self.namings[name] = naming
                self.tier_of[name] = index, number
        self.networks = [one for one in self.names.networks if one.site == self.site.name]
        fabric = self.layout.fabric.name
        of_fabric = [one for one in self.networks if one.fabric == fabric]
        self.vlans: HostVlans = host_vlans(self.layout, of_fabric, self.planned.path)
        self.cables = tuple(wires(self.layout))

    def problems(self) -> Iterator[PlanProblem]:
        """Yield ports that a switch does not have, and VLANs that are missing or reach too far."""
        taken: dict[tuple[str, int], Wire] = {}
        for wire in self.cables:
            ends = [(wire.upper, wire.upper_port)]
            if wire.lower in self.namings:
                ends.append((wire.lower, wire.lower_port))
            for end in ends:
                if (problem := self._port_problem(end, wire, taken)) is not None:
                    yield problem
                    return
        if self.layout.technology == "ethernet":
            yield from vlan_problems(
                self.vlans, evpn=self.switching.evpn, linked=routed(self.layout)
            )

    def _port_problem(
        self, end: tuple[str, int], wire: Wire, taken: dict[tuple[str, int], Wire]
    ) -> PlanProblem | None:
        name, number = end
        naming = self.namings.get(name)
        path = self._patch_path(wire) or self.planned.path
        if naming is None:
            return PlanProblem(path, f"there is no switch '{name}'", "name a switch of the fabric")
        if number > naming.count:
            message = (
                f"'{name}' has {counted(naming.count, 'port')}, and a cable is in port {number}"
            )
            hint = "'rackwright check' says why: NET-001 and NET-010"
            return PlanProblem(
                path, message, "name a port that it has" if path[-2:-1] == ("patches",) else hint
            )
        other = taken.setdefault(end, wire)
        if other is not wire:
            path = self._patch_path(other) or path
            message = f"two cables are in port {number} of '{name}': from {_lower(other)} and {_lower(wire)}"
            return PlanProblem(path, message, "give each a port of its own")
        return None

    def _patch_path(self, wire: Wire) -> Path | None:
        for index, patch in enumerate(self.layout.fabric.patches):
            if (patch.node, patch.interface) == (wire.lower, wire.lower_port):
                return (*self.planned.path, "patches", index)
        return None

    def switches(self) -> Iterator[SwitchConfig]:
        """Yield the configuration of each switch, tier by tier."""
        ports: dict[str, list[SwitchPort]] = {name: [] for name in self.namings}
        hosts = {name: h for h in self.layout.hosts for name in h.names}
        for wire in self.cables:
            upper = (wire.upper, wire.upper_port)
            if wire.lower in self.namings:
                lower = (wire.lower, wire.lower_port)
                rate = self._link_rate(wire)
                ports[wire.upper].append(self._to_switch(upper, lower, rate))
                ports[wire.lower].append(self._to_switch(lower, upper, rate))
            else:
                ports[wire.upper].append(self._to_host(upper, wire, hosts[wire.lower]))
        common = self._common()
        for name, made in ports.items():
            made.sort(key=lambda port: port.number)
            yield self._switch(name, tuple(made), common)

    def _link_rate(self, wire: Wire) -> float:
        lower = self.layout.tiers[self.tier_of[wire.lower][0]]
        upper = self.layout.tiers[self.tier_of[wire.upper][0]]
        return min(lower.up_rate if lower.uplinks else lower.rate, upper.rate)

    def _to_switch(self, end: tuple[str, int], far: tuple[str, int], gbps: float) -> SwitchPort:
        mtu = self.layout.fabric.mtu
        if mtu is not None and self.switching.evpn:
            mtu += VXLAN_HEADERS
        name = self.namings[far[0]].name(far[1])
        return self._port(end, far[0], name, gbps, mtu, None, to_switch=True)

    def _to_host(self, end: tuple[str, int], wire: Wire, hosts: Hosts) -> SwitchPort:
        rate = port_rate(hosts)
        own = self.layout.tiers[0].rate
        networks = self.vlans.ports.get(end, ())
        vlan = networks[0].vlan if networks else None
        index = hosts.port_of(wire.lower_port - 1)
        named = hosts.port is not None and hosts.parts == 1 and index < len(hosts.port.names)
        far_port = hosts.port.names[index] if named and hosts.port else f"port {wire.lower_port}"
        gbps = None if rate is None else min(rate, own)
        mtu = self.layout.fabric.mtu
        return self._port(end, wire.lower, far_port, gbps, mtu, vlan, to_switch=False)

    def _port(
        self,
        end: tuple[str, int],
        far: str,
        far_port: str,
        gbps: float | None,
        mtu: int | None,
        vlan: int | None,
        *,
        to_switch: bool,
    ) -> SwitchPort:
        naming, number = self.namings[end[0]], end[1]
        physical, part, parts = naming.place(number)
        return SwitchPort(
            number=number,
            name=naming.name(number),
            physical=physical,
            part=part,
            parts=parts,
            lanes=naming.lanes(number),
            far=far,
            far_port=far_port,
            gbps=gbps,
            mtu=mtu,
            vlan=vlan,
            to_switch=to_switch,
        )

    def _common(self) -> Mapping[str, Any]:
        """Return what all switches of the fabric have in common."""
        plan, switching, fabric = self.plan, self.switching, self.layout.fabric
        settings = plan.operations.settings_of(self.site.name) if plan.operations else None
        zone = next((zone for zone in self.names.zones if zone.site == self.site.name), None)
        keys = {} if plan.users is None else {one.name: one.keys for one in plan.users.accounts}
        roce = None
        if fabric.roce is not None and self.layout.technology == "ethernet":
            marking = switching.ecn_marking if fabric.ecn else None
            roce = RoceQueue(
                dscp=fabric.roce.dscp,
                priority=fabric.roce.priority,
                pfc=bool(fabric.pfc),
                ecn=bool(fabric.ecn),
                marking=marking,
            )
        return {
            "domain": None if zone is None else zone.domain,
            "name_servers": tuple(
                str(a) for found in (zone.servers.values() if zone else ()) for a in found
            ),
            "time_servers": () if settings is None else settings.time_servers,
            "log_servers": switching.log_servers,
            "administrators": tuple(
                Administrator(name=name, keys=keys[name]) for name in switching.administrators
            ),
            "roce": roce,
            "adaptive_routing": bool(fabric.adaptive_routing) and routed(self.layout),
            "ztp_url": switching.ztp_url,
        }

    def _switch(
        self, name: str, ports: tuple[SwitchPort, ...], common: Mapping[str, Any]
    ) -> SwitchConfig:
        index, number = self.tier_of[name]
        tier = self.layout.tiers[index]
        speaks = routed(self.layout)
        address, gateway = self._management(tier.prefix, number)
        return SwitchConfig(
            site=self.site.name,
            fabric=self.layout.fabric.name,
            tier=tier.name,
            name=name,
            product=tier.type,
            system=system_of(self.planned, index, self.switching),
            asn=asn_of(self.planned, index, number) if speaks else None,
            router_id=loopback_of(self.planned, index, number) if speaks else None,
            management=address,
            gateway=gateway,
            ports=ports,
            vlans=self._vlans(name),
            peers=tuple(self._peers(ports)) if speaks else (),
            evpn=self.switching.evpn and speaks,
            **common,
        )

    def _peers(self, ports: Sequence[SwitchPort]) -> Iterator[SwitchPeer]:
        for far in dict.fromkeys(port.far for port in ports if port.to_switch):
            index, number = self.tier_of[far]
            asn = asn_of(self.planned, index, number)
            router_id = loopback_of(self.planned, index, number)
            if asn is None or router_id is None:  # number_problems() has told it
                continue
            yield SwitchPeer(name=far, asn=asn, router_id=router_id)

    def _vlans(self, name: str) -> tuple[SwitchVlan, ...]:
        by_number: dict[int, list[Any]] = {}
        for network in self.vlans.leaves.get(name, ()):
            if network.vlan is not None:
                by_number.setdefault(network.vlan, []).append(network)
        return tuple(
            SwitchVlan(
                number=number,
                name=found[0].name,
                vni=(
                    self.switching.vni_base + number
                    if self.switching.evpn and not found[0].racks and routed(self.layout)
                    else None
                ),
                gateways=tuple(one.gateway for one in found if one.gateway is not None),
            )
            for number, found in sorted(by_number.items())
        )

    def _management(
        self, stem: str, number: int
    ) -> tuple[IPv4Interface | IPv6Interface | None, str | None]:
        """Return the address of the management port of a switch and its router."""
        network: PlannedNetwork
        for network in self.networks:
            if network.kind == "fabric":
                continue
            for one in network.ranges:
                if one.is_switches and one.of == stem:
                    address = ip_interface(f"{one.address(number)}/{network.prefix.prefixlen}")
                    return address, None if network.gateway is None else str(network.gateway)
        return None, None
