"""Who configures which hosts, where one machine is not enough."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, model_validator

from rackwright.errors import RackwrightError
from rackwright.model.base import Model
from rackwright.model.names import Name
from rackwright.model.units import Seconds
from rackwright.reading.suggest import did_you_mean

HERE = "here"
"""Name of the part that the controlling machine itself configures; no worker is called so."""

SERVERS = ("slurm_database", "slurm_controller")
"""Groups whose hosts serve the others: they are configured before any other host begins."""

LONGEST_SOCKET = 100
"""Bytes of a path of a socket that every Linux accepts."""


class WorkersError(RackwrightError):
    """The hosts cannot be given to the workers."""

    code = "workers"


def _check_socket(path: Path) -> Path:
    plain = re.fullmatch(r"/[A-Za-z0-9._/-]+", str(path))
    if not plain or len(str(path)) > LONGEST_SOCKET:
        raise ValueError(
            f"'{path}' is no absolute path of at most {LONGEST_SOCKET} letters, digits and '._/-'"
        )
    return path


HostSet = Annotated[str, Field(pattern=r"^!?[A-Za-z0-9_][A-Za-z0-9_.-]*$")]
"""A group or a host of the inventory; with ``!`` in front it is left out."""


class Head(Model):
    """Receptor on the controlling machine, which every worker connects to."""

    node: Name = "controller"
    """Its name in the network of Receptor."""
    address: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9.-]*$")]
    """Name or IPv4 address at which workers reach it; it stands in its certificate."""
    listen: IPv4Address = IPv4Address("0.0.0.0")  # noqa: S104 - every node needs a certificate # nosec B104
    """Address of this machine that it listens on; absent, all of them."""
    port: int = Field(default=27199, ge=1, le=65535)
    """TCP port that it listens on."""
    socket: Annotated[Path, AfterValidator(_check_socket)] = Path("/run/receptor/control.sock")
    """Its control socket, by which work is submitted."""


class Worker(Model):
    """A machine that configures a part of the hosts."""

    node: Name
    """Its name in the network of Receptor."""
    hosts: tuple[HostSet, ...] = Field(min_length=1)
    """Groups or hosts of the inventory; those with ``!`` in front are left out."""


class Login(Model):
    """Login of workers, sent with each run; for those that do not have it already."""

    private_key: Path
    """The private key for every host, a file that only its owner reads; relative to this file."""
    known_hosts: Path
    """The keys of the hosts; relative to this file."""


class Workers(Model):
    """Hosts that each Receptor node configures."""

    apiVersion: Literal["rackwright/v1"]
    """Version of this form."""
    head: Head
    """Receptor on this machine."""
    here: tuple[HostSet, ...] = ()
    """Groups or hosts that this machine configures itself."""
    workers: tuple[Worker, ...] = Field(min_length=1)
    """The workers; every host of the inventory is that of one of them, or of this machine."""
    login: Login | None = None
    """A key for the hosts that is sent with each run; absent, workers use their own."""
    data_folder: Annotated[str, Field(pattern=r"^[A-Za-z0-9._/-]+$")] = "/var/lib/receptor"
    """Where Receptor keeps its state, on the head and on each worker."""
    lost_after: Annotated[Seconds, Field(ge=2, le=3600)] = 60.0
    """How long a worker may be out of reach before its hosts are given up."""

    @model_validator(mode="after")
    def _names_differ(self) -> Workers:
        nodes = [self.head.node, *(worker.node for worker in self.workers)]
        for node in nodes:
            if nodes.count(node) > 1 or node == HERE:
                raise ValueError(f"'{node}' cannot be the name of a worker: it is taken")
        return self


def load_workers(path: Path) -> Workers:
    """Return the workers in the file ``path``, with paths made absolute.

    Raises:
        SpecErrors: every mistake, each with its position.
        WorkersError: a file that it names is missing, or others can read the key.
    """
    from rackwright.reading.loader import load

    found = load(path, Workers).value
    if found.login is None:
        return found
    folder = path.resolve().parent
    key = folder / found.login.private_key.expanduser()
    known = folder / found.login.known_hosts.expanduser()
    for file in (key, known):
        if not file.is_file():
            raise WorkersError(f"'{file}' is no file", hint=f"'login' in '{path}' names it")
    if key.stat().st_mode & 0o077:
        raise WorkersError(f"others can read the private key '{key}'", hint=f"chmod 600 {key}")
    login = Login(private_key=key, known_hosts=known)
    return found.model_copy(update={"login": login})


def members(listing: Mapping[str, Any]) -> Mapping[str, frozenset[str]]:
    """Return the hosts of each group, those of its children included.

    Args:
        listing: an inventory in the form that ``ansible-inventory --list`` has.
    """
    found: dict[str, frozenset[str]] = {}

    def of(group: str) -> frozenset[str]:
        if group not in found:
            entry = listing.get(group, {})
            found[group] = frozenset(entry.get("hosts", ())).union(
                *(of(child) for child in entry.get("children", ()))
            )
        return found[group]

    for group in listing:
        if group != "_meta":
            of(group)
    return found


def partition(
    workers: Workers, groups: Mapping[str, Collection[str]]
) -> Mapping[str, frozenset[str]]:
    """Return the hosts of each part: of this machine as ``HERE``, and of each worker by its name.

    Args:
        workers: who takes which groups.
        groups: hosts by group; ``all`` has every host.

    Raises:
        WorkersError: a group is unknown, or a host is in no part or in several.
    """
    parts = {HERE: _choose(workers.here, groups, "here")} if workers.here else {}
    parts |= {w.node: _choose(w.hosts, groups, w.node) for w in workers.workers}
    owners: dict[str, list[str]] = {host: [] for host in sorted(groups["all"])}
    for part, hosts in parts.items():
        for host in hosts:
            owners[host].append(part)
    nobody = [host for host, found in owners.items() if not found]
    if nobody:
        raise WorkersError(
            f"no worker configures {_listed(nobody)}",
            hint="add their groups to a worker, or to 'here'",
        )
    several = {host: found for host, found in owners.items() if len(found) > 1}
    if several:
        host, found = next(iter(several.items()))
        raise WorkersError(
            f"{_listed(list(several))} would be configured by several workers: "
            f"'{host}' by {', '.join(found)}",
            hint="leave a group out with '!' in front of its name",
        )
    return parts


def _choose(
    names: Sequence[str], groups: Mapping[str, Collection[str]], part: str
) -> frozenset[str]:
    """Return the hosts that ``names`` mean; what is left out is so wherever it stands.

    Raises:
        WorkersError: a name is no group and no host of the inventory, or no host is left.
    """
    known = {**groups, **{host: (host,) for host in groups["all"] if host not in groups}}
    chosen: set[str] = set()
    left_out: set[str] = set()
    for name in names:
        bare = name.removeprefix("!")
        if bare not in known:
            raise WorkersError(
                f"'{part}' takes '{bare}', which is no group and no host of the inventory",
                hint=did_you_mean(bare, sorted(known)) or "rackwright inventory --graph shows all",
            )
        (left_out if name.startswith("!") else chosen).update(known[bare])
    if not chosen - left_out:
        raise WorkersError(f"'{part}' would configure no host", hint="remove it, or give it some")
    return frozenset(chosen - left_out)


@dataclass(frozen=True)
class RunStage:
    """Hosts that are configured at the same time, by the part they belong to."""

    name: str
    parts: Mapping[str, frozenset[str]]

    @property
    def hosts(self) -> frozenset[str]:
        """All of its hosts."""
        return frozenset().union(*self.parts.values())


def stages(
    parts: Mapping[str, frozenset[str]],
    groups: Mapping[str, Collection[str]],
    chosen: Collection[str],
) -> tuple[RunStage, ...]:
    """Return the stages of a run over the hosts ``chosen``, in order; those without hosts are left out.

    A run of one controller has the servers ready before the play of the hosts that wait for them.
    Parts do not wait for each other's plays, so the servers are a stage of their own.
    """
    servers = frozenset().union(*(groups.get(group, ()) for group in SERVERS))
    wanted = frozenset(chosen)
    return tuple(
        RunStage(name, cut)
        for name, hosts in (("servers", wanted & servers), ("hosts", wanted - servers))
        if (cut := dict(_cut(parts, hosts)))
    )


def _cut(
    parts: Mapping[str, frozenset[str]], hosts: frozenset[str]
) -> Iterator[tuple[str, frozenset[str]]]:
    for part, own in parts.items():
        if own & hosts:
            yield part, own & hosts


def too_many_failed(failed: int, hosts: int, per_cent: int) -> bool:
    """Return True if more than ``per_cent`` of a stage's hosts failed, so that the next must not begin."""
    return failed * 100 > per_cent * hosts


_SHOWN = 5


def _listed(hosts: Sequence[str]) -> str:
    more = f" and {len(hosts) - _SHOWN} more" if len(hosts) > _SHOWN else ""
    return f"{', '.join(hosts[:_SHOWN])}{more}"
