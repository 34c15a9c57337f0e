"""The sources above the racks: what each carries, with everything alive and after any one is lost.

Power flows from the racks to the first living parent of each source. A UPS or transformer draws its load over
its efficiency (IEC 62040-3: output over input). What a PUE (ISO/IEC 30134-2: facility over IT power) says
beyond that is carried by the sources that are behind no UPS, in proportion to the racks that hang on them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from calculator.power import carries, devices_in, loaded
from calculator.things import Device, Feed, Machine, Number, Site, Source, times, total

LOSSY = ("ups", "transformer")
CARRY_PUE = ("utility", "generator", "transformer", "switchgear")


def capacity(source: Source, site: Site) -> Number:
    """What a source carries continuously, in W: of its modules those that are not spare."""
    if source.modules is not None:
        count, each, spare = source.modules
        return (count - spare) * each
    if source.circuit is not None:
        share = 1.0 if source.circuit.continuous else site.derate
        return carries(source.circuit, share, site.power_factor)
    return source.capacity


@dataclass(frozen=True, slots=True, kw_only=True)
class Carried:
    """Loads of one source in W: of racks alone, and with machines, losses and PUE; normal and worst."""

    racks: Number
    racks_worst: Number
    facility: Number
    facility_worst: Number


@dataclass
class _Tree:
    """A site's sources with some of them lost."""

    site: Site
    lost: str | None
    racks: list[tuple[int, list[Device], tuple[Feed, ...]]]
    """Equal racks: how many, their devices and feeds."""
    by_name: dict[str, Source] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.by_name = {source.name: source for source in self.site.sources}

    def lives(self, name: str) -> bool:
        if name == self.lost:
            return False
        parents = self.by_name[name].fed_by
        return not parents or any(map(self.lives, parents))

    def parent(self, names: tuple[str, ...]) -> str | None:
        """The first that lives."""
        return next(filter(self.lives, names), None)

    def chain(self, name: str) -> Iterator[tuple[str, float]]:
        """A living source and all that carry it, each with the W that it carries for 1 W of the first."""
        factor, at = 1.0, name
        while True:
            yield at, factor
            factor /= self.by_name[at].efficiency or 1.0
            above = self.parent(self.by_name[at].fed_by)
            if above is None:
                return
            at = above

    def hanging(self, *, losses: bool) -> dict[str, Number]:
        """W of racks by source, with or without what is lost between."""
        made: dict[str, Number] = dict.fromkeys(self.by_name, 0.0)
        for count, devices, feeds in self.racks:
            living = [at for at, feed in enumerate(feeds) if self.lives(feed.source)]
            dead = frozenset(
                (at, pdu)
                for at, feed in enumerate(feeds)
                for pdu in range(feed.pdus)
                if at not in living
            )
            counted = [d for d in devices if d.supplies is not None or d.watts is None]
            load = loaded(counted, feeds, dead).load
            for at in living:
                watts = total(one for (feed, _), one in load.items() if feed == at)
                for name, factor in self.chain(feeds[at].source):
                    part = times(watts, count * (factor if losses else 1.0))
                    made[name] = total((made[name], part))
        for name, watts in self.uncounted(losses=losses).items():
            made[name] = total((made[name], watts))
        return made

    def uncounted(self, *, losses: bool) -> dict[str, Number]:
        """W of devices whose supplies nobody has counted: in full on each source that may carry one of them.

        So in every state, and with the losses of the way on which most is lost (PWR-006).
        """
        made: dict[str, Number] = dict.fromkeys(self.by_name, 0.0)
        for count, devices, feeds in self.racks:
            factors: dict[str, float] = {}
            for feed in feeds:
                self._climb(feed.source, 1.0, factors)
            for device in devices:
                if device.supplies is None and device.watts is not None:
                    for name, factor in factors.items():
                        part = times(device.watts, count * (factor if losses else 1.0))
                        made[name] = total((made[name], part))
        return made

    def _climb(self, name: str, factor: float, factors: dict[str, float]) -> None:
        factors[name] = max(factor, factors.get(name, 0.0))
        for parent in self.by_name[name].fed_by:
            self._climb(parent, factor / (self.by_name[name].efficiency or 1.0), factors)

    def behind_ups(self, name: str) -> bool:
        """Whether a UPS may carry what a source carries, or it is one."""
        source = self.by_name[name]
        return source.kind == "ups" or any(map(self.behind_ups, source.fed_by))


