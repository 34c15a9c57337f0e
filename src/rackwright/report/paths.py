"""Positions as forges want them: relative to the top of the repository, with forward slashes."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from rackwright.errors import Location
from rackwright.policy.engine import Report, Result
from rackwright.policy.exception_report import ExceptionReport
from rackwright.reading.links import link_in


def repository_root(start: Path) -> Path | None:
    """Return the nearest folder at or above ``start`` that holds ``.git``."""
    for folder in (start, *start.parents):
        if (folder / ".git").exists():
            return folder
    return None


def relative_path(file: str, *, root: Path, cwd: Path) -> str:
    """Return ``file``, named from ``cwd``, as a path from ``root``; absolute when it lies outside."""
    absolute = Path(os.path.realpath(cwd / file))  # Path.resolve() raises on a link to itself
    if absolute.is_relative_to(root):
        return absolute.relative_to(root).as_posix()
    return absolute.as_posix()


def own_path(file: str, *, root: Path, cwd: Path) -> str:
    """Return ``relative_path`` of the file as it is named: a link has its own path, not its target's.

    A comment is found again by it, so that a change which puts a link there cannot leave the old
    verdict standing under another name.
    """
    absolute = Path(os.path.abspath(cwd / file))  # noqa: PTH100 - resolves no link
    top = repository_root(cwd)
    if top and link_in(absolute) and absolute.is_relative_to(top):
        return absolute.relative_to(top).as_posix()
    return relative_path(file, root=root, cwd=cwd)


def relative_to(report: Report, *, root: Path, cwd: Path) -> Report:
    """Return the report with every position named from ``root``."""
    names: dict[str, str] = {}

    def moved(where: Location) -> Location:
        if where.file not in names:
            names[where.file] = relative_path(where.file, root=root, cwd=cwd)
        return replace(where, file=names[where.file])

    def placed(result: Result) -> Result:
        edit = result.edit
        if edit is not None:
            result = replace(result, edit=replace(edit, location=moved(edit.location)))
        return replace(result, location=moved(result.location)) if result.location else result

    results = tuple(map(placed, report.results))
    revised = tuple(
        replace(one, file=relative_path(one.file, root=root, cwd=cwd)) for one in report.revised
    )
    lowered = tuple(
        replace(rule, location=moved(rule.location))
        if rule.location and ":" not in rule.location.file
        else rule
        for rule in report.lowered
    )
    hygiene = _moved_notices(report.hygiene, moved)
    return replace(report, results=results, hygiene=hygiene, lowered=lowered, revised=revised)


def _moved_notices(
    hygiene: ExceptionReport | None, moved: Callable[[Location], Location]
) -> ExceptionReport | None:
    """Return ``hygiene`` with its positions moved; ``REF:PATH`` of a base revision is from the root."""
    if hygiene is None:
        return None
    notices = tuple(
        replace(notice, location=moved(notice.location))
        if notice.location and ":" not in notice.location.file
        else notice
        for notice in hygiene.notices
    )
    return replace(hygiene, notices=notices)
