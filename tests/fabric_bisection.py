"""The bisection bandwidth of a fabric: what joins the two halves of its hosts that are joined least."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from rackwright.plan.fabric.layout import Layout, port_rate


@dataclass(slots=True)
class _Part:
    """Hosts that share leaves, or pods of such hosts, which are put into one half as a whole.

    Attributes:
        hosts: Gbps of the ports of their hosts.
        up: Gbps of the cables from their switches upwards.
        parts: the parts of a pod.
    """

    hosts: float
    up: float
    parts: list[_Part] = field(default_factory=list)

    @property
    def gain(self) -> float:
        """Gbps of cables less that are cut when it is in a half as a whole, not host by host."""
        return self.hosts - self.up


def bisection(layout: Layout) -> float | None:
    """Return the Gbps in one direction between the halves of the hosts that are joined least.

    The halves have equal bandwidth of host ports, and a host is in one of them with all its ports, so
    planes and rails add up. The least cut puts whole pods into a half, then whole sets of hosts that
    share their leaves, then single hosts, the fullest first: wherever fewer cables lead upwards than
    down. Of a tree without oversubscription that is half of what the hosts can send. Where pods or
    leaves are not equally full it is an upper bound, which is off by less than one of them. Patches
    are left out of account.

    Returns:
        None where it is not known where all hosts or the cables between switches are, or at which
        rate a port runs.
    """
    if layout.endpoints is None or any(layout.unplaced) or len(layout.tiers) > 3:
        return None
    rates = [port_rate(hosts) for hosts in layout.hosts]
    ups = [layout.up_ports(tier) for tier in range(len(layout.tiers) - 1)]
    if None in rates or None in ups:
        return None
    pods = list(_pods(layout, [rate or 0.0 for rate in rates], [up or 0 for up in ups]))
    half = sum(pod.hosts for pod in pods) / 2
    least, cut, taken = _filled((part for pod in pods for part in pod.parts), half), 0.0, 0.0
    order = sorted(pods, key=lambda pod: pod.gain, reverse=True)
    for number, pod in enumerate(order, 1):
        if pod.gain <= 0 or taken >= half:
            break
        cut, taken = cut + pod.up, taken + pod.hosts
        rest = (part for other in order[number:] for part in other.parts)
        least = min(least, cut + _filled(rest, half - taken))
    return least


def _filled(parts: Iterable[_Part], wanted: float) -> float:
    """Return the fewest Gbps that are cut when hosts of ``wanted`` Gbps are taken from ``parts``."""
    cut, left, least = 0.0, wanted, abs(wanted)
    for part in sorted(parts, key=lambda one: one.gain, reverse=True):
        if part.gain <= 0 or left <= 0:
            break
        cut, left = cut + part.up, left - part.hosts
        least = min(least, cut + abs(left))
    return least


def _pods(layout: Layout, rates: Sequence[float], ups: Sequence[int]) -> Iterator[_Part]:
    """Yield the parts of a fabric below its topmost switches, each with the parts in it."""
    tiers = layout.tiers
    leaf_up = ups[0] * tiers[0].up_rate if ups else 0.0
    parts: dict[int, _Part] = {}
    sets = _Sets(tiers[0].switches)
    used = sorted({leaf for run in layout.runs for leaf in run.leaves})
    for run in layout.runs:
        sets.join(run.leaves)
    for leaf in used:
        parts.setdefault(sets.of(leaf), _Part(0.0, 0.0)).up += leaf_up
    for run in layout.runs:
        interfaces = layout.hosts[run.attachment].interfaces or 0
        own = parts[sets.of(run.leaves[0])]
        own.hosts += run.hosts * interfaces * rates[run.attachment]
    if len(tiers) == 1:
        yield _Part(sum(part.hosts for part in parts.values()), 0.0, list(parts.values()))
        return
    spine_up = ups[1] * tiers[1].up_rate if len(tiers) == 3 else 0.0
    yield from _joined(layout, parts, sets, spine_up)


def _joined(
    layout: Layout, parts: dict[int, _Part], sets: _Sets, spine_up: float
) -> Iterator[_Part]:
    """Yield the pods: parts that hosts or switches of the second tier join, by their set of leaves."""
    leaves, spines = (tier.switches for tier in layout.tiers[:2])
    first = [link for link in layout.links if link.lower == 0]
    blocks = max((link.blocks for link in first), default=1)
    joined = _Sets(blocks)
    if any(link.blocks != blocks for link in first):
        joined.join(range(blocks))
    block_of = defaultdict[int, set[int]](set)
    for leaf in range(leaves):
        block_of[sets.of(leaf)] |= {link.block(leaf, leaves) for link in first} or {0}
    for several in block_of.values():
        joined.join(several)
    pods: dict[int, _Part] = {}
    for root, part in parts.items():
        pod = pods.setdefault(joined.of(min(block_of[root])), _Part(0.0, 0.0))
        pod.hosts += part.hosts
        pod.parts.append(part)
    for block in range(blocks):
        own = (block + 1) * spines // blocks - block * spines // blocks
        if (above := pods.get(joined.of(block))) is not None:
            above.up += own * spine_up
    yield from pods.values()


class _Sets:
    """Numbers from 0 that are joined to sets."""

    def __init__(self, count: int) -> None:
        self._above = list(range(count))

    def of(self, number: int) -> int:
        """Return the number that stands for the set of ``number``."""
        while self._above[number] != number:
            self._above[number] = self._above[self._above[number]]
            number = self._above[number]
        return number

    def join(self, numbers: Iterable[int]) -> None:
        """Make the sets of ``numbers`` one."""
        roots = {self.of(number) for number in numbers}
        for root in roots:
            self._above[root] = min(roots)
