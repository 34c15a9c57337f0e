"""Order in which switches of running fabrics are changed, so that no job loses two rails or planes: pure.

A wave holds switches of one tier of one fabric. Leaves of a wave serve the same rails, and switches above them
the same rails and the same switches further up: what one wave takes away from a job is one rail of it, or one of
the ways between its leaves. A switch that others depend on alone has a wave of its own, which names them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from rackwright.model.names import compress_hostlist
from rackwright.plan.fabric.cables import wires
from rackwright.plan.fabric.layout import Layout


@dataclass(frozen=True, slots=True)
class SwitchWave:
    """Switches that are changed together, after those of the wave before.

    Attributes:
        first: it is the first switch of its product, which shows if the change works.
        cut_off: hosts that lose the fabric meanwhile, and switches that lose every way upwards.
    """

    site: str
    fabric: str
    tier: str
    switches: tuple[str, ...]
    first: bool = False
    cut_off: tuple[str, ...] = ()

    def __str__(self) -> str:
        words = f"{compress_hostlist(self.switches)} of {self.site}"
        if self.first:
            words += ", the first of its product"
        if self.cut_off:
            words += f"; drain {compress_hostlist(self.cut_off)}, which nothing else joins"
        return words


@dataclass
class _Wired:
    """Cables of one fabric, as devices above and below each other.

    Attributes:
        below: devices below each switch.
        above: switches above each host or switch.
        rails: interfaces of hosts that a switch serves, itself or through those below.
    """

    below: dict[str, set[str]] = field(default_factory=dict)
    above: dict[str, set[str]] = field(default_factory=dict)
    rails: dict[str, set[int]] = field(default_factory=dict)


def switch_waves(
    fabrics: Iterable[tuple[str, Layout]], touched: Collection[str], most: int | None = None
) -> tuple[SwitchWave, ...]:
    """Return each switch of ``touched`` in one wave, in the order in which the waves run.

    Args:
        fabrics: with the names of their sites.
        touched: names of the switches that change.
        most: largest number of switches in one wave; None for no limit.
    """
    made: list[SwitchWave] = []
    shown: set[tuple[str, str]] = set()
    for site, layout in fabrics:
        wired = _wired(layout)
        for tier in layout.tiers:
            chosen = [name for name in tier.names() if name in touched]
            if not chosen:
                continue
            where = (site, layout.fabric.name, tier.name)
            if (site, tier.type) not in shown:
                shown.add((site, tier.type))
                made.append(_alone(where, chosen[0], wired, first=True))
                chosen = chosen[1:]
            made += _of_tier(where, chosen, wired, most)
    return tuple(made)


def _wired(layout: Layout) -> _Wired:
    found = _Wired()
    switches = {name for tier in layout.tiers for name in tier.names()}
    for wire in wires(layout):
        found.below.setdefault(wire.upper, set()).add(wire.lower)
        found.above.setdefault(wire.lower, set()).add(wire.upper)
        if wire.lower not in switches:
            found.rails.setdefault(wire.upper, set()).add(wire.lower_port)
    for tier in layout.tiers:
        for name in tier.names():
            for upper in found.above.get(name, ()):
                found.rails.setdefault(upper, set()).update(found.rails.get(name, ()))
    return found


def _cut_off(switches: Collection[str], wired: _Wired) -> tuple[str, ...]:
    """Return what has no other switch above it than these."""
    below = {lower for name in switches for lower in wired.below.get(name, ())}
    return tuple(sorted(lower for lower in below if wired.above[lower] <= set(switches)))


def _alone(where: tuple[str, str, str], name: str, wired: _Wired, *, first: bool) -> SwitchWave:
    return SwitchWave(*where, (name,), first, _cut_off((name,), wired))


def _of_tier(
    where: tuple[str, str, str], chosen: Sequence[str], wired: _Wired, most: int | None
) -> Iterator[SwitchWave]:
    groups: dict[tuple[frozenset[int], frozenset[str]], list[str]] = {}
    for name in chosen:
        rails = frozenset(wired.rails.get(name, ()))
        groups.setdefault((rails, _plane(name, wired)), []).append(name)
    for names in groups.values():
        cutting = [name for name in names if _cut_off((name,), wired)]
        others = [name for name in names if name not in set(cutting)]
        for wave in _packed(others, wired.below, most):
            yield SwitchWave(*where, tuple(wave))
        for name in cutting:
            yield _alone(where, name, wired, first=False)


def _plane(name: str, wired: _Wired) -> frozenset[str]:
    """Return the switches above one that has switches below it: other planes have others."""
    leads_to_hosts = any(lower not in wired.below for lower in wired.below.get(name, ()))
    return frozenset() if leads_to_hosts else frozenset(wired.above.get(name, ()))


def _packed(
    names: Sequence[str], below: Mapping[str, Collection[str]], most: int | None
) -> list[list[str]]:
    """Return the switches in as few waves as the first that has room gives; none share what is below."""
    waves: list[tuple[list[str], set[str]]] = []
    for name in names:
        mine = set(below.get(name, ()))
        for members, taken in waves:
            if (most is None or len(members) < most) and taken.isdisjoint(mine):
                members.append(name)
                taken.update(mine)
                break
        else:
            waves.append(([name], mine))
    return [members for members, _ in waves]
