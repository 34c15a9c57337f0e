"""Progress of a run of Ansible from its events: pure state of bounded size, and its view.

Time comes with each event, in seconds of a clock that does not go back.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from rackwright.ansible_runs.events import FINISHED, INCLUDES, LAST_TASK, first_words
from rackwright.ansible_runs.terminal_text import plain

NAMED = 64
"""Failed hosts that a view names, those that failed first."""

HANDLERS = "handlers"
"""Name of the step in which a play restarts what has changed."""

Resolve = Callable[[str], frozenset[str]]
"""Gives the hosts of a host pattern; none where it is not known."""


@dataclass(frozen=True, slots=True)
class View:
    """View of a run for a display.

    Attributes:
        step: the role, or the play outside of roles, that is running; empty between them.
        task: name of the task.
        done: hosts that are through with the tasks now running, of ``total``.
        finished: hosts that came to the end of the playbook, of ``hosts``.
        failed: number of hosts that failed, and the names of the first of them.
        seconds: since the run began.
    """

    step: str
    task: str
    done: int
    total: int
    finished: int
    hosts: int
    failed: int
    names: tuple[str, ...]
    seconds: float


@dataclass(frozen=True, slots=True)
class Line:
    """Something that happened and is worth a line.

    Attributes:
        failure: it must not be missed.
        begins: the step that begins by it.
        ends: the step that ends by it.
    """

    text: str
    failure: bool = False
    begins: str = ""
    ends: str = ""


@dataclass
class Live:
    """A run under way.

    Attributes:
        hosts: those that the run is to bring to the end of the playbook.
        resolve: the hosts of a play's pattern.
        began: when it began.
    """

    hosts: frozenset[str]
    resolve: Resolve
    began: float = 0.0
    _in_play: set[str] = field(default_factory=set)
    _through: set[str] = field(default_factory=set)
    _finished: set[str] = field(default_factory=set)
    _failed: dict[str, None] = field(default_factory=dict)
    _task: str = ""
    _total: int = 0
    _step: str = ""
    _step_began: float = 0.0
    _step_failed: int = 0

    def take(self, event: Mapping[str, Any], at: float) -> list[Line]:
        """Account for one event of ansible-runner, and return the lines worth showing."""
        kind, data = event.get("event"), event.get("event_data") or {}
        if kind == "playbook_on_play_start":
            lines = self._leave(at)
            self._in_play = set(self.resolve(str(data.get("pattern") or "")) & self.hosts)
            return lines
        if kind == "playbook_on_task_start":
            return [] if data.get("task_action") in INCLUDES else self._start(data, at)
        if kind == "playbook_on_stats":
            return self._leave(at)
        if kind in FINISHED or kind == "runner_on_skipped":
            return self._host(str(kind), data)
        return []

    def view(self, at: float) -> View:
        """Return the view of the run."""
        done = len(self._through) if self._step else 0
        return View(
            step=self._step,
            task=self._task,
            done=done,
            total=max(self._total, done) if self._step else 0,
            finished=len(self._finished - self._failed.keys()),
            hosts=max(len(self.hosts), len(self._finished | self._failed.keys())),
            failed=len(self._failed),
            names=tuple(plain(name) for name, _ in zip(self._failed, range(NAMED), strict=False)),
            seconds=max(0.0, at - self.began),
        )

    def _start(self, data: Mapping[str, Any], at: float) -> list[Line]:
        handler = data.get("is_conditional") is True  # so ansible-runner marks them
        step = HANDLERS if handler else plain(data.get("role") or data.get("play") or "")
        self._task = plain(data.get("task") or data.get("name") or "")
        self._through.clear()
        self._total = len(self._in_play - self._failed.keys())
        if step == self._step:
            return []
        lines = self._leave(at)
        if step:
            self._step, self._step_began, self._step_failed = step, at, 0
            hosts = f" on {count_hosts(self._total)}" if self._total else ""
            lines.append(Line(f"{step}: begins{hosts}", begins=step))
        return lines

    def _leave(self, at: float) -> list[Line]:
        """Leave the step, and return its line."""
        if not self._step:
            return []
        step, self._step = self._step, ""
        failed = f", {self._step_failed} failed" if self._step_failed else ""
        hosts = count_hosts(len(self._in_play - self._failed.keys()))
        return [
            Line(f"{step}: ends on {hosts} after {at - self._step_began:.1f} s{failed}", ends=step)
        ]

    def _host(self, kind: str, data: Mapping[str, Any]) -> list[Line]:
        host = str(data.get("host", ""))
        self._in_play.add(host)
        if kind in {"runner_on_ok", "runner_on_skipped"} or data.get("ignore_errors"):
            if host not in self._failed:
                self._through.add(host)
            if kind == "runner_on_ok" and data.get("task") == LAST_TASK:
                self._finished.add(host)
            return []
        if host in self._failed:
            return []
        self._failed[host] = None
        self._step_failed += 1
        where = " / ".join(str(part) for part in (data.get("role"), data.get("task")) if part)
        why = first_words(data.get("res") or {})
        return [Line(plain(f"{host} failed: {where}: {why}"), failure=True)]


def count_hosts(number: int) -> str:
    """Return a number of hosts, in words."""
    return f"{number} {'host' if number == 1 else 'hosts'}"
