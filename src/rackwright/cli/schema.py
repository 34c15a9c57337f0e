"""``schema``: JSON Schemas for the YAML language server."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from rackwright.errors import UsageError
from rackwright.exit_codes import ExitCode
from rackwright.harmless import json_text


def configure(parser: argparse.ArgumentParser, verb: str) -> None:
    """Add the arguments of ``schema``."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    export = actions.add_parser("export", help="write the schemas")
    export.add_argument("--kind", default="blueprint", help="document to write to stdout")
    export.add_argument("--output", type=Path, help="folder to write the schemas of all kinds to")


def run(arguments: argparse.Namespace) -> int:
    """Write the schemas.

    Raises:
        UsageError: there is no schema of that kind.
    """
    documents = _documents()
    if arguments.output is None:
        if arguments.kind not in documents:
            raise UsageError(
                f"there is no schema of '{arguments.kind}'", hint=f"kinds: {', '.join(documents)}"
            )
        sys.stdout.write(_dump(documents[arguments.kind]))
        return ExitCode.CLEAN
    arguments.output.mkdir(parents=True, exist_ok=True)
    for name, document in documents.items():
        path = arguments.output / f"{name}.schema.json"
        path.write_text(_dump(document), encoding="utf-8")
        sys.stdout.write(f"{path}\n")
    return ExitCode.CLEAN


def _documents() -> dict[str, dict[str, Any]]:
    """The schemas by kind."""
    from rackwright.catalog.loader import FOLDERS
    from rackwright.design.answer.form import design_schema
    from rackwright.design.model import DesignDocument
    from rackwright.diff.forms.schema import comparison_schema
    from rackwright.model.cluster import Blueprint
    from rackwright.model.prices import PriceList
    from rackwright.plan.derivation.schema import with_short_form
    from rackwright.policy.exceptions.baseline import BaselineFile
    from rackwright.policy.exceptions.waivers import WaiverFile
    from rackwright.receptor.workers import Workers
    from rackwright.report.schema import report_schema
    from rackwright.spec.schema import export_schema
    from rackwright.team.config import TeamConfig

    catalogue = {
        f"catalog-{folder}": export_schema(
            kind,
            title=f"Rackwright catalogue: {folder}",
            schema_id=f"urn:rackwright:catalog:{folder}:v1",
        )
        for folder, kind in FOLDERS.items()
    }
    blueprint = with_short_form(
        export_schema(
            Blueprint, title="Rackwright blueprint", schema_id="urn:rackwright:blueprint:v1"
        )
    )
    waivers = export_schema(
        WaiverFile, title="Rackwright waivers", schema_id="urn:rackwright:waivers:v1"
    )
    baseline = export_schema(
        BaselineFile, title="Rackwright baseline", schema_id="urn:rackwright:baseline:v1"
    )
    workers = export_schema(
        Workers, title="Rackwright workers", schema_id="urn:rackwright:workers:v1"
    )
    team = export_schema(
        TeamConfig, title="Rackwright configuration of a team", schema_id="urn:rackwright:team:v1"
    )
    prices = export_schema(
        PriceList, title="Rackwright price list", schema_id="urn:rackwright:prices:v1"
    )
    wanted = export_schema(
        DesignDocument,
        title="Rackwright design: what is wanted",
        schema_id="urn:rackwright:wanted:v1",
    )
    return {
        "blueprint": blueprint,
        "wanted": wanted,
        "design": design_schema(),
        "team": team,
        "prices": prices,
        "waivers": waivers,
        "baseline": baseline,
        "workers": workers,
        "report": report_schema(),
        "diff": comparison_schema(),
        **catalogue,
    }


def _dump(document: object) -> str:
    return json_text(document, sort_keys=True)
