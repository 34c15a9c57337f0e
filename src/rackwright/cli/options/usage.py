"""Words of argparse about wrong arguments, as a user of the commands reads them."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence

from rackwright.errors import UsageError

_KINDS = {"int": "a whole number", "float": "a number", "Path": "a path"}


def usage_error(parser: argparse.ArgumentParser, message: str) -> UsageError:
    """Return what is wrong with the arguments of a command, and what to write instead."""
    usual = f"'{parser.prog} --help' shows how it is used"
    named, _, text = (
        message.partition(": ") if message.startswith("argument ") else ("", "", message)
    )
    name = named.removeprefix("argument ").split("/")[-1]
    if left := re.match(r"unrecognized arguments: (.*)", message, re.DOTALL):
        return _unrecognized(parser, left[1], usual)
    if missing := re.match(r"the following arguments are required: (.*)", message):
        return UsageError(f"{_list(missing[1].split(', '))} missing", hint=usual)
    if choice := re.match(r"invalid choice: '?(.*?)'? \(choose from (.*)\)", text, re.DOTALL):
        choices = [one.strip().strip("'\"") for one in choice[2].split(",")]
        near = _near(choice[1], choices)
        return UsageError(
            f"{name}: '{choice[1]}' is not one of {', '.join(choices)}", hint=near or usual
        )
    if value := re.match(r"invalid (\w+) value: '?(.*?)'?$", text, re.DOTALL):
        kind = _KINDS.get(value[1], f"a {value[1].strip('_').replace('_', ' ')}")
        return UsageError(f"{name}: '{value[2]}' is not {kind}", hint=usual)
    if re.match(r"expected (one|at least one) argument", text):
        return UsageError(f"{name} needs a value", hint=usual)
    return UsageError(f"{name}: {text}" if name else text, hint=usual)


def _unrecognized(parser: argparse.ArgumentParser, left: str, usual: str) -> UsageError:
    first = left.split(maxsplit=1)[0]
    if first.startswith("-"):
        options = [option for action in parser._actions for option in action.option_strings]
        return UsageError(
            f"there is no option '{first}'", hint=_near(first.split("=")[0], options) or usual
        )
    takes_layers = any("--layer" in action.option_strings for action in parser._actions)
    if takes_layers and first.endswith((".yaml", ".yml")):
        usual = f"one blueprint at a time; '--layer {first}' puts a file over it"
    return UsageError(f"'{left}' is one argument too many", hint=usual)


def _near(word: str, known: Sequence[str]) -> str | None:
    from rackwright.reading.suggest import did_you_mean

    return did_you_mean(word, known)


def _list(names: Sequence[str]) -> str:
    shown = " and ".join(name.split("/")[-1] for name in names)
    return f"{shown} {'is' if len(names) == 1 else 'are'}"
