"""Cables as they are against cables as they are meant."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from rackwright.plan.fabric.cables import Wire, wires
from rackwright.plan.fabric.discovered.dump import Discovery, End
from rackwright.plan.fabric.discovered.names import PlanNames
from rackwright.plan.fabric.layout import Layout, Tier, find_host, port_rate

_SAME = 0.99
"""Part of the planned rate from which on a link runs at it: names of rates are rounded."""


@dataclass(frozen=True, slots=True)
class CableDifference:
    """A cable that is not where it is meant to be, or that runs slower.

    Attributes:
        cable: the ends that are meant, in words.
        devices: at its ends, as they are and as they are meant.
    """

    cable: str
    message: str
    fix: str
    devices: frozenset[str] = field(default=frozenset(), compare=False)


@dataclass(frozen=True)
class CableComparison:
    """A hall and the plan of one of its fabrics."""

    layout: Layout
    discovery: Discovery

    @cached_property
    def _meant(self) -> dict[End, End]:
        pairs = (((w.lower, w.lower_port), (w.upper, w.upper_port)) for w in wires(self.layout))
        return _both_ways(pairs)

    @cached_property
    def _names(self) -> PlanNames:
        return PlanNames(self.layout, self.discovery.links, self._meant)

    @cached_property
    def _found(self) -> dict[End, End]:
        name = self._names.end
        return {name(here): name(there) for here, there in self.discovery.links.items()}

    @cached_property
    def _rates(self) -> dict[End, tuple[str, float]]:
        return {self._names.end(end): rate for end, rate in self.discovery.rates.items()}

    @property
    def matched(self) -> bool:
        """True if anything in the hall is in the plan."""
        return self._names.matched

    @cached_property
    def unnamed(self) -> tuple[str, ...]:
        """Adapters whose hosts cannot be known, in ports that the plan has cables to hosts in."""
        return tuple(
            sorted(
                here[0]
                for here, there in self._found.items()
                if here[0] in self.discovery.unset and there in self._meant
            )
        )

    @property
    def without_rate(self) -> int:
        """Number of cables whose rate is not compared, since the plan or the dump does not state it."""
        return len(self._without_rate)

    @cached_property
    def _without_rate(self) -> tuple[Wire, ...]:
        return tuple(
            wire
            for wire in wires(self.layout)
            if self._found.get((wire.lower, wire.lower_port)) == (wire.upper, wire.upper_port)
            and (self._planned(wire) is None or self._rate_of(wire) is None)
        )

    def not_compared(self) -> tuple[Wire, ...]:
        """Return the cables of which the place or the rate is not known."""
        nameless = set(self.unnamed)
        hidden = (
            wire
            for wire in wires(self.layout)
            if self._found.get((wire.upper, wire.upper_port), ("", 0))[0] in nameless
        )
        return (*self._without_rate, *self._not_seen, *hidden)

    def differences(self) -> tuple[CableDifference, ...]:
        """Return what is between the hall and the plan, in the order of the plan's cables."""
        found, meant = self._found, self._meant
        nameless = set(self.unnamed)
        made: list[CableDifference] = []
        told: set[End] = set()
        for wire in wires(self.layout):
            lower, upper = (wire.lower, wire.lower_port), (wire.upper, wire.upper_port)
            if found.get(lower) == upper:
                made += self._slower(wire)
            elif wire in self._not_seen:
                continue
            elif lower not in told and found.get(upper, ("", 0))[0] not in nameless:
                difference, ends = _judge(lower, upper, found, meant)
                made.append(difference)
                told |= ends
        strangers = {
            frozenset((here, there))
            for here, there in found.items()
            if here not in meant and here[0] not in nameless
        }
        for pair in sorted(sorted(pair) for pair in strangers):
            if told.isdisjoint(pair):
                cable = " to ".join(_words(end) for end in pair)
                made.append(
                    CableDifference(
                        cable,
                        "it is not in the plan",
                        "take it out, or plan it",
                        frozenset(end[0] for end in pair),
                    )
                )
        return tuple(made)

    @cached_property
    def _not_seen(self) -> frozenset[Wire]:
        """Cables at which nothing is seen, and nothing can be: no device at their ends reports, or one is silent."""
        found, reporting = self._found, self._reporting
        if reporting is None:
            return frozenset()
        silent = {self._names.end(end) for end in self.discovery.silent}
        return frozenset(
            wire
            for wire in wires(self.layout)
            if (wire.lower, wire.lower_port) not in found
            and (wire.upper, wire.upper_port) not in found
            and (
                not {wire.lower, wire.upper} & reporting
                or not silent.isdisjoint(
                    ((wire.lower, wire.lower_port), (wire.upper, wire.upper_port))
                )
            )
        )

    @cached_property
    def _reporting(self) -> frozenset[str] | None:
        names = self.discovery.reporting
        return None if names is None else frozenset(self._names.end((name, 1))[0] for name in names)

    @property
    def without_report(self) -> int:
        """Cables between devices of which no file is given."""
        reporting = self._reporting
        if reporting is None:
            return 0
        return sum(1 for wire in self._not_seen if not {wire.lower, wire.upper} & reporting)

    @property
    def silent(self) -> int:
        """Cables whose port is up, with no neighbour that says what it is."""
        return len(self._not_seen) - self.without_report

    def _slower(self, wire: Wire) -> Iterator[CableDifference]:
        planned, rate = self._planned(wire), self._rate_of(wire)
        if planned is None or rate is None or rate[1] >= planned * _SAME:
            return
        ends = f"{_words((wire.lower, wire.lower_port))} to {_words((wire.upper, wire.upper_port))}"
        message = f"the link runs at {rate[0]} ({rate[1]:g} Gbps), and {planned:g} Gbps are planned"
        fix = "clean and seat the cable at both ends, or replace it; then reset the port"
        yield CableDifference(ends, message, fix, frozenset((wire.lower, wire.upper)))

    def _rate_of(self, wire: Wire) -> tuple[str, float] | None:
        """Return the lower of the rates that both ends tell."""
        ends = ((wire.lower, wire.lower_port), (wire.upper, wire.upper_port))
        rates = [self._rates[end] for end in ends if end in self._rates]
        return min(rates, key=lambda rate: rate[1], default=None)

    def _planned(self, wire: Wire) -> float | None:
        """Return the rate of a cable in Gbps: the lower of what its ends run at."""
        upper = self._tiers[wire.upper]
        host = find_host(self.layout, wire.lower)
        if host is None:
            lower = self._tiers[wire.lower]
            return min(lower.up_rate if lower.uplinks else lower.rate, upper.rate)
        rate = port_rate(self.layout.hosts[host[0]])
        return None if rate is None else min(rate, upper.rate)

    @cached_property
    def _tiers(self) -> Mapping[str, Tier]:
        return {name: tier for tier in self.layout.tiers for name in tier.names()}


