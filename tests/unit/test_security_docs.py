"""The threat model names tests that exist."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs/security.md").read_text("utf-8")
NAMED = re.compile(r"`(tests/[\w/]+\.py)(?:::(\w+))?`")


def functions_of(path: Path) -> set[str]:
    """The names of the test functions in a file."""
    tree = ast.parse(path.read_text("utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


def test_every_promise_names_a_test_that_exists() -> None:
    named = NAMED.findall(TEXT)
    assert len(named) > 25
    missing = [
        f"{path}::{test}"
        for path, test in named
        if not (ROOT / path).is_file() or (test and test not in functions_of(ROOT / path))
    ]
    assert missing == []


def test_every_promise_has_one() -> None:
    _, _, promises = TEXT.partition("## Promises and their tests")
    promises, _, _ = promises.partition("## Limits")
    rows = [line for line in promises.splitlines() if re.match(r"\| (?!Promise)\w", line)]
    assert len(rows) > 20
    assert [row for row in rows if not NAMED.search(row)] == []


def test_the_policy_leads_to_it() -> None:
    assert "(docs/security.md)" in (ROOT / "SECURITY.md").read_text("utf-8")
    assert (ROOT / "docs/security.md").is_file()
