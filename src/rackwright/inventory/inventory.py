"""The Ansible inventory that follows from a plan.

Facts that hosts share are variables of groups, so that an inventory of many thousand hosts stays
small. Every expectation (accelerators, interfaces, memory) comes from blueprint and catalogue, never
from the host that is to be judged by it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from rackwright.errors import RackwrightError
from rackwright.inventory.expectations import group_name, hardware_variables
from rackwright.inventory.instance_metadata import forwarding_variables, metadata_variables
from rackwright.inventory.role_variables.base import base_variables, name_variables, own_address
from rackwright.inventory.role_variables.containers import container_variables, mpi_variables
from rackwright.inventory.role_variables.fabric import rdma_ports, subnet_managers
from rackwright.inventory.role_variables.filesystems import (
    data_volume_variables,
    lustre_variables,
    scratch_variables,
)
from rackwright.inventory.role_variables.health import health_variables
from rackwright.inventory.role_variables.interfaces import interface_variables
from rackwright.inventory.role_variables.monitoring import monitoring_variables, rack_limits
from rackwright.inventory.role_variables.nfs import nfs_clients, nfs_servers
from rackwright.inventory.role_variables.slurm.controller import (
    federation_variables,
    first_controller,
    qos_variables,
    reservation_variables,
    standby_controllers,
    state_variables,
)
from rackwright.inventory.role_variables.slurm.database import (
    database_hosts,
    database_variables,
    pair_variables,
)
from rackwright.inventory.role_variables.slurm.elastic import controller_readers, elastic_variables
from rackwright.inventory.role_variables.slurm.packages import package_variables, pinned_version
from rackwright.inventory.role_variables.slurm.served import (
    WITH_FILES,
    hosts_with_files,
    served_variables,
)
from rackwright.inventory.role_variables.software import gpu_software, nvlink_domains
from rackwright.inventory.role_variables.tuning import tuning_variables
from rackwright.inventory.role_variables.users import (
    compute_variables,
    share_variables,
    user_variables,
)
from rackwright.model.names import compress_hostlist
from rackwright.plan.audit.template_marks import TEMPLATE_MARKS
from rackwright.plan.host_list import Host
from rackwright.plan.model import Plan
from rackwright.plan.slurm.devices import device_pattern
from rackwright.plan.slurm.node_health import health_of_group, health_programs
from rackwright.plan.slurm.nodes import covers
from rackwright.reading.cures import of_variable
from rackwright.reading.suggest import did_you_mean

Inventory = dict[str, Any]


class InventoryError(RackwrightError):
    """An inventory of what was asked for cannot be made."""

    code = "inventory"


def build_inventory(plan: Plan, site: str | None = None) -> Inventory:
    """Return the inventory in the form that ``ansible-inventory --list`` has.

    Args:
        plan: the cluster.
        site: list only this site, where not all are wanted; hosts have the same names either way.

    Raises:
        InventoryError: there is no such site, or two groups would have one name.
    """
    if site is not None:
        _check_site(plan, site)
    hosts = [host for host in plan.hosts if site in {None, host.site}]
    named = {host.inventory_name: host for host in hosts}
    groups = _Groups()
    hostvars: dict[str, dict[str, Any]] = {}
    for host in hosts:
        groups.add_host(host)
        hostvars[host.inventory_name] = _hostvars(host) | own_address(plan, host)
    for title, variables in hardware_variables(hosts).items():
        groups.vars(title, **variables)
    _add_slurm(groups, plan, named, site)
    if (first := first_controller(plan, named)) is not None:
        hostvars[first] |= qos_variables(plan) | reservation_variables(plan)
        hostvars[first] |= federation_variables(plan)
    standby = standby_controllers(plan, named)
    for name in standby:
        hostvars[name]["slurm_config_standby"] = True
    for name in (*standby, *(() if first is None else (first,))):
        hostvars[name] |= controller_readers(plan, named[name].site)
    for name in hosts_with_files(plan, named):
        hostvars[name] |= WITH_FILES
    _add_monitoring(groups, plan, named)
    _add_domains(groups, plan, hosts)
    tuned = tuning_variables(plan)
    for of_groups in (
        base_variables(plan, hosts),
        gpu_software(plan),
        rdma_ports(plan),
        nfs_clients(plan),
        health_variables(plan),
        tuned,
    ):
        for (where, group), variables in of_groups.items():
            if site in {None, where}:
                groups.vars(groups.name("nodes", where, group), **variables)
    _add_servers(groups, plan, named, hostvars)
    _add_storage(groups, plan, site, hostvars)
    _add_instances(groups, plan, named)
    for name, host in named.items():
        if (host.site, host.group) in tuned:
            groups.put(groups.name("tuned", "hosts"), name)
    for name, variables in interface_variables(plan, hosts).items():
        groups.put(groups.name("fabric", "interfaces"), name)
        hostvars[name] |= variables
    for name, variables in data_volume_variables(plan, named).items():
        groups.put(groups.name("data", "volumes"), name)
        hostvars[name] |= variables
    for where in {host.site for host in hosts}:
        groups.vars(groups.name("site", where), **container_variables(plan, where))
        groups.vars(groups.name("site", where), **name_variables(plan, where))
        groups.vars(groups.name("site", where), **pinned_version(plan, where))
    made: Inventory = {"_meta": {"hostvars": hostvars}}
    everywhere: dict[str, Any] = {"rackwright_cluster": plan.name}
    if plan.owner is not None:
        everywhere["rackwright_owner"] = plan.owner
    everywhere |= user_variables(plan)
    made["all"] = {"children": groups.roots(), "vars": everywhere}
    made.update(groups.as_data())
    refuse_templates(made)
    return made


def _add_servers(
    groups: _Groups, plan: Plan, hosts: Mapping[str, Host], hostvars: dict[str, dict[str, Any]]
) -> None:
    """Return the groups of hosts on fabrics and of those that share folders, with what single ones serve.

    A group is there where somebody is in it.
    """
    managers = subnet_managers(plan, lambda site, group: group_name("nodes", site, group))
    servers = nfs_servers(plan)
    adapters, clients = rdma_ports(plan), nfs_clients(plan)
    for name, host in hosts.items():
        one, many = (host.site, host.name), (host.site, host.group)
        hostvars[name] |= {**managers.get(one, {}), **servers.get(one, {})}
        for title, there in (
            (("rdma", "hosts"), many in adapters),
            (("subnet", "managers"), one in managers),
            (("nfs", "servers"), one in servers),
            (("nfs", "clients"), many in clients),
        ):
            if there:
                groups.put(groups.name(*title), name)


def _add_instances(groups: _Groups, plan: Plan, hosts: Mapping[str, Host]) -> None:
    """Return the group of the hosts that are instances on AWS; none where no site is there."""
    sites = {site.name: site for site in plan.aws}
    for name, host in hosts.items():
        if host.site in sites:
            groups.put(groups.name("instances"), name)
    for where, group in {(host.site, host.group) for host in hosts.values() if host.site in sites}:
        groups.vars(groups.name("site", where), **metadata_variables(sites[where]))
        groups.vars(groups.name("nodes", where, group), **forwarding_variables(sites[where], group))


def refuse_templates(inventory: Inventory) -> None:
    """Refuse variables that Ansible would take for templates, and so for code.

    Raises:
        InventoryError: there is one.
    """
    groups = {name: entry.get("vars", {}) for name, entry in inventory.items() if name != "_meta"}
    for owner, variables in (*groups.items(), *inventory["_meta"]["hostvars"].items()):
        for key, value in variables.items():
            for text in _texts(value):
                if any(mark in text for mark in TEMPLATE_MARKS):
                    raise InventoryError(
                        f"the variable '{key}' of '{owner}' is '{text}', which is a template",
                        hint=of_variable(text),
                    )


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _texts(key)
            yield from _texts(inner)
    elif isinstance(value, Sequence):
        for inner in value:
            yield from _texts(inner)


def _check_site(plan: Plan, site: str) -> None:
    known = plan.site_names
    if site not in known:
        hint = did_you_mean(site, known) or f"the blueprint has: {', '.join(known)}"
        raise InventoryError(f"there is no site '{site}'", hint=hint)


def _hostvars(host: Host) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if host.inventory_name != host.name:
        found["rackwright_hostname"] = host.name
    if host.place is not None:
        found["rackwright_unit"] = host.place.unit
        if host.place.tray is not None:
            found["rackwright_tray"] = host.place.tray
    return found


class _Groups:
    """Groups under construction, in the order in which they are met."""

    def __init__(self) -> None:
        self._hosts: dict[str, list[str]] = {}
        self._children: dict[str, dict[str, None]] = {}
        self._vars: dict[str, dict[str, Any]] = {}
        self._keys: dict[str, tuple[str, ...]] = {}
        self._known: dict[tuple[str, ...], str] = {}

    def name(self, *key: str) -> str:
        """Return the group of ``key``, made when it is met first.

        Raises:
            InventoryError: another key has a group of the same name.
        """
        if key not in self._known:
            made = group_name(*key)
            if self._keys.setdefault(made, key) != key:
                one, other = " ".join(self._keys[made]), " ".join(key)
                raise InventoryError(
                    f"the groups '{one}' and '{other}' would both be called '{made}'",
                    hint="rename one of them in the blueprint",
                )
            self._known[key] = made
            self._hosts[made], self._children[made], self._vars[made] = [], {}, {}
        return self._known[key]

    def vars(self, group: str, **variables: Any) -> None:
        """Give a group variables."""
        self._vars[group].update(variables)

    def nest(self, *groups: str) -> None:
        """Put each group into the one before it."""
        for outer, inner in pairwise(groups):
            self._children[outer][inner] = None

    def put(self, group: str, host: str) -> None:
        """Put a host into a group."""
        self._hosts[group].append(host)

    def add_host(self, host: Host) -> None:
        """Put a host into the groups of its place, its role and its hardware."""
        name = host.inventory_name
        site = self.name("site", host.site)
        self.vars(site, rackwright_site=host.site)
        if host.place is not None:
            at = host.place
            hall = self.name("hall", host.site, at.hall)
            row = self.name("row", host.site, at.hall, at.row)
            rack = self.name("rack", host.site, at.rack)
            if not self._hosts[rack]:
                self.vars(hall, rackwright_hall=at.hall)
                self.vars(row, rackwright_row=at.row)
                self.vars(rack, rackwright_rack=at.rack)
                self.nest(site, hall, row, rack)
            self.put(rack, name)
        elif host.zone is not None:
            zone = self.name("zone", host.site, host.zone)
            self.vars(zone, rackwright_zone=host.zone)
            self.nest(site, zone)
            self.put(zone, name)
        nodes = self.name("nodes", host.site, host.group)
        if not self._hosts[nodes]:
            role = self.name("role", host.role)
            hardware = self.name("hardware", host.hardware)
            self.vars(role, rackwright_role=host.role)
            self.vars(hardware, rackwright_hardware=host.hardware)
            self.vars(nodes, rackwright_node_group=host.group)
            self.nest(role, nodes)
            self.nest(hardware, nodes)
        self.put(nodes, name)

    def roots(self) -> list[str]:
        """Return the groups that are in no other."""
        inner = {child for children in self._children.values() for child in children}
        return [group for group in self._hosts if group not in inner]

    def as_data(self) -> dict[str, Any]:
        """Return each group with its hosts, and with children and variables where it has some."""
        # Ansible takes a group without 'hosts' and 'children' for a host of that name.
        return {
            group: {
                "hosts": self._hosts[group],
                **({"children": list(children)} if (children := self._children[group]) else {}),
                **({"vars": variables} if (variables := self._vars[group]) else {}),
            }
            for group in self._hosts
        }


SLURM_GROUPS = ("slurm_controller", "slurm_database", "slurm_login", "slurm_compute")
"""Groups of the roles that make a Slurm cluster, below ``slurm_hosts``."""


def _add_slurm(groups: _Groups, plan: Plan, hosts: Mapping[str, Host], site: str | None) -> None:
    """Return the groups that playbooks for Slurm name; they are there even when nobody is in them."""
    slurm = plan.slurm
    if slurm is None:
        return
    scheduler = slurm.scheduler
    outer = groups.name("slurm", "hosts")
    groups.vars(outer, **mpi_variables(scheduler))
    if scheduler.skypilot is not None:
        groups.vars(outer, skypilot_wheels=scheduler.skypilot.wheels or "")
        if (uv := scheduler.skypilot.uv) is not None:
            groups.vars(
                outer, skypilot_uv_version=uv.version, skypilot_uv_checksums=[*uv.checksums]
            )
    for name in SLURM_GROUPS:
        groups.nest(outer, groups.name(*name.split("_")))
    groups.vars("slurm_controller", **state_variables(slurm.state), **elastic_variables(plan))
    controllers = [controller.host for controller in scheduler.controllers]
    accounting = scheduler.accounting
    databases = set(database_hosts(plan, hosts))
    if accounting is not None:
        groups.vars("slurm_database", **database_variables(scheduler, accounting))
        groups.vars("slurm_database", **share_variables(slurm.name, accounting))
        if plan.membership is not None and databases:
            where = next(hosts[name].site for name in databases)
            groups.vars("slurm_database", **pair_variables(plan.membership, where))
    if scheduler.auth == "slurm":
        groups.vars("slurm_login", slurm_login_sackd=True)
    groups.vars("slurm_compute", slurm_compute_spool_folder=scheduler.folders.spool)
    groups.vars("slurm_compute", **health_programs(plan), **compute_variables(plan))
    for title, variables in package_variables(scheduler).items():
        groups.vars(title, **variables)
    for title, variables in served_variables(plan).items():
        groups.vars(title, **variables)
    for nodes in slurm.nodes:
        if not nodes.uneven and site in {None, nodes.site}:
            name = groups.name("nodes", nodes.site, nodes.group)
            groups.vars(
                name,
                slurm_compute_accelerators=nodes.accelerators,
                slurm_compute_device_pattern=device_pattern(nodes),
                **health_of_group(plan, nodes),
            )
    for name, host in hosts.items():
        if not covers(scheduler, host.site):
            continue
        if host.name in controllers:
            groups.put("slurm_controller", name)
        if name in databases:
            groups.put("slurm_database", name)
        if host.role == "login":
            groups.put("slurm_login", name)
        if host.role == "compute":
            groups.put("slurm_compute", name)


HEADS = {"head", "management"}
"""Roles of hosts that can watch the others."""


def _add_monitoring(groups: _Groups, plan: Plan, hosts: Mapping[str, Host]) -> None:
    """Return the host that Prometheus and Grafana run on: the first head; no group where there is none.

    Racks have the limits that what they measure is compared with.
    """
    heads = (name for name, host in hosts.items() if host.role in HEADS)
    if (first := next(heads, None)) is not None:
        groups.put(groups.name("monitoring"), first)
        groups.vars("monitoring", **monitoring_variables(plan, hosts[first].site))
    limits = rack_limits(plan)
    for site, rack in {(host.site, host.place.rack) for host in hosts.values() if host.place}:
        if (site, rack) in limits:
            groups.vars(
                groups.name("rack", site, rack), rackwright_rack_power_limit_w=limits[site, rack]
            )


def _add_domains(groups: _Groups, plan: Plan, hosts: Sequence[Host]) -> None:
    """Return a group for each NVLink domain that spans hosts, with the list that its IMEX daemons need."""
    for key, names in nvlink_domains(plan, hosts).items():
        domain = groups.name("nvlink", *key)
        groups.vars(domain, nvidia_driver_imex_hosts=names)
        for name in names:
            groups.put(domain, name)


def _add_storage(
    groups: _Groups, plan: Plan, site: str | None, hostvars: dict[str, dict[str, Any]]
) -> None:
    """Return the groups of Lustre's servers and clients and of local scratch; none where nobody is in it."""
    names = {}
    if any(system.lustre is not None for system in plan.file_systems):
        names = {(host.site, host.name): host.inventory_name for host in plan.hosts}
    lustre = lustre_variables(plan, names)
    for title, listed in (
        ("lustre_server", lustre.servers.items()),
        ("lustre_client", lustre.clients.items()),
        ("local_scratch", scratch_variables(plan)),
    ):
        for (where, group), variables in listed:
            if site in {None, where}:
                nodes = groups.name("nodes", where, group)
                groups.nest(groups.name(*title.split("_")), nodes)
                groups.vars(nodes, **variables)
    for name, targets in lustre.targets.items():
        if name in hostvars:
            hostvars[name]["lustre_server_targets"] = targets
    for name, quotas in lustre.quotas.items():
        if name in hostvars:
            hostvars[name]["lustre_client_quotas"] = quotas


