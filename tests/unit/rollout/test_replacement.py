"""What a change that replaces machines does, step by step, and what it leaves out after a failure."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from rackwright.nodelife.slurm_nodes import NodesSeen, NodeUpdate
from rackwright.rollout.replacement import RemovalExecutor, ReplacementExecutor, Step


@dataclass
class Recorder:
    """Does nothing but remember; steps fail where they are told to."""

    fails: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    did: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)

    def step(self, name: str) -> Step:
        def do(hosts: Sequence[str]) -> Mapping[str, str]:
            self.did.append((name, tuple(hosts)))
            return self.fails.get(name, {})

        return do

    def update(self, nodes: Collection[str], updates: Sequence[NodeUpdate]) -> NodesSeen:
        for update in updates:
            assert set(update.names) <= set(nodes)
            self.did.append((" ".join(update.arguments), update.names))
        return NodesSeen()

    def change(self, hosts: Sequence[str], tags: Sequence[str]) -> Mapping[str, str]:
        assert tags == ("configure",)
        return self.step("change")(hosts)

    def accept(self, hosts: Sequence[str]) -> Mapping[str, str]:
        return self.step("accept")(hosts)


def test_a_machine_is_renewed_reached_looked_up_and_configured() -> None:
    recorder = Recorder({"renew": {"b": "no capacity"}, "reach": {"c": "unreachable"}})
    made = ReplacementExecutor(
        recorder, recorder.step("renew"), recorder.step("reach"), {"a": "na", "b": "nb", "c": "nc"}
    )
    failed = made.change(("a", "b", "c", "d"), ("configure",))
    assert failed == {"b": "no capacity", "c": "unreachable"}
    assert recorder.did == [
        ("renew", ("a", "b", "c", "d")),
        ("reach", ("a", "c", "d")),
        ("NodeAddr=na", ("na",)),
        ("change", ("a", "d")),
    ]
    assert made.accept(("a",)) == {}
    assert recorder.did[-1] == ("accept", ("a",))


def test_nothing_is_done_to_hosts_of_which_none_is_left() -> None:
    recorder = Recorder({"renew": {"a": "no capacity"}})
    made = ReplacementExecutor(recorder, recorder.step("renew"), recorder.step("reach"), {})
    assert made.change(("a",), ("configure",)) == {"a": "no capacity"}
    assert recorder.did == [("renew", ("a",))]


def test_removed_hosts_are_neither_configured_nor_verified() -> None:
    recorder = Recorder({"end": {"b": "AWS refuses"}})
    made = RemovalExecutor(recorder, recorder.step("end"))
    assert made.change(("a", "b"), ("configure",)) == {"b": "AWS refuses"}
    assert made.accept(("a",)) == {}
    assert recorder.did == [("end", ("a", "b"))]
