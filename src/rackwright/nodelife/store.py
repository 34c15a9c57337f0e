"""SQLite file with the journal of repairs and the ledger of parts of one cluster.

Each subject (repair, ledger) is a part of the file with migrations of its own, so that one can grow without
the other. The rollback journal of SQLite keeps the file whole through a kill at any place.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rackwright.errors import ExternalToolError, StateError
from rackwright.files import state_folder
from rackwright.locks import exclusive, turn

APPLICATION_ID = 0x52574E4C
"""Number in the header of the file by which it is known as ours: ``RWNL``."""
BUSY_S = 10.0
"""Longest wait for another process that writes. Transactions here take milliseconds."""


@dataclass(frozen=True, slots=True)
class Part:
    """Tables of one subject.

    Attributes:
        migrations: SQL scripts; the version of the part is their number. A released one never changes.
    """

    name: str
    migrations: tuple[str, ...]


def store_path(cluster: str) -> Path:
    """Return the file of a cluster in the state folder."""
    return state_folder() / "nodelife" / f"{cluster}.sqlite"


@contextmanager
def open_store(path: Path, parts: Sequence[Part], *, create: bool = True) -> Iterator[sqlite3.Connection]:  # fmt: skip
    """Yield a connection to the file, with the tables of ``parts`` brought to their versions.

    Args:
        path: the file.
        parts: the tables that the caller uses.
        create: make the file if there is none.

    Raises:
        StateError: the file is missing, cut, of a newer version, or of another program.
        ExternalToolError: another process holds it for too long.
    """
    if not path.exists():
        if not create:
            raise StateError(f"'{path}' does not exist", hint="run 'rackwright repair run' first")
        _make(path)
    with translated(path):
        connection = sqlite3.connect(path, timeout=BUSY_S, isolation_level=None)
    try:
        with translated(path):
            connection.row_factory = sqlite3.Row
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA foreign_keys = ON")
            _check(connection, path)
            for part in parts:
                _migrate(connection, part, path)
        with translated(path):
            yield connection
    finally:
        connection.close()


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[sqlite3.Connection]:
    """Write everything inside at once or not at all; inside another one, with that one."""
    if connection.in_transaction:
        yield connection
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield connection
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


@contextmanager
def sole_controller(path: Path) -> Iterator[None]:
    """Be the one process that acts on the nodes of this file.

    Raises:
        ExternalToolError: another process is.
    """
    with exclusive(path.with_name(f"{path.name}.controller"), what=f"the life of nodes in '{path}'"):  # fmt: skip
        yield


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Turn errors of SQLite into sentences about the file.

    Raises:
        StateError: the file is damaged or cannot be written.
        ExternalToolError: another process holds it for too long.
        DatabaseError: the statement is a mistake of this program.
    """  # noqa: DOC501 - _damaged() makes the StateError
    try:
        yield
    except sqlite3.OperationalError as error:
        if "locked" in str(error) or "busy" in str(error):
            raise ExternalToolError(
                f"'{path}' has been held by another process for {BUSY_S:g} s",
                hint="end the process that holds it, then try again",
            ) from None
        raise _damaged(path, str(error)) from None
    except sqlite3.DatabaseError as error:
        if isinstance(error, sqlite3.IntegrityError | sqlite3.ProgrammingError):
            raise  # a mistake of this program
        raise _damaged(path, str(error)) from None


def _make(path: Path) -> None:
    """Make the file; a kill leaves no file or a whole one, and two processes make it once."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with turn(path.with_name(f"{path.name}.making")):
        if path.exists():
            return
        draft = path.with_name(f".{path.name}.part")
        draft.unlink(missing_ok=True)
        connection = sqlite3.connect(draft, isolation_level=None)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(
            "CREATE TABLE parts (name TEXT PRIMARY KEY, version INTEGER NOT NULL) STRICT"
        )
        connection.close()
        draft.chmod(0o600)
        os.replace(draft, path)  # noqa: PTH105 - says what it does


def _check(connection: sqlite3.Connection, path: Path) -> None:
    """Check that the file is whole and ours.

    Raises:
        StateError: it is not.
    """  # noqa: DOC501 - _damaged() makes the StateError
    if path.stat().st_size == 0:
        raise _damaged(path, "it is empty")
    if connection.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
        raise StateError(
            f"'{path}' is a database of another program", hint="name another file, or move it away"
        )
    result = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
    if result != "ok":
        raise _damaged(path, str(result))


def _migrate(connection: sqlite3.Connection, part: Part, path: Path) -> None:
    """Bring the tables of one part to their version.

    Raises:
        StateError: a newer Rackwright has written them.
    """
    if _version(connection, part) == len(part.migrations):
        return
    with transaction(connection):
        version = _version(connection, part)  # another process may have migrated meanwhile
        if version > len(part.migrations):
            raise StateError(
                f"'{path}' has version {version} of its {part.name}, and this Rackwright knows "
                f"version {len(part.migrations)}",
                hint="use the Rackwright that wrote it",
            )
        for script in part.migrations[version:]:
            for statement in script.split(";"):
                if statement.strip():
                    connection.execute(statement)
        connection.execute(
            "INSERT INTO parts VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET version = excluded.version",
            (part.name, len(part.migrations)),
        )


def _version(connection: sqlite3.Connection, part: Part) -> int:
    row = connection.execute("SELECT version FROM parts WHERE name = ?", (part.name,)).fetchone()
    return 0 if row is None else int(row[0])


def _damaged(path: Path, detail: str) -> StateError:
    return StateError(
        f"'{path}' is damaged: {detail}",
        hint="put its last copy back; without one, drain the nodes that 'sinfo -R' lists with "
        "'rackwright:' by hand, move the file away and begin a new one",
    )
