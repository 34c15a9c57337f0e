"""Progress of a run of Ansible from its events: pure state of bounded size, and its view.

A run has one part, or several that work at the same time, each of them an Ansible with its own hosts.
Time comes with each event, in seconds of a clock that does not go back.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
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
        steps: roles, or plays outside of roles, that are running.
        task: what the part that began a task last is doing.
        done: hosts that are through with the tasks now running, of ``total``.
        finished: hosts that came to the end of the playbook, of ``hosts``.
        failed: number of hosts that failed, and the names of the first of them.
        seconds: since the run began.
    """

    steps: tuple[str, ...]
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
class _Part:
    """One Ansible of a run."""

    hosts: frozenset[str]
    in_play: set[str] = field(default_factory=set)
    through: set[str] = field(default_factory=set)
    step: str = ""
    task: str = ""
    total: int = 0


@dataclass
class _Step:
    """A role or play that some parts are in."""

    began: float
    parts: dict[str, None] = field(default_factory=dict)
    hosts: int = 0
    failed: int = 0


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
    _parts: dict[str, _Part] = field(default_factory=dict)
    _steps: dict[str, _Step] = field(default_factory=dict)
    _finished: set[str] = field(default_factory=set)
    _failed: dict[str, None] = field(default_factory=dict)
    _task: str = ""

    def begin(self, part: str, hosts: Collection[str]) -> None:
        """A part begins to work on ``hosts``; the only part of a run has no name."""
        self._parts[part] = _Part(frozenset(hosts))

    def end(self, part: str, failed: Collection[str], at: float) -> list[Line]:
        """Return the lines of a part that has ended; ``failed`` are the hosts of it that did not come to the end."""
        lines = self._leave(part, at)
        self._failed.update(dict.fromkeys(sorted(set(failed) - self._failed.keys())))
        self._parts.pop(part, None)
        return lines

    def take(self, part: str, event: Mapping[str, Any], at: float) -> list[Line]:
        """Account for one event of ansible-runner; what happened by it."""
        kind, data = event.get("event"), event.get("event_data") or {}
        if part not in self._parts:
            self.begin(part, self.hosts)
        own = self._parts[part]
        if kind == "playbook_on_play_start":
            lines = self._leave(part, at)
            own.in_play = set(self.resolve(str(data.get("pattern") or "")) & own.hosts)
            return lines
        if kind == "playbook_on_task_start":
            if data.get("task_action") in INCLUDES:
                return []
            return self._start(part, own, data, at)
        if kind == "playbook_on_stats":
            return self._leave(part, at)
        if kind in FINISHED or kind == "runner_on_skipped":
            return self._host(part, own, str(kind), data)
        return []

    def view(self, at: float) -> View:
        """Return the view of the run."""
        running = [part for part in self._parts.values() if part.step]
        return View(
            steps=tuple(self._steps),
            task=self._task,
            done=sum(len(part.through) for part in running),
            total=sum(max(part.total, len(part.through)) for part in running),
            finished=len(self._finished - self._failed.keys()),
            hosts=max(len(self.hosts), len(self._finished | self._failed.keys())),
            failed=len(self._failed),
            names=tuple(plain(name) for name, _ in zip(self._failed, range(NAMED), strict=False)),
            seconds=max(0.0, at - self.began),
        )

    def _start(self, name: str, part: _Part, data: Mapping[str, Any], at: float) -> list[Line]:
        handler = data.get("is_conditional") is True  # so ansible-runner marks them
        step = HANDLERS if handler else plain(data.get("role") or data.get("play") or "")
        part.task = self._task = plain(data.get("task") or data.get("name") or "")
        part.through.clear()
        part.total = len(part.in_play - self._failed.keys())
        if step == part.step:
            return []
        lines = self._leave(name, at)
        part.step = step
        if not step:
            return lines
        if step not in self._steps:
            self._steps[step] = _Step(at)
            where = f" at {name}" if name else ""
            hosts = f" on {count_hosts(part.total)}" if part.total else ""
            lines.append(Line(f"{step}: begins{hosts}{where}", begins=step))
        self._steps[step].parts[name] = None
        return lines

    def _leave(self, name: str, at: float) -> list[Line]:
        """Take a part out of its step, and return the line if the step ends with it."""
        part = self._parts.get(name)
        if part is None or not part.step:
            return []
        step = self._steps[part.step]
        step.hosts += len(part.in_play - self._failed.keys())
        step.parts.pop(name, None)
        title, part.step = part.step, ""
        if step.parts:
            return []
        del self._steps[title]
        failed = f", {step.failed} failed" if step.failed else ""
        took = f"after {at - step.began:.1f} s"
        text = f"{title}: ends on {count_hosts(step.hosts)} {took}{failed}"
        return [Line(text, ends=title)]

    def _host(self, name: str, part: _Part, kind: str, data: Mapping[str, Any]) -> list[Line]:
        host = str(data.get("host", ""))
        part.in_play.add(host)
        if kind in {"runner_on_ok", "runner_on_skipped"} or data.get("ignore_errors"):
            if host not in self._failed:
                part.through.add(host)
            if kind == "runner_on_ok" and data.get("task") == LAST_TASK:
                self._finished.add(host)
            return []
        if host in self._failed:
            return []
        self._failed[host] = None
        if part.step:
            self._steps[part.step].failed += 1
        where = " / ".join(str(one) for one in (data.get("role"), data.get("task")) if one)
        why = first_words(data.get("res") or {})
        at = f"{name}: " if name else ""
        return [Line(plain(f"{at}{host} failed: {where}: {why}"), failure=True)]


def count_hosts(number: int) -> str:
    """Return a number of hosts, in words."""
    return f"{number} {'host' if number == 1 else 'hosts'}"