def _judge(
    lower: End, upper: End, found: Mapping[End, End], meant: Mapping[End, End]
) -> tuple[CableDifference, set[End]]:
    """Return what became of one cable, and the lower ends that this tells about."""
    cable = f"{_words(lower)} to {_words(upper)}"
    actual = found.get(lower)
    if actual is None:
        taken = found.get(upper)
        where = f"; {_words(upper)} holds {_words(taken)}" if taken else ""
        fix = "plug the cable in, or replace it"
        devices = frozenset((lower[0], upper[0]))
        return CableDifference(cable, f"there is no link{where}", fix, devices), {lower}
    owner = meant.get(actual)
    if owner is not None and found.get(owner) == upper:
        message = f"it is swapped with {_words(owner)} to {_words(actual)}"
        fix = f"swap the cables in {_words(actual)} and {_words(upper)}"
        devices = frozenset((lower[0], upper[0], owner[0], actual[0]))
        return CableDifference(cable, message, fix, devices), {lower, owner}
    fix = _step(actual, upper) or f"move it to {_words(upper)}"
    devices = frozenset((lower[0], upper[0], actual[0]))
    return CableDifference(cable, f"it is in {_words(actual)}", fix, devices), {lower}


def _step(actual: End, meant: End) -> str | None:
    """Return how to move a cable to the next port of the same switch."""
    if actual[0] != meant[0] or abs(meant[1] - actual[1]) != 1:
        return None
    return f"move it one port {'up' if meant[1] > actual[1] else 'down'}, to port {meant[1]}"


def _words(end: End) -> str:
    return f"{end[0]} port {end[1]}"


def _both_ways(pairs: Iterable[tuple[End, End]]) -> dict[End, End]:
    made: dict[End, End] = {}
    for one, other in pairs:
        made[one], made[other] = other, one
    return made
