"""Reachability of the servers and clients of a Lustre file system over LNet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network

from rackwright.model.storage import ParallelFileSystem, lnet_name, split_nids
from rackwright.plan.base import Path
from rackwright.plan.missing import Missing

Nid = tuple[str, str]
"""Address and network."""
_Part = tuple[str, AbstractSet[str] | None, Path]
"""Servers or clients in words, their networks, and where these are said."""


@dataclass(frozen=True, slots=True)
class NetworkDemand:
    """One thing that must hold.

    Attributes:
        path: place inside the file system.
        what: what must hold, the same whether it does or not.
        ok: None when something is unknown; ``missing`` says what.
        message: what was found.
        fix: a remedy, when it does not hold.
        missing: what would have to be known; its fields are places inside the file system.
    """

    path: Path
    what: str
    ok: bool | None
    message: str
    fix: str | None = None
    missing: tuple[str, ...] = ()


def judge_networks(system: ParallelFileSystem, servers: int | None) -> Iterator[NetworkDemand]:
    """Yield every claim about the NIDs of the MGS and the networks of servers and clients.

    ``servers`` is the number of hosts of the node group that runs the MGS.
    """
    management = system.management
    if management is None or management.nids is None:
        lacking = Missing("'nids' of the management service", ("management", "nids"))
        if management is None:
            lacking = Missing("'management'", ("management",))
        message = "whether clients and servers reach the management service"
        yield NetworkDemand(("management",), "reach", None, message, missing=(lacking,))
        return
    nids = [
        tuple((address, lnet_name(network)) for address, network in split_nids(text))
        for text in management.nids
    ]
    for number, of_server in enumerate(nids):
        for nid in of_server:
            yield _judge_nid(system, ("management", "nids", number), nid)
    yield from _judge_servers(nids, servers)
    reached = _shared(nids)
    yield from _judge_parts(system, reached)


def _judge_nid(system: ParallelFileSystem, path: Path, nid: Nid) -> NetworkDemand:
    """Check that a NID lies in one of the networks of the file system."""
    address, name = nid
    text = f"{address}@{name}"
    question = f"place of the NID {text}"
    known = {lnet_name(network.name): n for n, network in enumerate(system.networks)}
    if name not in known:
        fix = f"declare the network '{name}'"
        if known:
            fix += f", or use one of {', '.join(known)}"
        message = f"the MGS has the NID {text}; '{name}' is not declared"
        return NetworkDemand(path, question, ok=False, message=message, fix=fix)
    subnet = system.networks[known[name]].subnet
    if subnet is None:
        message = f"whether the NID {text} of the MGS lies in its network"
        place = ("networks", known[name], "subnet")
        missing = (Missing(f"'subnet' of the network '{name}'", place),)
        return NetworkDemand(path, question, None, message, missing=missing)
    inside = IPv4Address(address) in IPv4Network(subnet)
    verb = "lies in" if inside else "does not lie in"
    return NetworkDemand(
        path,
        question,
        ok=inside,
        message=f"the NID {text} of the MGS {verb} {subnet}",
        fix=None if inside else f"use an address of {subnet}, or correct the 'subnet' of '{name}'",
    )


def _judge_servers(nids: Sequence[Sequence[Nid]], servers: int | None) -> Iterator[NetworkDemand]:
    """Check that the servers of the MGS are as many as the hosts, distinct and alike."""
    path: Path = ("management", "nids")
    if servers is not None:
        ok = 0 < len(nids) <= servers
        yield NetworkDemand(
            path,
            "number of servers",
            ok=ok,
            message=f"the MGS has NIDs of {len(nids)} servers; its node group has {servers}",
            fix=None if ok else f"name the NIDs of 1 to {servers} servers",
        )
    seen: dict[Nid, int] = {}
    everywhere = {network for of_server in nids for _, network in of_server}
    for number, of_server in enumerate(nids):
        for nid in of_server:
            if nid in seen:
                text = "@".join(nid)
                message = f"the NID {text} is given to servers {seen[nid] + 1} and {number + 1}"
                fix = f"give server {number + 1} a NID of its own"
                question = f"single use of the NID {text}"
                yield NetworkDemand((*path, number), question, ok=False, message=message, fix=fix)
            seen[nid] = number
        lacking = sorted(everywhere - {network for _, network in of_server})
        if lacking:
            names = ", ".join(lacking)
            message = f"server {number + 1} of the MGS has no NID on {names}; another one has"
            fix = f"add its NID on {names}: clients there cannot follow a failover"
            question = f"networks of server {number + 1}"
            yield NetworkDemand((*path, number), question, ok=False, message=message, fix=fix)


def _shared(nids: Sequence[Sequence[Nid]]) -> frozenset[str]:
    """Return the networks on which every server of the MGS has a NID."""
    each = [frozenset(network for _, network in of_server) for of_server in nids]
    return frozenset.intersection(*each) if each else frozenset()


def _judge_parts(system: ParallelFileSystem, mgs: AbstractSet[str]) -> Iterator[NetworkDemand]:
    """Check that the other servers reach the MGS, and clients reach all servers."""
    servers: list[_Part] = [("the MGS", mgs, ("management", "nids"))]
    for place in ("metadata", "objects"):
        part = system.metadata if place == "metadata" else system.objects
        if part is None:
            missing = (Missing(f"'{place}'", (place,)),)
            question = f"the {place} servers reach the MGS"
            yield NetworkDemand((), question, None, f"whether {question}", missing=missing)
            servers.append((f"the {place} servers", None, (place,)))
            continue
        names = None if part.networks is None else _names(part.networks)
        path: Path = (place, "networks")
        part_of = (f"the {place} servers", names, path)
        yield _judge_pair(path, part_of, servers[0])
        servers.append(part_of)
    if system.clients is None:
        missing = (Missing("'clients'", ("clients",)),)
        question = "clients reach the servers"
        yield NetworkDemand((), question, None, f"whether {question}", missing=missing)
    for index, clients in enumerate(system.clients or ()):
        names = None if clients.networks is None else _names(clients.networks)
        path = ("clients", index, "networks")
        for other in servers:
            yield _judge_pair(path, (f"the clients '{clients.group}'", names, path), other)


def _judge_pair(path: Path, mine: _Part, yours: _Part) -> NetworkDemand:
    """Check that two parts have a network in common."""
    (one, networks, here), (other, theirs, there) = mine, yours
    question = f"{one} reach {other}"
    if networks is None or theirs is None:
        unknown, place = (one, here) if networks is None else (other, there)
        missing = (Missing(f"'networks' of {unknown}", place),)
        return NetworkDemand(path, question, None, f"whether {question}", missing=missing)
    common = sorted(networks & theirs)
    if common:
        message = f"{question} over {', '.join(common)}"
        return NetworkDemand(path, question, ok=True, message=message)
    own, others = ", ".join(sorted(networks)) or "none", ", ".join(sorted(theirs)) or "none"
    return NetworkDemand(
        path,
        question,
        ok=False,
        message=f"{one} are on {own}, {other} on {others}: they have no network in common",
        fix=f"put both on one network, for instance {_suggest(networks, theirs)}",
    )


def _suggest(networks: AbstractSet[str], theirs: AbstractSet[str]) -> str:
    """Return the network that both would best be on: a fast one of the servers."""
    fast = sorted(name for name in theirs if name.startswith("o2ib"))
    return (fast or sorted(theirs) or sorted(networks) or ["o2ib"])[0]


def _names(networks: Sequence[str]) -> frozenset[str]:
    return frozenset(map(lnet_name, networks))
