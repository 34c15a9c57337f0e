"""``schema``: JSON Schemas for the YAML language server."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from rackwright.cli.options.arguments import add_json
from rackwright.cli.options.output_files import add_output_folder
from rackwright.cli.options.telling import answer_files
from rackwright.errors import UsageError
from rackwright.exit_codes import ExitCode
from rackwright.harmless import json_text


def configure(parser: argparse.ArgumentParser, verb: str) -> None:
    """Add the arguments of ``schema``."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    export = actions.add_parser("export", help="write the schemas")
    export.add_argument("--kind", default="blueprint", help="document to write to stdout")
    add_output_folder(export, "folder to write the schemas of all kinds to")
    add_json(export, "the schema, as without this option, or with --output the files,")
    export.add_argument(
        "--url",
        help="with --output: https address at which the folder is served; also write catalog.json, which "
        "editors take instead of SchemaStore's ('yaml.schemaStore.url')",
    )


def run(arguments: argparse.Namespace) -> int:
    """Write the schemas.

    Raises:
        SpecErrors: the team's configuration or catalogue is not valid.
        UsageError: there is no schema of that kind, or ``--url`` is no address of a folder.
    """
    output: Path | None = arguments.output
    if arguments.url is not None and (output is None or not arguments.url.startswith("https://")):
        raise UsageError(
            "--url needs --output, and an address that begins with https://",
            hint="rackwright schema export --output schemas --url https://example.com/schemas",
        )
    documents = _documents(Path() if output is None else output.parent)
    if output is None:
        if arguments.kind not in documents:
            raise UsageError(
                f"there is no schema of '{arguments.kind}'", hint=f"kinds: {', '.join(documents)}"
            )
        sys.stdout.write(_dump(documents[arguments.kind]()))
        return ExitCode.CLEAN
    output.mkdir(parents=True, exist_ok=True)
    written: list[Path] = []
    for name, make in documents.items():
        written.append(output / f"{name}.schema.json")
        written[-1].write_text(_dump(make()), encoding="utf-8")
    if arguments.url is not None:
        written.append(output / "catalog.json")
        written[-1].write_text(_dump(_catalog(arguments.url.rstrip("/"))), encoding="utf-8")
    answer_files(arguments, written)
    return ExitCode.CLEAN


_FILES = {
    "blueprint": ("blueprint.yaml", "blueprint"),
    "team": ("rackwright.yaml", "configuration of a team"),
    "waivers": ("policies/waivers.yaml", "waivers"),
    "baseline": ("policies/baseline.json", "baseline"),
}
"""Files that are told by their names, by kind of document."""


def _catalog(address: str) -> dict[str, Any]:
    """Return the list of schemas in the format of SchemaStore."""
    return {
        "$schema": "https://json.schemastore.org/schema-catalog.json",
        "version": 1.0,
        "schemas": [
            {
                "name": f"Rackwright {title}",
                "description": f"Rackwright {title}: infrastructure as code for GPU clusters",
                "fileMatch": [f"**/{name}"],
                "url": f"{address}/{kind}.schema.json",
            }
            for kind, (name, title) in _FILES.items()
        ],
    }


def _documents(beside: Path) -> dict[str, Callable[[], dict[str, Any]]]:
    """Return the maker of the schema of each kind; that of blueprints offers the products ``beside`` it."""
    from rackwright.catalog.loader import FOLDERS
    from rackwright.design.answer.form import design_schema
    from rackwright.design.model import DesignDocument
    from rackwright.diff.forms.schema import comparison_schema
    from rackwright.model.base import Model
    from rackwright.model.prices import PriceList
    from rackwright.policy.exceptions.baseline import BaselineFile
    from rackwright.policy.exceptions.waivers import WaiverFile
    from rackwright.reading.schema import export_schema
    from rackwright.render.editors import blueprint_schema, layer_schema
    from rackwright.report.schema import report_schema
    from rackwright.team.config import TeamConfig
    from rackwright.templates.making import BLUEPRINT

    files: dict[str, tuple[type[Model], str]] = {
        "wanted": (DesignDocument, "design: what is wanted"),
        "team": (TeamConfig, "configuration of a team"),
        "prices": (PriceList, "price list"),
        "waivers": (WaiverFile, "waivers"),
        "baseline": (BaselineFile, "baseline"),
    }
    documents: dict[str, Callable[[], dict[str, Any]]] = {
        "blueprint": lambda: blueprint_schema(beside / BLUEPRINT),
        "layer": lambda: layer_schema(beside / BLUEPRINT),
        "design": design_schema,
        "report": report_schema,
        "diff": comparison_schema,
    }
    for name, (model, title) in files.items():
        documents[name] = partial(
            export_schema, model, title=f"Rackwright {title}", schema_id=f"urn:rackwright:{name}:v1"
        )
    for folder, kind in FOLDERS.items():
        documents[f"catalog-{folder}"] = partial(
            export_schema,
            kind,
            title=f"Rackwright catalogue: {folder}",
            schema_id=f"urn:rackwright:catalog:{folder}:v1",
        )
    return documents


def _dump(document: object) -> str:
    return json_text(document, sort_keys=True)
