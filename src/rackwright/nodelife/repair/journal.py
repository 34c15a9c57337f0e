"""Journal of repairs: each node's state, and each action written down before it is done and after.

An action has the key (node, cycle, rung, kind): a controller that was killed between the two finds the
open action and goes on with it, and never begins another in its place.
"""

from __future__ import annotations

import json
import secrets
import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from rackwright.nodelife.repair.states import RepairState, after
from rackwright.nodelife.signs.detect import FaultEvent
from rackwright.nodelife.store import Part, transaction

PART = Part(
    "repair",
    (
        """
        CREATE TABLE repair_nodes (
            node TEXT PRIMARY KEY, state TEXT NOT NULL, fault TEXT NOT NULL, device TEXT NOT NULL,
            severity TEXT NOT NULL, cycle INTEGER NOT NULL, rung INTEGER NOT NULL, since REAL NOT NULL,
            waits TEXT NOT NULL, incident TEXT NOT NULL
        ) STRICT;
        CREATE TABLE repair_actions (
            id INTEGER PRIMARY KEY, node TEXT NOT NULL, cycle INTEGER NOT NULL, rung INTEGER NOT NULL,
            kind TEXT NOT NULL, argument TEXT NOT NULL, token TEXT NOT NULL, phase TEXT NOT NULL,
            begun REAL NOT NULL, ended REAL, result TEXT NOT NULL,
            UNIQUE (node, cycle, rung, kind)
        ) STRICT;
        CREATE INDEX repair_actions_begun ON repair_actions (kind, begun);
        CREATE TABLE repair_events (
            node TEXT NOT NULL, fault TEXT NOT NULL, device TEXT NOT NULL, at REAL NOT NULL,
            text TEXT NOT NULL, seen REAL NOT NULL, UNIQUE (node, fault, device, at, text)
        ) STRICT;
        CREATE INDEX repair_events_seen ON repair_events (seen);
        CREATE TABLE repair_log (
            id INTEGER PRIMARY KEY, at REAL NOT NULL, node TEXT NOT NULL, text TEXT NOT NULL
        ) STRICT;
        CREATE TABLE repair_settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
        """,
    ),
)

ADOPTED = "adopted: "
"""Beginning of the text of a fault that the reason of another journal names."""

LAST_PASS = "last_pass"  # noqa: S105 - a name
"""Setting: time of the pass before this one."""


@dataclass(frozen=True, slots=True)
class NodeRecord:
    """A node in its repair.

    Attributes:
        fault: id of the fault that it is repaired for.
        cycle: number of the repair of this node; each begins with a fault of a healthy node.
        rung: step of the fault's ladder that is next, or under way.
        since: time at which it came to its state, in s of the controller's clock.
        waits: reason it does not go on; empty if it does.
        incident: shared part that its fault is put down to; empty if there is none.
    """

    node: str
    state: RepairState = RepairState.HEALTHY
    fault: str = ""
    device: str = ""
    severity: str = ""
    cycle: int = 0
    rung: int = 0
    since: float = 0.0
    waits: str = ""
    incident: str = ""


@dataclass(frozen=True, slots=True)
class ActionRecord:
    """An action on a node.

    Attributes:
        token: state of the node before the action, by which it is seen whether it was done.
        phase: ``intent`` until it is begun for sure, ``begun``, then ``done`` or ``failed``.
    """

    id: int
    node: str
    cycle: int
    rung: int
    kind: str
    argument: str
    token: str
    phase: str
    begun: float
    ended: float | None
    result: str


