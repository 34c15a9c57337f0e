"""``--todo``: a layer with every field that is not known, to be filled in."""

from __future__ import annotations

import argparse
import csv
import io
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rackwright.cli.options.telling import tell
from rackwright.errors import UsageError
from rackwright.harmless import counted

if TYPE_CHECKING:
    from rackwright.plan.model import Plan
    from rackwright.policy.engine import Report
    from rackwright.render.todo import Wanted


LAYERS = (".yaml", ".yml")
"""Endings of the layers that ``--todo`` writes."""
LAYERS_AND_TABLES = (*LAYERS, ".csv")
"""The same, with a table to send around."""


def add_todo(parser: argparse.ArgumentParser, what: str, suffixes: Sequence[str]) -> None:
    """Add the argument; ``what`` is what the file has entries for, ``suffixes`` are its endings."""
    table = "; a .csv is a layer as a table to send around" if ".csv" in suffixes else ""
    parser.add_argument(
        "--todo", type=Path, metavar="FILE", help=f"write a layer to fill in: {what}{table}"
    )


def write_questions(path: Path, plan: Plan, report: Report, written: Any = None) -> None:
    """Write the facts that rules lack as a table to send to those who can answer.

    Args:
        path: the file.
        plan: of the blueprint.
        report: what the policies found in it.
        written: the document of the blueprint as it is written.

    Raises:
        UsageError: the file cannot be written.
    """
    from rackwright.cli.options.outputs import write_file
    from rackwright.render.sheets import QUESTIONS, cell, question_rows

    asked = list(question_rows(plan, report.questions, written))
    if not asked:
        sys.stderr.write(f"nothing is unknown, so '{path}' is not written\n")
        return
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(QUESTIONS)
    rows.writerows(map(cell, cells) for cells in asked)
    # Without the byte-order mark, Excel reads the file in the code page of the machine.
    write_file(path, f"\ufeff{text.getvalue()}")
    tell(f"wrote {path}: {counted(len(asked), 'question')}\n")


def refuse_existing(path: Path | None, suffixes: Sequence[str] = LAYERS) -> None:
    """Refuse to write over a file, which may hold answers, and a name without one of ``suffixes``.

    Raises:
        UsageError: the file exists, or has another ending.
    """
    if path is not None and path.suffix not in suffixes:
        hint = f"name a file that ends in {', '.join(suffixes)}"
        raise UsageError(f"cannot write to '{path}': unknown file type", hint=hint)
    if path is not None and (path.exists() or path.is_symlink()):
        raise UsageError(f"'{path}' exists", hint="choose a new file")


def write_todo(
    verb: str,
    arguments: argparse.Namespace,
    plan: Plan,
    wanted: Sequence[Wanted],
    written: Any = None,
) -> None:
    """Write the layer that the arguments ask for, and say so on stderr.

    Args:
        verb: the command.
        arguments: of a command about one blueprint.
        plan: of that blueprint.
        wanted: what is not known; where that is nothing, no file is written.
        written: the document of the blueprint as it is written.

    Raises:
        UsageError: the file cannot be written, or is there.
        FileExistsError: it was there, and somebody removed it at that moment.
    """
    from rackwright.render.todo import make_todo

    path: Path = arguments.todo
    if not wanted:
        sys.stderr.write(f"nothing is unknown, so '{path}' is not written\n")
        return
    words = ["rackwright", verb, str(arguments.blueprint)]
    for layer in arguments.layer:
        words += ["--layer", str(layer)]
    asked = shlex.join(words)
    head = [
        f"What '{asked}' does not know. With this file over the blueprint:",
        f"  {asked} --layer {shlex.quote(str(path))}",
    ]
    todo = make_todo(plan, wanted, head, written)
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(todo.text)
    except FileExistsError:
        refuse_existing(path)
        raise
    except OSError as error:
        raise UsageError(f"'{path}' cannot be written: {error.strerror}") from None
    rest = f", {todo.elsewhere} to be said elsewhere" if todo.elsewhere else ""
    tell(f"wrote {path}: {todo.fields} fields to fill in{rest}\n")
