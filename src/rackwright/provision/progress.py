"""Progress of an update as lines on stderr, from the engine's events."""

from __future__ import annotations

import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TextIO

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
_LOOKING = frozenset({"refresh"})
"""Steps that only read what is there; what follows from it has a step of its own."""
_SEVERITIES = frozenset({"error", "warning"})


@dataclass
class StackProgress:
    """Counts steps and shows each as it ends.

    Attributes:
        label: name of the stack in front of each line.
        changes: number of steps by operation, ``same`` left out; resources of the cloud only.
        unchanged: number of resources that stay as they are.
        details: changed properties by resource name, for a preview.
    """

    label: str
    stream: TextIO = field(default_factory=lambda: sys.stderr)
    dry_run: bool = False
    changes: Counter[str] = field(default_factory=Counter)
    details: dict[str, tuple[str, ...]] = field(default_factory=dict)
    unchanged: int = 0
    errors: list[str] = field(default_factory=list)
    _started: dict[str, float] = field(default_factory=dict)

    def __call__(self, event: EngineEvent) -> None:
        """Take one event of the engine."""
        if event.resource_pre_event:
            self._begin(event.resource_pre_event.metadata)
        elif event.res_outputs_event:
            self._finish(event.res_outputs_event.metadata)
        elif event.res_op_failed_event:
            meta = event.res_op_failed_event.metadata
            self._say(f"failed: {_op(meta)} {_name(meta.urn)}")
        elif event.diagnostic_event and event.diagnostic_event.severity in _SEVERITIES:
            self._diagnose(event.diagnostic_event.severity, event.diagnostic_event.message)

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
        self.stream.write(f"  {self.label}: {text}\n")
        self.stream.flush()


def _is_real(meta: StepEventMetadata) -> bool:
    """Whether it exists outside Pulumi: components and providers do not."""
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
