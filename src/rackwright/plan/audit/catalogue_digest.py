"""The digest of the catalogue entries that a plan rests on."""

from __future__ import annotations

import hashlib
import json

from rackwright.plan.audit.catalogue_usage import used_entries
from rackwright.plan.expansion import Expansion


def catalogue_digest(plan: Expansion) -> str:
    """Return ``sha256:`` and 64 hex digits over what the catalogue says about the products in use.

    Only what an entry's file states counts, so neither unused products nor fields that a
    newer Rackwright may know change it; the order of the blueprint does not either.
    """
    entries = {(type(use.entry).__name__, use.entry.id): use.entry for use in used_entries(plan)}
    stated = [entries[key].model_dump(mode="json", exclude_unset=True) for key in sorted(entries)]
    text = json.dumps(stated, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"
