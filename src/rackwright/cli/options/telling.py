"""Answers of commands, as text or as JSON with its schema, and notes beside them.

Notes are the progress of a run and the next step; ``--quiet`` leaves them out. Answers, warnings and errors are said in
any case.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from rackwright.harmless import json_text

_SAID = {"quiet": False}


def be_quiet(*, quiet: bool) -> None:
    """Say nothing beside answers from now on, or say it again."""
    _SAID["quiet"] = quiet


def is_quiet() -> bool:
    """Return True if answers come without notes."""
    return _SAID["quiet"]


def tell(text: str) -> None:
    """Write ``text`` to stderr at once, unless the run is quiet."""
    if not is_quiet():
        sys.stderr.write(text)
        sys.stderr.flush()


def say(line: str) -> None:
    """Write a line about what is done, or is not, to stderr at once, in any case."""
    sys.stderr.write(f"  {line}\n")
    sys.stderr.flush()


def tell_progress(line: str) -> None:
    """Print a line of progress, as ``say``."""
    tell(f"  {line}\n")


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
