"""Parts that nodes with one kind of fault share: leaf, rail, feed, PDU, loop, rack, file system, firmware. Pure.

A part is named when its nodes have the fault so much more often than others that chance is no explanation:
of all parts the one with the highest likelihood ratio of two rates (its nodes, the rest) against one rate
for all. Of parts that explain the same nodes equally well, the smaller one is named.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from rackwright.model.faults import Fault, Subject

LEAST_NODES = 3
"""Nodes with the fault from which a part is named. Judgement: two are still a coincidence at this size."""
LEAST_SHARE = 0.25
"""Share of the nodes of a part that have the fault."""
LEAST_RATIO = 12.0
"""Logarithm of the likelihood ratio from which chance is no explanation, with thousands of parts compared."""


@dataclass(frozen=True, slots=True)
class PartRule:
    """Parts of one kind as a cause.

    Attributes:
        subjects: of faults that such a part causes.
        within_s: window of the faults in s.
    """

    subjects: frozenset[Subject]
    within_s: float


_NETWORK: frozenset[Subject] = frozenset({"network", "optic", "job"})
_POWER: frozenset[Subject] = frozenset({"power", "host", "bmc"})
_HEAT: frozenset[Subject] = frozenset({"cooling"})
RULES: Mapping[str, PartRule] = {
    "leaf": PartRule(_NETWORK | {"host"}, 600.0),
    "rail": PartRule(_NETWORK, 600.0),
    "spine": PartRule(_NETWORK, 600.0),
    "optic": PartRule(_NETWORK, 86_400.0),
    "pdu": PartRule(_POWER, 600.0),
    "feed": PartRule(_POWER, 600.0),
    "rack": PartRule(_POWER | _HEAT | {"nvlink"}, 600.0),
    "loop": PartRule(_HEAT, 1_800.0),
    "cdu": PartRule(_HEAT, 1_800.0),
    "hall": PartRule(_HEAT | _POWER, 1_800.0),
    "file-system": PartRule(frozenset({"file-system"}), 600.0),
    "firmware": PartRule(
        frozenset({"gpu", "nvlink", "pcie", "software", "storage", "network", "bmc"}), 86_400.0
    ),
}
"""Subjects and window of each kind of part."""


def explains(title: str, fault: Fault) -> bool:
    """Return True if a part, by its title, can be the cause of a fault."""
    rule = RULES.get(title.partition(" ")[0])
    return rule is not None and fault.subject in rule.subjects


@dataclass(frozen=True, slots=True, order=True)
class SharedPart:
    """A part that nodes share.

    Attributes:
        kind: key of ``RULES``.
        name: name of the part in the plan.
        place: rack and unit, port and label of a cable, as far as known.
    """

    kind: str
    name: str
    place: str = ""

    @property
    def title(self) -> str:
        """Kind, name and place on one line."""
        return f"{self.kind} {self.name}{f' ({self.place})' if self.place else ''}"


@dataclass(frozen=True)
class PartMap:
    """Shared parts with the nodes that hang on each."""

    parts: Mapping[SharedPart, frozenset[str]]

    @cached_property
    def nodes(self) -> int:
        """Number of nodes that hang on any part."""
        return len(frozenset().union(*self.parts.values())) if self.parts else 0

    @cached_property
    def by_node(self) -> Mapping[str, tuple[SharedPart, ...]]:
        """Parts of each node."""
        found: dict[str, list[SharedPart]] = defaultdict(list)
        for part, nodes in self.parts.items():
            for node in nodes:
                found[node].append(part)
        return {node: tuple(parts) for node, parts in found.items()}

    @cached_property
    def longest(self) -> float:
        """Longest window of all kinds of parts, in s."""
        return max(rule.within_s for rule in RULES.values())


@dataclass(frozen=True, slots=True)
class SharedFault:
    """A part that a fault of several nodes is put down to.

    Attributes:
        fault: id of the most common fault.
        nodes: nodes with it, sorted.
        of: nodes that hang on the part.
    """

    part: SharedPart
    fault: str
    nodes: tuple[str, ...]
    of: int

    def __str__(self) -> str:
        return f"{self.part.title}: {self.fault} on {len(self.nodes)} of its {self.of} nodes"


def name_shared(
    parts: PartMap, faults: Sequence[tuple[str, Fault, float]], now: float
) -> tuple[SharedFault, ...]:
    """Return the parts that the faults of several nodes are put down to, the most likely first.

    Args:
        parts: of the site.
        faults: node, fault and time in s of each.
        now: end of every window.
    """
    left = [(node, fault, at) for node, fault, at in faults if node in parts.by_node]
    found: list[SharedFault] = []
    while (best := _best(parts, left, now)) is not None:
        found.append(best)
        gone = set(best.nodes)
        rule = RULES[best.part.kind]
        left = [one for one in left if not (one[0] in gone and one[1].subject in rule.subjects)]
    return tuple(found)


def _best(
    parts: PartMap, faults: Sequence[tuple[str, Fault, float]], now: float
) -> SharedFault | None:
    candidates: list[tuple[float, int, str, SharedFault]] = []
    for kind, rule in RULES.items():
        recent = [one for one in faults if one[1].subject in rule.subjects and now - one[2] <= rule.within_s]  # fmt: skip
        for fault_ids in _groups(kind, recent):
            hit: dict[SharedPart, set[str]] = defaultdict(set)
            every = {node for node, fault, _ in recent if fault.id in fault_ids}
            if len(every) < LEAST_NODES:
                continue
            for node in every:
                for part in parts.by_node[node]:
                    if part.kind == kind:
                        hit[part].add(node)
            for part, nodes in hit.items():
                size = len(parts.parts[part])
                if len(nodes) < LEAST_NODES or len(nodes) < LEAST_SHARE * size:
                    continue
                ratio = _likelihood(len(nodes), size, len(every), parts.nodes)
                if ratio >= LEAST_RATIO:
                    name = _commonest(recent, nodes, fault_ids)
                    made = SharedFault(part, name, tuple(sorted(nodes)), size)
                    candidates.append((round(ratio, 6), -size, part.title, made))
    return max(candidates, key=lambda one: one[:3])[3] if candidates else None


def _groups(kind: str, recent: Iterable[tuple[str, Fault, float]]) -> list[frozenset[str]]:
    """Return the faults that are counted together: a firmware set has one sign, other parts have several."""
    ids = {fault.id for _, fault, _ in recent}
    return [frozenset({one}) for one in sorted(ids)] if kind == "firmware" else [frozenset(ids)]


def _commonest(
    recent: Sequence[tuple[str, Fault, float]], nodes: set[str], ids: frozenset[str]
) -> str:
    counts: dict[str, set[str]] = defaultdict(set)
    for node, fault, _ in recent:
        if node in nodes and fault.id in ids:
            counts[fault.id].add(node)
    return max(sorted(counts), key=lambda one: len(counts[one]))


def _likelihood(hits: int, size: int, all_hits: int, nodes: int) -> float:
    """Return the logarithm of the likelihood ratio of two rates against one."""
    outside = nodes - size
    if outside <= 0:
        # Nothing to compare with: all nodes hang on it. It is named where nearly all have the fault.
        return (
            LEAST_RATIO if hits >= max(LEAST_NODES, 0.8 * size) and size >= 5 * LEAST_NODES else 0.0
        )
    if hits / size <= (all_hits - hits) / outside:
        return 0.0
    return _log(hits, size) + _log(all_hits - hits, outside) - _log(all_hits, nodes)


def _log(hits: int, size: int) -> float:
    share = hits / size
    inside = hits * math.log(share) if hits else 0.0
    return inside + ((size - hits) * math.log(1 - share) if hits < size else 0.0)
