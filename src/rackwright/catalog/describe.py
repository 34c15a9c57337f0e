"""Facts of a product, and those that it lacks, in words and as data."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rackwright.catalog.loader import KINDS, Catalogue
from rackwright.model.base import Model
from rackwright.model.field_kinds import marked_fields
from rackwright.model.hardware import Entry


def lacking(entry: Model, prefix: str = "") -> Iterator[str]:
    """Yield the dotted names of what an entry could say and does not."""
    for name in type(entry).model_fields:
        if name in marked_fields(type(entry)).labels:
            continue
        value = getattr(entry, name)
        if value is None:
            yield f"{prefix}{name}"
        elif isinstance(value, Model) and marked_fields(type(value)).claims:
            yield from lacking(value, f"{prefix}{name}.")


def facts_of(entry: Entry) -> list[dict[str, Any]]:
    """Return each number of an entry with its source, as plain data."""
    found = []
    for name, fact in entry.facts():
        source = entry.sources[fact.source]
        found.append(
            {
                "field": name,
                "value": fact.model_dump(mode="json")["value"],
                "note": fact.note,
                "source": source.title.strip(),
                "date": source.date.isoformat(),
                "confidence": source.confidence.value,
            }
        )
    return found


def row_of(entry: Entry, catalogue: Catalogue) -> dict[str, Any]:
    """Return the row of an entry in a list."""
    kind = type(entry)
    return {
        "id": entry.id,
        "kind": KINDS[kind],
        "vendor": entry.vendor,
        "name": entry.name,
        "own": catalogue.is_own(kind, entry.id),
        "file": str(catalogue.source_of(kind, entry.id)),
        "numbers": sum(1 for _ in entry.facts()),
        "lacks": len(list(lacking(entry))),
    }
