"""Python files of the repository, read and parsed once for all tests of a process that look at them."""

from __future__ import annotations

import ast
import gc
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Module:
    """One file.

    Attributes:
        text: of the file.
        tree: its syntax tree, which no test changes.
    """

    path: Path
    text: str
    tree: ast.Module


@cache
def parsed(path: Path) -> Module:
    """Return a file with its syntax tree."""
    text = path.read_text("utf-8")
    # The collector would look through all trees again and again, which takes longer than parsing them.
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        return Module(path, text, ast.parse(text))
    finally:
        gc.freeze()
        if was_enabled:
            gc.enable()


def parsed_below(folder: Path, pattern: str = "*.py") -> Iterator[Module]:
    """Yield the files below ``folder``, in the order of their paths."""
    return map(parsed, sorted(folder.rglob(pattern)))
