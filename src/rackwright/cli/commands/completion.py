"""``completion``: what a shell completes of commands, options and files."""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rackwright.cli.options.arguments import in_folder
from rackwright.exit_codes import ExitCode

SHELLS = ("bash", "zsh", "tcsh")


def configure(parser: argparse.ArgumentParser, verb: str) -> None:
    """Add the arguments of ``completion``."""
    parser.add_argument("shell", choices=SHELLS, help="for which shell")


def run(arguments: argparse.Namespace) -> int:
    """Print the script; a shell that reads it completes ``rackwright``."""
    import shtab

    sys.stdout.write(f"{shtab.complete(whole_parser(), arguments.shell)}\n")
    return ExitCode.CLEAN


def whole_parser() -> argparse.ArgumentParser:
    """All commands with their arguments; arguments that are paths complete as such."""
    import shtab

    from rackwright.cli import OPTIONS, VERBS

    whole = argparse.ArgumentParser(prog="rackwright")
    for option, summary in OPTIONS.items():
        if option != "--help":
            whole.add_argument(option, action="store_true", help=summary)
    commands = whole.add_subparsers()
    for verb, (module, summary) in VERBS.items():
        parser = commands.add_parser(verb, help=summary)
        importlib.import_module(module).configure(parser, verb)
        _complete_files(parser, shtab.FILE)
    return whole


def _complete_files(parser: argparse.ArgumentParser, files: Mapping[str, Any]) -> None:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for inner in action.choices.values():
                _complete_files(inner, files)
        elif action.type in (Path, in_folder):
            action.complete = files  # type: ignore[attr-defined]
