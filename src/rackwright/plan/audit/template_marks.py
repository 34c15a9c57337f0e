"""Texts of a blueprint that Ansible would take for templates, and so for code."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import Any

from rackwright.errors import SpecError, SpecErrors
from rackwright.harmless import visible
from rackwright.reading import cures
from rackwright.reading.tree import Path, Tree

TEMPLATE_MARKS = ("{{", "{%", "{#")
_FOR_PEOPLE = frozenset({"policies", "reasons", "facts", "tags"})
"""Keys whose texts reach no host."""


def refuse_templates(tree: Tree) -> None:
    """Refuse texts with marks of templates, each at its place.

    Raises:
        SpecErrors: there are some.
    """
    # Most blueprints have no brace at all, which is seen faster than the places of all texts.
    if not any("{" in text for text in _texts(tree.data)):
        return
    errors = [
        SpecError(
            f"{tree.describe(path)}: '{visible(text)}' holds '{mark}', which is a template to Ansible",
            hint=cures.of_variable(text),
            location=tree.locate(path),
        )
        for path, text, mark in _marked(tree.data, ())
    ]
    if errors:
        raise SpecErrors(errors)


def _texts(data: Any) -> AbstractSet[str]:
    """Return the different keys and texts of a document."""
    texts = set[str]()
    collections = [data]
    while collections:
        parts = collections.pop()
        if isinstance(parts, Mapping):
            texts.update(parts)
            parts = parts.values()
        for part in parts:
            if isinstance(part, str):
                texts.add(part)
            elif isinstance(part, (dict, list, Mapping)):
                collections.append(part)
    return texts


def _marked(value: Any, path: Path) -> Iterator[tuple[Path, str, str]]:
    if isinstance(value, str):
        mark = next((mark for mark in TEMPLATE_MARKS if mark in value), None)
        if mark is not None:
            yield path, value, mark
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            if key not in _FOR_PEOPLE:
                yield from _marked(key, path)
                yield from _marked(inner, (*path, key))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _marked(inner, (*path, number))
