"""Changes of the files that are generated from a blueprint.

A generator is a function from a plan to texts by path. More of them join by a line in
``GENERATORS``; each is imported when it is needed.
"""

from __future__ import annotations

import difflib
import importlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from rackwright.errors import RackwrightError
from rackwright.plan.model import Plan
from rackwright.plan.slurm.nodes import NoSchedulerError
from rackwright.plan.switches.waves import SwitchWave, switch_waves

Generator = Callable[[Plan], Mapping[str, str]]

GENERATORS = (
    "rackwright.render.generated:generate_cluster",
    "rackwright.render.generated:generate_switches",
    "rackwright.inventory.variables:generate",
)
"""Where each generator is, as ``module:function``."""

CONTEXT = 2
"""Unchanged lines around a change."""
TOO_LONG = "too long to be compared line by line"
MOST_LINES = 20_000
"""Lines of both sides that are compared one by one; the time grows with their square."""


@dataclass(frozen=True, slots=True)
class FileChange:
    """One generated file.

    Attributes:
        added: number of lines.
        removed: number of lines.
        diff: lines of a unified diff, without newlines; ``TOO_LONG`` alone for a huge file.
    """

    name: str
    added: int
    removed: int
    diff: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FileChanges:
    """The generated files that differ, by name, and why others cannot be compared."""

    changes: tuple[FileChange, ...]
    problems: tuple[str, ...] = ()


def compare_files(
    before: Plan | None, after: Plan | None, generators: Iterable[Generator] | None = None
) -> FileChanges:
    """Return the generated files of two plans.

    What one side cannot generate is not compared: it would look like a file that comes or goes.
    """
    changes: list[FileChange] = []
    problems: list[str] = []
    for generator in load_generators() if generators is None else generators:
        sides = []
        for side, plan in (("base", before), ("head", after)):
            try:
                sides.append(_generate(plan, generator))
            except RackwrightError as error:
                problems.append(f"{side}: {error.summary}")
        if len(sides) == 2:
            changes += _compare_all(*sides)
    return FileChanges(tuple(changes), tuple(problems))


def changed_switches(changes: FileChanges) -> frozenset[str]:
    """Return the names of the switches whose files change."""
    parts = (change.name.split("/") for change in changes.changes)
    return frozenset(part[1] for part in parts if len(part) == 3 and part[0] == "switches")


def waves_of_switches(changes: FileChanges, plan: Plan | None) -> tuple[SwitchWave, ...]:
    """Return the order in which the switches whose files change are changed.

    Args:
        changes: of the generated files.
        plan: after the change, or before it where nothing follows.
    """
    touched = changed_switches(changes)
    if plan is None or not touched:
        return ()
    fabrics = (
        (site.name, fabric.layout)
        for site in plan.onprem
        for fabric in site.fabrics
        if fabric.layout is not None and fabric.fabric.switching is not None
    )
    return switch_waves(fabrics, touched)


def load_generators() -> Sequence[Generator]:
    """Return every generator of ``GENERATORS``."""
    found: list[Generator] = []
    for place in GENERATORS:
        module, _, function = place.partition(":")
        found.append(getattr(importlib.import_module(module), function))
    return found


def _generate(plan: Plan | None, generator: Generator) -> Mapping[str, str]:
    try:
        return {} if plan is None else generator(plan)
    except NoSchedulerError:
        return {}


def _compare_all(one: Mapping[str, str], other: Mapping[str, str]) -> list[FileChange]:
    return [
        _compare(name, one.get(name), other.get(name))
        for name in sorted({*one, *other})
        if one.get(name) != other.get(name)
    ]


def _compare(name: str, before: str | None, after: str | None) -> FileChange:
    old, new = (before or "").splitlines(), (after or "").splitlines()
    if len(old) + len(new) > MOST_LINES:
        gone, come = Counter(old), Counter(new)
        return FileChange(name, (come - gone).total(), (gone - come).total(), (TOO_LONG,))
    lines = tuple(
        difflib.unified_diff(
            old,
            new,
            "/dev/null" if before is None else f"a/{name}",
            "/dev/null" if after is None else f"b/{name}",
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
