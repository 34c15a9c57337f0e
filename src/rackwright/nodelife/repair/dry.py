"""Dry run of the loop: it looks at the nodes, and tells what it would do to them."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from rackwright.nodelife.repair.actuator import RUNNING, Actuator, NodeView, Progress
from rackwright.nodelife.repair.journal import ActionRecord


@dataclass
class DryActuator:
    """Looks by another actuator, and does nothing; it is a validator as well."""

    actuator: Actuator

    def look(self, nodes: Collection[str]) -> Mapping[str, NodeView]:
        """Return the nodes as they are."""
        return self.actuator.look(nodes)

    def drain(self, node: str, reason: str, former: str | None) -> None:
        """Do nothing."""

    def resume(self, node: str, reasons: Collection[str]) -> None:
        """Do nothing."""

    def requeue(self, node: str) -> None:
        """Do nothing."""

    def act(self, action: ActionRecord) -> None:
        """Do nothing."""

    def progress(self, action: ActionRecord) -> Progress:
        """Return that it is under way."""
        return RUNNING

    @property
    def measures(self) -> bool:
        """True: it runs nothing."""
        return True

    def validate(self, node: str, key: str) -> Progress:
        """Return that it would run."""
        return Progress(done=False, text="the suite would run")


def copy_in_memory(connection: sqlite3.Connection) -> sqlite3.Connection:
    """Return a copy of a journal that is gone with the process."""
    made = sqlite3.connect(":memory:", isolation_level=None)
    made.row_factory = sqlite3.Row
    connection.backup(made)
    return made
