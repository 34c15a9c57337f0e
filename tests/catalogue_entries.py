"""Entries of a catalogue."""

from __future__ import annotations

from collections.abc import Iterator

from rackwright.catalog.loader import Catalogue
from rackwright.model.hardware import Entry


def all_entries(catalogue: Catalogue) -> Iterator[Entry]:
    """Yield every product, read and validated."""
    for kind, found in catalogue.files.items():
        for entry_id in sorted(found):
            yield catalogue.get(kind, entry_id)
