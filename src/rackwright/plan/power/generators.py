"""Load steps of generators: what is connected to one at once when it has started.

Loads are connected in the steps that the blueprint states, all of them in the first where it states
none. A UPS that walks in takes its load from its batteries back little by little and is no step. What
the PUE says beyond the entries of machines is connected in the first step.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import NamedTuple

from rackwright.plan.power.consumers import Consumer
from rackwright.plan.power.demand import Draws, FeedDemand, Loads, plus
from rackwright.plan.power.distribution import PowerTree
from rackwright.plan.power.overhead import Overhead, losses_of

Steps = dict[int, float | None]
"""W that are connected in each step, None where unknown."""


class LargestStep(NamedTuple):
    """The largest load step of a generator.

    Attributes:
        load: in W; None when unknown.
        step: its number.
        lost: the source whose loss starts the generator; None where it carries load before.
    """

    load: float | None
    step: int
    lost: str | None


def largest_steps(
    tree: PowerTree,
    demands: Sequence[FeedDemand],
    overhead: Overhead,
    unknown: AbstractSet[str],
    uncounted: Callable[[str], tuple[float, float]],
) -> Mapping[str, LargestStep]:
    """Return the largest step of each generator that any loss makes carry load.

    Args:
        tree: the sources.
        demands: what the racks draw.
        overhead: what the site draws beside them.
        unknown: sources of unknown load.
        uncounted: W of racks that a source may carry beside ``demands``, and of those with losses.
    """
    generators = [name for name, source in tree.sources.items() if source.kind == "generator"]
    losses = losses_of(tree)
    place = {name: number for number, name in enumerate(tree.parents)}
    users: dict[str, list[int]] = {}
    for number, demand in enumerate(demands):
        for source in demand.sources:
            users.setdefault(source, []).append(number)
    made: dict[object, tuple[Mapping[str, Steps], Loads]] = {}
    found: dict[str, LargestStep] = {}
    for name in generators:
        below = tree.below(name)
        racks_below = sorted({number for source in below for number in users.get(source, ())})
        hanging = _Hanging(
            order=tuple(sorted(below - {name}, key=tree.outages.place.__getitem__)),
            demands=[demands[number] for number in racks_below],
            consumers=[one for one in overhead.consumers if one.name in below],
        )
        near = hanging.near(tree)
        always = [None] if _is_first(tree, name, hanging.demands) else []
        for lost in (*always, *_starting(tree, name, sorted(below, key=place.__getitem__))):
            # Generators in parallel feed the same, and losses far away kill the same of it.
            dead = frozenset(filter(tree.dead(lost).__contains__, near))
            key = hanging.order, dead
            if key not in made:
                made[key] = _carried(tree, hanging, unknown, losses, dead)
            steps, racks = made[key]
            more, drawn = uncounted(name)
            watts = racks.get(name, 0.0)
            carried = dict(steps.get(name, {}))
            nothing = watts == 0 and not any(load != 0 for load in carried.values())
            if nothing and (lost is None or not more):
                continue  # it stands by
            _add(carried, 1, drawn)
            largest = _largest(
                carried, None if watts is None else watts + more, overhead.beyond, lost
            )
            if largest is not None and _is_larger(largest, found.get(name)):
                found[name] = largest
    return found


@dataclass(frozen=True, slots=True)
class _Hanging:
    """All that a generator can feed; a site has hundreds, each with a few rows of racks behind it.

    Attributes:
        order: sources and consumers, children before parents.
        demands: of the racks.
        consumers: the machines.
    """

    order: tuple[str, ...]
    demands: Sequence[FeedDemand]
    consumers: Sequence[Consumer]

    def near(self, tree: PowerTree) -> AbstractSet[str]:
        """Return all whose death changes what it draws: itself, what feeds it, and what feeds its racks."""
        names = set(self.order)
        names.update(*(tree.parents[name] for name in self.order))
        names.update(*(demand.sources for demand in self.demands))
        return names


def _is_first(tree: PowerTree, generator: str, demands: Iterable[FeedDemand]) -> bool:
    """Return True if a generator carries load while nothing is lost; most stand by."""
    children = tree.outages.children.get(generator, ())
    return any(tree.parents[child][0] == generator for child in children) or any(
        generator in demand.sources for demand in demands
    )


def _starting(tree: PowerTree, generator: str, below: Sequence[str]) -> Iterator[str]:
    """Yield the sources whose loss may bring load to a generator that stands by, with ``below`` behind it."""
    found: dict[str, None] = {}
    for name in below:
        first, *others = tree.parents[name] or ("",)
        if any(generator in tree.ancestors(parent) for parent in others):
            found.update(dict.fromkeys(sorted(tree.ancestors(first) - {generator})))
    return iter(found)


def _carried(
    tree: PowerTree,
    hanging: _Hanging,
    unknown: AbstractSet[str],
    losses: Draws,
    dead: AbstractSet[str],
) -> tuple[Mapping[str, Steps], Loads]:
    """Return the draw of ``hanging`` on each source while some are dead: by step, and of racks alone."""
    racks = _leaves(hanging.demands, dead)
    steps: dict[str, Steps] = defaultdict(dict)
    for name, load in racks.items():
        _add(steps[name], 1, load)
    for consumer in hanging.consumers:
        if consumer.fed_by and consumer.power is not None:
            _add(steps[consumer.name], consumer.start_step, consumer.power)
    for name in hanging.order:
        parent = next((parent for parent in tree.parents[name] if parent not in dead), None)
        if parent is None or name in dead:
            continue
        racks[parent] = plus(racks.get(parent, 0.0), racks.get(name, 0.0))
        source = tree.sources.get(name)
        # A UPS with walk-in takes up its load gradually, after the steps.
        if source is not None and source.walk_in:
            continue
        own = 1 if source is None else source.start_step
        for step, load in steps[name].items():
            drawn = None if name in unknown else losses.more(name, load)
            # A load starts no earlier than the source that it hangs on.
            _add(steps[parent], max(step, own), drawn)
        if constant := losses.beside.get(name):
            _add(steps[parent], own, constant)
        if source is not None and source.kind == "ups":
            _add(steps[parent], own, source.recharge)
    return steps, racks


def _leaves(demands: Sequence[FeedDemand], lost: AbstractSet[str]) -> Loads:
    """Return the draw of racks on each source that is live, in W."""
    loads: Loads = {}
    for demand in demands:
        dead = frozenset(n for n, name in enumerate(demand.sources) if name in lost)
        nothing = (None,) * len(demand.sources)
        draws = demand.without.get(dead, nothing) if dead else demand.normal
        for number, (name, watts) in enumerate(zip(demand.sources, draws, strict=True)):
            so_far = loads.get(name, 0.0)
            if number in dead:
                continue
            loads[name] = None if watts is None or so_far is None else so_far + watts * demand.racks
    return loads


def _add(steps: Steps, step: int, load: float | None) -> None:
    steps[step] = plus(steps.get(step, 0.0), load)


def _largest(
    steps: Steps, racks: float | None, beyond: float | None, lost: str | None
) -> LargestStep | None:
    """Return the largest of the steps; None where the generator carries nothing."""
    carried = dict(steps)
    if racks != 0:
        _add(carried, 1, None if racks is None or beyond is None else racks * beyond)
    for step, load in carried.items():
        if load is None:
            return LargestStep(None, step, lost)
    # Of equal steps the first one counts, hence the sign.
    known = [(load, -step) for step, load in carried.items() if load]
    if not known:
        return None
    load, step = max(known)
    return LargestStep(load, -step, lost)


def _is_larger(one: LargestStep, other: LargestStep | None) -> bool:
    """Return True if a step is larger than another one; an unknown one is larger than any."""
    if other is None:
        return True
    return other.load is not None and (one.load is None or one.load > other.load)
