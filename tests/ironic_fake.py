"""Ironic in this process: nodes with its states, which move on when they are looked at; and runs that are killed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rackwright.metal.ironic import IronicError, IronicNode

WAYS: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("enroll", "manage"): ("verifying", "manageable"),
    ("manageable", "inspect"): ("inspecting", "manageable"),
    ("inspect failed", "inspect"): ("inspecting", "manageable"),
    ("manageable", "clean"): ("cleaning", "clean wait", "manageable"),
    ("clean failed", "clean"): ("cleaning", "clean wait", "manageable"),
    ("clean failed", "manage"): ("manageable",),
    ("manageable", "provide"): ("cleaning", "clean wait", "available"),
    ("available", "active"): ("deploying", "wait call-back", "deploying", "active"),
    ("deploy failed", "active"): ("deploying", "wait call-back", "active"),
    ("available", "manage"): ("manageable",),
    ("active", "rebuild"): ("deploying", "wait call-back", "active"),
    ("active", "service"): ("servicing", "service wait", "active"),
    ("service failed", "service"): ("servicing", "service wait", "active"),
    ("active", "deleted"): ("deleting", "cleaning", "clean wait", "available"),
}
SWITCHED = frozenset({"inspecting", "cleaning", "deploying", "servicing"})


class KilledError(BaseException):
    """End of the process, as nothing catches it."""


@dataclass
class FakeIronic:
    """Ironic's nodes.

    Attributes:
        failures: number of times that a way ends in its failed state, by node and target.
        calls: calls that change something, by name of the node and kind.
        kill_at: number of the call at which the process ends.
        after: the call is carried out before the process ends.
        most_switching: most nodes that were ever being switched on together.
    """

    failures: dict[tuple[str, str], int] = field(default_factory=dict)
    refused: dict[str, IronicError] = field(default_factory=dict)
    calls: Counter[tuple[str, str]] = field(default_factory=Counter)
    kill_at: int | None = None
    after: bool = False
    most_switching: int = 0
    switched: set[str] = field(default_factory=set)
    rows: dict[str, dict[str, Any]] = field(default_factory=dict)
    macs: dict[str, list[str]] = field(default_factory=dict)
    ways: dict[str, list[str]] = field(default_factory=dict)
    steps: list[tuple[str, Any]] = field(default_factory=list)
    number: int = 0

    def nodes(self) -> dict[str, IronicNode]:
        """Return the nodes, and move each on by one state."""
        found = {}
        for name, row in self.rows.items():
            found[name] = IronicNode(**row)
            way = self.ways.get(name, [])
            if way:
                self._move(name, way)
        busy = sum(1 for row in self.rows.values() if row["provision_state"] in SWITCHED)
        self.most_switching = max(self.most_switching, busy)
        return found

    def create_node(self, body: Mapping[str, Any]) -> None:
        """Create a node."""

        def act() -> None:
            assert body["name"] not in self.rows
            self.rows[body["name"]] = {
                "uuid": f"uuid-{body['name']}", "name": body["name"], "provision_state": "enroll",
                "target": None, "power_state": "power off", "last_error": None, "maintenance": False,
                "inspected": False, "instance_info": {}, "extra": body["extra"], "updated": "0",
            }  # fmt: skip

        self._call(body["name"], "create", act)

    def update_node(self, name: str, patch: Sequence[Mapping[str, Any]]) -> None:
        """Change the instance of a node."""
        (one,) = patch
        assert (one["op"], one["path"]) == ("replace", "/instance_info")
        self.rows[name]["instance_info"] = dict(one["value"])

    def ports(self, name: str) -> tuple[str, ...]:
        """Return the ports of a node."""
        return tuple(self.macs.get(name, ()))

    def create_port(self, body: Mapping[str, Any]) -> None:
        """Create a port."""
        name = str(body["node_uuid"]).removeprefix("uuid-")

        def act() -> None:
            if any(body["address"] in known for known in self.macs.values()):
                text = f"A port with MAC address {body['address']} already exists."
                raise IronicError(text, status=409)
            self.macs.setdefault(name, []).append(body["address"])

        self._call(name, "port", act)

    def set_provision_state(self, name: str, target: str, **more: Any) -> None:
        """Begin a way."""

        def act() -> None:
            if name in self.refused:
                raise self.refused.pop(name)
            row = self.rows[name]
            way = list(WAYS[row["provision_state"], target])
            if self.failures.get((name, target), 0) > 0:
                self.failures[name, target] -= 1
                failed = {"manage": "enroll", "inspect": "inspect failed", "provide": "clean failed",
                          "clean": "clean failed", "active": "deploy failed", "rebuild": "deploy failed",
                          "service": "service failed"}[target]  # fmt: skip
                way = [*way[:1], failed]
                row["last_error"] = f"{target} did not work"
            else:
                row["last_error"] = None
                if target == "inspect":
                    row["inspected"] = True
            steps = more.get("clean_steps") or more.get("service_steps")
            self.steps.append((name, steps or target))
            self._move(name, way)
            self.ways[name] = way

        self._call(name, target, act)

    def _move(self, name: str, way: list[str]) -> None:
        row = self.rows[name]
        row["provision_state"] = way.pop(0)
        row["updated"] = str(int(row["updated"]) + 1)
        if row["provision_state"] in SWITCHED:
            self.switched.add(name)

    def _call(self, name: str, kind: str, act: Any) -> None:
        self.number += 1
        if self.number == self.kill_at and not self.after:
            raise KilledError
        act()
        self.calls[name, kind] += 1
        if self.number == self.kill_at:
            raise KilledError
