"""No process of Rackwright takes a module from the folder that somebody works in.

A checkout may hold a ``random.py`` of somebody else, and ``python -m`` looks there first.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import rackwright
from parsed import parsed_below

PACKAGE = Path(rackwright.__file__).parent


def modules_run(tree: ast.Module) -> Iterator[tuple[int, bool]]:
    """The line of each ``-m`` in a command, and whether ``-P`` is in front of it."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.List, ast.Tuple)):
            words = [word.value if isinstance(word, ast.Constant) else None for word in node.elts]
            if "-m" in words and any("executable" in ast.unparse(word) for word in node.elts):
                yield node.lineno, "-P" in words[: words.index("-m")]


def test_every_module_that_is_run_is_run_without_the_working_directory() -> None:
    found = {
        f"{module.path.relative_to(PACKAGE)}:{line}": safe
        for module in parsed_below(PACKAGE)
        for line, safe in modules_run(module.tree)
    }
    assert found
    assert [place for place, safe in found.items() if not safe] == []


def test_one_that_is_not_is_seen() -> None:
    assert list(modules_run(ast.parse('run([sys.executable, "-m", "a"])'))) == [(1, False)]
    assert list(modules_run(ast.parse('run((*(sys.executable, "-P", "-m", "a"), "b"))'))) == [
        (1, True)
    ]
