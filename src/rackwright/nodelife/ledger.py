"""Ledger of parts by serial number: where each was, what it did, what was done."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from rackwright.errors import UsageError
from rackwright.nodelife.service import Incident
from rackwright.nodelife.store import Part as Tables
from rackwright.nodelife.store import open_store, transaction, translated

TABLES = Tables(
    "ledger",
    (
        """
        CREATE TABLE part (
            kind TEXT NOT NULL, serial TEXT NOT NULL, model TEXT NOT NULL, PRIMARY KEY (kind, serial)) STRICT;
        CREATE TABLE stay (
            id INTEGER PRIMARY KEY, kind TEXT NOT NULL, serial TEXT NOT NULL, node TEXT NOT NULL, slot TEXT NOT NULL,
            since REAL NOT NULL, until REAL, FOREIGN KEY (kind, serial) REFERENCES part) STRICT;
        CREATE INDEX stay_node ON stay (node, kind) WHERE until IS NULL;
        CREATE INDEX stay_part ON stay (kind, serial);
        CREATE TABLE entry (
            id INTEGER PRIMARY KEY, at REAL NOT NULL, what TEXT NOT NULL, node TEXT NOT NULL, kind TEXT NOT NULL,
            serial TEXT NOT NULL, text TEXT NOT NULL, data TEXT NOT NULL) STRICT;
        CREATE INDEX entry_part ON entry (kind, serial);
        CREATE INDEX entry_node ON entry (node);
        CREATE TABLE incident (
            id INTEGER PRIMARY KEY, node TEXT NOT NULL, cause TEXT NOT NULL, began REAL NOT NULL, ended REAL) STRICT;
        CREATE UNIQUE INDEX incident_open ON incident (node) WHERE ended IS NULL;
        CREATE TABLE suite (
            id INTEGER PRIMARY KEY, at REAL NOT NULL, node TEXT NOT NULL, hall TEXT NOT NULL, outcome TEXT NOT NULL,
            hours REAL NOT NULL, text TEXT NOT NULL) STRICT;
        CREATE INDEX suite_node ON suite (node, id);
        CREATE TABLE rate (
            suite INTEGER NOT NULL REFERENCES suite, kind TEXT NOT NULL, serial TEXT NOT NULL, model TEXT NOT NULL,
            name TEXT NOT NULL, size INTEGER NOT NULL, value REAL NOT NULL, unit TEXT NOT NULL, least REAL,
            basis TEXT NOT NULL) STRICT;
        CREATE INDEX rate_suite ON rate (suite);
        CREATE TABLE notice (place TEXT NOT NULL, key TEXT NOT NULL, at REAL NOT NULL, PRIMARY KEY (place, key)) STRICT
        """,
    ),
)

EntryKind = Literal["fault", "action", "burn-in", "move", "note", "rma"]


@dataclass(frozen=True, slots=True)
class PartSeen:
    """A part as a host tells of it."""

    kind: str
    slot: str
    serial: str
    model: str = ""


@dataclass(frozen=True, slots=True)
class Move:
    """Change of what is in a slot.

    Attributes:
        before: serial number that was there; empty for a slot that was empty or not known.
        after: the one that is there now; empty for none.
        came_from: where the ledger last saw that part; empty for a part that it did not know.
    """

    node: str
    kind: str
    slot: str
    before: str
    after: str
    came_from: str = ""

    def __str__(self) -> str:
        """Return the entry on one line."""
        kind = self.kind.upper() if len(self.kind) < 4 else self.kind
        where = f"{self.node}: {kind} in {self.slot or 'its slot'}"
        if not self.after:
            return f"{where} is gone: {self.before}"
        source = f", which was in {self.came_from}" if self.came_from else ""
        if not self.before:
            return f"{where} is {self.after}{source}"
        return f"{where} is {self.after}{source}; it was {self.before}"


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """Something that happened to a node or a part."""

    at: float
    what: str
    node: str
    kind: str
    serial: str
    text: str


@dataclass(frozen=True, slots=True)
class Stay:
    """Time of a part in a slot; ``until`` is None while it is there."""

    kind: str
    serial: str
    model: str
    node: str
    slot: str
    since: float
    until: float | None


@dataclass(frozen=True, slots=True)
class SuiteResult:
    """Last burn-in of a node."""

    node: str
    outcome: str


@dataclass(frozen=True, slots=True)
class StoredRate:
    """A rate of a burn-in, as it is stored."""

    kind: str
    serial: str
    model: str
    name: str
    size: int
    value: float
    unit: str
    least: float | None
    basis: str


class Ledger:
    """The ledger of one cluster, on an open file."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self.connection, self.path = connection, path

    def has(self, part: str) -> bool:
        """Return True if the file has the tables of another part, like those of repairs."""
        found = self.connection.execute("SELECT 1 FROM parts WHERE name = ?", (part,)).fetchone()
        return found is not None

    def see(self, node: str, seen: Mapping[str, Sequence[PartSeen] | None], at: float) -> list[Move]:  # fmt: skip
        """Record the parts that a node tells of; what has changed since it told last.

        A kind that the node did not tell of (None) stays as it was. The first time that a node tells of a kind
        is no change. Times never run backwards, whatever the clock does.
        """
        moves: list[Move] = []
        with transaction(self.connection):
            for kind, parts in seen.items():
                if parts is not None:
                    moves += self._see(node, kind, parts, max(at, self._latest(node)))
            for move in moves:
                self._write(
                    "move", move.node, move.kind, move.after or move.before, str(move), at, {}
                )
        return moves

    def _latest(self, node: str) -> float:
        row = self.connection.execute(
            "SELECT max(max(since), max(coalesce(until, 0))) FROM stay WHERE node = ?", (node,)
        ).fetchone()
        return float(row[0] or 0)

    def _see(self, node: str, kind: str, parts: Sequence[PartSeen], at: float) -> Iterator[Move]:
        run = self.connection.execute
        before = {
            str(row["slot"]): str(row["serial"])
            for row in run(
                "SELECT slot, serial FROM stay WHERE node = ? AND kind = ? AND until IS NULL",
                (node, kind),
            )
        }
        known = run(
            "SELECT 1 FROM stay WHERE node = ? AND kind = ? LIMIT 1", (node, kind)
        ).fetchone()
        now = {part.slot: part for part in parts}
        for slot, serial in before.items():
            if slot not in now or now[slot].serial != serial:
                run(
                    "UPDATE stay SET until = ? WHERE node = ? AND kind = ? AND slot = ? AND until IS NULL",
                    (at, node, kind, slot),
                )
            if slot not in now:
                yield Move(node, kind, slot, serial, "")
        for slot, part in now.items():
            if before.get(slot) == part.serial:
                continue
            last = run(
                "SELECT id, node, slot, until FROM stay WHERE kind = ? AND serial = ? ORDER BY id DESC LIMIT 1",
                (kind, part.serial),
            ).fetchone()
            run(
                "INSERT INTO part VALUES (?, ?, ?) ON CONFLICT (kind, serial) DO UPDATE SET model = excluded.model",
                (kind, part.serial, part.model),
            )
            if last is not None and last["until"] is None:
                run("UPDATE stay SET until = ? WHERE id = ?", (at, last["id"]))
            run(
                "INSERT INTO stay (kind, serial, node, slot, since) VALUES (?, ?, ?, ?, ?)",
                (kind, part.serial, node, slot, at),
            )
            if known or last is not None:
                came = "" if last is None else f"{last['node']} {last['slot']}".strip()
                yield Move(node, kind, slot, before.get(slot, ""), part.serial, came)

    def write(
        self, what: EntryKind, node: str, text: str, at: float, *, kind: str = "", serial: str = ""
    ) -> None:
        """Write an entry about a node, or about a part of it."""
        with transaction(self.connection):
            self._write(what, node, kind, serial, text, at, {})

    def _write(
        self, what: str, node: str, kind: str, serial: str, text: str, at: float, data: Mapping[str, Any]
    ) -> None:  # fmt: skip
        self.connection.execute(
            "INSERT INTO entry (at, what, node, kind, serial, text, data) VALUES (?, ?, ?, ?, ?, ?, ?)",
            (at, what, node, kind, serial, text, json.dumps(data, sort_keys=True)),
        )

    def entries(self, *, node: str | None = None, serial: str | None = None) -> list[LedgerEntry]:
        """Return the entries of a node, of a part, or all, the oldest first."""
        rows = self.connection.execute(
            "SELECT * FROM entry WHERE (?1 IS NULL OR node = ?1) AND (?2 IS NULL OR serial = ?2) ORDER BY id",
            (node, serial),
        )
        return [
            LedgerEntry(row["at"], row["what"], row["node"], row["kind"], row["serial"], row["text"])
            for row in rows
        ]  # fmt: skip

    def stays(self, *, node: str | None = None, serial: str | None = None) -> list[Stay]:
        """Return where parts were and are, the oldest first."""
        rows = self.connection.execute(
            "SELECT stay.*, part.model FROM stay JOIN part USING (kind, serial) "
            "WHERE (?1 IS NULL OR node = ?1) AND (?2 IS NULL OR serial = ?2) ORDER BY id",
            (node, serial),
        )
        return [
            Stay(row["kind"], row["serial"], row["model"], row["node"], row["slot"], row["since"], row["until"])
            for row in rows
        ]  # fmt: skip

    def serials(self, node: str, kind: str) -> dict[str, str]:
        """Return the serial number in each slot of a node now."""
        return {s.slot: s.serial for s in self.stays(node=node) if s.kind == kind and s.until is None}  # fmt: skip

    def open_incident(self, node: str, cause: str, at: float) -> bool:
        """Begin an incident; False if the node has one already, which keeps its cause."""
        with transaction(self.connection):
            done = self.connection.execute(
                "INSERT INTO incident (node, cause, began) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
                (node, cause, at),
            )
        return done.rowcount == 1

    def close_incident(self, node: str, at: float) -> None:
        """End the incident of a node, if it has one; never before it began."""
        with transaction(self.connection):
            self.connection.execute(
                "UPDATE incident SET ended = max(?, began) WHERE node = ? AND ended IS NULL",
                (at, node),
            )

    def began(self) -> float | None:
        """Return time of the first record, in seconds since the epoch; None for an empty ledger."""
        row = self.connection.execute(
            "SELECT min(at) FROM (SELECT min(since) AS at FROM stay UNION SELECT min(at) FROM entry "
            "UNION SELECT min(began) FROM incident)"
        ).fetchone()
        return None if row[0] is None else float(row[0])

    def incidents(self, since: float = 0.0) -> list[Incident]:
        """Return the incidents that were open at a time or later."""
        rows = self.connection.execute(
            "SELECT * FROM incident WHERE ended IS NULL OR ended >= ? ORDER BY began, id", (since,)
        )
        return [Incident(row["began"], row["node"], row["cause"], row["ended"]) for row in rows]

    def record_suite(
        self, node: str, hall: str, outcome: str, hours: float, text: str, rates: Sequence[StoredRate], at: float
    ) -> None:  # fmt: skip
        """Store the burn-in of a node with its rates."""
        with transaction(self.connection):
            made = self.connection.execute(
                "INSERT INTO suite (at, node, hall, outcome, hours, text) VALUES (?, ?, ?, ?, ?, ?)",
                (at, node, hall, outcome, hours, text),
            )
            self.connection.executemany(
                "INSERT INTO rate VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                [
                    (made.lastrowid, r.kind, r.serial, r.model, r.name, r.size, r.value, r.unit, r.least, r.basis)
                    for r in rates
                ],
            )  # fmt: skip
            self._write(
                "burn-in",
                node,
                "",
                "",
                f"{outcome}: {text}" if text else outcome,
                at,
                {"hours": hours},
            )

    def suites(self) -> dict[str, SuiteResult]:
        """Return the last burn-in of each node."""
        rows = self.connection.execute(
            "SELECT * FROM suite WHERE id IN (SELECT max(id) FROM suite GROUP BY node) ORDER BY node"
        )
        return {
            row["node"]: SuiteResult(row["node"], row["outcome"])
            for row in rows
        }  # fmt: skip

    def hall_rates(self, hall: str) -> dict[tuple[str, str, int], dict[str, list[float]]]:
        """Return the rates of each node's last burn-in in a hall, by model, name and size."""
        rows = self.connection.execute(
            "SELECT rate.*, suite.node FROM rate JOIN suite ON suite.id = rate.suite "
            "WHERE suite.hall = ? AND suite.id IN (SELECT max(id) FROM suite GROUP BY node)",
            (hall,),
        )
        found: dict[tuple[str, str, int], dict[str, list[float]]] = {}
        for row in rows:
            own = found.setdefault((row["model"], row["name"], row["size"]), {})
            own.setdefault(row["node"], []).append(row["value"])
        return found

    def notices(self, place: str) -> frozenset[str]:
        """Return the keys of the tasks of which a place knows."""
        rows = self.connection.execute("SELECT key FROM notice WHERE place = ?", (place,))
        return frozenset(row["key"] for row in rows)

    def note_notice(self, place: str, key: str, at: float | None) -> None:
        """Record that a place knows of a task since a time; None once it knows of its end."""
        with transaction(self.connection):
            if at is None:
                self.connection.execute(
                    "DELETE FROM notice WHERE (place, key) = (?, ?)", (place, key)
                )
            else:
                self.connection.execute(
                    "INSERT INTO notice VALUES (?, ?, ?) ON CONFLICT DO NOTHING", (place, key, at)
                )

    def find(self, serial: str) -> Stay:
        """Return the last stay of a part.

        Raises:
            UsageError: the ledger does not know the serial number.
        """
        known = self.stays(serial=serial)
        if not known:
            raise UsageError(
                f"the ledger knows no part with the serial number '{serial}'",
                hint="'rackwright verify' records the parts of hosts; 'rackwright ledger NODE' lists those of one",
            )
        return known[-1]


@contextmanager
def open_ledger(path: Path) -> Iterator[Ledger]:
    """Yield the ledger in a file.

    Raises:
        StateError: the file is missing, cut, of a newer version, or of another program.
        ExternalToolError: another process holds it for too long.
    """
    with open_store(path, [TABLES]) as connection, translated(path):
        yield Ledger(connection, path)


def parts_of_facts(facts: Mapping[str, Any]) -> dict[str, list[PartSeen] | None]:
    """Return the parts in the facts of a host; None for a kind of which it could not tell."""
    told = facts.get("parts")
    found: dict[str, list[PartSeen] | None] = {}
    for kind, listed in told.items() if isinstance(told, Mapping) else ():
        found[str(kind)] = (
            None
            if not isinstance(listed, list)
            else [
                PartSeen(
                    str(kind), str(one["slot"]), str(one["serial"]), str(one.get("model") or "")
                )
                for one in listed
                if isinstance(one, Mapping) and one.get("serial") and "slot" in one
            ]
        )
    return found
