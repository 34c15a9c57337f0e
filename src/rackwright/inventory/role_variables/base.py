"""Names, system, kernel and memory of hosts, as variables of the role ``base``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rackwright.plan.host_list import Host
from rackwright.plan.model import Plan
from rackwright.plan.naming.host_lines import host_lines
from rackwright.plan.software.versions import kernel_of, system_of

KIB_OF_GIB = 2**20
EFA_PAGE_KIB = 2048


def base_variables(plan: Plan, hosts: Iterable[Host]) -> dict[tuple[str, str], dict[str, Any]]:
    """Return the variables of each host's group, by site and node group; what nobody says is absent.

    Servers of storage, logins and heads are among them: the bill of a site is about all its hosts.
    """
    operations = plan.operations
    memory = {one.group: one for one in (operations.memory if operations else ())}
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for host in {(host.site, host.group): host for host in hosts}.values():
        site, group = host.site, host.group
        known: dict[str, Any] = {
            "base_system": system_of(plan, site, group),
            "base_kernel": kernel_of(plan, site, group),
            "base_headers": _builds_modules(plan, host),
            "base_secure_boot": _boots_securely(plan, site),
        }
        settings = operations.settings_of(site) if operations else None
        if settings is not None:
            known["base_time_servers"] = list(settings.time_servers)
            known["base_sysctl"] = dict(settings.kernel_parameters)
        if (asked := memory.get(group)) is not None:
            known["base_transparent_hugepages"] = asked.transparent_huge_pages
            known["base_hugepages"] = [
                {"size_kib": round(pages.size * KIB_OF_GIB), "count": pages.count}
                for pages in asked.huge_pages
            ]
            sizes = {pages["size_kib"]: pages["count"] for pages in known["base_hugepages"]}
            if host.place is None:  # libfabric takes pages of 2 MiB: two roles must not disagree
                known["efa_hugepages"] = sizes.get(EFA_PAGE_KIB)
        found[site, group] = {key: value for key, value in known.items() if value}
    return found


def _builds_modules(plan: Plan, host: Host) -> bool:
    """Return True if the bill brings a host software with modules for its kernel."""
    bill = plan.software[host.site].bill
    if bill is None:
        return False
    modules = (bill.driver, bill.ofed, bill.lustre_client, bill.lustre_server)
    return host.role in {"compute", "storage"} and any(one is not None for one in modules)


def _boots_securely(plan: Plan, site: str) -> bool:
    """Return True if every node of a bare-metal site is declared to boot securely."""
    stated = (one.security for one in plan.onprem if one.name == site)
    return any(security is not None and security.secure_boot is True for security in stated)


def name_variables(plan: Plan, site: str) -> dict[str, Any]:
    """Return the names by which hosts of ``site`` reach others, and networks that they trust; none without addresses.

    Names of management controllers and fabrics are not among them: every host has the text.
    """
    names = plan.names
    known: dict[str, Any] = {}
    if not any(network.site == site for network in names.networks):
        return known
    # Jobs and Slurm go over management and fabrics; nobody has to reach management controllers.
    trusted = {
        str(network.whole)
        for network in names.networks
        if network.kind == "management" or (network.kind == "fabric" and network.site == site)
    }
    if trusted:
        known["base_trusted_networks"] = sorted(trusted)
    if own := [network for network in names.networks if network.kind == "management"]:
        known["base_hosts"] = "\n".join(host_lines(names, own))
    return known


def own_address(plan: Plan, host: Host) -> dict[str, Any]:
    """Return the address of a host's own name; empty if none is planned."""
    found = (plan.names.address_of(host.site, host.name, version) for version in (4, 6))
    address = next(filter(None, found), None)
    return {} if address is None else {"base_address": address}
