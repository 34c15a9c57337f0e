"""Mistakes in the names and addresses that sites declare: numbers, and their places."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from rackwright.model.addresses import SiteAddresses, SiteNetwork, split_span
from rackwright.model.storage import split_nids
from rackwright.plan.base import Path
from rackwright.plan.expansion import Expansion, SitePlan
from rackwright.plan.fabric.addresses import NumberRange, next_free, overlaps
from rackwright.plan.fabric.layout import Layout
from rackwright.plan.hosts import switch_stem
from rackwright.plan.problems import PlanProblem
from rackwright.plan.records.names import NamePlan, PlannedNetwork, Range
from rackwright.reading.suggest import did_you_mean

LONGEST_LABEL = 63
"""Characters of a label (RFC 1035, 2.3.4)."""

_NUMBER = re.compile(r"(?=-\d+-)")

IpNetwork = IPv4Network | IPv6Network


def usable(prefix: IpNetwork) -> tuple[int, int]:
    """Return the first and last address that hosts may have; the ends of an IPv4 network are not theirs."""
    first, last = int(prefix.network_address), int(prefix.broadcast_address)
    ends = prefix.version == 4 and prefix.prefixlen < 31
    return (first + 1, last - 1) if ends else (first, last)


def called_so(name: str, stem: str) -> bool:
    """Return True if ``name`` is, or begins like, that of a host or switch of ``stem``."""
    return re.fullmatch(rf"{re.escape(stem)}-\d+(-.+)?", name) is not None


def confused_names(planned: SitePlan) -> Iterator[PlanProblem]:
    """Yield the groups and tiers whose hosts and switches would have names of others, or look like them."""
    site, path = planned.spec, planned.path
    named = [
        ((*path, "node_groups", n), group.name)
        for n, group in enumerate(site.node_groups)
        if group.host_names is None
    ]
    named += [
        ((*path, "fabrics", f, "tiers", t), switch_stem(fabric, tier))
        for f, fabric in enumerate(site.fabrics)
        for t, tier in enumerate(fabric.tiers)
        if tier.switch_names is None
    ]
    seen: set[str] = set()
    stems = {stem for _, stem in named}
    for where, stem in named:
        like = {stem[: found.start()] for found in _NUMBER.finditer(stem)} & stems
        if stem in seen:
            like.add(stem)
        seen.add(stem)
        for other in sorted(like):
            message = f"names of '{stem}' may be taken for those of '{other}'"
            yield PlanProblem((*where, "name"), message, "rename one of the two")


def wrong_addresses(
    declared: SiteAddresses, network: SiteNetwork, made: PlannedNetwork
) -> Iterator[PlanProblem]:
    """Yield the addresses outside their network, and those that two would have."""
    held: dict[NumberRange, tuple[Path, Range | None]] = {}
    for one in made.ranges:
        if one.version != made.prefix.version or not _inside(one.first, one.last, made.prefix):
            yield _outside(one, made)
        else:
            held[_claim(one)] = (one.path, one)
    for owner, text, path in _fixed(declared, network, made):
        first, last = split_span(text)
        if first.version != made.prefix.version or not _inside(int(first), int(last), made.prefix):
            message = f"{owner} {text} is not in {made.prefix}"
            yield PlanProblem(path, message, f"use addresses of {_room(made.prefix)}")
        else:
            held[NumberRange(owner, int(first), int(last), text)] = (path, None)
    for pair in overlaps(held):
        ranges = [
            (claim, path) for claim in pair for path, one in (held[claim],) if one is not None
        ]
        if ranges:  # the gateway may well be among the reserved addresses
            mine, path = ranges[-1]
            other = pair[0] if pair[1] is mine else pair[1]
            free = next_free(list(held), 1)
            fits = _inside(free, free + mine.last - mine.first, made.prefix)
            yield PlanProblem(
                (*path, "first"),
                f"{mine.owner} would have {mine.text}, and {other.owner} {other.text}",
                f"let them begin at {_text(free, made.prefix.version)}"
                if fits
                else f"no more are free at the end of {made.prefix}: widen it, or move the others",
            )


def _claim(one: Range) -> NumberRange:
    text = f"{_text(one.first, one.version)} to {_text(one.last, one.version)}"
    return NumberRange(_things(one), one.first, one.last, text)


def _things(one: Range) -> str:
    """Return the owners of a range in words, like ``the 64 hosts of 'dgx'``."""
    noun = "switch" if one.is_switches else "host"
    plural = "es" if one.is_switches else "s"
    many = f"the {one.count:,} {noun}{plural}" if one.count > 1 else f"the {noun}"
    of_each = f", with {one.each} addresses each," if one.each > 1 else ""
    return f"{many} of '{one.of}'{of_each}"


def _fixed(
    declared: SiteAddresses, network: SiteNetwork, made: PlannedNetwork
) -> Iterator[tuple[str, str, Path]]:
    """Yield the owner, addresses and place of what is in a network beside its ranges."""
    if network.gateway is not None:
        yield "the gateway", network.gateway, (*made.path, "gateway")
    for index, text in enumerate(network.reserved):
        yield "what is reserved,", text, (*made.path, "reserved", index)
    for index, server in enumerate(declared.name_servers):
        if server.address is not None and ip_address(server.address) in made.prefix:
            path = (*made.path[:-2], "name_servers", index, "address")
            yield f"the name server '{server.host}'", server.address, path


def _inside(first: int, last: int, prefix: IpNetwork) -> bool:
    lowest, highest = usable(prefix)
    return lowest <= first and last <= highest


def _outside(one: Range, made: PlannedNetwork) -> PlanProblem:
    """Return the reason why a range does not fit into its network."""
    prefix, path = made.prefix, (*one.path, "first")
    lowest, highest = usable(prefix)
    first = _text(one.first, one.version)
    if one.version != prefix.version or not lowest <= one.first <= highest:
        message = f"{_things(one)} would begin at {first}, which is no address of {prefix}"
        return PlanProblem(path, message, f"use addresses of {_room(prefix)}")
    message = (
        f"{_things(one)} need {one.last - one.first + 1:,} addresses from {first} on; "
        f"{prefix} has {highest - one.first + 1:,} of them"
    )
    wider = prefix
    while wider.prefixlen > 0 and not _inside(one.first, one.last, wider):
        wider = wider.supernet()
    own = wider.prefixlen > 0 and wider.is_private == prefix.is_private
    larger = f"make the network {wider}" if own else "use a larger network"
    if made.racks:
        larger = f"set 'rack_prefix' to {wider.prefixlen}"
    return PlanProblem(path, message, f"begin lower, or {larger}")


def _room(prefix: IpNetwork) -> str:
    lowest, highest = (_text(number, prefix.version) for number in usable(prefix))
    return f"{lowest} to {highest}"


def _text(number: int, version: int) -> str:
    return str(IPv4Address(number) if version == 4 else IPv6Address(number))


def unknown_macs(
    network: SiteNetwork, made: Sequence[PlannedNetwork], layout: Layout | None
) -> Iterator[PlanProblem]:
    """Yield Ethernet addresses of names that are not in a network, whose subnets are ``made``, or of no Ethernet."""
    if not made:
        return
    path = (*made[0].path, "macs")
    if network.macs and layout is not None and layout.technology == "infiniband":
        message = f"the fabric '{layout.fabric.name}' is InfiniBand, which has no such addresses"
        yield PlanProblem(path, message, "leave 'macs' out")
        return
    if network.macs:
        known = {label for each in made for one in each.ranges for label in one.all_labels()}
        for label in network.macs:
            if label not in known:
                hint = did_you_mean(label, known)
                message = f"nothing in the network '{network.name}' is called '{label}'"
                yield PlanProblem((*path, label), message, hint)


def unknown_interfaces(
    network: SiteNetwork, made: Sequence[PlannedNetwork], layout: Layout | None
) -> Iterator[PlanProblem]:
    """Yield what keeps the interfaces whose addresses ``configure`` sets from being found on hosts."""
    if network.set_by in {None, "others"} or layout is None or not made:
        return
    path = (*made[0].path, "set_by")
    if layout.technology == "infiniband":
        message = f"the fabric '{layout.fabric.name}' is InfiniBand, whose interfaces are not set"
        yield PlanProblem(path, message, "say 'set_by: others'")
        return
    devices = {hosts.group.name: hosts.attachment.devices for hosts in layout.hosts}
    counts = {hosts.group.name: hosts.interfaces for hosts in layout.hosts}
    for one in (one for each in made for one in each.ranges):
        known, wanted = devices[one.of], counts[one.of]
        if known and len(known) != wanted:
            message = f"'{one.of}' has {wanted} interfaces on '{layout.fabric.name}', and 'devices' of {len(known)}"
            yield PlanProblem(path, message, "give a PCI address for each interface in 'attached'")
            return
        missing = next((label for label in one.all_labels() if label not in network.macs), None)
        if not known and missing is not None:
            message = f"by what 'configure' finds the interface '{missing}' is not known"
            hint = f"give 'devices' of '{one.of}' in 'attached' of the fabric, or its Ethernet address in 'macs'"
            yield PlanProblem(path, message, hint)
            return


def long_names(made: PlannedNetwork) -> Iterator[PlanProblem]:
    """Yield the names that are longer than the DNS takes."""
    for one in made.ranges:
        label = max(one.labels(0), key=len)
        if len(label) > LONGEST_LABEL:
            message = f"the name '{label}' has {len(label)} characters, and at most {LONGEST_LABEL}"
            yield PlanProblem((*one.path, "of"), f"{message} are possible", "rename the group")


def shared_domains(plan: Expansion) -> Iterator[PlanProblem]:
    """Yield the domains that two sites would have."""
    seen: dict[str, str] = {}
    for planned in plan.onprem:
        if (declared := planned.spec.addresses) is not None:
            other = seen.setdefault(declared.domain, planned.spec.name)
            if other != planned.spec.name:
                message = f"the sites '{other}' and '{planned.spec.name}' have the same domain"
                path = (*planned.path, "addresses", "domain")
                yield PlanProblem(path, message, "give each a domain of its own")


def shared_prefixes(plan: Expansion, names: NamePlan) -> Iterator[PlanProblem]:
    """Yield the prefixes of networks that overlap those of others, or of segments that they do not name."""
    claims: dict[int, dict[NumberRange, Path | None]] = {4: {}, 6: {}}
    if not names.networks:
        return
    for network in names.networks:
        owner = f"the network '{network.name}' of '{network.site}'"
        claims[network.whole.version][_of_prefix(network.whole, owner)] = network.path
    scheduler = plan.scheduler
    if scheduler is not None and plan.blueprint.federation is None:
        # One cluster over both: a host of the hall would take those of the VPC for its neighbours.
        for cloud in plan.aws:
            if not scheduler.sites or cloud.spec.name in scheduler.sites:
                prefix = ip_network(cloud.spec.network.cidr)
                claimed = _of_prefix(prefix, f"the VPC of '{cloud.spec.name}'")
                claims[4][claimed] = (*cloud.path, "network", "cidr")
    for planned in plan.onprem:
        declared = planned.spec.addresses
        named = {(one.fabric, one.segment) for one in (declared.networks if declared else ())}
        for fabric in planned.spec.fabrics:
            for segment in fabric.segments:
                if segment.prefix is not None and (fabric.name, segment.name) not in named:
                    prefix = ip_network(segment.prefix)
                    owner = f"the segment '{segment.name}' of the fabric '{fabric.name}'"
                    claims[prefix.version][_of_prefix(prefix, owner)] = None
    for of_version in claims.values():
        for one, other in overlaps(of_version):
            path = of_version[other] or of_version[one]
            if path is not None:  # those of segments among themselves are for a policy to judge
                message = f"{one.text} of {one.owner} and {other.text} of {other.owner} overlap"
                yield PlanProblem(
                    path, message, "give one of them another prefix, or name the segment"
                )


def _of_prefix(prefix: IpNetwork, owner: str) -> NumberRange:
    return NumberRange(
        owner, int(prefix.network_address), int(prefix.broadcast_address), str(prefix)
    )


def nids_of_others(planned: SitePlan, names: NamePlan) -> Iterator[PlanProblem]:
    """Yield the NIDs of Lustre's servers that a network of the site gives to another host."""
    ranges = [
        (network, one)
        for network in names.networks
        if network.site == planned.spec.name
        for one in network.ranges
    ]
    for where, servers, server, address in _nids(planned):
        for network, one in ranges:
            index = one.find(address)
            # Any host of its group may be a server of the MGS; those of targets have an order.
            wanted = server
            if index is not None and "management" in where:
                wanted = one.before + index
            if index is not None and (one.of, one.before + index) != (servers, wanted):
                message = (
                    f"{address} of server {server + 1} of '{servers}' is that of "
                    f"'{one.owner(index)}' in the network '{network.name}'"
                )
                yield PlanProblem(where, message, "use the address that the server has there")


def _nids(planned: SitePlan) -> Iterator[tuple[Path, str, int, str]]:
    """Place, node group, index of the server and address of each NID of a site."""
    for number, system in enumerate(planned.spec.file_systems):
        for part in ("management", "metadata", "objects"):
            served = getattr(system, part)
            for index, text in enumerate((served and served.nids) or ()):
                path = (*planned.path, "file_systems", number, part, "nids", index)
                for address, _ in split_nids(text):
                    yield path, served.servers, index, address
