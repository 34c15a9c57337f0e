"""NET-017: interfaces of RoCE fabrics get their addresses from a known system."""

from __future__ import annotations

from collections.abc import Iterator

from rackwright.api import Finding, Missing, Plan, Policy, Severity, Subject, rule
from rackwright.policy.helpers.fabrics import FabricAt, fabrics_of


@rule(
    "NET-017",
    "Interfaces of RoCE fabrics get addresses",
    Severity.HIGH,
    since="0.4",
    stage="design",
)
class InterfacesHaveAddresses(Policy):
    """Each interface on an Ethernet fabric that carries RDMA has an address, and a system that sets it."""

    def check(self, plan: Plan) -> Iterator[Finding]:
        """Yield a finding for each node group on such a fabric."""
        for found in fabrics_of(plan):
            fabric = found.fabric
            if found.technology == "ethernet" and (fabric.pfc or fabric.ecn or fabric.roce):
                for hosts in found.layout.hosts if found.layout is not None else ():
                    yield _judge(plan, found, hosts.group.name, hosts.interfaces)


def _judge(plan: Plan, found: FabricAt, group: str, wanted: int | None) -> Finding:
    index = [one.group for one in found.fabric.attached].index(group)
    at = Subject(f"{found.at().name} {group}", found.at("attached", index).path)
    own = [
        one
        for one in plan.names.networks
        if (one.site, one.fabric) == (found.site.name, found.fabric.name)
        and any(part.of == group for part in one.ranges)
    ]
    numbers = {one.interface for one in own}
    covered = wanted if None in numbers else len(numbers)
    if not own:
        network = "a network of the fabric in 'addresses' of the site"
        return Finding(
            at,
            ok=None,
            message="which addresses the interfaces get: without any, RoCE v2 has no routable GID",
            missing=(Missing(network, (*found.site.path, "addresses")),),
        )
    if wanted is None or covered is None or covered < wanted:
        return Finding(
            at,
            ok=False,
            message=f"{covered} of {wanted} interfaces of each host have an address",
            fix="leave 'interface' out of a network of the fabric, or give one for each interface",
        )
    unset = next((one for one in own if one.set_by is None), None)
    if unset is not None:
        missing = Missing(f"'set_by' of the network '{unset.name}'", (*unset.path, "set_by"))
        return Finding(at, ok=None, message="what sets the addresses on hosts", missing=(missing,))
    systems = sorted({one.set_by or "" for one in own})
    words = " and ".join(
        "others, such as DHCP or an image, set" if one == "others" else f"'configure' sets by {one}"
        for one in systems
    )
    message = f"{words} the addresses of {covered} interfaces of each host"
    return Finding(at, ok=True, message=message)
