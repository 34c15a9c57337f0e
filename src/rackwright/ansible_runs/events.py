"""Results of a run of Ansible from its events: pure, so that recorded events test it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rackwright.ansible_runs.terminal_text import plain

FINISHED = frozenset({"runner_on_ok", "runner_on_failed", "runner_on_unreachable"})
"""Events by which a host is through with a task that was not skipped."""

_OF_EACH_HOST = frozenset(
    {"runner_on_start", "runner_on_skipped", "runner_item_on_ok", "runner_item_on_skipped"}
)
"""Events of each host and task that say nothing of a failure or a change."""

LONGEST_REASON = 300
LOOKED_AT = 10_000
"""Characters of a task's output in which its reason is looked for."""

NO_REASON = "no reason given"
LAST_TASK = "Every step is done"
"""The task at the end of ``site.yml``, which only hosts reach on which all went well."""

INCLUDES = frozenset({"include_role", "ansible.builtin.include_role"})
"""Actions that only decide for whom a role is run; the role's own tasks come after it."""


@dataclass
class HostResult:
    """Result of a run on one host.

    Attributes:
        changed: names of the tasks that changed something, or would in check mode.
        failure: the task that ended the run on this host and why, or None.
        finished: the host came to the task ``LAST_TASK``.
    """

    ok: int = 0
    changed: list[str] = field(default_factory=list)
    failure: str | None = None
    unreachable: bool = False
    finished: bool = False


@dataclass
class Tally:
    """Hosts and roles of a run, kept up to date event by event."""

    hosts: dict[str, HostResult] = field(default_factory=dict)
    role_seconds: dict[str, float] = field(default_factory=dict)
    """Seconds of the slowest host, summed over the tasks of each role."""
    task: str = ""
    role: str = ""
    _slowest: float = 0.0

    @property
    def failed(self) -> tuple[str, ...]:
        """Names of the hosts that did not get to the end."""
        return tuple(sorted(n for n, result in self.hosts.items() if result.failure is not None))

    @property
    def changed(self) -> int:
        """Number of changes on all hosts."""
        return sum(len(result.changed) for result in self.hosts.values())

    def take(self, event: Mapping[str, Any]) -> str | None:
        """Account for one event of ansible-runner; a line worth showing, or None."""
        kind, data = event.get("event"), event.get("event_data", {})
        if kind == "playbook_on_task_start":
            if data.get("task_action") in INCLUDES:
                return None
            return self._start(data.get("role") or data.get("play") or "", data.get("task") or "")
        if kind not in FINISHED or data.get("ignore_errors"):
            return None
        name, detail = data.get("host", ""), data.get("res") or {}
        result = self.hosts.setdefault(name, HostResult())
        self._slowest = max(self._slowest, float(data.get("duration") or 0.0))
        if kind == "runner_on_ok":
            result.ok += 1
            result.finished |= data.get("task") == LAST_TASK
            if detail.get("changed"):
                result.changed.append(self._where(data))
            return None
        result.unreachable = kind == "runner_on_unreachable"
        result.failure = f"{self._where(data)}: {reason_of(detail)}"
        return f"{name} failed: {result.failure}"

    def finish(self) -> None:
        """Account for the last task."""
        if self.role:
            self.role_seconds[self.role] = self.role_seconds.get(self.role, 0.0) + self._slowest
        self._slowest = 0.0

    def _start(self, role: str, task: str) -> str | None:
        self.finish()
        is_new = role != self.role
        self.role, self.task = role, task
        return f"{role} …" if is_new and role else None

    @staticmethod
    def _where(data: Mapping[str, Any]) -> str:
        return " / ".join(part for part in (data.get("role"), data.get("task")) if part)


def is_kept(event: Mapping[str, Any]) -> bool:
    """True for an event that is kept as a file: a task that failed or changed something, or no task's.

    A run over 12,500 hosts has some six million events; nearly all say that a host is as it should be.
    """
    kind = str(event.get("event"))
    if kind == "runner_on_ok":
        return bool((event.get("event_data", {}).get("res") or {}).get("changed"))
    return kind not in _OF_EACH_HOST


def unfinished(tally: Tally, hosts: Sequence[str]) -> Mapping[str, str]:
    """Return the hosts that did not come to the end of the playbook, with the reason.

    A host may be left behind without a failure of its own, by a task that one host does for all.
    """
    failed = {}
    culprits = [f"{name}: {tally.hosts[name].failure}" for name in tally.failed]
    for host in hosts:
        result = tally.hosts.get(host, HostResult())
        if result.failure is not None:
            failed[host] = result.failure
        elif not result.finished:
            failed[host] = f"left behind by {culprits[0]}" if culprits else "no task ran on it"
    return failed


def leave_behind(tally: Tally) -> None:
    """Account for the hosts that did not come to the end though nothing failed on them."""
    for name, why in unfinished(tally, tuple(tally.hosts)).items():
        tally.hosts[name].failure = why


def reason_of(detail: Mapping[str, Any]) -> str:
    """Return the reason why a task failed, on one line, without what the task keeps from its log."""
    return _shortened(plain(" ".join(_told(detail).split())))


def first_words(detail: Mapping[str, Any]) -> str:
    """Return the first line of why a task failed; nothing of what a task keeps from its log."""
    lines = (plain(line).strip() for line in _told(detail).splitlines())
    return _shortened(next(filter(None, lines), NO_REASON))


def _told(detail: Mapping[str, Any]) -> str:
    """Return the part of a task's result that tells most about its failure."""
    if detail.get("censored") or detail.get("_ansible_no_log"):
        return "failed; its output is kept secret"
    for failed in detail.get("results", ()):
        if failed.get("failed"):
            return _told(failed)
    parts = [detail.get(key) for key in ("msg", "stderr", "module_stderr", "stdout")]
    texts = [text for part in parts if part and (text := str(part)[:LOOKED_AT]).strip()]
    return next((text for text in texts if text.strip() != "non-zero return code"), NO_REASON)


def _shortened(text: str) -> str:
    return text if len(text) <= LONGEST_REASON else f"{text[: LONGEST_REASON - 1]}…"


@dataclass
class TaskResults:
    """Results of one task of a run, by host.

    Attributes:
        task: name of the task.
        found: result of each host on which it went well.
        tally: the run as a whole.
    """

    task: str
    found: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    tally: Tally = field(default_factory=Tally)

    def take(self, event: Mapping[str, Any]) -> str | None:
        """Account for one event of ansible-runner; a line worth showing, or None."""
        line = self.tally.take(event)
        data = event.get("event_data", {})
        if event.get("event") == "runner_on_ok" and data.get("task") == self.task:
            self.found[str(data.get("host", ""))] = data.get("res") or {}
        return line

    def reason(self, host: str) -> str:
        """Return the reason why a host has no result."""
        known = self.tally.hosts.get(host)
        return (known.failure if known is not None else None) or "it was not run"
