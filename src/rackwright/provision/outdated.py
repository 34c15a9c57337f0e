"""Nodes that were launched from another version than their group launches now; nothing here calls AWS.

An Auto Scaling group that gets another version of its launch template, or another subnet, launches new
instances from it; those that run stay what they are (Amazon EC2 Auto Scaling User Guide, "Create a launch
template for an Auto Scaling group").
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rackwright.model.names import compress_hostlist
from rackwright.provision.naming import Naming, NodeInstance, TemplateVersion

_WORDS = {
    "BlockDeviceMappings": "disks",
    "CapacityReservationSpecification": "capacity reservation",
    "IamInstanceProfile": "instance profile",
    "ImageId": "image",
    "InstanceMarketOptions": "market",
    "InstanceType": "instance type",
    "KeyName": "key pair",
    "MetadataOptions": "metadata options",
    "NetworkInterfaces": "network interfaces",
    "Placement": "placement",
    "TagSpecifications": "tags",
    "UserData": "user data",
}
"""What the fields of a launch template are called; others keep their names."""


@dataclass(frozen=True, slots=True)
class ScalingGroup:
    """An Auto Scaling group of a site.

    Attributes:
        name: what AWS calls it.
        group: the node group.
        template: what it launches from; None where it says none.
        subnets: where it launches.
        minimum: instances that it has at least.
        members: its instances that are not about to leave it; true for those that it may not choose
            when it gets smaller.
        unhealthy: those of them that EC2 calls impaired or gone. Nothing replaces them by itself.
        maximum: instances that it has at most.
        pending: members that do not run yet.
    """

    name: str
    group: str
    template: TemplateVersion | None
    subnets: frozenset[str]
    minimum: int
    members: Mapping[str, bool]
    unhealthy: frozenset[str] = frozenset()
    maximum: int = 0
    pending: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class OutdatedNode:
    """A node that is not what its group launches now.

    Attributes:
        host: its name; None where it has none.
        differs: in what, in words.
    """

    group: str
    host: str | None
    instance: str
    differs: tuple[str, ...]

    def as_data(self) -> dict[str, Any]:
        """Return the data: the form in which ``rackwright up --json`` tells it."""
        return {
            "group": self.group,
            "host": self.host,
            "instance": self.instance,
            "differs": list(self.differs),
        }


def find_outdated(
    naming: Naming, group: ScalingGroup, contents: Mapping[TemplateVersion, Mapping[str, Any]]
) -> Iterator[OutdatedNode]:
    """Yield the nodes of a group that are not what it launches now, in the order of their names.

    Args:
        naming: its hosts and their instances.
        group: what it launches from.
        contents: what is in the versions of launch templates, those that are no more left out.
    """
    held = [*naming.holders.items(), *((None, one) for one in naming.unnamed)]
    for host, one in held:
        if differs := tuple(_differences(one, group, contents)):
            yield OutdatedNode(naming.group, host, one.id, differs)


def _differences(
    one: NodeInstance, group: ScalingGroup, contents: Mapping[TemplateVersion, Mapping[str, Any]]
) -> Iterator[str]:
    if one.template != group.template or one.template is None or group.template is None:
        old = None if one.template is None else contents.get(one.template)
        new = None if group.template is None else contents.get(group.template)
        if one.template is None:
            yield "unknown: the instance does not say what it was launched from"
        elif old is None or new is None:
            yield "unknown: its launch template is not there any more"
        else:
            one_way, other = ({key: _sorted(v) for key, v in data.items()} for data in (old, new))
            keys = sorted(
                key for key in old.keys() | new.keys() if one_way.get(key) != other.get(key)
            )
            yield from (_WORDS.get(key, key) for key in keys)
    if one.subnet is not None and group.subnets and one.subnet not in group.subnets:
        yield "subnet"


def _sorted(value: Any) -> Any:
    """Return a value of a launch template with its lists in one order: none of them means anything by it."""
    if isinstance(value, Mapping):
        return {key: _sorted(one) for key, one in value.items()}
    if isinstance(value, list):
        return sorted(
            (_sorted(one) for one in value), key=lambda one: json.dumps(one, sort_keys=True)
        )
    return value


def outdated_lines(outdated: Iterable[OutdatedNode]) -> Iterator[str]:
    """Yield one line for the nodes of each group that differ in the same."""
    alike: dict[tuple[str, tuple[str, ...]], list[OutdatedNode]] = {}
    for node in outdated:
        alike.setdefault((node.group, node.differs), []).append(node)
    for (group, differs), nodes in alike.items():
        yield f"outdated nodes of {group}: {_listed(nodes)} ({', '.join(differs)})"


def _listed(nodes: Sequence[OutdatedNode]) -> str:
    names = [node.host for node in nodes if node.host is not None]
    others = [node.instance for node in nodes if node.host is None]
    return ", ".join([*([compress_hostlist(names)] if names else []), *others])


@dataclass(frozen=True, slots=True)
class Surplus:
    """The instances of a group that a blueprint has no place for.

    Attributes:
        wanted: instances that the blueprint wants.
        there: instances that there are.
        nodes: those that have to go, each by its instance, with its name where it has one.
    """

    group: str
    wanted: int
    there: int
    nodes: Mapping[str, str | None]

    @property
    def has_names(self) -> bool:
        """True where hosts have to go; what has no name was launched for a node that has yet to end."""
        return any(host is not None for host in self.nodes.values())

    def __str__(self) -> str:
        """Return text like ``train has 12 nodes and the blueprint wants 8: train-[09-12]``."""
        names = [host for host in self.nodes.values() if host is not None]
        others = [one for one, host in self.nodes.items() if host is None]
        text = ", ".join([*([compress_hostlist(names)] if names else []), *others])
        return f"'{self.group}' has {self.there:,} nodes and the blueprint wants {self.wanted:,}: {text}"


def find_unhealthy(naming: Naming, group: ScalingGroup) -> dict[str, str]:
    """Return the instance of each host that fails EC2's status checks; empty where it has ended by itself."""
    there = {one.id for one in (*naming.holders.values(), *naming.unnamed)}
    ended = len(group.unhealthy & group.members.keys() - there)
    impaired = {host: one.id for host, one in naming.holders.items() if one.id in group.unhealthy}
    return impaired | dict.fromkeys(naming.missing[:ended], "")


def find_surplus(naming: Naming, instances: Sequence[NodeInstance]) -> Surplus | None:
    """Return the instances that a group has beyond the blueprint; None if there are none.

    Those whose names the blueprint has no more go, then the youngest without a name.
    """
    wanted, there = len(naming.hosts), len(instances)
    if there <= wanted:
        return None
    named = [one for one in naming.unnamed if one.host is not None]
    others = [one for one in naming.unnamed if one.host is None]
    going = [*reversed(named), *reversed(others)][: there - wanted]
    return Surplus(naming.group, wanted, there, {one.id: one.host for one in reversed(going)})
