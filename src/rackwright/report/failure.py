"""Comment on a pull request whose blueprint cannot be checked at all."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rackwright.errors import Location, RackwrightError, SpecErrors
from rackwright.report.ci.github import MOST_OF_A_KIND, command
from rackwright.report.escaping import code, prose, shortened
from rackwright.report.markdown import LONGEST, UNCOMPARED, marker

MOST_ERRORS = 20
"""Most mistakes that the comment lists."""

Place = Callable[[Location], Location]


def failure_markdown(error: RackwrightError, file: str, place: Place) -> str:
    """Return the comment that takes the place of a report: an old verdict must not stand.

    Args:
        error: why there is no report.
        file: the blueprint, from the top of the repository.
        place: a position, named from there.
    """
    lines = [marker(file), f"### rackwright: {_text(file)} cannot be checked", ""]
    lines += [f"- {line}" for line in _mistakes(error, place)]
    return "\n".join([*lines, "", "Nothing was checked, so nothing passes.", ""])


def uncompared_markdown(error: RackwrightError) -> str:
    """Return the part of a comment that takes the place of a comparison; positions are of revisions."""
    lines = _mistakes(error, lambda where: where)
    return "".join(f"{UNCOMPARED}: {line}\n" for line in lines)


def _mistakes(error: RackwrightError, place: Place) -> list[str]:
    """Return each mistake with its place and its hint, as far as there is room."""
    errors = _single(error)
    lines = []
    for item in errors[:MOST_ERRORS]:
        where = place(item.location) if item.location else None
        position = f"{code(f'{where.file}:{where.line}')}: " if where else ""
        hint = f" ({_text(item.hint)})" if item.hint else ""
        lines.append(f"{position}{_text(item.summary)}{hint}")
    more = len(errors) - MOST_ERRORS
    return [*lines, f"{more:,} more"] if more > 0 else lines


def failure_annotations(error: RackwrightError, file: str, place: Place) -> str:
    """Return the mistakes beside their lines, as workflow commands."""
    lines = []
    for item in _single(error)[:MOST_OF_A_KIND]:
        where = place(item.location) if item.location else None
        position = {"file": where.file if where else file}
        if where:
            position |= {"line": str(where.line), "col": str(where.column)}
        text = item.summary + (f"\n{item.hint}" if item.hint else "")
        lines.append(command("error", {**position, "title": "rackwright"}, text))
    return "".join(f"{line}\n" for line in lines)


def _single(error: RackwrightError) -> Sequence[RackwrightError]:
    return error.errors if isinstance(error, SpecErrors) else (error,)


def _text(text: str) -> str:
    return prose(shortened(text, LONGEST))
