"""Security groups of a stack, and the resources that have their rules."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from rackwright.crossguard.decode import decode
from rackwright.crossguard.rules import GROUPS

_IDS = ("id", "groupId")
_NAMES = ("name", "groupName")
_BY_ID = ("securityGroupId", "groupId")
_BY_NAME = ("groupName",)
"""Inputs of a separate rule that name its security group."""


class SecurityGroups:
    """Security groups of a stack by URN, id, name and VPC.

    Args:
        resources: the stack, as ``AnalyzeStack`` is given it.
    """

    def __init__(self, resources: Iterable[Any]) -> None:
        self._urns: set[str] = set()
        self._by_id: dict[str, str] = {}
        self._by_name: dict[str, set[str]] = {}
        self._by_vpc: dict[str, str] = {}
        for resource in resources:
            if resource.type not in GROUPS:
                continue
            outputs = decode(resource.properties)
            self._urns.add(resource.urn)
            self._by_id |= dict.fromkeys(_texts(outputs, _IDS), resource.urn)
            for name in _texts(outputs, _NAMES):
                self._by_name.setdefault(name, set()).add(resource.urn)
            if "default" in resource.type:
                vpcs = resource.propertyDependencies["vpcId"].urns
                self._by_vpc |= dict.fromkeys(vpcs, resource.urn)

    def group_of(self, resource: Any, inputs: Mapping[str, Any]) -> str:
        """Return the group that the rules of a resource belong to.

        Returns:
            The URN of the group; its id or name, or the URN of what its id is read from, if it is of
            another stack; empty if unknown.
        """
        if resource.type in GROUPS:
            return str(resource.urn)
        outputs = decode(resource.properties)
        ids = [*_texts(inputs, _BY_ID), *_texts(outputs, _BY_ID)]
        names = [*_texts(inputs, _BY_NAME), *_texts(outputs, _BY_NAME)]
        if known := next((self._by_id[one] for one in ids if one in self._by_id), None):
            return known
        depends = resource.propertyDependencies
        urns = {urn for key in (*_BY_ID, *_BY_NAME) if key in inputs for urn in depends[key].urns}
        # An id may be made of the outputs of a group that has another id.
        possible = self._urns.difference(self._by_id.values() if ids else ())
        for found in (
            urns & possible,
            {urn for one in names for urn in self._by_name.get(one, ())},
            {self._by_vpc[urn] for urn in urns if self._by_vpc.get(urn) in possible},
        ):
            if len(found) == 1:
                return found.pop()
        if given := [*ids, *names]:
            return given[0]
        return urns.pop() if len(urns) == 1 else ""


def _texts(values: Mapping[str, Any], keys: Iterable[str]) -> list[str]:
    """Return the known texts among some values."""
    return [values[key] for key in keys if isinstance(values.get(key), str)]
