"""What the files that are generated from a blueprint would become.

A generator is a function from a plan to texts by file name. More of them join by a line in
``GENERATORS``; each is imported when it is needed.
"""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from rackwright.plan.model import Plan

Generator = Callable[[Plan], Mapping[str, str]]

GENERATORS: Mapping[str, str] = {}
"""Where each generator is, as ``module:function``, by the folder its files are shown in."""

CONTEXT = 2
"""Unchanged lines around a change."""


@dataclass(frozen=True, slots=True)
class FileChange:
    """One generated file.

    Attributes:
        diff: lines of a unified diff, without newlines.
    """

    name: str
    added: int
    removed: int
    diff: tuple[str, ...]


def compare_files(
    before: Plan | None, after: Plan | None, generators: Mapping[str, Generator] | None = None
) -> tuple[FileChange, ...]:
    """The generated files that differ, by name."""
    found = load_generators() if generators is None else generators
    one, other = _generate(before, found), _generate(after, found)
    return tuple(
        _compare(name, one.get(name, ""), other.get(name, ""))
        for name in sorted({*one, *other})
        if one.get(name) != other.get(name)
    )


def load_generators() -> Mapping[str, Generator]:
    """Every generator of ``GENERATORS``."""
    found: dict[str, Generator] = {}
    for folder, place in GENERATORS.items():
        module, _, function = place.partition(":")
        found[folder] = getattr(importlib.import_module(module), function)
    return found


def _generate(plan: Plan | None, generators: Mapping[str, Generator]) -> dict[str, str]:
    if plan is None:
        return {}
    return {
        f"{folder}/{name}": text
        for folder, generator in generators.items()
        for name, text in generator(plan).items()
    }


def _compare(name: str, before: str, after: str) -> FileChange:
    lines = tuple(
        difflib.unified_diff(
            before.splitlines(),
            after.splitlines(),
            f"a/{name}",
            f"b/{name}",
            n=CONTEXT,
            lineterm="",
        )
    )
    body = lines[2:]
    return FileChange(
        name,
        sum(1 for line in body if line.startswith("+")),
        sum(1 for line in body if line.startswith("-")),
        lines,
    )
