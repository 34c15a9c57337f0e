"""Answers of commands: text for people, or JSON with its schema."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from rackwright.harmless import json_text


def answer(
    arguments: argparse.Namespace, schema: str, document: Mapping[str, Any], text: str
) -> None:
    """Print ``text``, or with ``--json`` the document under ``rackwright.SCHEMA/v1``."""
    if arguments.json:
        text = json_text({"schema": f"rackwright.{schema}/v1", **document})
    sys.stdout.write(text)


def answer_files(arguments: argparse.Namespace, paths: Iterable[Path], *, verb: str = "") -> None:
    """Print the files that a command has written, one a line behind ``verb``, or as JSON."""
    names = [str(path) for path in paths]
    answer(arguments, "files", {"files": names}, "".join(f"{verb}{name}\n" for name in names))
