"""``completion``: scripts that complete commands, options and files in a shell, and the manual page."""

from __future__ import annotations

import argparse
import importlib
import shlex
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from rackwright.cli.options.arguments import in_folder
from rackwright.exit_codes import ExitCode

SHELLS = ("bash", "zsh", "tcsh", "fish")
MANUAL = "man"


def configure(parser: argparse.ArgumentParser, verb: str) -> None:
    """Add the arguments of ``completion``."""
    parser.add_argument(
        "shell", choices=(*SHELLS, MANUAL), help="shell, or man for the manual page"
    )


def run(arguments: argparse.Namespace) -> int:
    """Print the script, by which a shell completes ``rackwright``, or the manual page."""
    import shtab

    if arguments.shell == MANUAL:
        from rackwright.cli import GROUPS
        from rackwright.cli.options.man_page import man_page

        sys.stdout.write("".join(f"{line}\n" for line in man_page(whole_parser(), GROUPS)))
    elif arguments.shell == "fish":
        sys.stdout.write("".join(f"{line}\n" for line in _fish(whole_parser())))
    else:
        sys.stdout.write(f"{shtab.complete(whole_parser(), arguments.shell)}\n")
    return ExitCode.CLEAN


def whole_parser() -> argparse.ArgumentParser:
    """Return all commands with their arguments; arguments that are paths complete as such."""
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


def _fish(parser: argparse.ArgumentParser, words: tuple[str, ...] = ()) -> Iterator[str]:
    """Yield the lines of a script for fish, of a command behind ``words`` and of those inside."""
    inner = [one for one in parser._actions if isinstance(one, argparse._SubParsersAction)]
    names = [name for one in inner for name in one.choices]
    seen = [f"__fish_seen_subcommand_from {word}" for word in words[-1:]]
    if names:
        seen.append(f"not __fish_seen_subcommand_from {' '.join(names)}")
    start = f"complete -c rackwright -n {shlex.quote('; and '.join(seen) or 'true')}"
    for action in parser._actions:
        about = f" -d {shlex.quote(action.help.replace('%%', '%'))}" if action.help else ""
        for option in action.option_strings:
            kind = f" -l {option[2:]}" if option.startswith("--") else f" -s {option[1:]}"
            takes = "" if action.nargs == 0 else " -r"
            choices = (
                f" -fa {shlex.quote(' '.join(map(str, action.choices)))}" if action.choices else ""
            )
            yield f"{start}{kind}{takes}{choices}{about}"
    for one in inner:
        summaries = {choice.dest: choice.help or "" for choice in one._choices_actions}
        for name, child in one.choices.items():
            yield f"{start} -fa {name} -d {shlex.quote(summaries.get(name, ''))}"
            yield from _fish(child, (*words, name))


def _complete_files(parser: argparse.ArgumentParser, files: Mapping[str, Any]) -> None:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for inner in action.choices.values():
                _complete_files(inner, files)
        elif action.type in (Path, in_folder):
            action.complete = files  # type: ignore[attr-defined]
