"""Errors meant for people: what is wrong, where, and how to fix it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rackwright.exit_codes import ExitCode
from rackwright.harmless import visible


def _lines(text: str) -> str:
    """Return ``text`` as ``visible``, but with its lines."""
    return text if text.isprintable() else "\n".join(map(visible, text.split("\n")))


@dataclass(frozen=True, slots=True, order=True)
class Location:
    """A position in a source file; line and column count from one."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{visible(self.file)}:{self.line}:{self.column}"


class RackwrightError(Exception):
    """An expected failure, shown without a traceback.

    Args:
        summary: what is wrong, lower case, values quoted, no trailing dot.
        hint: how to fix it.
        location: where in the user's files.
    """

    code = "error"
    exit_code = ExitCode.USAGE

    def __init__(
        self, summary: str, *, hint: str | None = None, location: Location | None = None
    ) -> None:
        super().__init__(summary)
        self.summary = summary
        self.hint = hint
        self.location = location

    def __str__(self) -> str:
        where = f"{self.location}: " if self.location else ""
        lines = _lines(self.hint or "").replace("\n", "\n    ")
        hint = f"\n  hint: {lines}" if lines else ""
        return f"{where}{_lines(self.summary)}{hint}"


class UsageError(RackwrightError):
    """The command line was used in a way that has no meaning."""

    code = "usage"


class SpecError(RackwrightError):
    """One mistake in a blueprint, a catalogue entry or a configuration file."""

    code = "spec"


class SpecErrors(RackwrightError):
    """All the mistakes of one load, sorted by position."""

    code = "spec"

    def __init__(self, errors: Sequence[SpecError]) -> None:
        self.errors = tuple(
            sorted(errors, key=lambda e: (e.location is None, e.location or Location("", 0, 0)))
        )
        super().__init__(f"{len(self.errors)} error{'s' if len(self.errors) != 1 else ''}")

    def __str__(self) -> str:
        return "\n".join(str(error) for error in self.errors)


class ExternalToolError(RackwrightError):
    """A tool that Rackwright drives failed or is missing."""

    code = "external"
    exit_code = ExitCode.EXTERNAL


class StateError(RackwrightError):
    """Damaged, unreadable or unwritable state of Rackwright on this machine."""

    code = "state"
    exit_code = ExitCode.EXTERNAL


class PolicyLoadError(RackwrightError):
    """A policy file cannot be loaded."""

    code = "policy-load"
    exit_code = ExitCode.CRASH
