"""Host names of the instances of node groups; nothing here calls AWS.

The instances of an Auto Scaling group come and go, the host names of the plan stay. An instance
carries its name in the tag ``HOST_TAG``, which nothing else writes: Auto Scaling puts the tags of a
group on instances at their launch only, and Pulumi manages those of the group (Amazon EC2 Auto
Scaling User Guide, "Tag Auto Scaling groups and instances").
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rackwright.harmless import counted
from rackwright.model.names import compress_hostlist
from rackwright.plan.aws import tags
from rackwright.plan.hosts import numbered

HOST_TAG = tags.HOST_TAG
"""Tag of an instance with its host name."""
GROUP_TAG = "rackwright:node-group"
"""Tag of an instance and of its Auto Scaling group with the node group."""
REGISTER = "rackwright-node-groups"
"""Name in the private zone of the TXT record with the groups whose names are kept here."""
TTL = 60
"""Seconds that a name may be remembered by those who asked for it."""

SHOWN = 5
"""Instances that a line names."""

Record = dict[str, Any]
"""A record set as Route 53 has it."""


@dataclass(frozen=True, slots=True)
class TemplateVersion:
    """A version of a launch template: the id of the template, and a number or ``$Latest``."""

    id: str
    number: str


@dataclass(frozen=True, slots=True)
class NodeInstance:
    """A living instance of a node group.

    Attributes:
        address: private address of its first interface; None while it has none.
        host: what its tag says, whether that is right or not.
        template: what it was launched from; None where it does not say.
        subnet: where it stands; None where it does not say.
    """

    id: str
    launched: dt.datetime
    address: str | None = None
    host: str | None = None
    template: TemplateVersion | None = None
    subnet: str | None = None


@dataclass(frozen=True, slots=True)
class Naming:
    """The hosts of a node group and their instances.

    Attributes:
        group: the node group.
        hosts: its host names, as the plan has them.
        holders: the instance of each host that has one, in the order of the names.
        unnamed: instances without a name.
    """

    group: str
    hosts: tuple[str, ...]
    holders: Mapping[str, NodeInstance]
    unnamed: tuple[NodeInstance, ...] = ()

    @property
    def missing(self) -> tuple[str, ...]:
        """Hosts without an instance."""
        return tuple(host for host in self.hosts if host not in self.holders)

    @property
    def unsettled(self) -> Mapping[str, NodeInstance]:
        """Hosts whose instance does not carry exactly this name in its tag."""
        return {host: one for host, one in self.holders.items() if one.host != host}

    @property
    def renamed(self) -> Mapping[str, str]:
        """New name of each host whose instance carries the same number with other digits."""
        return {
            one.host: host
            for host, one in self.holders.items()
            if one.host is not None
            and one.host != host
            and _number(self.group, one.host) == _number(self.group, host)
        }

    def as_data(self) -> dict[str, Any]:
        """Return the data: the form in which ``rackwright status --json`` tells it."""
        return {
            "count": len(self.hosts),
            "private_ips": {
                host: one.address for host, one in self.holders.items() if one.address is not None
            },
            "instance_ids": {host: one.id for host, one in self.holders.items()},
            "missing": [
                host
                for host in self.hosts
                if host not in self.holders or self.holders[host].address is None
            ],
            "unnamed": [one.id for one in self.unnamed],
        }

    def complaints(self) -> Iterator[str]:
        """Yield the differences from the plan, as lines."""
        data = self.as_data()
        total = len(self.hosts)
        if missing := data["missing"]:
            yield (
                f"{len(missing):,} of {total:,} hosts of '{self.group}' have no instance with an"
                f" address: {compress_hostlist(missing)}"
            )
        if unnamed := data["unnamed"]:
            shown = ", ".join(unnamed[:SHOWN]) + (", ..." if len(unnamed) > SHOWN else "")
            yield f"{counted(len(unnamed), 'instance')} of '{self.group}' without a host name: {shown}"


def held(group: str, count: int, instances: Iterable[NodeInstance], *, digits: int = 1) -> Naming:
    """Return the names that instances have by their tags.

    A tag counts by its number: ``dgx-03`` and ``dgx-3`` are the same host, which ``renamed`` lists where
    the tag has other digits than the plan. Of two instances with one name the elder keeps it.

    Args:
        group: the node group.
        count: number of its hosts.
        instances: those of the group that live.
        digits: least number of digits in the names of its hosts.
    """
    hosts = numbered(group, count, digits)
    holders: dict[str, NodeInstance] = {}
    unnamed = []
    for one in sorted(instances, key=_age):
        host = _host_of(group, hosts, one)
        if host is None or host in holders:
            unnamed.append(one)
        else:
            holders[host] = one
    return Naming(group, hosts, _ordered(hosts, holders), tuple(unnamed))


def assigned(
    group: str,
    count: int,
    instances: Iterable[NodeInstance],
    first: Collection[str] = (),
    *,
    digits: int = 1,
) -> Naming:
    """Return the same, with the free names given to the instances without one, the eldest first.

    Of the free names those of ``first`` are given first.
    """
    found = held(group, count, instances, digits=digits)
    holders = dict(found.holders)
    free = sorted(found.missing, key=lambda host: host not in first)
    holders.update(zip(free, found.unnamed, strict=False))
    left = found.unnamed[len(holders) - len(found.holders) :]
    return Naming(group, found.hosts, _ordered(found.hosts, holders), left)


def _age(one: NodeInstance) -> tuple[dt.datetime, str]:
    return one.launched, one.id


def _ordered(hosts: Sequence[str], holders: Mapping[str, NodeInstance]) -> dict[str, NodeInstance]:
    return {host: holders[host] for host in hosts if host in holders}


def _host_of(group: str, hosts: Sequence[str], one: NodeInstance) -> str | None:
    number = _number(group, one.host or "")
    return hosts[number - 1] if number is not None and 1 <= number <= len(hosts) else None


def _number(group: str, host: str) -> int | None:
    prefix, _, digits = host.rpartition("-")
    return int(digits) if prefix == group and re.fullmatch(r"[0-9]{1,9}", digits) else None


def record_changes(
    zone: str,
    namings: Iterable[Naming],
    records: Iterable[Record],
    *,
    spared: Iterable[str] = (),
) -> list[dict[str, Any]]:
    """Return the changes of the private zone that give each host the address of its instance.

    Names of nobody are removed, also those of groups that are no more: a record in the zone says
    which groups there were. Other records of the zone are left alone.

    Args:
        zone: name of the zone.
        namings: every node group of the site.
        records: what the zone has.
        spared: host names that are never touched.

    Returns:
        Changes as ``ChangeResourceRecordSets`` takes them.
    """
    namings = tuple(namings)
    others = set(spared)
    groups = {naming.group for naming in namings}
    wanted = {
        f"{host}.{zone}": one.address
        for naming in namings
        for host, one in naming.holders.items()
        if one.address is not None and host not in others
    }
    register = f"{REGISTER}.{zone}"
    there = {(str(one["Name"]).rstrip(".").lower(), one["Type"]): one for one in records}
    noted = _noted(there.get((register, "TXT")))
    mine = {f"{host}.{zone}" for host in others}
    changes = []
    for (name, kind), record in there.items():
        host = name.removesuffix(f".{zone}")
        of_group = any(_number(group, host) is not None for group in groups | noted)
        if kind == "A" and of_group and name not in wanted and name not in mine:
            changes.append({"Action": "DELETE", "ResourceRecordSet": record})
    for name, address in wanted.items():
        record = _record(name, "A", [address])
        if not _same(there.get((name, "A")), record):
            changes.append({"Action": "UPSERT", "ResourceRecordSet": record})
    kept = sorted(naming.group for naming in namings if naming.holders)
    if set(kept) != noted:
        changes += _register(register, kept, there.get((register, "TXT")))
    return changes


def _register(name: str, groups: Sequence[str], known: Record | None) -> Iterator[dict[str, Any]]:
    if groups:
        record = _record(name, "TXT", [f'"{group}"' for group in groups])
        yield {"Action": "UPSERT", "ResourceRecordSet": record}
    elif known is not None:
        yield {"Action": "DELETE", "ResourceRecordSet": known}


def _noted(record: Record | None) -> set[str]:
    values = [] if record is None else record.get("ResourceRecords", [])
    return {str(one["Value"]).strip('"') for one in values}


def _record(name: str, kind: str, values: Sequence[str]) -> Record:
    listed = [{"Value": value} for value in values]
    return {"Name": name, "Type": kind, "TTL": TTL, "ResourceRecords": listed}


def _same(record: Record | None, wanted: Record) -> bool:
    return record is not None and all(
        record.get(key) == wanted[key] for key in ("TTL", "ResourceRecords")
    )
