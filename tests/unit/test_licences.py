"""Licences of what is installed: nothing that the core brings is under the GPL, and the documents list the rest."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = {
    name: needs
    for name, needs in PROJECT["optional-dependencies"].items()
    if name not in {"dev", "release", "test"}
}
STRONG = re.compile(r"\b(A?GPL|General Public)", re.IGNORECASE)
SAID_ELSEWHERE = {"openleadr": "Apache-2.0"}
"""Licences that the text which a package brings says, and its metadata do not."""
WEAK = re.compile(r"\b(LGPL|Lesser General Public)", re.IGNORECASE)


def closure(needs: list[str]) -> dict[str, str]:
    """Return the licence of each package that ``needs`` bring on this machine, by name."""
    found: dict[str, str] = {}
    waiting = [(Requirement(text), frozenset[str]()) for text in needs]
    seen = set()
    while waiting:
        need, extras = waiting.pop()
        name = canonicalize_name(need.name)
        wanted = frozenset(need.extras)
        if any(marker_fails(need, extra) for extra in (extras or {""})) or (name, wanted) in seen:
            continue
        seen.add((name, wanted))
        if name == "rackwright":
            waiting += [(Requirement(t), frozenset()) for e in wanted for t in EXTRAS[e]]
            continue
        try:
            meta = distribution(name)
        except PackageNotFoundError:
            continue  # of another platform, or of an extra that is not installed here
        found[name] = licence_of(name)
        waiting += [(Requirement(text), wanted) for text in meta.requires or ()]
    return found


def marker_fails(need: Requirement, extra: str) -> bool:
    return need.marker is not None and not need.marker.evaluate({"extra": extra})


def licence_of(name: str) -> str:
    """Return the licence that a package states, by expression, classifiers or text."""
    if name in SAID_ELSEWHERE:
        return SAID_ELSEWHERE[name]
    meta = distribution(name).metadata
    if "License-Expression" in meta:
        return str(meta["License-Expression"])
    classes = [
        str(text).rpartition("::")[2].strip()
        for text in meta.get_all("Classifier") or ()
        if str(text).startswith("License ::")
    ]
    stated = meta["License"] if "License" in meta else ""  # noqa: SIM401 - it has no get
    return "; ".join(classes) or stated.partition("\n")[0][:60]


def is_copyleft(licence: str) -> bool:
    return bool(STRONG.search(WEAK.sub("", licence)))


def rows() -> Iterator[tuple[str, int, str]]:
    """Yield each extra with the number of its packages and those under the GPL."""
    core = closure(PROJECT["dependencies"])
    yield "core", len(core), ", ".join(sorted(n for n in core if is_copyleft(core[n]))) or "none"
    for extra, needs in sorted(EXTRAS.items()):
        more = {n: one for n, one in closure(needs).items() if n not in core}
        yield extra, len(more), ", ".join(sorted(n for n in more if is_copyleft(more[n]))) or "none"


def test_nothing_in_the_core_is_under_the_gpl() -> None:
    core = closure(PROJECT["dependencies"])
    assert {"jinja2", "pydantic", "pyyaml"} <= set(core)
    assert {name: one for name, one in core.items() if is_copyleft(one)} == {}


@pytest.mark.parametrize("extra", sorted(EXTRAS))
def test_every_package_of_an_extra_states_its_licence(extra: str) -> None:
    found = closure(EXTRAS[extra])
    assert found
    assert [name for name, licence in found.items() if not licence] == []


@pytest.mark.parametrize(
    ("licence", "copyleft"),
    [
        ("GPL-3.0-or-later", True),
        ("GNU General Public License v3 or later (GPLv3+)", True),
        ("AGPL-3.0", True),
        ("LGPL-2.1", False),
        ("GNU Lesser General Public License v3 (LGPLv3)", False),
        ("Apache-2.0", False),
    ],
)
def test_licences_are_told_apart(licence: str, *, copyleft: bool) -> None:
    assert is_copyleft(licence) is copyleft


def test_the_documents_list_the_packages_under_the_gpl() -> None:
    text = (ROOT / "docs/licences.md").read_text(encoding="utf-8")
    found = list(rows())
    assert [extra for extra, *_ in found] == ["core", *sorted(EXTRAS)]
    for extra, _, copyleft in found:
        assert re.search(
            rf"^\| `?{extra}`? \| [^|]+ \| {re.escape(copyleft)} \|", text, re.MULTILINE
        )
