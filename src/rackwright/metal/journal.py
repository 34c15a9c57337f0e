"""Journal of provisioning: each act is recorded before it starts, so a killed run can continue."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from rackwright.nodelife.store import Part, open_store, transaction

PART = Part(
    "provisioning",
    (
        """
        CREATE TABLE provisioned_steps (
            site TEXT NOT NULL, host TEXT NOT NULL, step TEXT NOT NULL, at REAL NOT NULL, note TEXT NOT NULL,
            PRIMARY KEY (site, host, step)
        ) STRICT;
        CREATE TABLE provisioning_acts (
            id INTEGER PRIMARY KEY, site TEXT NOT NULL, host TEXT NOT NULL, step TEXT NOT NULL, act TEXT NOT NULL,
            begun REAL NOT NULL, ended REAL, outcome TEXT
        ) STRICT;
        CREATE INDEX provisioning_acts_of ON provisioning_acts (site, host, step);
        CREATE TABLE provisioning_failures (
            site TEXT NOT NULL, host TEXT NOT NULL, step TEXT NOT NULL, at REAL NOT NULL, reason TEXT NOT NULL,
            PRIMARY KEY (site, host)
        ) STRICT;
        """,
        """
        CREATE TABLE provisioning_renewals (
            site TEXT NOT NULL, host TEXT NOT NULL, at REAL NOT NULL, PRIMARY KEY (site, host)
        ) STRICT;
        """,
    ),
)


@dataclass
class HostRecord:
    """Progress of one host.

    Attributes:
        done: proven steps, each with a note about the proof.
        acts: number of tries of each act of the current step.
        begun: start of the last act, in s on the clock of the journal; None before the first.
        last: error of the last failed act.
        failure: step and reason of a host that was left out; None for a host that continues.
        renewing: True if the host was installed before, and is drained to be changed.
    """

    done: dict[str, str] = field(default_factory=dict)
    acts: dict[str, int] = field(default_factory=dict)
    begun: float | None = None
    last: str | None = None
    failure: tuple[str, str] | None = None
    renewing: bool = False


@dataclass(frozen=True)
class ProvisioningJournal:
    """Progress of the hosts of one site."""

    connection: sqlite3.Connection
    site: str
    now: Callable[[], float]

    @contextmanager
    def together(self) -> Iterator[None]:
        """Write everything inside in one transaction, which waits for the disk once instead of once per host."""
        with transaction(self.connection):
            yield

    def records(self) -> dict[str, HostRecord]:
        """Return the progress of every started host, by name."""
        found: dict[str, HostRecord] = {}
        ask = self.connection.execute
        for host, step, note in ask(
            "SELECT host, step, note FROM provisioned_steps WHERE site = ? ORDER BY at",
            (self.site,),
        ):
            found.setdefault(host, HostRecord()).done[step] = note
        for host, step, act, count, begun in ask(
            "SELECT host, step, act, count(*), max(begun) FROM provisioning_acts WHERE site = ?"
            " AND outcome IS NOT 'void' GROUP BY host, step, act",
            (self.site,),
        ):
            record = found.setdefault(host, HostRecord())
            if step not in record.done:
                record.acts[act] = count
                record.begun = max(record.begun or 0.0, begun)
        for host, step, reason in ask(
            "SELECT host, step, reason FROM provisioning_failures WHERE site = ?", (self.site,)
        ):
            found.setdefault(host, HostRecord()).failure = (step, reason)
        for (host,) in ask("SELECT host FROM provisioning_renewals WHERE site = ?", (self.site,)):
            found.setdefault(host, HostRecord()).renewing = True
        return found

    def begin(self, host: str, step: str, act: str) -> int:
        """Record that an act is about to start, and return its number."""
        with transaction(self.connection) as write:
            row = write.execute(
                "INSERT INTO provisioning_acts (site, host, step, act, begun) VALUES (?, ?, ?, ?, ?)",
                (self.site, host, step, act, self.now()),
            )
        return int(row.lastrowid or 0)

    def end(self, number: int, outcome: str) -> None:
        """Record the outcome of an act."""
        with transaction(self.connection) as write:
            write.execute(
                "UPDATE provisioning_acts SET ended = ?, outcome = ? WHERE id = ?",
                (self.now(), outcome, number),
            )

    def pass_step(self, host: str, step: str, note: str) -> None:
        """Record that a step is proven."""
        with transaction(self.connection) as write:
            write.execute(
                "INSERT OR REPLACE INTO provisioned_steps VALUES (?, ?, ?, ?, ?)",
                (self.site, host, step, self.now(), note),
            )

    def fail(self, host: str, step: str, reason: str) -> None:
        """Record that a host is left out, with the reason."""
        with transaction(self.connection) as write:
            write.execute(
                "INSERT OR REPLACE INTO provisioning_failures VALUES (?, ?, ?, ?, ?)",
                (self.site, host, step, self.now(), reason),
            )

    def renew(self, host: str, steps: Collection[str]) -> None:
        """Record that steps of an installed host start again."""
        with transaction(self.connection) as write:
            self.forget(host, failure_alone=True)
            for step in steps:
                write.execute(
                    "DELETE FROM provisioned_steps WHERE site = ? AND host = ? AND step = ?",
                    (self.site, host, step),
                )
            write.execute(
                "INSERT OR REPLACE INTO provisioning_renewals VALUES (?, ?, ?)",
                (self.site, host, self.now()),
            )

    def end_renewal(self, host: str) -> None:
        """Record that the renewal of an installed host is complete."""
        with transaction(self.connection) as write:
            write.execute(
                "DELETE FROM provisioning_renewals WHERE site = ? AND host = ?", (self.site, host)
            )

    def forget(self, host: str, *, failure_alone: bool) -> None:
        """Clear the failure of a host (``failure_alone``), or its whole progress."""
        tables = (
            "provisioning_failures",
            "provisioning_acts",
            "provisioned_steps",
            "provisioning_renewals",
        )
        with transaction(self.connection) as write:
            if failure_alone:
                write.execute(
                    "UPDATE provisioning_acts SET outcome = 'void' WHERE site = ? AND host = ?",
                    (self.site, host),
                )
            for table in tables[:1] if failure_alone else tables:
                write.execute(
                    f"DELETE FROM {table} WHERE site = ? AND host = ?",  # noqa: S608 - own names # nosec B608
                    (self.site, host),
                )


@contextmanager
def open_journal(path: Path, site: str, now: Callable[[], float]) -> Iterator[ProvisioningJournal]:
    """Yield the journal of a site in the file of its cluster."""
    with open_store(path, [PART]) as connection:
        yield ProvisioningJournal(connection, site, now)
