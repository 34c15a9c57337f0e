"""The table of suites, ``suites.toml``: which suite a changed path may break."""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TABLE = ROOT / "tests/suites.toml"
EVERYTHING = ("Makefile", ".ci/run", "pyproject.toml", "tests/conftest.py", "tests/suites.toml")
"""What every suite depends on."""


USUAL_S = 300.0
"""Seconds that a suite is expected to take of which no run has said how many it took."""


@dataclass(frozen=True, slots=True)
class Suite:
    """Tests that hold one promise.

    Attributes:
        name: of the suite, in kebab case.
        promise: what a user may rely on while the suite is green.
        paths: files or folders of its tests, from the top of the repository.
        watches: files or folders whose change may break the promise; its tests are watched too.
        journeys: the tests of it that ``make test`` runs, as pytest names them.
        needs: targets of the Makefile that install what it drives, besides the Pulumi CLI.
        always: it is part of ``make test`` as a whole.
        soak: only ``make soak`` runs it.
    """

    name: str
    promise: str
    paths: tuple[str, ...]
    watches: tuple[str, ...] = ()
    journeys: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    always: bool = False
    soak: bool = False

    def is_touched_by(self, path: str) -> bool:
        """Whether a change of the file ``path`` may break the promise."""
        watched = (*EVERYTHING, *self.paths, *self.watches)
        return any(path == one or path.startswith(f"{one}/") for one in watched)


def read_suites(table: Path = TABLE) -> tuple[Suite, ...]:
    """The suites of ``table``, in its order, their groups of paths spelled out."""
    document = tomllib.loads(table.read_text(encoding="utf-8"))
    groups = document["groups"]
    return tuple(
        Suite(
            name=entry["name"],
            promise=entry["promise"],
            paths=tuple(entry["paths"]),
            watches=_expand(entry.get("watches", ()), groups),
            journeys=tuple(entry.get("journeys", ())),
            needs=tuple(entry.get("needs", ())),
            always=entry.get("always", False),
            soak=entry.get("soak", False),
        )
        for entry in document["suite"]
    )


def touched(suites: Iterable[Suite], changed: Collection[str]) -> tuple[Suite, ...]:
    """The suites that a change of the files ``changed`` may break."""
    return tuple(suite for suite in suites if any(map(suite.is_touched_by, changed)))


def suites_that_fit(
    suites: Sequence[Suite], seconds: Mapping[str, float], budget: float
) -> tuple[list[Suite], list[Suite]]:
    """Return the suites that fit into ``budget`` seconds, and those that do not.

    The shortest go first, so that as many promises as possible are looked at.

    Args:
        seconds: that a suite took the last time, by its name.
    """
    fit: list[Suite] = []
    late: list[Suite] = []
    spent = 0.0
    for suite in sorted(suites, key=lambda one: seconds.get(one.name, USUAL_S)):
        spent += seconds.get(suite.name, USUAL_S)
        (fit if spent <= budget else late).append(suite)
    return fit, late


def read_portable(table: Path = TABLE) -> tuple[str, ...]:
    """Return the tests that run on the next Python and with the oldest dependencies too."""
    document = tomllib.loads(table.read_text(encoding="utf-8"))
    return tuple(document["portable"]["paths"])


def describe(suites: Iterable[Suite]) -> str:
    """The table of suites and promises, in Markdown."""
    rows = [
        f"| {suite.name} | {suite.promise} | {', '.join(f'`{path}`' for path in suite.paths)} | "
        f"{_part(suite)} |\n"
        for suite in suites
    ]
    return "| Suite | Promise | Tests | In `make test` |\n|---|---|---|---|\n" + "".join(rows)


def _part(suite: Suite) -> str:
    """Return the part of a suite that ``make test`` runs."""
    if suite.soak:
        return "only in `make soak`"
    return "whole" if suite.always else "a journey" if suite.journeys else ""


def _expand(watches: Iterable[str], groups: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """The watched paths, each group replaced by what is in it."""
    waiting, found = list(watches), dict[str, None]()
    while waiting:
        path = waiting.pop(0)
        if path.startswith("@"):
            waiting += groups[path[1:]]
        else:
            found[path] = None
    return tuple(found)
