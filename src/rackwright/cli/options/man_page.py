"""The manual page of all commands, made from their arguments."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator, Mapping

from rackwright import __version__
from rackwright.cli.options.examples import EXAMPLES


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
