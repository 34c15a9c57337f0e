"""The JSON Schema of the JSON report, ``rackwright.check/v2``."""

from __future__ import annotations

from typing import Any

from rackwright.reading.schema import export_document
from rackwright.report.document import ReportDocument


def report_schema() -> dict[str, Any]:
    """Return the schema in draft-07. Later additions keep the version, so unknown keys are allowed."""
    return export_document(
        ReportDocument, title="Rackwright report", schema_id="urn:rackwright:check:v2"
    )
