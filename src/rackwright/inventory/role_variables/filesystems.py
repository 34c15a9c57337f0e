"""Lustre, local scratch and data volumes, as variables of the roles that set them up.

What the blueprint does not say is listed by name in a variable of its own, which stops the role:
no device is touched on a guess.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from rackwright.inventory.role_variables.users import quota_of_some
from rackwright.model.hardware import fact_value
from rackwright.model.software import KernelModules, SoftwareBill
from rackwright.model.storage import (
    LnetNetwork,
    MetadataTargets,
    ObjectTargets,
    ParallelFileSystem,
    expand_devices,
    lnet_name,
    split_nids,
)
from rackwright.model.users import Users
from rackwright.plan.expansion import SitePlan
from rackwright.plan.host_list import Host
from rackwright.plan.model import Plan
from rackwright.plan.software.state_folders import state_folders
from rackwright.plan.software.versions import upstream
from rackwright.plan.storage.filesystem import mount_source

Names = Mapping[tuple[str, str], str]
"""Name in the inventory of each host, by site and its own name."""

JOB_CONTAINER = "job_container/tmpfs"
"""Plugin of Slurm that gives each job its own folders."""


@dataclass
class LustreVariables:
    """Variables of the roles ``lustre_server`` and ``lustre_client``.

    Attributes:
        servers: of groups of servers, by site and node group.
        targets: of each server, by its name in the inventory.
        clients: of groups of clients, by site and node group.
        quotas: of the client that sets the quotas of a file system, by its name in the inventory.
    """

    servers: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict)
    targets: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    clients: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict)
    quotas: dict[str, list[dict[str, Any]]] = field(default_factory=dict)


def lustre_variables(plan: Plan, names: Names) -> LustreVariables:
    """Return the variables of every site's Lustre servers and clients.

    ``names`` has every host of the plan.
    """
    made = LustreVariables()
    sites = {site.name: site for site in plan.onprem}
    for system in plan.file_systems:
        if system.lustre is not None:
            bill = plan.software[system.site].bill
            _System(sites[system.site], bill, system.lustre, names, made).describe()
            _add_quotas(sites[system.site], system.lustre, plan.users, names, made)
    return made


def _add_quotas(
    site: SitePlan,
    system: ParallelFileSystem,
    users: Users | None,
    names: Names,
    made: LustreVariables,
) -> None:
    """Have the servers of a file system hold limits, and one client, which has the tools, set them.

    That client is told of a file system without a quota as well: it takes away what it set before.
    """
    hosts = {group.name: group.host_names for group in site.groups}
    for clients in (system.clients or ())[:1]:
        entry: dict[str, Any] = {"path": system.mount}
        if system.quota is not None and users is not None:
            entry["quota"] = quota_of_some(system.quota, users)
        first = names[site.name, hosts[clients.group][0]]
        made.quotas.setdefault(first, []).append(entry)
    if system.quota is None:
        return
    management = system.management
    wanted = {
        "fsname": system.name,
        "mgs": [names[site.name, host] for host in hosts[management.servers]] if management else [],
    }
    for part in (system.metadata, system.objects):
        if part is not None:
            listed = made.servers[site.name, part.servers].setdefault("lustre_server_quotas", [])
            listed += [wanted] if wanted not in listed else []


class _System:
    """One file system, on its way into ``made``."""

    def __init__(
        self,
        site: SitePlan,
        bill: SoftwareBill | None,
        system: ParallelFileSystem,
        names: Names,
        made: LustreVariables,
    ) -> None:
        self._system, self._names, self._made = system, names, made
        self._site, self._bill = site.name, bill
        self._hosts = {group.name: group.host_names for group in site.groups}
        management = system.management
        self._mgs = list((management and management.nids) or ())

    def describe(self) -> None:
        """Add what is known and what is missing."""
        system = self._system
        if system.management is not None:
            self._add_mgs(system.management.servers)
        for kind, part in (("mdt", system.metadata), ("ost", system.objects)):
            if part is not None:
                self._add_targets(kind, part)
        for clients in system.clients or ():
            self._add_client(clients.group, clients.networks)

    def _server(self, group: str) -> dict[str, Any]:
        """Return the variables of a group of servers, with those of the software on the first call."""
        key = (self._site, group)
        if key not in self._made.servers:
            self._made.servers[key] = _software(self._bill, "server")
            for host in self._hosts[group]:
                self._made.targets.setdefault(self._names[self._site, host], [])
        variables = self._made.servers[key]
        self._add_peers(variables)
        return variables

    def _add_peers(self, variables: dict[str, Any]) -> None:
        peers = variables.setdefault("lustre_lnet_peers", [])
        peers += [nids for nids in map(_plain, self._mgs) if nids not in peers]

    def _add_networks(
        self,
        variables: dict[str, Any],
        unknown: list[str],
        networks: tuple[str, ...] | None,
        who: str,
    ) -> None:
        listed = variables.setdefault("lustre_lnet_networks", [])
        if networks is None:
            _note(unknown, f"'networks' of {who} of '{self._system.name}'")
        known: dict[str, LnetNetwork] = {lnet_name(one.name): one for one in self._system.networks}
        for name in map(lnet_name, networks or ()):
            interfaces = list(known[name].interfaces) if name in known else []
            if not interfaces:
                _note(unknown, f"'interfaces' of the network '{name}' of '{self._system.name}'")
            elif name not in {one["name"] for one in listed}:
                listed.append({"name": name, "interfaces": interfaces})

    def _add_mgs(self, group: str) -> None:
        management = self._system.management
        assert management is not None  # noqa: S101 - asked by the caller
        variables = self._server(group)
        unknown = variables["lustre_server_unknown"]
        used = (network for nids in self._mgs for _, network in split_nids(nids))
        networks = tuple(dict.fromkeys(map(lnet_name, used)))
        self._add_networks(variables, unknown, networks, "the management service")
        for key in ("nids", "device"):
            if getattr(management, key) is None:
                _note(unknown, f"'{key}' of the management service of '{self._system.name}'")
        if management.device is None or not self._mgs:
            return
        hosts = [self._names[self._site, host] for host in self._hosts[group]][: len(self._mgs)]
        target = {
            "kind": "mgs",
            "device": management.device,
            "hosts": hosts,
            "service_nids": list(map(_plain, self._mgs)),
        }
        for host in hosts:
            # Two file systems may have one MGS.
            if target not in self._made.targets[host]:
                self._made.targets[host].append(target)

    def _add_targets(self, kind: str, part: MetadataTargets | ObjectTargets) -> None:
        what = {"mdt": "the metadata", "ost": "the objects"}[kind]
        variables = self._server(part.servers)
        unknown = variables["lustre_server_unknown"]
        self._add_networks(variables, unknown, part.networks, what)
        needed = ["count", "devices", "nids", "failover"] + ["backend"] * (kind == "mdt")
        missing = [key for key in needed if getattr(part, key) is None]
        for key in missing:
            _note(unknown, f"'{key}' of {what} of '{self._system.name}'")
        if not self._mgs:
            _note(unknown, f"'nids' of the management service of '{self._system.name}'")
        if missing or not self._mgs:
            return
        hosts, nids = self._hosts[part.servers], list(map(_plain, part.nids or ()))
        devices = expand_devices(part.devices or ())
        for given, wanted, noun in (
            (len(devices), part.count, "devices"),
            (len(nids), len(hosts), "nids"),
        ):
            if given != wanted:
                text = f"{wanted} '{noun}' of {what} of '{self._system.name}', not {given}"
                _note(unknown, text)
                return
        for index, device in enumerate(devices):
            pair = serving(index, len(devices), len(hosts), pairs=part.failover == "pairs")
            target: dict[str, Any] = {
                "kind": kind,
                "fsname": self._system.name,
                "index": index,
                "device": device,
                "hosts": [self._names[self._site, hosts[one]] for one in pair],
                "mgs_nids": list(map(_plain, self._mgs)),
                "service_nids": [nids[one] for one in pair],
            }
            if part.size is not None:
                target["size_gib"] = part.size
            if isinstance(part, MetadataTargets):
                target["backend"] = part.backend
            for host in target["hosts"]:
                self._made.targets[host].append(target)

    def _add_client(self, group: str, networks: tuple[str, ...] | None) -> None:
        key = (self._site, group)
        if key not in self._made.clients:
            self._made.clients[key] = {
                **_software(self._bill, "client"),
                "lustre_client_mounts": [],
            }
        variables = self._made.clients[key]
        unknown = variables["lustre_client_unknown"]
        self._add_peers(variables)
        self._add_networks(variables, unknown, networks, f"the clients '{group}'")
        system, source = self._system, mount_source(self._system)
        counts = {
            "metadata": system.metadata and system.metadata.count,
            "objects": system.objects and system.objects.count,
        }
        if source is None:
            _note(unknown, f"'nids' of the management service of '{system.name}'")
        for part, count in counts.items():
            if count is None:
                _note(unknown, f"'count' of the {part} of '{system.name}'")
        if source is None or None in counts.values():
            return
        mount = {
            "source": source,
            "folder": system.mount,
            "mdts": counts["metadata"],
            "osts": counts["objects"],
        }
        variables["lustre_client_mounts"].append(
            mount if system.locks is None else {**mount, "locks": system.locks}
        )


def client_software(plan: Plan, site: str) -> dict[str, Any]:
    """Return the version and kernel of the client, as the bill of the site says, and what it does not say."""
    return _software(plan.software[site].bill, "client")


def _software(bill: SoftwareBill | None, what: str) -> dict[str, Any]:
    """Return the same, of the client or the server."""
    made: dict[str, Any] = {f"lustre_{what}_unknown": []}
    modules: KernelModules | None = getattr(bill, f"lustre_{what}", None)
    if modules is None:
        made[f"lustre_{what}_unknown"].append(f"'lustre_{what}' of a software entry")
        return made
    made[f"lustre_{what}_version"] = upstream(modules.version)
    if modules.kernel is None:
        made[f"lustre_{what}_unknown"].append(f"'kernel' of 'lustre_{what}' of the software entry")
    else:
        made[f"lustre_{what}_kernel"] = modules.kernel
    return made


def serving(index: int, targets: int, servers: int, *, pairs: bool) -> tuple[int, ...]:
    """Return the servers of a target, all counted from 0, the one that has it by itself first.

    Targets are spread evenly and in order; with ``pairs`` servers 0 and 1, 2 and 3, … share theirs.
    """
    each, more = divmod(targets, servers)
    crowded = more * (each + 1)
    own = index // (each + 1) if index < crowded else more + (index - crowded) // each
    partner = own ^ 1
    return (own, partner) if pairs and partner < servers else (own,)


def _plain(nids: str) -> str:
    """Return the NIDs as Lustre prints them."""
    return ",".join(f"{address}@{lnet_name(network)}" for address, network in split_nids(nids))


def _note(unknown: list[str], text: str) -> None:
    if text not in unknown:
        unknown.append(text)


def scratch_variables(plan: Plan) -> Iterator[tuple[tuple[str, str], dict[str, Any]]]:
    """Yield the variables of the role ``local_scratch`` by site and node group, for groups that ask for it."""
    scheduler = plan.scheduler
    plugin = scheduler.extra.get("JobContainerType") if scheduler is not None else None
    for site in plan.onprem:
        for group in site.groups:
            if (wanted := group.spec.scratch) is None:
                continue
            drives = group.product.local_drives
            count = drives and fact_value(drives.count)
            size = drives and fact_value(drives.size)
            facts = {"count": count, "size": size}
            made = {
                "local_scratch_path": wanted.mount,
                "local_scratch_drives": count,
                "local_scratch_drive_gib": size,
                "local_scratch_keep": wanted.keep and f"{wanted.keep / 86400:.0f}d",
                "local_scratch_job_container": plugin == JOB_CONTAINER,
                "local_scratch_unknown": [
                    f"'{key}' of the local drives of '{group.spec.type}' in the catalogue"
                    for key, value in facts.items()
                    if value is None
                ],
            }
            known = {key: value for key, value in made.items() if value is not None}
            yield (site.name, group.name), known


DEVICE = "data_volume_device"
"""Variable of a host with its volume, by its name below /dev/disk/by-id."""


def data_volume_variables(plan: Plan, hosts: Mapping[str, Host]) -> dict[str, dict[str, Any]]:
    """Return the variables of each of ``hosts`` that has a data volume, by its name in the inventory.

    Which volume it is, the outputs of the stacks tell: without them the role ``data_volume`` stops, so
    that nothing is written to a root volume in its place.
    """
    volumes = {(site.name, name): site.data_volume for site in plan.aws for name in site.data_hosts}
    found: dict[str, dict[str, Any]] = {}
    for name, host in hosts.items():
        volume = volumes.get((host.site, host.name))
        if volume is not None:
            found[name] = {
                "data_volume_size_gib": volume.size,
                "data_volume_folders": [
                    {
                        "name": folder.name,
                        "path": folder.path,
                        "user": folder.user,
                        "services": list(folder.services),
                    }
                    for folder in state_folders(plan, host)
                ],
            }
    return found
