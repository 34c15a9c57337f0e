"""A cluster of a test that acts as Slurm and BMCs do, and holds what the loop promises.

It breaks off at any place as a kill does, and remembers every breach of a promise.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rackwright.catalog.fault_table import builtin_faults
from rackwright.nodelife.repair.actuator import RUNNING, ActionError, NodeView, Progress
from rackwright.nodelife.repair.budgets import RepairLimits
from rackwright.nodelife.repair.controller import RepairController
from rackwright.nodelife.repair.journal import PART, ActionRecord, Journal
from rackwright.nodelife.signs.detect import FaultEvent
from rackwright.nodelife.signs.shared import PartMap

TABLE = builtin_faults()


class KilledError(BaseException):
    """The controller was killed here."""


@dataclass
class FakeNode:
    """A node of the cluster."""

    drained: str | None = None
    jobs: int = 0
    boots: int = 0
    power: bool = True
    proven: bool = True
    """False from a drain by the loop until the suite has passed."""
    claims: set[int] = field(default_factory=set)
    left: int = 0
    """Looks until an action has ended."""
    leaks: bool = False
    silent: bool = False
    """True from a fault that shows no error until a suite that measures has passed."""


@dataclass
class FakeCluster:
    """Slurm, nodes and BMCs.

    Attributes:
        heals: outcome of the suite of a node, by name; what is absent passes.
        kill_at: calls of the loop from now on after which it is killed; None for never.
        before: kill before the effect of the call instead of after it.
        measures: the suite measures, as burn-in does and a health check does not.
        deaf: nodes whose BMC says that it does what it is asked for, and does nothing.
    """

    names: Sequence[str]
    heals: Callable[[str], bool] = lambda node: True
    takes: int = 0
    kill_at: int | None = None
    before: bool = False
    deaf: set[str] = field(default_factory=set)
    measures: bool = True
    nodes: dict[str, FakeNode] = field(default_factory=dict)
    breaches: list[str] = field(default_factory=list)
    done: Counter[tuple[str, int, int, str]] = field(default_factory=Counter)
    most_out: int = 0
    _idle: dict[str, NodeView] = field(default_factory=dict)
    race: str = ""
    """Node that an operator gives back, and a job starts on, right after the loop has looked at all."""

    def __post_init__(self) -> None:
        self.nodes = {name: FakeNode() for name in self.names}

    def _call(self, effect: Callable[[], None]) -> None:
        if self.kill_at is not None:
            self.kill_at -= 1
            if self.kill_at < 0:
                self.kill_at = None
                if not self.before:
                    effect()
                raise KilledError
        effect()

    def look(self, nodes: Collection[str]) -> Mapping[str, NodeView]:
        self._call(lambda: None)
        found = {}
        for name in nodes:
            node = self.nodes[name]
            up = node.power and node.left == 0
            if node.drained is None and not node.jobs and not node.boots and up:
                found[name] = self._idle.setdefault(name, NodeView(name, in_service=True, boot="0"))
                continue
            in_service, boot = node.drained is None, str(node.boots)
            found[name] = NodeView(name, in_service, node.drained, node.jobs, boot, up)
        if self.race and len(nodes) > 1:
            self.nodes[self.race].drained, self.nodes[self.race].jobs, self.race = None, 1, ""
        return found

    def drain(self, node: str, reason: str, former: str | None) -> None:
        def effect() -> None:
            one = self.nodes[node]
            if one.drained is None or one.drained == former:
                one.drained, one.proven = reason, False
            out = sum(other.drained is not None for other in self.nodes.values())
            self.most_out = max(self.most_out, out)

        self._call(effect)

    def resume(self, node: str, reasons: Collection[str]) -> None:
        def effect() -> None:
            one = self.nodes[node]
            if one.drained in reasons:
                if not one.proven:
                    self.breaches.append(f"{node} returned untested")
                if one.leaks:
                    self.breaches.append(f"{node} returned leaking")
                if one.silent:
                    self.breaches.append(f"{node} returned without a measurement")
                one.drained = None

        self._call(effect)

    def requeue(self, node: str) -> None:
        def effect() -> None:
            self.nodes[node].jobs = 0

        self._call(effect)

    def act(self, action: ActionRecord) -> None:
        self._call(lambda: self._act(action))

    def _act(self, action: ActionRecord) -> None:
        node = self.nodes[action.node]
        if action.id in node.claims or (action.node in self.deaf and "power" in action.kind):
            return
        node.claims.add(action.id)
        if action.kind == "evidence":
            return
        self.done[action.node, action.cycle, action.rung, action.kind] += 1
        leaks = action.kind == "power-off" and action.argument == "leak"
        if node.jobs and not leaks:
            self.breaches.append(f"{action.kind} of {action.node} under a job")
        if node.drained is None and not leaks:
            self.breaches.append(f"{action.kind} of {action.node} in service")
        if node.leaks and action.kind in {"reboot", "power-on"}:
            self.breaches.append(f"{action.kind} of {action.node} while it leaks")
        node.proven = False
        node.left = self.takes
        if action.kind == "power-off":
            node.power = False
        if action.kind in {"reboot", "power-on"}:
            node.power, node.boots = True, node.boots + 1

    def progress(self, action: ActionRecord) -> Progress:
        self._call(lambda: None)
        node = self.nodes[action.node]
        if node.left:
            node.left -= 1
            return RUNNING
        if action.kind == "power-off" and node.power:
            return Progress(done=False, text="the BMC says On")
        return Progress(done=True, passed=True)

    def validate(self, node: str, key: str) -> Progress:
        self._call(lambda: None)
        one = self.nodes[node]
        if one.drained is None:
            raise ActionError(f"{node} is in service")
        if not one.power:
            return Progress(done=True, passed=False, text="it is off")
        if self.heals(node):
            one.proven = True
            one.silent = one.silent and not self.measures
            return Progress(done=True, passed=True, text="suite passed")
        return Progress(done=True, passed=False, text="suite failed")


class KillingConnection(sqlite3.Connection):
    """A connection on which a controller is killed after some statements."""

    left: int | None = None

    def execute(self, *arguments: Any) -> sqlite3.Cursor:
        if self.left is not None and not arguments[0].startswith(("ROLLBACK", "SELECT")):
            self.left -= 1
            if self.left < 0:
                self.left = None
                raise KilledError
        return super().execute(*arguments)


def open_journal() -> KillingConnection:
    """Return a journal in memory, which outlives controllers."""
    connection = sqlite3.connect(":memory:", isolation_level=None, factory=KillingConnection)
    connection.row_factory = sqlite3.Row
    for statement in PART.migrations[0].split(";"):
        if statement.strip():
            connection.execute(statement)
    return connection


def controller(
    cluster: FakeCluster,
    connection: sqlite3.Connection,
    limits: RepairLimits | None = None,
    parts: PartMap | None = None,
) -> RepairController:
    """Return a controller as a process begins one."""
    return RepairController(
        TABLE,
        Journal(connection),
        cluster,
        cluster,
        limits or RepairLimits(most_nodes=100.0, nodes_per_hour=1000, storm_nodes=1000),
        {"all": frozenset(cluster.names)},
        parts or PartMap({}),
        wall=lambda: 0.0,
    )


def fault(fault_id: str, at: float = 1.0, device: str = "gpu0") -> FaultEvent:
    """Return a fault that was seen."""
    return FaultEvent(fault_id, device, at, f"{fault_id} at {at:g}")
