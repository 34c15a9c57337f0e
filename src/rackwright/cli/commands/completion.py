"""``completion``: scripts that complete commands, options and files in a shell, and the manual page."""

from __future__ import annotations

import argparse
import importlib
import re
import shlex
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from rackwright import __version__
from rackwright.cli.options.arguments import in_folder
from rackwright.cli.options.examples import EXAMPLES
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


def man_page(
    parser: argparse.ArgumentParser, groups: Mapping[str, tuple[str, ...]]
) -> Iterator[str]:
    """Yield the lines of rackwright(1) in the macros of ``man``.

    Args:
        parser: of the program, with one parser inside for each command.
        groups: commands by their purpose.
    """
    yield f'.TH RACKWRIGHT 1 "" "Rackwright {__version__}" "User Commands"'
    yield from (".SH NAME", r"rackwright \- infrastructure as code for GPU clusters")
    yield from (".SH SYNOPSIS", ".B rackwright", r"\fICOMMAND\fR [\fIARGUMENT\fR ...]")
    yield from (".SH OPTIONS", *_options(parser))
    inside = next(a for a in parser._actions if isinstance(a, argparse._SubParsersAction))
    summaries = {choice.dest: choice.help or "" for choice in inside._choices_actions}
    for purpose, verbs in groups.items():
        yield f".SH {purpose.upper()}"
        for verb in verbs:
            yield from (f".SS rackwright {verb}", f"{_text(summaries[verb])}.")
            yield from _command(inside.choices[verb], verb)
    yield from (".SH EXIT STATUS", "\\(aqrackwright explain exit-codes\\(aq lists them.")


def _command(parser: argparse.ArgumentParser, words: str) -> Iterator[str]:
    inside = [a for a in parser._actions if isinstance(a, argparse._SubParsersAction)]
    if not inside:
        yield from _options(parser)
    for action in inside:
        summaries = {choice.dest: choice.help or "" for choice in action._choices_actions}
        for name, child in action.choices.items():
            yield from (".PP", rf"\fBrackwright {_text(f'{words} {name}')}\fR", ".br")
            yield f"{_text(summaries.get(name, ''))}."
            yield from _command(child, f"{words} {name}")
    if examples := EXAMPLES.get(words, ()):
        yield from (".PP", "Examples:", ".PP", ".nf")
        yield from (rf"\&rackwright {_text(example)}" for example in examples)
        yield ".fi"


def _options(parser: argparse.ArgumentParser) -> Iterator[str]:
    for action in parser._actions:
        if isinstance(action, (argparse._SubParsersAction, argparse._HelpAction)):
            continue
        choices = "|".join(map(str, action.choices or ()))
        value = "" if action.nargs == 0 else str(action.metavar or choices or action.dest.upper())
        names = [rf"\fB{_text(option)}\fR" for option in action.option_strings]
        if names:
            shown = ", ".join(names) + (rf" \fI{_text(value)}\fR" if value else "")
        else:
            shown = rf"\fI{_text(str(action.metavar or action.dest))}\fR"
        about = (action.help or "").replace("%%", "%").replace("%(default)s", str(action.default))
        yield from (".TP", shown, f"{_text(about)}.")


def _text(text: str) -> str:
    """Return a text without what ``man`` takes for a request, an escape or a dash of typography."""
    plain = text.replace("\\", r"\e").replace("-", r"\-").replace("'", r"\(aq")
    plain = re.sub(r"^\.", r"\\&.", " ".join(plain.split()))
    return "".join(sign if sign.isascii() else rf"\[u{ord(sign):04X}]" for sign in plain)
