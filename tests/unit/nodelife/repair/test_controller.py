"""From fault to fixed: the steps of a node, limits, kills at any place, operators between."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from node_life import TABLE, FakeCluster, KilledError, controller, fault, open_journal
from rackwright.nodelife.repair.actuator import ActionError, NodeView
from rackwright.nodelife.repair.budgets import RepairLimits
from rackwright.nodelife.repair.controller import PAUSED, RepairController
from rackwright.nodelife.repair.states import RepairState
from rackwright.nodelife.repair.tasks import finish_by_hand
from rackwright.nodelife.signs.detect import FaultEvent, detect_in
from rackwright.nodelife.signs.shared import PartMap, SharedPart

DAY = 86_400.0
LIMITS = RepairLimits(most_nodes=100.0, nodes_per_hour=1000, storm_nodes=1000)


def passes(loop: RepairController, events: list[tuple[str, FaultEvent]], count: int = 12, start: float = 10.0, step: float = 60.0) -> float:  # fmt: skip
    now = start
    for number in range(count):
        loop.run_pass(events if number == 0 else [], now)
        now += step
    return now


def state(loop: RepairController, node: str) -> RepairState:
    return loop.journal.node(node).state


def test_lost_gpu_is_power_cycled_proven_and_taken_back() -> None:
    cluster = FakeCluster(["a", "b"])
    cluster.nodes["a"].jobs = 2
    loop = controller(cluster, open_journal())
    now = passes(loop, [("a", fault("gpu-off-bus"))])
    assert state(loop, "a") is RepairState.PROBATION
    assert [action.kind for action in loop.journal.actions("a")] == [
        "drain", "requeue", "evidence", "repair", "power-off", "power-on", "validate", "resume",
    ]  # fmt: skip
    assert cluster.nodes["a"].drained is None
    assert cluster.nodes["a"].boots == 1
    assert cluster.breaches == []
    loop.run_pass([], now + DAY)
    assert state(loop, "a") is RepairState.HEALTHY


def test_jobs_of_a_fault_that_is_not_fatal_end_by_themselves() -> None:
    cluster = FakeCluster(["a"])
    cluster.nodes["a"].jobs = 1
    loop = controller(cluster, open_journal())
    now = passes(loop, [("a", fault("gpu-memory-contained"))])
    assert state(loop, "a") is RepairState.DRAINING
    assert loop.journal.node("a").waits == "1 jobs still run"
    cluster.nodes["a"].jobs = 0
    passes(loop, [], start=now)
    assert state(loop, "a") is RepairState.PROBATION


def test_fault_that_returns_goes_up_the_ladder_to_hands_and_back() -> None:
    cluster = FakeCluster(["a"])
    loop = controller(cluster, open_journal())
    now = passes(loop, [("a", fault("gpu-memory-uncontained", 1.0))])
    now = passes(loop, [("a", fault("gpu-memory-uncontained", 2.0))], start=now)
    assert state(loop, "a") is RepairState.RMA
    assert finish_by_hand(loop.journal, "a", "GPU 3 swapped", now)
    assert not finish_by_hand(loop.journal, "a", "twice", now)
    passes(loop, [], start=now)
    assert state(loop, "a") is RepairState.PROBATION
    assert cluster.breaches == []


def test_suite_that_fails_leads_up_the_ladder_and_a_third_repair_to_a_person() -> None:
    cluster = FakeCluster(["a"], heals=lambda node: False)
    loop = controller(cluster, open_journal())
    passes(loop, [("a", fault("gpu-context-timeout"))], count=30)
    repairs = [one.argument for one in loop.journal.actions("a") if one.kind == "repair"]
    assert repairs == ["reset-gpu", "reboot"]
    assert state(loop, "a") is RepairState.REPAIRING
    assert loop.journal.node("a").waits == "by hand: ticket"
    assert cluster.nodes["a"].drained is not None


def test_third_repair_within_a_week_waits_for_a_person() -> None:
    cluster = FakeCluster(["a"])
    loop = controller(cluster, open_journal())
    now = 10.0
    for number in range(3):
        now = passes(loop, [("a", fault("gpu-firmware-silent", float(number + 1)))], start=now)
        now += 2 * DAY
        loop.run_pass([], now)
    assert loop.journal.node("a").waits == "by hand: ticket"
    assert len(loop.journal.times("repair", "a")) == 2


def test_share_of_a_partition_holds_and_the_rest_waits_its_turn() -> None:
    cluster = FakeCluster([f"n{n}" for n in range(20)])
    limits = RepairLimits(most_nodes=10.0, nodes_per_hour=1000, storm_nodes=1000)
    loop = controller(cluster, open_journal(), limits)
    events = [(f"n{n}", fault("gpu-context-timeout")) for n in range(9)]
    loop.run_pass(events, 10.0)
    assert sum(one.drained is not None for one in cluster.nodes.values()) == 2
    passes(loop, [], count=60, start=70.0)
    assert cluster.most_out == 2
    assert all(state(loop, f"n{n}") is RepairState.PROBATION for n in range(9))


def test_storm_drains_nothing_until_it_is_over() -> None:
    cluster = FakeCluster([f"n{n}" for n in range(30)])
    limits = RepairLimits(most_nodes=100.0, nodes_per_hour=1000, storm_nodes=20)
    loop = controller(cluster, open_journal(), limits)
    loop.run_pass([(f"n{n}", fault("gpu-context-timeout")) for n in range(25)], 10.0)
    assert cluster.most_out == 0
    assert any("storm: a new fault on 25 nodes" in line for line in loop.told)
    loop.run_pass([], 611.0)
    assert cluster.most_out == 25


def test_pause_touches_nothing_and_forgets_nothing() -> None:
    cluster = FakeCluster(["a"])
    loop = controller(cluster, open_journal())
    loop.journal.set(PAUSED, True)
    now = passes(loop, [("a", fault("gpu-off-bus"))])
    assert cluster.nodes["a"].drained is None
    loop.journal.set(PAUSED, False)
    passes(loop, [], start=now)
    assert state(loop, "a") is RepairState.PROBATION


def test_node_that_an_operator_takes_is_left_alone() -> None:
    cluster = FakeCluster(["a", "b", "c"])
    cluster.nodes["c"].drained = "new cable"
    cluster.nodes["a"].jobs = 1
    loop = controller(cluster, open_journal())
    events = [(name, fault("gpu-context-timeout")) for name in "abc"]
    loop.run_pass(events, 10.0)
    cluster.nodes["a"].drained = "mine now"
    passes(loop, [], start=70.0)
    assert state(loop, "a") is RepairState.HEALTHY
    assert cluster.nodes["a"].drained == "mine now"
    assert state(loop, "b") is RepairState.PROBATION
    assert loop.journal.node("c").waits == "it is out of service already: new cable"
    assert cluster.nodes["c"].drained == "new cable"


def test_node_that_took_itself_out_is_taken_over_and_repaired() -> None:
    cluster = FakeCluster(["a"])
    cluster.nodes["a"].drained = "node health: [gpu-off-bus] Xid 79"
    loop = controller(cluster, open_journal())
    passes(loop, [("a", FaultEvent("gpu-off-bus", "", 0.0, "node health"))])
    assert state(loop, "a") is RepairState.PROBATION
    assert cluster.nodes["a"].drained is None


def test_leaking_node_is_off_at_once_whatever_the_limits_say() -> None:
    cluster = FakeCluster(["a", "b"])
    cluster.nodes["a"].jobs = 1
    loop = controller(cluster, open_journal(), RepairLimits(nodes_per_hour=1, storm_nodes=2))
    loop.run_pass([("b", fault("gpu-context-timeout"))], 10.0)
    loop.run_pass([("a", fault("coolant-leak"))], 70.0)
    assert not cluster.nodes["a"].power
    passes(loop, [], start=130.0)
    assert loop.journal.node("a").waits == "by hand: replace"


def test_fault_that_a_shared_part_does_not_explain_is_repaired() -> None:
    """A node with corrupt results was held back for the heat of its rack, and then let go as healthy."""
    nodes = [f"n{n}" for n in range(40)]
    rack = SharedPart("rack", "c01")
    parts = PartMap({rack: frozenset(nodes[:4]), SharedPart("hall", "h"): frozenset(nodes)})
    cluster = FakeCluster(nodes)
    loop = controller(cluster, open_journal(), parts=parts)
    loop.run_pass([(node, fault("gpu-slowed", 5.0)) for node in nodes[:3]], 10.0)
    loop.run_pass([("n3", fault("gpu-hot", 11.0)), ("n0", fault("silent-corruption", 12.0))], 20.0)
    assert [shared.part for shared in loop.shared] == [rack]
    assert loop.journal.node("n3").incident == rack.title
    assert loop.journal.node("n0").incident == ""
    loop.run_pass([("n3", fault("gpu-context-timeout", 70.0))], 80.0)
    assert loop.journal.node("n3").incident == "", "that is no heat"
    now = passes(loop, [], count=8, start=140.0)
    assert state(loop, "n3") is RepairState.PROBATION
    passes(loop, [], count=8, start=now)
    assert state(loop, "n0") is RepairState.RMA or loop.journal.node("n0").waits.startswith(
        "by hand"
    )
    assert cluster.nodes["n0"].drained is not None


def test_action_that_never_ends_fails_after_its_time() -> None:
    cluster = FakeCluster(["a"], takes=10_000)
    loop = controller(cluster, open_journal())
    passes(loop, [("a", fault("gpu-context-timeout"))], count=100)
    failed = [one for one in loop.journal.actions("a") if one.phase == "failed"]
    assert "has not ended within 3600 s" in failed[0].result


def test_fault_that_lasts_counts_again_after_a_repair_and_fails_it() -> None:
    cluster = FakeCluster(["a"])
    loop = controller(cluster, open_journal())
    lasting = [("a", FaultEvent("gpu-remap-pending", "gpu0", 0.0, "pending Yes"))]
    for number in range(40):
        loop.run_pass(lasting, 10.0 + 60 * number)
    assert loop.journal.node("a").waits == "by hand: ticket"
    assert [one.argument for one in loop.journal.actions("a") if one.kind == "repair"] == ["reset-gpu", "reboot"]  # fmt: skip


SEEDS = sorted(
    name for name, one in TABLE.faults.items() if one.severity.leaves_service and one.examples
)


@st.composite
def stories(draw: st.DrawFn) -> list[tuple[str, object]]:
    """Draw events, kills, jobs and hands in any order."""
    node = st.sampled_from(["n0", "n1", "n2", "n3", "n4"])
    kinds = st.one_of(
        st.tuples(st.just("fault"), st.tuples(node, st.sampled_from(SEEDS))),
        st.tuples(st.just("faults"), st.sampled_from(SEEDS)),
        st.tuples(st.just("statements"), st.integers(0, 60)),
        st.tuples(st.just("race"), node),
        st.tuples(st.just("job"), node),
        st.tuples(st.just("no job"), node),
        st.tuples(st.just("kill"), st.tuples(st.integers(0, 25), st.booleans())),
        st.tuples(st.just("hands"), node),
        st.tuples(st.just("operator"), node),
        st.tuples(st.just("break"), node),
        st.tuples(st.just("pass"), st.integers(1, 4)),
        st.tuples(st.just("clock"), st.sampled_from([1.0, 60.0, 3600.0, DAY])),
    )
    return draw(st.lists(kinds, min_size=5, max_size=40))


@st.composite
def loop_stories(draw: st.DrawFn) -> list[tuple[str, object]]:
    """Draw leaks and heat of a coolant loop, and other faults of its nodes, silent ones among them."""
    node = st.sampled_from(["n0", "n1"])
    names = ["gpu-off-bus", "gpu-slow", "silent-corruption", "gpu-context-timeout", "coolant-leak"]
    kinds = st.one_of(
        st.tuples(st.just("loop"), st.sampled_from(["coolant-leak", "gpu-hot"])),
        st.tuples(st.just("fault"), st.tuples(node, st.sampled_from(names))),
        st.tuples(st.just("job"), node),
        st.tuples(st.just("no job"), node),
        st.tuples(st.just("deaf"), node),
        st.tuples(st.just("hands"), node),
        st.tuples(st.just("measures"), st.none()),
        st.tuples(st.just("pass"), st.integers(1, 4)),
        st.tuples(st.just("clock"), st.sampled_from([60.0, 2000.0])),
    )
    return draw(st.lists(kinds, min_size=5, max_size=20))


@settings(max_examples=300, deadline=None, derandomize=True)
@given(stories())
def test_whatever_happens_the_promises_hold(story: list[tuple[str, object]]) -> None:
    live(story, FakeCluster([f"n{n}" for n in range(5)]), PartMap({}))


@settings(max_examples=200, deadline=None, derandomize=True)
@given(loop_stories())
def test_promises_hold_on_a_loop_that_leaks(story: list[tuple[str, object]]) -> None:
    nodes = [f"n{n}" for n in range(40)]
    parts = PartMap({SharedPart("loop", "tcs-1"): frozenset(nodes[:10]), SharedPart("hall", "h"): frozenset(nodes)})  # fmt: skip
    live(story, FakeCluster(nodes, measures=False), parts)


def live(story: list[tuple[str, object]], cluster: FakeCluster, parts: PartMap) -> None:
    """Check the promises: no node returns untested or leaking, none is rebooted under a job, limits hold, nothing is done twice."""
    broken: set[str] = set()
    taken: set[str] = set()
    cluster.heals = lambda name: name not in broken
    limits = RepairLimits(most_nodes=40.0, nodes_per_hour=3, storm_nodes=50)
    connection = open_journal()
    loop = controller(cluster, connection, limits, parts)
    now, number = 10.0, 0
    for kind, what in [*story, ("pass", 8)]:
        events: list[tuple[str, FaultEvent]] = []
        count = what if isinstance(what, int) else 1
        match kind, what:
            case "fault", (str(node), str(name)):
                number += 1
                events = [(node, fault(name, float(number)))]
            case "faults", str(name):
                number += 1
                events = [(node, fault(name, float(number))) for node in cluster.names]
            case "loop", str(name):
                number += 1
                events = [(node, fault(name, float(number))) for node in cluster.names[:9]]
            case "deaf", str(node):
                cluster.deaf ^= {node}
            case "measures", _:
                cluster.measures = not cluster.measures
            case "statements", int(left):
                connection.left = left
            case "race", str(node):
                cluster.race = node
                taken.add(node)
                cluster.nodes[node].leaks = cluster.nodes[node].silent = False
            case "job", str(node) if cluster.nodes[node].drained is None:
                cluster.nodes[node].jobs += 1
            case "no job", str(node):
                cluster.nodes[node].jobs = 0
            case "kill", (int(calls), bool(before)):
                cluster.kill_at, cluster.before = calls, before
            case "hands", str(node) if finish_by_hand(loop.journal, node, "done", now):
                cluster.nodes[node].power, cluster.nodes[node].leaks = True, False
            case "operator", str(node) if cluster.nodes[node].drained is None:
                cluster.nodes[node].drained = "an operator's"
            case "operator", str(node) if cluster.nodes[node].drained == "an operator's":
                cluster.nodes[node].drained = None
            case "break", str(node):
                broken ^= {node}
            case "clock", float(seconds):
                now += seconds
            case _:
                pass
        for node, event in events:
            if node not in taken:
                cluster.nodes[node].leaks |= event.fault == "coolant-leak"
                cluster.nodes[node].silent |= TABLE.faults[event.fault].subject == "silent"
        for _ in range(count):
            now += 30.0
            try:
                loop.run_pass(events, now)
            except KilledError:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                loop = controller(cluster, connection, limits, parts)
                now += 1.0
                cluster.kill_at = connection.left = None
                loop.run_pass(events, now)  # a log is read again after a kill
            logged = " ".join(text for _, _, text in loop.journal.log())
            for _, event in events:
                assert event.text in logged, "no fault goes unnoticed"
            for node in cluster.names:
                if cluster.nodes[node].leaks:
                    assert state(loop, node) not in {RepairState.HEALTHY, RepairState.PROBATION}
            events = []
    assert cluster.breaches == []
    assert max(cluster.done.values(), default=0) <= 1
    leaks = [one for one in loop.journal.actions() if one.kind == "drain" and "coolant-leak" in one.argument]  # fmt: skip
    drains = [at for at in loop.journal.times("drain") if at not in {one.begun for one in leaks}]
    for at in drains:
        assert sum(at <= other < at + 3600 for other in drains) <= 3 + len(leaks)
    for record in loop.journal.nodes.values():
        if record.state in {RepairState.HEALTHY, RepairState.SUSPECT} and record.node not in {
            one.node for one in leaks
        }:
            reason = cluster.nodes[record.node].drained
            assert (
                reason is None or reason == "an operator's" or record.state is RepairState.SUSPECT
            )


@pytest.mark.parametrize("before", [True, False])
def test_kill_at_each_call_of_a_repair_resumes_and_does_nothing_twice(before: bool) -> None:
    for calls in range(40):
        cluster = FakeCluster(["a", "b"])
        cluster.nodes["a"].jobs = 1
        connection = open_journal()
        loop = controller(cluster, connection)
        cluster.kill_at, cluster.before = calls, before
        events, now = [("a", fault("gpu-off-bus"))], 10.0
        for _ in range(14):
            try:
                loop.run_pass(events, now)
            except KilledError:
                loop = controller(cluster, connection)
            now += 60
        assert state(loop, "a") is RepairState.PROBATION, calls
        assert cluster.breaches == []
        assert cluster.nodes["a"].boots == 1
        assert set(cluster.done.values()) == {1}


def test_job_that_starts_between_two_looks_is_not_reset_under() -> None:
    cluster = FakeCluster(["a", "b"])
    loop = controller(cluster, open_journal())
    now = passes(loop, [("a", fault("gpu-context-timeout"))], count=3)
    assert state(loop, "a") is RepairState.REPAIRING
    cluster.race = "a"
    passes(loop, [], count=1, start=now)
    assert cluster.done == {}
    assert cluster.breaches == []


def test_kill_at_each_statement_of_a_first_pass_hides_no_fault() -> None:
    for left in range(12):
        cluster, connection = FakeCluster(["a"]), open_journal()
        connection.left = left
        with pytest.raises(KilledError):
            controller(cluster, connection).run_pass([("a", fault("gpu-off-bus"))], 10.0)
        loop = controller(cluster, connection)
        passes(loop, [("a", fault("gpu-off-bus"))], start=20.0)
        assert state(loop, "a") is RepairState.PROBATION, left


def test_node_that_is_taken_between_two_looks_is_not_rebooted() -> None:
    """An operator opened a node whose reset was to come: it was reset under their hands."""
    cluster = FakeCluster(["a", "b"])
    loop = controller(cluster, open_journal())
    now = passes(loop, [("a", fault("gpu-context-timeout"))], count=3)
    assert state(loop, "a") is RepairState.REPAIRING
    look = cluster.look

    def take(nodes: Collection[str]) -> Mapping[str, NodeView]:
        found = look(nodes)
        cluster.nodes["a"].drained = "my hands are in it"
        return found

    cluster.look = take  # type: ignore[method-assign]
    loop.run_pass([], now)
    assert (
        loop.journal.node("a").waits == "jobs run on it, or it is not ours any more: no reset-gpu"
    )
    loop.run_pass([], now + 60.0)
    assert state(loop, "a") is RepairState.HEALTHY
    assert sum(cluster.done.values()) == 0
    assert cluster.nodes["a"].drained == "my hands are in it"


def test_fault_that_returns_in_the_same_log_takes_the_node_out_again() -> None:
    cluster = FakeCluster(["a", "b"])
    loop = controller(cluster, open_journal())
    line = "[{:.1f}] NVRM: Xid (PCI:0000:9b:00): 95, pid=1, Uncontained\n".format

    def seen(text: str) -> list[tuple[str, FaultEvent]]:
        return [("a", event) for event in detect_in(TABLE, {"kernel": text})]

    now = passes(loop, seen(line(10)))
    assert state(loop, "a") is RepairState.PROBATION
    loop.run_pass(seen(line(10)), now)
    assert state(loop, "a") is RepairState.PROBATION, "the log is only read again"
    loop.run_pass(seen(line(10) + line(500)), now + 60.0)
    assert state(loop, "a") is RepairState.DRAINING


@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.lists(st.booleans(), min_size=4, max_size=40))
def test_two_controllers_on_two_machines_never_touch_one_node_twice(turns: list[bool]) -> None:
    """Each took the nodes of the other for its own: both had written "repair FAULT 1"."""
    cluster = FakeCluster(["a", "b"])
    loops = [controller(cluster, open_journal()), controller(cluster, open_journal())]
    events = [("a", fault("gpu-context-timeout")), ("b", fault("gpu-off-bus"))]
    now = 10.0
    for turn in [False, True, *turns, *([True, False] * 12)]:
        loops[turn].run_pass(events, now)
        now += 10.0
    assert cluster.breaches == []
    for node in cluster.names:
        acts = [[a.kind for a in loop.journal.actions(node) if a.phase == "done" and a.kind != "drain"] for loop in loops]  # fmt: skip
        assert sum(map(bool, acts)) == 1
        assert cluster.nodes[node].drained is None
    assert {a.kind for a in loops[0].journal.actions() + loops[1].journal.actions()} >= {
        "reset-gpu",
        "power-off",
    }


@pytest.mark.parametrize("name", ["gpu-slow", "silent-corruption"])
def test_node_with_a_silent_fault_never_returns_by_a_health_check(name: str) -> None:
    """A health check reads what a node reports: one with corrupt results reports nothing."""
    cluster = FakeCluster(["a", "b"], measures=False)
    loop = controller(cluster, open_journal())
    now = passes(loop, [("a", fault(name))])
    finish_by_hand(loop.journal, "a", "GPU 3 swapped", now)
    now = passes(loop, [], start=now)
    assert state(loop, "a") is RepairState.VALIDATING
    assert "--validate" in loop.journal.node("a").waits
    assert cluster.nodes["a"].drained is not None
    cluster.measures = True
    passes(loop, [], start=now)
    assert state(loop, "a") is RepairState.PROBATION


@pytest.mark.parametrize(
    ("first", "second", "passes_between"), [("gpu-slow", "gpu-off-bus", 1), ("gpu-off-bus", "silent-corruption", 3)]
)  # fmt: skip
def test_silent_fault_beside_another_is_not_proven_by_a_health_check(
    first: str, second: str, passes_between: int
) -> None:
    """The node was proven for the one fault in its record: the silent one was replaced, or only noted."""
    cluster = FakeCluster(["a", "b"], measures=False)
    cluster.nodes["a"].jobs = 1 if passes_between == 1 else 0
    loop = controller(cluster, open_journal())
    now = passes(loop, [("a", fault(first))], count=passes_between)
    loop.run_pass([("a", fault(second, 2.0))], now)
    cluster.nodes["a"].jobs = 0
    now = passes(loop, [], start=now + 60.0)
    assert state(loop, "a") is RepairState.VALIDATING
    assert "--validate" in loop.journal.node("a").waits
    cluster.measures = True
    now = passes(loop, [], start=now)
    assert state(loop, "a") is RepairState.PROBATION
    cluster.measures = False
    passes(loop, [("a", fault("gpu-context-timeout", 3.0))], start=now)
    assert state(loop, "a") is RepairState.PROBATION, "it was measured since"


def test_node_that_another_controller_returns_is_repaired_for_a_fault_of_its_own() -> None:
    """It was healthy with corrupt results: the other controller had repaired it for a lost GPU."""
    cluster = FakeCluster(["a", "b"])
    loop = controller(cluster, open_journal())
    cluster.nodes["a"].drained = "rackwright: repair gpu-off-bus 1 08fec5"
    now = passes(loop, [("a", fault("silent-corruption"))], count=2)
    assert state(loop, "a") is RepairState.SUSPECT
    cluster.nodes["a"].drained = None
    passes(loop, [], start=now)
    assert loop.journal.node("a").waits == "by hand: replace"
    assert cluster.nodes["a"].drained is not None


def test_nodes_of_a_lost_journal_are_adopted() -> None:
    """They were left to a controller that was gone, for ever."""
    cluster = FakeCluster([f"n{n}" for n in range(4)])
    for node in cluster.names:
        cluster.nodes[node].drained = "rackwright: repair gpu-off-bus 3 08fec5"
    cluster.nodes["n3"].drained = "rackwright: repair gpu-off-bus 3 0a0a0a"
    loop = controller(cluster, open_journal(), RepairLimits(nodes_per_hour=1))
    now = passes(loop, [("n0", fault("gpu-off-bus"))])
    loop.adopts = {"08fec5"}
    passes(loop, [], start=now)
    for node in ("n0", "n1", "n2"):
        assert state(loop, node) is RepairState.PROBATION
        assert cluster.nodes[node].drained is None
    assert cluster.nodes["n3"].drained == "rackwright: repair gpu-off-bus 3 0a0a0a"
    assert cluster.breaches == []


@pytest.mark.parametrize("order", ["same pass", "own fault first", "adopted first"])
@pytest.mark.parametrize("adopted", ["coolant-leak", "silent-corruption"])
def test_fault_in_an_adopted_reason_counts_beside_an_own_one(adopted: str, order: str) -> None:
    """A leaking node was powered on, and corrupt results were returned without a measurement."""
    cluster = FakeCluster(["a"], measures=False)
    node, own = cluster.nodes["a"], [("a", fault("gpu-off-bus"))]
    node.drained, node.jobs = f"rackwright: repair {adopted} 3 08fec5", 1
    if adopted == "coolant-leak":
        node.leaks, node.power = True, False
    else:
        node.silent = True
    loop = controller(cluster, open_journal())
    now = passes(loop, own, count=2) if order == "own fault first" else 10.0
    loop.adopts = {"08fec5"}
    now = passes(loop, own if order == "same pass" else [], count=2, start=now)
    now = passes(loop, own if order == "adopted first" else [], start=now)
    node.jobs = 0
    now = passes(loop, [], start=now)
    if finish_by_hand(loop.journal, "a", "board swapped", now):
        node.leaks = False
        node.power = True
        passes(loop, [], start=now)
    assert cluster.breaches == []
    if adopted == "silent-corruption":
        assert "--validate" in loop.journal.node("a").waits
    else:
        assert state(loop, "a") is RepairState.PROBATION
        assert loop.journal.node("a").fault == "coolant-leak"


def test_adopted_slow_gpu_is_measured_after_a_worse_fault() -> None:
    """It was forgotten when the node lost a GPU while a job still ran."""
    cluster = FakeCluster(["a"], measures=False)
    cluster.nodes["a"].drained = "rackwright: repair gpu-slow 3 08fec5"
    cluster.nodes["a"].jobs, cluster.nodes["a"].silent = 1, True
    loop = controller(cluster, open_journal())
    loop.adopts = {"08fec5"}
    now = passes(loop, [], count=2)
    passes(loop, [("a", fault("gpu-off-bus"))], start=now)
    assert "--validate" in loop.journal.node("a").waits
    assert cluster.breaches == []


def test_node_of_a_lost_journal_is_adopted_on_probation() -> None:
    cluster = FakeCluster(["a"])
    loop = controller(cluster, open_journal())
    now = passes(loop, [("a", fault("gpu-off-bus"))])
    assert state(loop, "a") is RepairState.PROBATION
    cluster.nodes["a"].drained, cluster.nodes["a"].leaks = "rackwright: repair coolant-leak 3 08fec5", True  # fmt: skip
    loop.adopts = {"08fec5"}
    passes(loop, [], start=now)
    assert loop.journal.node("a").waits == "by hand: replace"
    assert not cluster.nodes["a"].power
    assert cluster.breaches == []


class StaleReasons(FakeCluster):
    """A cluster whose nodes in service keep the reason of a repair by a lost journal."""

    def look(self, nodes: Collection[str]) -> Mapping[str, NodeView]:
        stale = "rackwright: repair gpu-off-bus 3 08fec5"
        return {name: replace(view, reason=stale) if view.in_service else view for name, view in super().look(nodes).items()}  # fmt: skip


def test_old_reason_of_a_node_in_service_adopts_nothing() -> None:
    """All of them were drained at once, past the limit of an hour."""
    cluster = StaleReasons([f"n{n}" for n in range(40)])
    loop = controller(cluster, open_journal(), RepairLimits(most_nodes=100.0, nodes_per_hour=1))
    loop.adopts = {"08fec5"}
    passes(loop, [("n0", fault("gpu-off-bus")), ("n1", fault("gpu-off-bus"))], count=5)
    assert loop.journal.times("drain") == [10.0]
    assert state(loop, "n1") is RepairState.SUSPECT
    assert {name for name in cluster.names if state(loop, name) is not RepairState.HEALTHY} == {"n0", "n1"}  # fmt: skip


def test_adopted_nodes_are_no_storm() -> None:
    cluster = FakeCluster([f"n{n}" for n in range(40)])
    for name in cluster.names[1:]:
        cluster.nodes[name].drained = "rackwright: repair gpu-off-bus 3 08fec5"
    loop = controller(cluster, open_journal(), RepairLimits(most_nodes=100.0, nodes_per_hour=1000))
    loop.adopts = {"08fec5"}
    passes(loop, [("n0", fault("gpu-off-bus"))], count=1)
    assert cluster.nodes["n0"].drained is not None


def test_message_about_another_journal_names_the_way_to_adopt_its_nodes() -> None:
    cluster = FakeCluster(["a"])
    cluster.nodes["a"].drained = "rackwright: repair gpu-off-bus 3 08fec5"
    loop = controller(cluster, open_journal())
    passes(loop, [("a", fault("gpu-off-bus"))], count=1)
    assert loop.journal.node("a").waits == (
        "another controller repairs it: rackwright: repair gpu-off-bus 3 08fec5;"
        " if its journal is lost, run the loop with --adopt 08fec5"
    )


def test_node_whose_reason_names_no_journal_is_taken_over() -> None:
    """Reasons of earlier releases end with the number of the repair."""
    cluster = FakeCluster(["a"])
    cluster.nodes["a"].drained = "rackwright: repair gpu-off-bus 3"
    loop = controller(cluster, open_journal())
    passes(loop, [("a", fault("gpu-off-bus"))])
    assert state(loop, "a") is RepairState.PROBATION


def test_fault_in_a_reason_without_a_journal_counts_beside_an_own_one() -> None:
    """The leaking node was powered on, and the other returned without a measurement."""
    cluster = FakeCluster(["a", "b"], measures=False)
    cluster.nodes["a"].drained, cluster.nodes["a"].leaks = "rackwright: repair coolant-leak 3", True
    cluster.nodes["b"].drained, cluster.nodes["b"].silent = "rackwright: repair gpu-slow 3", True
    loop = controller(cluster, open_journal())
    passes(loop, [("a", fault("gpu-off-bus")), ("b", fault("gpu-off-bus"))])
    assert cluster.breaches == []
    assert not cluster.nodes["a"].power
    assert loop.journal.node("a").waits == "by hand: replace"
    assert "--validate" in loop.journal.node("b").waits


def test_own_reason_that_slurm_still_shows_is_no_fault() -> None:
    """A node that hung was switched off for a leak of before: Slurm keeps the reason of a node that goes down."""
    cluster = FakeCluster(["a"])
    loop = controller(cluster, open_journal())
    own = loop.journal.identity
    cluster.nodes["a"].drained = f"rackwright: repair coolant-leak 3 {own}"
    passes(loop, [("a", fault("host-hung"))])
    assert {one.kind for one in loop.journal.actions("a")}.isdisjoint({"power-off", "hands"})


def test_worse_fault_after_a_drain_that_failed_leaves_the_node_to_the_loop() -> None:
    """Slurm had the reason of the second fault, the journal that of the first: "an operator has taken it"."""
    cluster = FakeCluster(["a", "b"])
    loop = controller(cluster, open_journal())
    drain = cluster.drain

    def fail(node: str, reason: str, former: str | None) -> None:
        raise ActionError("Slurm did not take it")

    cluster.drain = fail  # type: ignore[method-assign]
    loop.run_pass([("a", fault("gpu-memory-contained"))], 10.0)
    assert [one.phase for one in loop.journal.actions("a")] == ["intent"]
    cluster.drain = drain  # type: ignore[method-assign]
    passes(loop, [("a", fault("gpu-off-bus", 2.0))], start=70.0)
    assert "operator" not in " ".join(text for _, _, text in loop.journal.log("a"))
    assert state(loop, "a") is RepairState.PROBATION