class Journal:
    """State and actions of all nodes that were ever under repair."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection
        self._nodes = {
            row["node"]: NodeRecord(**{**dict(row), "state": RepairState(row["state"])})
            for row in connection.execute("SELECT * FROM repair_nodes")
        }

    @cached_property
    def identity(self) -> str:
        """Random word that tells this journal from one of another machine."""
        known: str | None = self.setting("identity")
        if known is None:
            known = secrets.token_hex(3)
            self.set("identity", known)
        return known

    @property
    def nodes(self) -> Mapping[str, NodeRecord]:
        """Nodes that are, or were, under repair."""
        return self._nodes

    def node(self, name: str) -> NodeRecord:
        """Return the record of a node; a healthy one if it was never under repair."""
        return self._nodes.get(name) or NodeRecord(name)

    def see(self, node: str, event: FaultEvent, now: float) -> bool:
        """Write an event; return True if it is new.

        One without a time is a state that lasts: it is new if the pass before did not see it.
        """
        key = (node, event.fault, event.device, event.at, event.text)
        with transaction(self.connection):
            row = self.connection.execute(
                "SELECT seen FROM repair_events"
                " WHERE node = ? AND fault = ? AND device = ? AND at = ? AND text = ?",
                key,
            ).fetchone()
            if row is None:
                self.connection.execute(
                    "INSERT INTO repair_events VALUES (?, ?, ?, ?, ?, ?)", (*key, now)
                )
                return True
            if event.at:
                return False
            self.connection.execute(
                "UPDATE repair_events SET seen = ?"
                " WHERE node = ? AND fault = ? AND device = ? AND at = ? AND text = ?",
                (now, *key),
            )
        former: float = row["seen"]
        return former < (self.setting(LAST_PASS) or 0.0)

    def events(self, since: float) -> list[tuple[str, str, float]]:
        """Return node, fault and time of the events that were seen since a time; an adopted fault is no new one."""
        rows = self.connection.execute(
            "SELECT node, fault, seen FROM repair_events WHERE seen >= ? AND text NOT LIKE ? ORDER BY seen, rowid",
            (since, f"{ADOPTED}%"),
        )
        return [(row["node"], row["fault"], row["seen"]) for row in rows]

    def is_over(self, node: str, fault: str, now: float) -> bool:
        """Return True if a fault of a node is a state that lasts, and the pass at ``now`` did not see it."""
        row = self.connection.execute(
            "SELECT max(at) AS at, max(seen) AS seen FROM repair_events WHERE node = ? AND fault = ?",
            (node, fault),
        ).fetchone()
        return bool(row["at"] == 0.0 and row["seen"] < now)

    def faults_of_repair(self, node: str) -> frozenset[str]:
        """Return the faults of a node that were seen since it last was healthy or on probation."""
        rows = self.connection.execute(
            "SELECT DISTINCT fault FROM repair_events WHERE node = ? AND seen >= (SELECT coalesce(max(at), 0)"
            " FROM repair_log WHERE node = ? AND (text LIKE ? OR text LIKE ?))",
            (node, node, *(f"{state} -> {RepairState.SUSPECT}: %" for state in (RepairState.HEALTHY, RepairState.PROBATION))),
        )  # fmt: skip
        return frozenset(row["fault"] for row in rows)

    def parts_seen(self, since: float) -> list[tuple[str, str, str, float]]:
        """Return node, fault and device of what was seen since a time, each once with its last time."""
        rows = self.connection.execute(
            "SELECT node, fault, device, max(seen) AS seen FROM repair_events WHERE seen >= ?"
            " GROUP BY node, fault, device ORDER BY node, fault, device",
            (since,),
        )
        return [(row["node"], row["fault"], row["device"], row["seen"]) for row in rows]

    def step(self, name: str, step: str, now: float, text: str, **changes: Any) -> NodeRecord:
        """Take a node one step on, and log it, at once."""
        before = self.node(name)
        made = replace(before, state=after(before.state, step), since=now, waits="", **changes)
        with transaction(self.connection):
            self._put(made)
            self._log(name, now, f"{before.state} -> {made.state}: {text}")
        self._nodes[name] = made
        return made

    def change(self, name: str, now: float, text: str = "", **changes: Any) -> NodeRecord:
        """Change fields of a node that stays in its state; a new ``waits`` is logged."""
        before = self.node(name)
        made = replace(before, **changes)
        if made == before:
            return before
        with transaction(self.connection):
            self._put(made)
            if text or (made.waits and made.waits != before.waits):
                self._log(name, now, text or f"waits: {made.waits}")
        self._nodes[name] = made
        return made

    def intend(self, record: NodeRecord, kind: str, argument: str, token: str, now: float) -> ActionRecord:  # fmt: skip
        """Return the action of this step, written down before it is begun if it is not yet."""
        key = (record.node, record.cycle, record.rung, kind)
        if (found := self.action(record, kind)) is not None:
            return found
        with transaction(self.connection):
            self.connection.execute(
                "INSERT INTO repair_actions (node, cycle, rung, kind, argument, token, phase, begun, result)"
                " VALUES (?, ?, ?, ?, ?, ?, 'intent', ?, '')",
                (*key, argument, token, now),
            )
        found = self.action(record, kind)
        assert found is not None  # noqa: S101 - it was written above
        return found

    def action(self, record: NodeRecord, kind: str) -> ActionRecord | None:
        """Return the action of this step of a node, if it was ever intended."""
        row = self.connection.execute(
            "SELECT * FROM repair_actions WHERE node = ? AND cycle = ? AND rung = ? AND kind = ?",
            (record.node, record.cycle, record.rung, kind),
        ).fetchone()
        return None if row is None else ActionRecord(**dict(row))

    def set_phase(
        self, action: ActionRecord, phase: str, now: float, result: str = ""
    ) -> ActionRecord:
        """Write that an action is begun, done or failed."""
        ended = now if phase in {"done", "failed"} else None
        with transaction(self.connection):
            self.connection.execute(
                "UPDATE repair_actions SET phase = ?, ended = ?, result = ? WHERE id = ?",
                (phase, ended, result, action.id),
            )
            self._log(action.node, now, f"{action.kind} {phase}{f': {result}' if result else ''}")
        return replace(action, phase=phase, ended=ended, result=result)

    def times(self, kind: str, node: str | None = None) -> list[float]:
        """Return the times at which actions of a kind were begun, of one node or of all."""
        rows = self.connection.execute(
            "SELECT begun FROM repair_actions WHERE kind = ? AND (? IS NULL OR node = ?) ORDER BY begun",
            (kind, node, node),
        )
        return [row["begun"] for row in rows]

    def actions(self, node: str | None = None, last: int = 1000) -> list[ActionRecord]:
        """Return the last actions, of one node or of all, the oldest first."""
        rows = self.connection.execute(
            "SELECT * FROM repair_actions WHERE (? IS NULL OR node = ?) ORDER BY id DESC LIMIT ?",
            (node, node, last),
        )
        return [ActionRecord(**dict(row)) for row in rows][::-1]

    def log(self, node: str | None = None, last: int = 1000) -> list[tuple[float, str, str]]:
        """Return the last entries of the log as time, node and text, the oldest first."""
        rows = self.connection.execute(
            "SELECT at, node, text FROM repair_log WHERE (? IS NULL OR node = ?) ORDER BY id DESC LIMIT ?",
            (node, node, last),
        )
        return [(row["at"], row["node"], row["text"]) for row in rows][::-1]

    def note(self, node: str, now: float, text: str) -> None:
        """Write a line into the log."""
        with transaction(self.connection):
            self._log(node, now, text)

    def setting(self, name: str) -> Any:
        """Return a value that outlives the controller; None if it was never set."""
        row = self.connection.execute("SELECT value FROM repair_settings WHERE name = ?", (name,)).fetchone()  # fmt: skip
        return None if row is None else json.loads(row["value"])

    def set(self, name: str, value: Any) -> None:
        """Keep a value."""
        with transaction(self.connection):
            self.connection.execute(
                "INSERT INTO repair_settings VALUES (?, ?)"
                " ON CONFLICT (name) DO UPDATE SET value = excluded.value",
                (name, json.dumps(value)),
            )

    def in_states(self, states: Iterable[RepairState]) -> list[NodeRecord]:
        """Return the nodes in any of the states, by name."""
        wanted = set(states)
        return sorted((r for r in self._nodes.values() if r.state in wanted), key=lambda r: r.node)

    def _put(self, record: NodeRecord) -> None:
        self.connection.execute(
            "INSERT OR REPLACE INTO repair_nodes VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (record.node, record.state.value, record.fault, record.device, record.severity, record.cycle,
             record.rung, record.since, record.waits, record.incident),
        )  # fmt: skip

    def _log(self, node: str, now: float, text: str) -> None:
        self.connection.execute(
            "INSERT INTO repair_log (at, node, text) VALUES (?, ?, ?)", (now, node, text)
        )
