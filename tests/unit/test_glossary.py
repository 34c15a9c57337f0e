"""A word has one meaning: classes have names of their own, and words that only we understood are gone."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from parsed import parsed_below

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src/rackwright"
GLOSSARY = ROOT / "docs/glossary.md"
NAMED_BY_AWS = ("components",)
"""Classes there have the names of AWS's resources."""
HISTORY = {"CHANGELOG.md", "docs/glossary.md"}
"""Documents that tell of names which are gone."""


def rows() -> list[tuple[str, str, list[str]]]:
    """Term, meaning and refused words of each row."""
    cells = [
        [cell.strip() for cell in line.strip("|\n").split("|")]
        for line in GLOSSARY.read_text("utf-8").splitlines()
        if line.startswith("| ") and not line.startswith("| Term")
    ]
    return [(term, means, [w.strip() for w in gone.split(",") if w]) for term, means, gone in cells]


def test_each_term_is_explained_once() -> None:
    terms = [one.strip() for term, _, _ in rows() for one in term.split(",")]
    assert len(terms) > 40
    assert sorted(terms) == sorted(set(terms))
    assert all(means[0].isupper() and not means.endswith(".") for _, means, _ in rows())


def test_words_that_only_we_understood_are_gone() -> None:
    refused = [word for _, _, gone in rows() for word in gone]
    assert len(refused) > 5
    pattern = re.compile(rf"(?<![A-Za-z])(?:{'|'.join(refused)})s?(?![a-z])", re.IGNORECASE)
    files = [
        path
        for folder in ("src", "docs", "policies", "templates", "roles", "stacks")
        for path in (ROOT / folder).rglob("*")
        if path.suffix in {".py", ".md", ".yml", ".yaml", ".j2"}
    ]
    files += ROOT.glob("*.md")
    assert len(files) > 500
    found = [
        f"{name}:{number}: {line.strip()}"
        for path in files
        if (name := path.relative_to(ROOT).as_posix()) not in HISTORY
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if pattern.search(line)
    ]
    assert found == []


def test_no_two_classes_have_one_name() -> None:
    places: dict[str, list[str]] = {}
    for module in parsed_below(PACKAGE):
        inside = module.path.relative_to(PACKAGE).as_posix()
        if inside.startswith(NAMED_BY_AWS):
            continue
        for node in module.tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places.setdefault(node.name, []).append(inside)
    assert len(places) > 500
    assert {name: where for name, where in places.items() if len(where) > 1} == {}
