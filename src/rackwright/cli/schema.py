"""``schema``: JSON Schemas for the YAML language server."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from rackwright.exit_codes import ExitCode


def configure(parser: argparse.ArgumentParser, verb: str) -> None:
    """Add the arguments of ``schema``."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    export = actions.add_parser("export", help="write the schemas")
    export.add_argument(
        "--output", type=Path, help="folder to write to; else stdout, blueprint only"
    )


def run(arguments: argparse.Namespace) -> int:
    """Write the schemas."""
    from rackwright.catalog.loader import FOLDERS
    from rackwright.model.cluster import Blueprint
    from rackwright.spec.schema import export_schema

    documents = {
        "blueprint": export_schema(
            Blueprint, title="Rackwright blueprint", schema_id="urn:rackwright:blueprint:v1"
        )
    }
    if arguments.output is None:
        sys.stdout.write(_dump(documents["blueprint"]))
        return ExitCode.CLEAN
    for folder, kind in FOLDERS.items():
        documents[f"catalog-{folder}"] = export_schema(
            kind,
            title=f"Rackwright catalogue: {folder}",
            schema_id=f"urn:rackwright:catalog:{folder}:v1",
        )
    arguments.output.mkdir(parents=True, exist_ok=True)
    for name, document in documents.items():
        path = arguments.output / f"{name}.schema.json"
        path.write_text(_dump(document), encoding="utf-8")
        sys.stdout.write(f"{path}\n")
    return ExitCode.CLEAN


def _dump(document: object) -> str:
    return json.dumps(document, indent=2, sort_keys=True) + "\n"
