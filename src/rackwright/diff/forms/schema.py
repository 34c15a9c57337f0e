"""The JSON Schema of the JSON comparison, ``rackwright.diff/v1``."""

from __future__ import annotations

from typing import Any

from rackwright.diff.forms.document import ComparisonDocument
from rackwright.reading.schema import export_document


def comparison_schema() -> dict[str, Any]:
    """Return the schema in draft-07. Later additions keep the version, so unknown keys are allowed."""
    return export_document(
        ComparisonDocument, title="Rackwright comparison", schema_id="urn:rackwright:diff:v1"
    )
