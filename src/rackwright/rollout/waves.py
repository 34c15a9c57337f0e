"""In which order the hosts of a running cluster are changed, and how many at a time: pure.

Databases come before controllers, backups before primaries, controllers before nodes and nodes
before logins, which is the order in which Slurm's parts may differ in version. Of the nodes, one
unit of each hardware goes first, on its own; the others follow one failure domain after the other,
or several at a time where a limit says how much of a node group may be out of service.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from enum import StrEnum

from rackwright.errors import UsageError
from rackwright.inventory.inventory import HEADS
from rackwright.model.names import compress_hostlist
from rackwright.model.scheduler import Scheduler
from rackwright.plan.host_list import Host
from rackwright.plan.model import Plan


class Domain(StrEnum):
    """Hosts that fail together, and are changed together."""

    UNIT = "unit"
    """A server, or a rack-scale system."""
    RACK = "rack"
    ROW = "row"
    HALL = "hall"
    SITE = "site"


class WaveKind(StrEnum):
    """Kind of the hosts of a wave."""

    SERVICE = "service"
    CANARY = "canary"
    COMPUTE = "compute"
    LOGIN = "login"


@dataclass(frozen=True, slots=True)
class Limit:
    """Limit on the hosts out of service at a time; a limit of neither kind is none.

    Attributes:
        hosts: of all of them.
        percent: of the hosts of each node group, and of each partition.
    """

    hosts: int | None = None
    percent: float | None = None

    def __bool__(self) -> bool:
        return self.hosts is not None or self.percent is not None

    def __str__(self) -> str:
        parts = (
            [] if self.hosts is None else [f"{self.hosts} hosts" if self.hosts > 1 else "1 host"]
        )
        parts += (
            [] if self.percent is None else [f"{self.percent:g} % of a node group or partition"]
        )
        return " and ".join(parts) or "one failure domain"


_LIMIT = re.compile(r"(\d{1,6}(?:\.\d{1,3})?) ?(%?)")


def parse_limit(text: str) -> Limit:
    """Return the limit that ``8`` or ``10%`` stands for.

    Raises:
        UsageError: it is none.
    """
    match = _LIMIT.fullmatch(text.strip())
    if match is not None and match[2] and 0 < float(match[1]) <= 100:
        return Limit(percent=float(match[1]))
    if match is not None and not match[2] and match[1].isdigit() and int(match[1]) > 0:
        return Limit(hosts=int(match[1]))
    raise UsageError(
        f"'{text}' is no limit", hint="a number of hosts, like 8, or a share, like 10%"
    )


@dataclass(frozen=True, slots=True)
class WaveUnit:
    """Hosts that cannot be changed apart: one server, or the trays of a rack-scale system.

    Attributes:
        hosts: their names in the inventory.
        domain: the failure domain, from the site downwards.
        pools: node group and partitions, of which only a share may be out of service.
    """

    hosts: tuple[str, ...]
    domain: tuple[str, ...]
    hardware: str
    pools: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Wave:
    """Hosts that are changed together, after those of the wave before."""

    kind: WaveKind
    title: str
    hosts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Roster:
    """The hosts of a cluster that a change goes over.

    Attributes:
        services: databases and controllers with what they do, in the order in which they change.
        units: what runs jobs, in the order of the plan.
        logins: hosts where users log in.
        nodes: names in Slurm, of the hosts that run jobs.
    """

    services: tuple[tuple[str, str], ...]
    units: tuple[WaveUnit, ...]
    logins: tuple[str, ...]
    nodes: Mapping[str, str]

    @property
    def hosts(self) -> Iterator[str]:
        """All of them, in no order that matters."""
        yield from (name for name, _ in self.services)
        yield from (host for unit in self.units for host in unit.hosts)
        yield from self.logins


def roster(plan: Plan, domain: Domain) -> Roster:
    """Return the hosts of ``plan`` that the playbook for Slurm configures, with their failure domains.

    Raises:
        UsageError: there is no scheduler.
    """
    slurm = plan.slurm
    if slurm is None:
        raise UsageError("the blueprint has no 'scheduler', so there is nothing to drain nodes in")
    scheduler, sites = slurm.scheduler, slurm.sites
    hosts = [(one, one.inventory_name) for one in plan.hosts if one.site in sites]
    in_slurm = {(nodes.site, nodes.group) for nodes in slurm.nodes}
    services = _services(scheduler, hosts)
    serving = {name for name, _ in services}
    partitions: dict[str, list[str]] = {}
    for partition in scheduler.partitions:
        for group in partition.groups:
            partitions.setdefault(group, []).append(partition.name)
    units: dict[tuple[str, ...], list[str]] = {}
    kinds: dict[tuple[str, ...], Host] = {}
    for host, name in hosts:
        if host.role == "compute" and name not in serving:
            key = _place(host, Domain.UNIT)
            units.setdefault(key, []).append(name)
            kinds.setdefault(key, host)
    return Roster(
        services=services,
        units=tuple(
            WaveUnit(
                hosts=tuple(names),
                domain=_place(kinds[key], domain),
                hardware=kinds[key].hardware,
                pools=(
                    f"group {kinds[key].group} of {kinds[key].site}",
                    *(f"partition {name}" for name in partitions.get(kinds[key].group, ())),
                ),
            )
            for key, names in units.items()
        ),
        logins=tuple(n for h, n in hosts if h.role == "login" and n not in serving),
        nodes={name: host.name for host, name in hosts if (host.site, host.group) in in_slurm},
    )


def _place(host: Host, domain: Domain) -> tuple[str, ...]:
    """Return the failure domain of a host; in the cloud, its zone is the smallest above the host."""
    at = host.place
    if domain is Domain.SITE:
        return (host.site,)
    if at is None:
        zone = (host.site, host.zone or "")
        return (*zone, host.group, host.name) if domain is Domain.UNIT else zone
    if domain is Domain.HALL:
        return (host.site, at.hall)
    if domain is Domain.ROW:
        return (host.site, at.hall, at.row)
    if domain is Domain.RACK:
        return (host.site, at.rack)
    return (host.site, at.rack, host.group, str(at.unit))


def _services(
    scheduler: Scheduler, hosts: Sequence[tuple[Host, str]]
) -> tuple[tuple[str, str], ...]:
    """Return hosts in order, databases before controllers and backups before primaries; a host with two tasks last."""
    tasks: dict[str, list[str]] = {}
    order: list[str] = []
    accounting = scheduler.accounting
    if accounting is not None:
        order.append(accounting.host)
        tasks[accounting.host] = ["database"]
    first, *backups = [controller.host for controller in scheduler.controllers]
    for host, task in (*((name, "backup controller") for name in reversed(backups)), (first, "controller")):  # fmt: skip
        order.append(host)
        tasks.setdefault(host, []).append(task)
    watching = next((host.name for host, _ in hosts if host.role in HEADS), None)
    if watching is not None and watching not in tasks:  # where Prometheus runs
        order.append(watching)
        tasks[watching] = ["monitoring"]
    last = {host: index for index, host in enumerate(order)}
    known = {host.name: name for host, name in reversed(hosts)}
    return tuple(
        (known[host], " and ".join(tasks[host]))
        for host in sorted(last, key=lambda host: last[host])
        if host in known
    )


def plan_waves(
    found: Roster,
    domain: Domain,
    limit: Limit,
    *,
    only: Collection[str] | None = None,
    unfit: AbstractSet[str] = frozenset(),
) -> tuple[Wave, ...]:
    """Return every host of ``found`` in one wave, in the order in which the waves run.

    A wave keeps the limit, or is one unit that is larger than the limit.

    Args:
        found: the hosts.
        domain: what they were put together by.
        limit: how many may be out of service; without one, one domain at a time.
        only: the hosts to change, where not all are wanted.
        unfit: hosts that show nothing as the first, because they are out of service already.
    """
    wanted = found.hosts if only is None else only
    chosen = frozenset(wanted)
    units = [part for unit in found.units if (part := _part(unit, chosen)) is not None]
    firsts = canaries(units, unfit)
    sizes = Counter(pool for unit in found.units for pool in unit.pools for _ in unit.hosts)
    rest: dict[tuple[str, ...], list[WaveUnit]] = {}
    for unit in units:
        if unit not in firsts:
            rest.setdefault(unit.domain, []).append(unit)
    waves = [
        Wave(WaveKind.SERVICE, f"{n}: {task}", (n,)) for n, task in found.services if n in chosen
    ]
    waves += [Wave(WaveKind.CANARY, f"{_names(u.hosts)}, the first {u.hardware}", u.hosts) for u in firsts]  # fmt: skip
    waves += [
        Wave(
            WaveKind.COMPUTE, _title(batch, domain), tuple(h for u in batch.units for h in u.hosts)
        )
        for batch in _pack(rest, _Room(limit, sizes))
    ]
    waves += [
        Wave(WaveKind.LOGIN, f"{name}: login", (name,)) for name in found.logins if name in chosen
    ]
    return tuple(waves)


def canaries(
    units: Iterable[WaveUnit], unfit: AbstractSet[str] = frozenset()
) -> tuple[WaveUnit, ...]:
    """Return the first unit of each hardware, all of it in service; else its first at all."""
    best: dict[str, WaveUnit] = {}
    for unit in units:
        had = best.get(unit.hardware)
        if had is None or (not unfit.isdisjoint(had.hosts) and unfit.isdisjoint(unit.hosts)):
            best[unit.hardware] = unit
    return tuple(best.values())


def _part(unit: WaveUnit, chosen: AbstractSet[str]) -> WaveUnit | None:
    hosts = tuple(host for host in unit.hosts if host in chosen)
    return WaveUnit(hosts, unit.domain, unit.hardware, unit.pools) if hosts else None


class _Room:
    """Room of a wave."""

    def __init__(self, limit: Limit, sizes: Mapping[str, int]) -> None:
        self.limit = limit
        share = limit.percent
        self._most = (
            {}
            if share is None
            else {pool: math.floor(share * size / 100 + 1e-9) for pool, size in sizes.items()}
        )

    def holds(self, out: Counter[str], more: Counter[str]) -> bool:
        """Return True if ``more`` hosts by pool, all of them under ``""``, fit beside ``out``.

        Nothing fits beside what is over the limit by itself, not even of another pool.
        """
        total = out + more
        if self.limit.hosts is not None and total[""] > self.limit.hosts:
            return False
        return all(count <= self._most[pool] for pool, count in total.items() if pool in self._most)


@dataclass
class _Batch:
    units: list[WaveUnit] = field(default_factory=list)
    out: Counter[str] = field(default_factory=Counter)
    part: int | None = None

    def add(self, units: Iterable[WaveUnit], count: Counter[str]) -> None:
        self.units += units
        self.out += count


def _count(units: Iterable[WaveUnit]) -> Counter[str]:
    found: Counter[str] = Counter()
    for unit in units:
        for pool in ("", *unit.pools):
            found[pool] += len(unit.hosts)
    return found


def _pack(domains: Mapping[tuple[str, ...], Sequence[WaveUnit]], room: _Room) -> list[_Batch]:
    """Return the domains in their order, whole where they fit; one that is too large is split on its own."""
    made: list[_Batch] = []
    is_open = False
    for units in domains.values():
        count = _count(units)
        if is_open and room.limit and room.holds(made[-1].out, count):
            made[-1].add(units, count)
        elif room.holds(Counter(), count):
            made.append(_Batch())
            made[-1].add(units, count)
            is_open = True
        else:
            made += _split(units, room)
            is_open = False
    return made


def _split(units: Sequence[WaveUnit], room: _Room) -> list[_Batch]:
    made = [_Batch()]
    for unit in units:
        count = _count([unit])
        if made[-1].units and not room.holds(made[-1].out, count):
            made.append(_Batch())
        made[-1].add([unit], count)
    if len(made) > 1:
        for number, batch in enumerate(made, start=1):
            batch.part = number
    return made


def _title(batch: _Batch, domain: Domain) -> str:
    """Return text like ``rack c[01-02]``, or ``rack c01 (gpu-[1-2])`` where it is a part of one."""
    places = dict.fromkeys(unit.domain for unit in batch.units)
    names = _names(h for unit in batch.units for h in unit.hosts)
    if domain is Domain.UNIT:
        return names
    by_outer: dict[tuple[str, ...], list[str]] = {}
    for place in places:
        by_outer.setdefault(place[:-1], []).append(place[-1])
    text = ", ".join(
        _names(inner) + (f" of {' '.join(reversed(outer))}" if len(by_outer) > 1 else "")
        for outer, inner in by_outer.items()
    )
    return f"{domain} {text}" if batch.part is None else f"{domain} {text}, {names}"


def _names(names: Iterable[str]) -> str:
    return compress_hostlist(names)