def host_variables(inventory: Inventory, host: str) -> dict[str, Any] | None:
    """Return all variables of a host, groups from the outside inwards; None where there is no such host."""
    own = inventory["_meta"]["hostvars"].get(host)
    if own is None:
        return None
    groups = {name: entry for name, entry in inventory.items() if name != "_meta"}
    parents: dict[str, list[str]] = {}
    for name, entry in groups.items():
        for child in entry.get("children", ()):
            parents.setdefault(child, []).append(name)
    depth: dict[str, int] = {}

    def climb(name: str) -> int:
        if name not in depth:
            depth[name] = 1 + max((climb(parent) for parent in parents.get(name, ())), default=0)
        return depth[name]

    found: set[str] = set()
    waiting = [name for name, entry in groups.items() if host in entry.get("hosts", ())]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += parents.get(name, [])
    merged: dict[str, Any] = dict(groups["all"].get("vars", {}))
    for name in sorted(found - {"all"}, key=lambda name: (climb(name), name)):
        merged |= groups[name].get("vars", {})
    return {**merged, **own}


def draw(inventory: Inventory) -> Iterator[str]:
    """Yield the groups as a tree, hosts compact, as lines."""
    yield "@all"
    for child in inventory["all"]["children"]:
        yield from _draw(inventory, child, 1)


def _draw(inventory: Inventory, group: str, depth: int) -> Iterator[str]:
    entry = inventory.get(group, {})
    hosts = entry.get("hosts", [])
    text = f": {len(hosts):,} × {compress_hostlist(hosts)}" if hosts else ""
    yield f"{'  ' * depth}@{group}{text}"
    for child in entry.get("children", ()):
        yield from _draw(inventory, child, depth + 1)