def machines(site: Site) -> list[Machine]:
    """All that draws power and is in no rack."""
    made = list(site.plant or ())
    for hall in site.halls:
        if hall.air is not None and hall.air.fed_by:
            air = hall.air
            made.append(
                Machine(name=hall.name, count=air.count, power=air.unit.power, fed_by=air.fed_by)
            )
    made += [
        Machine(name=loop.name, count=loop.count, power=loop.unit.power, fed_by=loop.fed_by)
        for loop in site.loops
        if loop.fed_by
    ]
    return made


def racks_of(site: Site) -> list[tuple[int, list[Device], tuple[Feed, ...]]]:
    """How many racks are equal, with their devices and feeds."""
    made: list[tuple[int, list[Device], tuple[Feed, ...]]] = []
    for group in site.rack_groups():
        equal = Counter(tuple(devices_in(site, rack, group)) for rack in group.racks)
        made += [(count, list(devices), group.feeds) for devices, count in equal.items()]
    return made


def in_state(
    site: Site, lost: str | None, racks: list[tuple[int, list[Device], tuple[Feed, ...]]]
) -> tuple[dict[str, Number], dict[str, Number]]:
    """W by source of racks, and with machines, losses and PUE, when ``lost`` is lost."""
    tree = _Tree(site, lost, racks)
    hanging, facility = tree.hanging(losses=False), tree.hanging(losses=True)
    for machine in machines(site):
        at = tree.parent(machine.fed_by)
        for name, factor in () if at is None else tree.chain(at):
            watts = times(machine.power, machine.count * factor)
            facility[name] = total((facility[name], watts))
    if site.pue is not None:
        for source in site.sources:
            if source.kind in CARRY_PUE and not tree.behind_ups(source.name):
                share = times(hanging[source.name], site.pue - 1)
                facility[source.name] = total((facility[source.name], share))
    return hanging, facility


def carried(site: Site) -> dict[str, Carried]:
    """Of each source, with everything alive and after the worst loss of another one."""
    racks = racks_of(site)
    states = {
        lost: in_state(site, lost, racks)
        for lost in (None, *(source.name for source in site.sources))
    }
    made = {}
    for source in site.sources:
        others = [both for lost, both in states.items() if lost != source.name]
        normal = states[None]
        made[source.name] = Carried(
            racks=normal[0][source.name],
            racks_worst=_largest([racks[source.name] for racks, _ in others]),
            facility=normal[1][source.name],
            facility_worst=_largest([facility[source.name] for _, facility in others]),
        )
    return made


def _largest(numbers: list[Number]) -> Number:
    known = [number for number in numbers if number is not None]
    return max(known) if len(known) == len(numbers) else None


def is_described(site: Site) -> bool:
    """Whether all that draws power is said: by entries, or by a PUE where there are none."""
    entries = site.plant is not None
    return entries != (site.pue is not None)


def drawn_by_facility(site: Site) -> Number:
    """W of all racks with machines and losses: by the PUE, or by the entries where there is none."""
    racks = racks_of(site)
    watts = total(times(device.watts, count) for count, devices, _ in racks for device in devices)
    if site.pue is not None:
        return times(watts, site.pue)
    _, carried_by = in_state(site, None, racks)
    lost = [
        times(carried_by[source.name], 1 / source.efficiency - 1)
        for source in site.sources
        if source.efficiency is not None
    ]
    return total((watts, *lost, *(times(one.power, one.count) for one in machines(site))))
