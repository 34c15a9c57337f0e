"""Host patterns of Ansible, resolved without Ansible, whose start takes seconds."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from fnmatch import translate
from typing import Any

_SUBSCRIPT = re.compile(r"(?P<name>.+)\[(?P<first>-?\d+)?(?P<colon>:)?(?P<last>-?\d+)?\]")
_PART = re.compile(r"(?:[^,:\[\]]|\[[^\[\]]*\]|[\[\]])+")
"""What stands between commas and colons, those in brackets left alone.

It looks ahead to the next bracket only from a bracket: a limit may name every host of a fleet.
"""


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


def hosts_of(pattern: str, groups: Mapping[str, Collection[str]]) -> frozenset[str]:
    """Return the hosts that ``pattern`` stands for; what it names that is not there stands for none.

    Of a group with a subscript the hosts are taken in the order of their names, which is not always
    that of Ansible: how many they are is right.

    Args:
        pattern: groups and hosts, with ``!`` for what is left out and ``&`` for what must be as well;
            wildcards, subscripts, and expressions that begin with ``~``.
        groups: hosts by group; ``all`` has every host.
    """
    parts = [part.strip() for part in _PART.findall(pattern) if part.strip()]
    wanted = [part for part in parts if part[0] not in "!&"]
    found: set[str] = set(groups["all"]) if parts and not wanted else set()
    for part in wanted:
        found.update(_one(part, groups))
    for part in parts:
        if part[0] == "&":
            found.intersection_update(_one(part[1:], groups))
    for part in parts:
        if part[0] == "!":
            found.difference_update(_one(part[1:], groups))
    return frozenset(found)


def _one(part: str, groups: Mapping[str, Collection[str]]) -> Collection[str]:
    """Return the hosts of a part of a pattern that has no separators and no marks."""
    if part.startswith("~"):
        try:
            return _matching(re.compile(part[1:]), groups)
        except re.error:
            return ()
    if part in groups:
        return groups[part]
    found = _SUBSCRIPT.fullmatch(part)
    if found is not None:
        return _cut(sorted(_one(found["name"], groups)), found)
    if any(sign in part for sign in "*?["):
        return _matching(re.compile(translate(part)), groups)
    return (part,) if part in groups["all"] else ()


def _matching(expression: re.Pattern[str], groups: Mapping[str, Collection[str]]) -> set[str]:
    hosts = {host for host in groups["all"] if expression.match(host)}
    return hosts.union(*(own for name, own in groups.items() if expression.match(name)))


def _cut(hosts: Sequence[str], subscript: re.Match[str]) -> Sequence[str]:
    """Return the hosts that a subscript takes; a range of Ansible includes its last."""
    first = int(subscript["first"] or 0)
    if not subscript["colon"]:
        return hosts[first:][:1]
    last = int(subscript["last"]) if subscript["last"] else -1
    end = len(hosts) if last == -1 else last + 1
    return hosts[first:end]
