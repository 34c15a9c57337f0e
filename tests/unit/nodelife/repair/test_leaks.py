"""Nodes with a coolant leak: switched off at once, in any state of a repair, and proven to be off."""

from __future__ import annotations

import pytest

from node_life import FakeCluster, controller, fault, open_journal
from rackwright.errors import ExternalToolError
from rackwright.nodelife.repair.controller import PAUSED, RepairController
from rackwright.nodelife.repair.states import RepairState
from rackwright.nodelife.repair.tasks import finish_by_hand
from rackwright.nodelife.signs.shared import PartMap, SharedPart

BEFORE = {
    RepairState.HEALTHY: (None, 1),
    RepairState.SUSPECT: ("gpu-hot", 1),
    RepairState.DRAINING: ("gpu-context-timeout", 1),
    RepairState.DIAGNOSING: ("gpu-context-timeout", 2),
    RepairState.REPAIRING: ("gpu-context-timeout", 3),
    RepairState.VALIDATING: ("gpu-context-timeout", 4),
    RepairState.PROBATION: ("gpu-context-timeout", 8),
    RepairState.RMA: ("gpu-inforom-corrupt", 6),
}
"""Fault, and number of passes, by which a node comes to each state."""


@pytest.mark.parametrize("state", list(RepairState))
def test_leak_switches_a_node_off_in_every_state_of_a_repair(state: RepairState) -> None:
    """A node that was drained for another fault went on leaking under power."""
    cluster = FakeCluster(["a", "b"], takes=1 if state is RepairState.REPAIRING else 0)
    if state is RepairState.DRAINING:
        cluster.nodes["a"].jobs = 1
    loop = controller(cluster, open_journal())
    former, passes = BEFORE[state]
    for number in range(passes):
        events = [("a", fault(former))] if former is not None and number == 0 else []
        loop.run_pass(events, 10.0 + 10 * number)
    assert loop.journal.node("a").state is state
    loop.run_pass([("a", fault("coolant-leak", 99.0))], 100.0)
    assert not cluster.nodes["a"].power
    for number in range(8):
        loop.run_pass([], 110.0 + 10 * number)
    assert not cluster.nodes["a"].power, "it stays off until hands were there"
    assert loop.journal.node("a").waits == "by hand: replace"
    assert finish_by_hand(loop.journal, "a", "quick disconnect replaced", 300.0)
    cluster.nodes["a"].power = True
    for number in range(4):
        loop.run_pass([], 310.0 + 10 * number)
    assert loop.journal.node("a").state is RepairState.PROBATION
    assert [one for one in cluster.breaches if "untested" in one] == []


def test_leaking_node_whose_bmc_only_says_that_it_is_off_is_asked_again() -> None:
    cluster = FakeCluster(["a", "b"], deaf={"a"})
    loop = controller(cluster, open_journal())
    for number in range(3):
        loop.run_pass([("a", fault("coolant-leak"))], 10.0 + 10 * number)
        assert loop.journal.node("a").waits == "not switched off yet: the BMC says On"
    cluster.deaf.clear()
    loop.run_pass([], 60.0)
    assert not cluster.nodes["a"].power
    loop.run_pass([], 70.0)
    loop.run_pass([], 80.0)
    assert loop.journal.node("a").waits == "by hand: replace"


def test_leaking_node_is_off_although_slurm_does_not_answer() -> None:
    cluster = FakeCluster(["a", "b"])
    loop = controller(cluster, open_journal())

    def silent(nodes: object) -> None:
        raise ExternalToolError("scontrol did not end")

    cluster.look = silent  # type: ignore[assignment,method-assign]
    with pytest.raises(ExternalToolError):
        loop.run_pass([("a", fault("coolant-leak"))], 10.0)
    assert not cluster.nodes["a"].power
    assert cluster.nodes["b"].power


def test_pause_holds_for_a_leak_as_well_and_the_leak_is_not_forgotten() -> None:
    cluster = FakeCluster(["a", "b"])
    loop = controller(cluster, open_journal())
    loop.journal.set(PAUSED, True)
    loop.run_pass([("a", fault("coolant-leak"))], 10.0)
    assert cluster.nodes["a"].power
    loop.journal.set(PAUSED, False)
    loop.run_pass([], 20.0)
    assert not cluster.nodes["a"].power


def test_leak_that_was_seen_before_slurm_is_told_and_its_rack_is_named() -> None:
    nodes = [f"n{number}" for number in range(40)]
    rack = SharedPart("rack", "c01")
    parts = PartMap({rack: frozenset(nodes[:4]), SharedPart("hall", "h"): frozenset(nodes)})
    loop = controller(FakeCluster(nodes), open_journal(), parts=parts)
    loop.run_pass([], 5.0)
    events = [(node, fault("coolant-leak")) for node in nodes[:4]]
    loop.switch_off(events, 10.0)
    loop.run_pass(events, 10.0)
    assert [shared.part for shared in loop.shared] == [rack]
    assert "n0: power-off" in loop.told


def _leaking_loop(*deaf: str) -> tuple[FakeCluster, RepairController]:
    nodes = [f"n{number}" for number in range(40)]
    parts = PartMap({SharedPart("loop", "tcs-1"): frozenset(nodes[:10]), SharedPart("hall", "h"): frozenset(nodes)})  # fmt: skip
    made = FakeCluster(nodes, deaf=set(deaf))
    made.nodes["n0"].jobs = 1
    loop = controller(made, open_journal(), parts=parts)
    loop.run_pass([(node, fault("coolant-leak")) for node in nodes[:9]], 10.0)
    assert [shared.part.kind for shared in loop.shared] == ["loop"]
    return made, loop


def test_another_fault_never_powers_a_leaking_node_of_a_loop_on() -> None:
    """A lost GPU replaced the leak, as the loop explained the leak alone: a cold cycle powered the node on."""
    cluster, loop = _leaking_loop()
    loop.run_pass([("n0", fault("gpu-off-bus", 70.0))], 70.0)
    cluster.nodes["n0"].jobs = 0
    for number in range(8):
        loop.run_pass([], 130.0 + 60 * number)
    assert not cluster.nodes["n0"].power
    assert loop.journal.node("n0").fault == "coolant-leak"
    assert loop.journal.node("n0").waits == "by hand: replace"


def test_leaking_node_is_not_released_when_its_loop_is_no_longer_named() -> None:
    """It was healthy under power after half an hour, as its BMC had not switched it off."""
    cluster, loop = _leaking_loop("n1")
    for number in range(4):
        loop.run_pass([], 1000.0 + 1000 * number)
    assert loop.shared == ()
    assert loop.journal.node("n1").state is RepairState.SUSPECT
    assert loop.journal.node("n1").waits == "not switched off yet: the BMC says On"
    cluster.deaf.clear()
    loop.run_pass([], 6000.0)
    assert not cluster.nodes["n1"].power
