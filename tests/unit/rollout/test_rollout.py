"""A change in waves on a Slurm that lives in this file: who is drained, changed and resumed."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from rackwright.errors import ExternalToolError
from rackwright.model.software import SoftwareBill
from rackwright.nodelife.slurm_nodes import Job, NodesSeen, NodeUpdate, read_nodes
from rackwright.rollout.journal import ProgressError, RolloutProgress, load, save
from rackwright.rollout.rollout import Pace, Rollout
from rackwright.rollout.software_record import SoftwareRecord
from rackwright.rollout.waves import Wave, WaveKind


@dataclass
class Slurm:
    """A controller with nodes, a playbook and an acceptance; time passes when someone sleeps.

    Attributes:
        nodes: state and reason of each.
        jobs: the time at which each node's job ends.
        breaks: hosts on which the playbook fails.
        bad: hosts that are not accepted.
        silent: nodes that do not come back when they are resumed.
        meddle: called before hosts are changed and before they are accepted.
    """

    nodes: dict[str, tuple[str, str | None]]
    jobs: dict[str, float] = field(default_factory=dict)
    breaks: dict[str, str] = field(default_factory=dict)
    bad: dict[str, str] = field(default_factory=dict)
    silent: set[str] = field(default_factory=set)
    killed: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    meddle: Callable[[str, Sequence[str]], None] = lambda step, hosts: None
    now: float = 0.0
    away_until: float = 0.0

    def _lines(self, names: Collection[str]) -> str:
        lines = []
        for name in sorted(names):
            if name in self.nodes:
                state, why = self.nodes[name]
                base = "MIXED" if self._runs(name) else "IDLE"
                told = f" Reason={why} [root@2026-11-21T11:32:14]" if why else ""
                lines.append(f"NodeName={name} Arch=x86_64 State={base}{state} Weight=1{told}")
        return "\n".join(lines)

    def _runs(self, name: str) -> bool:
        return self.jobs.get(name, 0.0) > self.now

    def update(self, nodes: Collection[str], updates: Sequence[NodeUpdate]) -> NodesSeen:
        if self.now < self.away_until:
            raise ExternalToolError("the controller is away")
        before = self._lines(nodes)
        for update in updates:
            for line in before.splitlines():
                name = line.split()[0].removeprefix("NodeName=")
                if name in update.names and re.search(update.pattern, line):
                    settings = dict(word.split("=", 1) for word in update.arguments)
                    if settings["State"] == "DRAIN":
                        self.nodes[name] = ("+DRAIN", settings["Reason"])
                    else:
                        self.nodes[name] = ("*" if name in self.silent else "", None)
        jobs = tuple(Job("7", "amy", n, "train") for n in sorted(nodes) if self._runs(n))
        return NodesSeen(read_nodes(before), read_nodes(self._lines(nodes)), jobs)

    def change(self, hosts: Sequence[str], tags: Sequence[str]) -> Mapping[str, str]:
        self.meddle("change", hosts)
        for host in hosts:
            if self._runs(host):
                self.killed.append(host)
            assert host not in self.nodes or self.nodes[host][0] == "+DRAIN", "changed in service"
        self.changed += hosts
        return {host: why for host, why in self.breaks.items() if host in hosts}

    def accept(self, hosts: Sequence[str]) -> Mapping[str, str]:
        self.meddle("accept", hosts)
        return {host: why for host, why in self.bad.items() if host in hosts}

    def sleep(self, seconds: float) -> None:
        self.now += seconds


WAVES = (
    Wave(WaveKind.SERVICE, "head-1: controller", ("head-1",)),
    Wave(WaveKind.CANARY, "n1, the first dgx", ("n1",)),
    Wave(WaveKind.COMPUTE, "rack r1", ("n2", "n3", "n4", "n5", "n6")),
    Wave(WaveKind.COMPUTE, "rack r2", ("n7", "n8")),
)
NODES = {f"n{number}": f"n{number}" for number in range(1, 9)}


def a_cluster() -> Slurm:
    return Slurm(dict.fromkeys(NODES.values(), ("", None)))


def a_progress() -> RolloutProgress:
    return RolloutProgress("change 1a2b", "1a2b", WAVES, NODES)


def roll(slurm: Slurm, progress: RolloutProgress, **pace: float) -> tuple[Rollout, list[str]]:
    said: list[str] = []
    made = Rollout(
        progress, slurm, Pace(**pace), said.append, lambda _: None, slurm.sleep, lambda: slurm.now
    )
    made.run()
    assert slurm.killed == []
    return made, said


def test_all_goes_well() -> None:
    slurm, progress = a_cluster(), a_progress()
    made, said = roll(slurm, progress)
    assert made.stopped is None
    assert progress.unfinished == ()
    assert slurm.changed == ["head-1", *NODES]
    assert set(slurm.nodes.values()) == {("", None)}
    assert (progress.drained, progress.failed) == ({}, {})
    assert said[1:6] == [
        "wave 1 of 4 (head-1: controller): verifying 1 host",
        "wave 2 of 4 (n1, the first dgx): draining 1 node",
        "wave 2 of 4 (n1, the first dgx): changing 1 host",
        "wave 2 of 4 (n1, the first dgx): verifying 1 host",
        "wave 2 of 4 (n1, the first dgx): resuming 1 node",
    ]


def test_jobs_are_waited_for_and_named() -> None:
    slurm = a_cluster()
    slurm.jobs = {"n3": 100.0, "n4": 400.0}
    made, said = roll(slurm, a_progress())
    assert made.stopped is None
    label = "wave 3 of 4 (rack r1)"
    assert f"{label}: 1 job still running on n3, 1 on n4" in said
    assert f"{label}: 1 job still running on n4" in said
    assert 400 <= slurm.now <= 440


def test_a_controller_that_is_away_is_waited_for() -> None:
    slurm = a_cluster()
    slurm.jobs = {"n3": 100.0}
    slept: list[float] = []

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        slurm.away_until = slurm.now + seconds + 20 if len(slept) == 1 else slurm.away_until
        slurm.sleep(seconds)

    said: list[str] = []
    made = Rollout(a_progress(), slurm, Pace(), said.append, lambda _: None, sleep, lambda: slurm.now)  # fmt: skip
    made.run()
    assert made.stopped is None
    assert any("the controller is away" in line for line in said)


def test_a_node_whose_job_does_not_end_is_given_back() -> None:
    slurm, progress = a_cluster(), a_progress()
    slurm.jobs = {"n3": 1e9}
    made, said = roll(slurm, progress, drain=60.0)
    assert made.stopped is None
    assert "n3" not in slurm.changed
    assert slurm.nodes["n3"] == ("", None)
    assert progress.failed == {"n3": "job 7 still running after 60 s"}
    assert progress.drained == {}
    assert list(progress.unfinished) == [WAVES[2]]
    assert "wave 3 of 4 (rack r1): giving n3 back as before" in said

    slurm.jobs = {}
    slurm.changed = []
    roll(slurm, progress)
    assert slurm.changed == ["n3"], "what is done is not done again"
    assert progress.failed == {}
    assert progress.unfinished == ()


def test_a_node_that_runs_jobs_is_no_first_one() -> None:
    slurm = a_cluster()
    slurm.jobs = {"n1": 1e9}
    made, _ = roll(slurm, a_progress(), drain=10.0)
    assert made.stopped == "n1, which is tried first, still runs jobs"
    assert slurm.changed == ["head-1"]


def test_node_drained_by_others_stays_drained() -> None:
    slurm, progress = a_cluster(), a_progress()
    slurm.nodes["n2"] = ("+DRAIN", "bad cable")
    slurm.nodes["n3"] = ("+DRAIN", "fan")
    slurm.jobs["n3"] = 50.0
    slurm.bad = {"n3": "7 of 8 accelerators"}
    made, said = roll(slurm, progress, max_failures=0)
    assert made.stopped is None, "a node that was out of service says nothing about the change"
    assert {"n2", "n3"} <= set(slurm.changed)
    assert slurm.nodes["n2"] == ("+DRAIN", "bad cable")
    assert slurm.nodes["n3"] == ("+DRAIN", "fan")
    assert progress.failed == {"n3": "7 of 8 accelerators"}
    assert progress.drained == {}
    assert "wave 3 of 4 (rack r1): n2 is IDLE+DRAIN already: bad cable" in said


def test_a_node_that_fails_stays_drained_and_the_others_go_on() -> None:
    slurm, progress = a_cluster(), a_progress()
    slurm.bad = {"n4": "7 of 8 accelerators"}
    made, said = roll(slurm, progress)
    assert made.stopped is None, "1 of 5 is 20 %, which is not more than 20 %"
    assert slurm.nodes["n4"] == ("+DRAIN", "rackwright: 7 of 8 accelerators (change 1a2b)")
    assert [node for node, (state, _) in slurm.nodes.items() if state] == ["n4"]
    assert progress.unfinished == (WAVES[2],)
    assert set(progress.drained) == {"n4"}
    assert "wave 3 of 4 (rack r1): n4 failed: 7 of 8 accelerators" in said

    slurm.bad, slurm.changed = {}, []
    made, _ = roll(slurm, progress)
    assert slurm.changed == ["n4"]
    assert slurm.nodes.get("n4") == ("", None)
    assert (progress.drained, progress.failed) == ({}, {})


def test_too_many_failures_stop_the_change() -> None:
    slurm, progress = a_cluster(), a_progress()
    slurm.breaks = {"n4": "base / sysctl: no", "n5": "base / sysctl: no"}
    made, _ = roll(slurm, progress)
    assert made.stopped == "2 of 5 hosts of the wave failed, more than 20 %"
    assert progress.unfinished == (WAVES[2], WAVES[3])
    assert slurm.nodes["n7"] == ("", None)
    assert slurm.nodes["n2"] == ("", None), "those that passed are back"


@pytest.mark.parametrize(("host", "role"), [("n1", "is tried first"), ("head-1", "others depend on")])  # fmt: skip
def test_the_first_ones_stop_the_change_by_themselves(host: str, role: str) -> None:
    slurm, progress = a_cluster(), a_progress()
    slurm.breaks = {host: "no"}
    made, _ = roll(slurm, progress, max_failures=100)
    assert made.stopped == f"{host}, which {role}, failed"
    assert "n2" not in slurm.changed


def test_a_node_that_does_not_come_back_is_drained_again() -> None:
    slurm, progress = a_cluster(), a_progress()
    slurm.silent = {"n7"}
    made, _ = roll(slurm, progress, max_failures=50)
    assert made.stopped is None
    state, why = slurm.nodes["n7"]
    assert state == "+DRAIN"
    assert why == "rackwright: it does not take jobs again: it is IDLE* (change 1a2b)"
    assert set(progress.drained) == {"n7"}


def test_a_node_that_is_resumed_by_somebody_is_not_changed() -> None:
    slurm, progress = a_cluster(), a_progress()
    slurm.jobs = {"n3": 30.0}

    def sleep(seconds: float) -> None:
        slurm.sleep(seconds)
        slurm.nodes["n2"] = ("", None)

    made = Rollout(progress, slurm, Pace(), lambda _: None, lambda _: None, sleep, lambda: slurm.now)  # fmt: skip
    made.run()
    assert "n2" not in slurm.changed
    assert progress.failed == {"n2": "it was given back meanwhile and is IDLE"}


def test_a_node_that_somebody_drains_meanwhile_is_not_resumed() -> None:
    slurm, progress = a_cluster(), a_progress()

    def meddle(step: str, hosts: Sequence[str]) -> None:
        if step == "accept" and "n2" in hosts:
            slurm.nodes["n2"] = ("+DRAIN", "smoke")

    slurm.meddle = meddle
    made, said = roll(slurm, progress)
    assert made.stopped is None
    assert slurm.nodes["n2"] == ("+DRAIN", "smoke")
    assert "n2" in progress.done
    assert progress.drained == {}
    assert "wave 3 of 4 (rack r1): n2 is IDLE+DRAIN: smoke" in said


def test_an_interruption_leaves_a_clear_state_and_is_gone_on_with(tmp_path: Path) -> None:
    slurm, progress = a_cluster(), a_progress()
    path = tmp_path / "waves.json"

    def interrupt(step: str, hosts: Sequence[str]) -> None:
        if step == "change" and "n2" in hosts:
            raise KeyboardInterrupt

    slurm.meddle = interrupt
    slurm.nodes["n6"] = ("+DRAIN", "bad cable")
    said: list[str] = []
    made = Rollout(progress, slurm, Pace(), said.append, lambda p: save(p, path), slurm.sleep, lambda: slurm.now)  # fmt: skip
    with pytest.raises(KeyboardInterrupt):
        made.run()
    made.settle()
    kept = load(path)
    assert kept is not None
    assert set(kept.drained) == {"n2", "n3", "n4", "n5"}
    assert kept.done == {"head-1", "n1"}
    assert kept.unfinished == WAVES[2:]

    slurm.meddle = lambda step, hosts: None
    slurm.changed = []
    roll(slurm, kept)
    assert slurm.changed == ["n2", "n3", "n4", "n5", "n6", "n7", "n8"]
    assert {name for name, (state, _) in slurm.nodes.items() if state} == {"n6"}


def test_settling_forgets_what_was_not_drained_after_all() -> None:
    slurm, progress = a_cluster(), a_progress()
    progress.own(["n2", "n3"], "rackwright: x")
    slurm.nodes["n2"] = ("+DRAIN", "rackwright: x")
    made = Rollout(progress, slurm, Pace(), lambda _: None, lambda _: None)
    made.settle()
    assert set(progress.drained) == {"n2"}


def test_progress_is_kept_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "waves.json"
    assert load(path) is None
    progress = a_progress()
    progress.own(["n1"], "a")
    progress.own(["n1"], "b")
    progress.own(["n1"], "b")
    progress.pass_host("head-1")
    progress.failed["n3"] = "no"
    save(progress, path)
    assert load(path) == progress
    assert progress.reasons(["n1", "n2"]) == ("a", "b")
    for bad in ("", "[]", '{"schema": "other"}', '{"schema": "rackwright.waves/v1"}', "null"):
        path.write_text(bad)
        with pytest.raises(ProgressError):
            load(path)


def roll_back(
    slurm: Slurm, progress: RolloutProgress, undo: Callable[[Sequence[str]], Mapping[str, str]]
) -> tuple[Rollout, list[str]]:
    said: list[str] = []
    made = Rollout(
        progress,
        slurm,
        Pace(max_failures=0),
        said.append,
        lambda _: None,
        slurm.sleep,
        lambda: slurm.now,
        undo=undo,
    )
    made.run()
    assert slurm.killed == []
    return made, said


def test_a_first_unit_that_fails_is_brought_back_and_resumed() -> None:
    slurm, progress = a_cluster(), a_progress()
    slurm.bad = {"n1": "7 of 8 accelerators"}
    undone: list[str] = []

    def undo(hosts: Sequence[str]) -> Mapping[str, str]:
        assert slurm.nodes["n1"][0] == "+DRAIN", "brought back while it is drained"
        undone.extend(hosts)
        return {}

    made, said = roll_back(slurm, progress, undo)
    assert undone == ["n1"]
    assert made.stopped == "n1, which is tried first, failed, and is back on the versions before"
    assert slurm.nodes["n1"] == ("", None), "it takes jobs again, with what it had"
    assert (progress.undone, progress.failed) == ({"n1": "7 of 8 accelerators"}, {})
    assert progress.done == {"head-1"}
    assert "n2" not in slurm.changed
    label = "wave 2 of 4 (n1, the first dgx)"
    at = said.index(f"{label}: n1 failed: 7 of 8 accelerators")
    assert said[at + 1 :] == [
        f"{label}: bringing 1 host back to the versions before",
        f"{label}: resuming 1 node",
    ]

    slurm.bad = {}
    roll_back(slurm, progress, undo)
    assert progress.unfinished == ()
    assert (progress.undone, progress.failed) == ({}, {})


def test_a_first_unit_of_several_hosts_goes_back_as_a_whole() -> None:
    slurm = a_cluster()
    waves = (Wave(WaveKind.CANARY, "n[1-2], the first nvl72", ("n1", "n2")),)
    progress = RolloutProgress("change 1a2b", "1a2b", waves, NODES)
    slurm.bad = {"n2": "no IMEX"}
    undone: list[str] = []

    def undo(hosts: Sequence[str]) -> Mapping[str, str]:
        undone.extend(hosts)
        return {}

    made, _ = roll_back(slurm, progress, undo)
    assert undone == ["n1", "n2"], "hosts of one NVLink domain run one version"
    assert progress.undone == {"n1": "n2 failed", "n2": "no IMEX"}
    assert progress.done == set()
    assert made.stopped is not None


def test_node_that_does_not_return_stays_drained_with_both_reasons() -> None:
    slurm, progress = a_cluster(), a_progress()
    slurm.bad = {"n1": "7 of 8 accelerators"}
    made, _ = roll_back(slurm, progress, lambda hosts: dict.fromkeys(hosts, "no package"))
    assert made.stopped == "n1, which is tried first, failed"
    why = "7 of 8 accelerators; it did not get back to the versions before: no package"
    assert (progress.undone, progress.failed) == ({}, {"n1": why})
    state, told = slurm.nodes["n1"]
    assert state == "+DRAIN"
    assert told == f"rackwright: {why} (change 1a2b)"


def test_a_later_wave_is_not_brought_back() -> None:
    """Who looks for the cause finds it there; the others of its kind have passed."""
    slurm, progress = a_cluster(), a_progress()
    slurm.bad = {"n4": "7 of 8 accelerators"}

    def undo(hosts: Sequence[str]) -> Mapping[str, str]:
        raise AssertionError(hosts)

    made, _ = roll_back(slurm, progress, undo)
    assert made.stopped == "1 of 5 hosts of the wave failed, more than 0 %"
    assert set(progress.failed) == {"n4"}


def test_an_upgrade_is_kept_with_what_it_began_from(tmp_path: Path) -> None:
    path = tmp_path / "waves.json"
    progress = a_progress()
    progress.upgraded_from = SoftwareRecord("24.11", (SoftwareBill(name="all", driver="570.1"),))
    progress.upgraded_to = SoftwareRecord("26.05", ())
    progress.undo_host("n1", "no")
    progress.pass_host("n2")
    save(progress, path)
    assert load(path) == progress
    assert progress.touched == {"n2"}
    progress.fail_host("n1", "still not")
    assert (progress.undone, progress.failed) == ({}, {"n1": "still not"})
    path.write_text(path.read_text().replace("rackwright.software/v1", "other"))
    with pytest.raises(ProgressError):
        load(path)


def a_replacement(*hosts: str) -> RolloutProgress:
    waves = tuple(Wave(WaveKind.COMPUTE, host, (host,)) for host in hosts)
    ends = {host: f"i-{host}" for host in hosts}
    return RolloutProgress("change 1a2b", "1a2b", waves, NODES, instances=ends)


def test_drain_reason_of_an_old_machine_is_not_kept_for_the_new_one() -> None:
    slurm, progress = a_cluster(), a_replacement("n2", "n3")
    slurm.nodes["n2"] = ("+DRAIN", "bad cable")
    made, _ = roll(slurm, progress)
    assert made.stopped is None
    assert slurm.changed == ["n2", "n3"]
    assert slurm.nodes["n2"] == slurm.nodes["n3"] == ("", None)
    assert (progress.drained, progress.failed) == ({}, {})


def test_a_bad_machine_with_a_job_is_not_given_back() -> None:
    slurm, progress = a_cluster(), a_replacement("n2", "n3")
    slurm.nodes["n2"] = ("+DRAIN", "bad cable")
    slurm.jobs = {"n2": 1e9, "n3": 1e9}
    roll(slurm, progress, drain=10.0)
    assert slurm.changed == []
    assert slurm.nodes["n2"][0] == "+DRAIN"
    assert slurm.nodes["n3"] == ("", None)
    assert set(progress.drained) == {"n2"}

    slurm.jobs = {"n2": slurm.now + 1e9}
    roll(slurm, progress, drain=10.0)
    assert slurm.nodes["n2"][0] == "+DRAIN", "nor by another run"
    assert slurm.changed == ["n3"]


def test_nodes_whose_machines_are_removed_stay_drained() -> None:
    slurm, progress = a_cluster(), a_replacement("n2", "n3")
    progress.removed = True
    slurm.jobs = {"n2": 100.0}
    slurm.breaks = {"n3": "AWS refuses"}
    slurm.bad = {"n2": "nobody verifies it"}
    made, said = roll(slurm, progress)
    assert slurm.changed == ["n2", "n3"]
    assert slurm.now >= 100, "its job has ended first"
    assert slurm.nodes["n2"][0] == slurm.nodes["n3"][0] == "+DRAIN"
    assert progress.done == {"n2"}
    assert progress.failed == {"n3": "AWS refuses"}
    assert set(progress.drained) == {"n3"}
    assert "AWS refuses" in str(slurm.nodes["n3"][1])
    assert made.stopped is not None
    assert not any("verifying" in line or "resuming" in line for line in said)


def test_instances_that_have_to_go_are_kept(tmp_path: Path) -> None:
    progress = a_replacement("n2")
    progress.removed = True
    save(progress, tmp_path / "waves.json")
    assert load(tmp_path / "waves.json") == progress
    text = (tmp_path / "waves.json").read_text()
    old = json.loads(text)
    del old["instances"], old["removed"]
    (tmp_path / "waves.json").write_text(json.dumps(old))
    before = load(tmp_path / "waves.json")
    assert before is not None
    assert (before.instances, before.removed) == ({}, False), "of an earlier release"
