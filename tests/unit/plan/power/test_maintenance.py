"""Loads with one source in maintenance and another one lost, against each pair summed by hand."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Any

import pytest

from designs import Design
from rackwright.plan.power import plan as power_plan
from rackwright.plan.power.demand import plus
from rackwright.plan.power.maintenance import dead_feeds, outages_of_two
from rackwright.plan.power.overhead import losses_of, unknown_loads
from rackwright.plan.power.sources import plan_sources

KINDS = ("utility", "ups")
SOURCES = ("power", "sources")
RESERVE = {
    (*SOURCES, 4, "fed_by"): ["ups-a", "ups-c"],
    (*SOURCES, 5, "fed_by"): ["ups-b", "ups-c"],
}
"""Both panels of the two feeds of each rack with a reserve UPS beside their own."""
DGX_W, SWITCH_RACKS_W = 10_200.0, 24_800.0


@pytest.fixture(scope="module")
def hall() -> Design:
    return Design("two-feeds")


def test_two_losses_are_summed_like_each_pair_by_hand(hall: Design) -> None:
    """Racks share their draw between living feeds; each source takes what its children have no other parent for."""
    site = hall.plan(RESERVE).onprem[0]
    tree = site.power.tree
    worst: dict[str, float] = {}
    whole = 32 * DGX_W + SWITCH_RACKS_W
    for pair in combinations(tree.sources, 2):
        if not any(tree.sources[name].kind in KINDS for name in pair):
            continue
        dead = tree.without(frozenset(pair))
        living = [name for name in ("rpp-a", "rpp-b") if name not in dead]
        loads = dict.fromkeys(tree.sources, 0.0)
        for panel in living:
            loads[panel] = whole / len(living)
            ups = next(name for name in tree.parents[panel] if name not in dead)
            loads[ups] += loads[panel]
        for name in set(loads) - dead:
            worst[name] = max(worst.get(name, 0.0), loads[name])
    found = site.power.maintenance.worst_loads(KINDS)
    for name in ("ups-a", "ups-b", "ups-c", "rpp-a", "rpp-b"):
        assert found[name].known
        assert found[name].load == pytest.approx(worst[name]), name
    assert found["ups-c"].load == pytest.approx(351_200)
    assert set(found["ups-c"].lost) == {"ups-a", "ups-b"}


def test_one_loss_is_no_worse_than_two(hall: Design) -> None:
    site = hall.plan(RESERVE).onprem[0]
    found = site.power.maintenance.worst_loads(KINDS)
    # The loss of the utility leaves nothing to carry.
    rows = [row for row in site.power.sources if row.source != "utility"]
    assert rows
    after_two = [found[row.source].load or 0.0 for row in rows]
    assert all(
        load >= (row.facility_w or 0.0) - 1e-6 for load, row in zip(after_two, rows, strict=True)
    )


def test_unknown_draw_of_a_rack_is_unknown_after_two_losses(hall: Design) -> None:
    found = hall.plan(RESERVE, {"dgx-h100": {"max_power": None}}).onprem[0]
    worst = found.power.maintenance.worst_loads(KINDS)
    assert not worst["ups-c"].known


def test_dead_feeds_begin_with_the_largest_set(hall: Design) -> None:
    tree = hall.plan().onprem[0].power.tree
    sets = dead_feeds(tree, ("rpp-a", "rpp-b"), KINDS)
    assert next(iter(sets)) == frozenset({0, 1})
    assert set(sets) >= {frozenset({0}), frozenset({1})}


def test_pairs_without_a_maintained_source_are_left_out(hall: Design) -> None:
    tree = hall.plan().onprem[0].power.tree
    pairs = [set(pair) for pair, _ in outages_of_two(tree, ["rpp-a", "rpp-b"], KINDS)]
    assert {"rpp-a", "rpp-b"} not in pairs
    assert {"rpp-a", "ups-b"} in pairs


ALL_KINDS = ("utility", "generator", "transformer", "switchgear", "ups")
FIXTURES = ("air", "busways", "electrical", "plant", "two-feeds")


class Recorded:
    """A site with the racks and consumers that its power was planned of."""

    def __init__(self, name: str, monkeypatch: pytest.MonkeyPatch, changes: Any = None) -> None:
        taken: list[Any] = []

        def plan(site: Any, path: Any, consumers: Any, classes: Any, power: Any) -> Any:
            taken[:] = [consumers, classes]
            return plan_sources(site, path, consumers, classes, power)

        monkeypatch.setattr(power_plan, "plan_sources", plan)
        (self.site,) = Design(name).plan(changes).onprem
        self.consumers, self.classes = taken

    def loads_without(self, lost: frozenset[str]) -> Mapping[str, float | None]:
        """Load of each living source, pushed up from all racks and consumers that live."""
        tree, overhead = self.site.power.tree, self.site.power.overhead
        dead = tree.without(lost)
        racks: dict[str, float | None] = {}
        for cls in self.classes:
            gone = frozenset(n for n, source in enumerate(cls.sources) if source in dead)
            for source, watts in zip(cls.sources, cls.draws(gone)[0], strict=True):
                racks[source] = plus(racks.get(source, 0.0), watts and watts * cls.racks)
        entries = {c.name: c.power for c in self.consumers if c.fed_by and c.power is not None}
        alive = {name: name not in dead for name in tree.order}
        carried = tree.push_up(racks, alive)
        declared = tree.push_up({**racks, **entries}, alive, losses_of(tree))
        unknown = unknown_loads(tree, self.consumers, overhead.carriers)
        return {
            name: None if name in unknown else overhead.of(name, declared[name], carried[name])
            for name in tree.sources
            if name not in dead
        }


@pytest.mark.parametrize("kinds", [ALL_KINDS, *((kind,) for kind in ALL_KINDS)])
@pytest.mark.parametrize("name", FIXTURES)
def test_worst_of_two_losses_is_that_of_all_pairs(
    name: str, kinds: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each pair is pushed up from the living racks and consumers, with the overhead of the whole site."""
    whole = Recorded(name, monkeypatch)
    compare_with_all_pairs(whole, kinds)


def test_overhead_does_not_take_the_power_of_dead_consumers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Both panels of the plant hang on the utility alone, and die with it."""
    whole = Recorded("plant", monkeypatch)
    names = [source.source for source in whole.site.power.sources]
    changes = {
        (*SOURCES, names.index(name), "fed_by"): ["utility"] for name in ("mech-a", "mech-b")
    }
    compare_with_all_pairs(Recorded("plant", monkeypatch, changes), ("utility",))


def compare_with_all_pairs(whole: Recorded, kinds: tuple[str, ...]) -> None:
    power = whole.site.power
    tree = power.tree
    worst: dict[str, float] = {}
    unknown: set[str] = set()
    for one in [name for name, source in tree.sources.items() if source.kind in kinds]:
        for other in tree.sources:
            for name, load in whole.loads_without(frozenset({one, other})).items():
                if load is None or tree.unfed:
                    unknown.add(name)
                else:
                    worst[name] = max(worst.get(name, 0.0), load)
    found = power.maintenance.worst_loads(kinds)
    assert {name for name, row in found.items() if not row.known} == unknown
    assert found.keys() == worst.keys() | unknown
    for name, load in worst.items():
        if name not in unknown:
            assert found[name].load == pytest.approx(load, abs=1e-6), name
