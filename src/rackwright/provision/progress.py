"""Progress of an update on stderr, from the engine's events: lines, and on a terminal how it stands."""

from __future__ import annotations

import os
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TextIO

from rackwright.provision.lost_creations.failures import failed_creation
from rackwright.terminal import LiveLine, is_terminal, own_text

if TYPE_CHECKING:
    from pulumi.automation.events import EngineEvent, StepEventMetadata

_VERBS = {
    "create": "created",
    "update": "updated",
    "delete": "deleted",
    "replace": "replaced",
    "create-replacement": "created the replacement of",
    "delete-replaced": "deleted the replaced",
}
_QUIET = frozenset({"same", "read", "discard", "read-discard", "read-replacement"})
_REPLACING = frozenset({"replace", "create-replacement", "delete-replaced"})
_LOOKING = frozenset({"refresh"})
"""Steps that only read what is there; what follows from it has a step of its own."""
_SEVERITIES = frozenset({"error", "warning"})
_RECORDED = 1
"""Status of a step that failed half way: the engine has recorded what it made."""


@dataclass
class StackProgress:
    """Counts steps and shows each as it ends; where it is entered, what is under way as well.

    Attributes:
        label: name of the stack in front of each line.
        changes: number of steps by operation, ``same`` left out; resources of the cloud only.
        unchanged: number of resources that stay as they are.
        details: changed properties by resource name, for a preview.
        replaced: type by the name of each resource that another one takes the place of.
        failed: creations that failed, in the form of a checkpoint; AWS may have done them.
    """

    label: str
    stream: TextIO = field(default_factory=lambda: sys.stderr)
    dry_run: bool = False
    changes: Counter[str] = field(default_factory=Counter)
    details: dict[str, tuple[str, ...]] = field(default_factory=dict)
    replaced: dict[str, str] = field(default_factory=dict)
    unchanged: int = 0
    errors: list[str] = field(default_factory=list)
    failed: list[dict[str, Any]] = field(default_factory=list)
    _started: dict[str, float] = field(default_factory=dict)
    _line: LiveLine | None = None

    def __enter__(self) -> Self:
        """Show how it stands, on a terminal."""
        if is_terminal(self.stream, os.environ):
            self._line = LiveLine(self.stream, colour=not os.environ.get("NO_COLOR"))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Leave the lines, and nothing that is true no more."""
        if self._line is not None:
            self._line.close()
            self._line = None

    def __call__(self, event: EngineEvent) -> None:
        """Take one event of the engine."""
        self._take(event)
        if self._line is not None:
            self._line.draw(own_text(self._standing(), "bold"))

    def _take(self, event: EngineEvent) -> None:
        if event.resource_pre_event:
            self._begin(event.resource_pre_event.metadata)
        elif event.res_outputs_event:
            self._finish(event.res_outputs_event.metadata)
        elif event.res_op_failed_event:
            meta = event.res_op_failed_event.metadata
            self._started.pop(meta.urn, None)
            self._say(f"failed: {_op(meta)} {_name(meta.urn)}")
            if event.res_op_failed_event.status != _RECORDED:
                self._note(meta)
        elif event.diagnostic_event and event.diagnostic_event.severity in _SEVERITIES:
            self._diagnose(event.diagnostic_event.severity, event.diagnostic_event.message)

    def _note(self, meta: StepEventMetadata) -> None:
        failed = failed_creation(meta)
        if failed is not None and _is_real(meta) and not self.dry_run:
            self.failed.append(failed)

    def _begin(self, meta: StepEventMetadata) -> None:
        operation = _op(meta)
        if not _is_real(meta) or operation in _LOOKING:
            return
        if operation in _QUIET:
            self.unchanged += 1
            return
        self._started[meta.urn] = time.monotonic()
        if self.dry_run:
            self._count(meta, operation)

    def _finish(self, meta: StepEventMetadata) -> None:
        operation = _op(meta)
        if operation in _QUIET | _LOOKING or self.dry_run or not _is_real(meta):
            return
        self._count(meta, operation)

    def _count(self, meta: StepEventMetadata, operation: str) -> None:
        self.changes[operation] += 1
        if operation in _REPLACING:
            self.replaced[_name(meta.urn)] = _type(meta.type)
        changed = tuple(sorted(meta.detailed_diff or ())) or tuple(meta.diffs or ())
        if changed and operation == "update":
            self.details[_name(meta.urn)] = changed
        took = time.monotonic() - self._started.pop(meta.urn, time.monotonic())
        timing = "" if self.dry_run else f"  {took:.1f} s"
        what = f" ({', '.join(changed)})" if changed and operation == "update" else ""
        verb = operation if self.dry_run else _VERBS.get(operation, operation)
        self._say(f"{verb} {_type(meta.type)} {_name(meta.urn)}{what}{timing}")

    def _diagnose(self, severity: str, message: str) -> None:
        text = _strip_colour(message).strip()
        if not text:
            return
        if severity == "error":
            self.errors.append(text)
        self._say(f"{severity}: {text}")

    def _say(self, text: str) -> None:
        words = f"  {self.label}: {text}"
        if self._line is None:
            self.stream.write(f"{words}\n")
            self.stream.flush()
        else:
            for line in words.splitlines():
                self._line.say(own_text(line))

    def _standing(self) -> str:
        """Return the number of steps that are done, and those in progress, the oldest first."""
        names = ", ".join(_name(urn) for urn in self._started)
        under_way = f", {len(self._started)} under way: {names}" if names else ""
        return f"  {self.label}: {sum(self.changes.values())} done{under_way}"


def _is_real(meta: StepEventMetadata) -> bool:
    """Return True if a resource exists outside Pulumi: components and providers do not."""
    state = meta.new or meta.old
    return state is not None and bool(state.custom) and not meta.type.startswith("pulumi:")


def _op(meta: StepEventMetadata) -> str:
    operation = meta.op
    return str(getattr(operation, "value", operation))


def _name(urn: str) -> str:
    return urn.rsplit("::", 1)[-1]


def _type(token: str) -> str:
    return token.rsplit(":", 1)[-1]


def _strip_colour(text: str) -> str:
    import re

    return re.sub(r"<\{%.*?%\}>|\x1b\[[0-9;]*m", "", text)
