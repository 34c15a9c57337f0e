"""The full form of a blueprint as YAML, with a comment at each value that is derived, and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rackwright.harmless import json_text, visible
from rackwright.plan.base import Path
from rackwright.plan.derivation.draft import Derivation
from rackwright.plan.load import LoadedPlan
from rackwright.reading.edits import scalar_text
from rackwright.reading.tree import Item

_WIDTH = 96
"""Characters of a line with a mapping or a list in braces; a longer one is written over several lines."""


def full_yaml(loaded: LoadedPlan, what: str) -> str:
    """Return the document as YAML that reads as the same blueprint.

    Args:
        loaded: its plan.
        what: the blueprint, as the first line calls it.
    """
    derived = {one.path: one for one in loaded.derivations}
    written = _written(loaded.tree.root)
    head = (
        f"# {what} in full: {written:,} values as they are written, {len(derived):,} that follow."
    )
    lines = _Writer(derived).mapping(loaded.tree.data, (), 0)
    return "\n".join([visible(head), *lines, ""])


def document_yaml(data: Mapping[str, Any], head: Sequence[str]) -> str:
    """Return a document that is plain data as YAML.

    Args:
        data: the document.
        head: lines of the comment above it.
    """
    comments = [visible(f"# {line}") for line in head]
    return "\n".join([*comments, *_Writer({}).mapping(data, (), 0), ""])


def full_json(loaded: LoadedPlan) -> str:
    """Return the document and its derived values as JSON."""
    return json_text(
        {
            "schema": "rackwright.expand/v1",
            "version": 1,
            "blueprint": loaded.tree.data,
            "derived": [
                {
                    "field": loaded.tree.describe(one.path),
                    "path": list(one.path),
                    "value": one.value,
                    "rule": one.rule,
                    "why": one.why,
                    "location": {
                        "file": one.location.file,
                        "line": one.location.line,
                        "column": one.location.column,
                    },
                }
                for one in loaded.derivations
            ],
        }
    )


def _written(item: Item) -> int:
    """Return the scalars of a document that are not derived."""
    if isinstance(item.value, dict):
        return sum(_written(entry.item) for entry in item.value.values())
    if isinstance(item.value, list):
        return sum(map(_written, item.value))
    return 0 if item.derived else 1


class _Writer:
    """Writes a document, each line with what is derived in it."""

    def __init__(self, derived: Mapping[Path, Derivation]) -> None:
        self._derived = derived
        self._above = {path[:n] for path in derived for n in range(len(path))}
        """What holds something that is derived."""

    def mapping(self, data: Mapping[str, Any], path: Path, depth: int) -> Iterator[str]:
        """Yield the lines of a mapping."""
        indent = "  " * depth
        for key in sorted(data, key=lambda one: one != "name"):
            here, value = (*path, key), data[key]
            yield from self._entry(f"{indent}{scalar_text(key, '')}:", value, here, depth + 1)

    def _list(self, data: Sequence[Any], path: Path, depth: int) -> Iterator[str]:
        indent = "  " * depth
        for index, value in enumerate(data):
            here = (*path, index)
            if isinstance(value, Mapping) and value and not self._is_short(value, here, depth):
                first, *rest = self.mapping(value, here, depth + 1)
                yield f"{indent}- {first.lstrip(' ')}"
                yield from rest
            else:
                yield from self._entry(f"{indent}-", value, here, depth + 1)

    def _entry(self, head: str, value: Any, path: Path, depth: int) -> Iterator[str]:
        if self._is_short(value, path, depth):
            yield f"{head} {flow(value)}{self._comment(path)}"
            return
        yield f"{head}{self._comment(path)}"
        if isinstance(value, Mapping):
            yield from self.mapping(value, path, depth)
        else:
            yield from self._list(value, path, depth)

    def _is_short(self, value: Any, path: Path, depth: int) -> bool:
        """Return True if a value goes on one line: nothing in it has a comment of its own."""
        if not isinstance(value, (Mapping, list, tuple)) or not value:
            return True
        return path not in self._above and 2 * depth + len(flow(value)) <= _WIDTH

    def _comment(self, path: Path) -> str:
        found = self._derived.get(path)
        return "" if found is None else f"  # {found.rule}: {visible(found.why)}"


def flow(value: Any) -> str:
    """Return a value on one line."""
    if isinstance(value, Mapping):
        inner = ", ".join(f"{scalar_text(key, '')}: {flow(one)}" for key, one in value.items())
        return f"{{{inner}}}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(flow, value))}]"
    return "null" if value is None else scalar_text(value, "")
