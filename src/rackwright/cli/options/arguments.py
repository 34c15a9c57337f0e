"""Arguments that many commands share."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from pathlib import Path

from rackwright.errors import UsageError

BLUEPRINT = "blueprint.yaml"
"""File name of the blueprint in a folder."""


def add_blueprint(parser: argparse.ArgumentParser, *, required: bool = False) -> None:
    """Add the blueprint and the files over it.

    Args:
        parser: of the verb.
        required: it must be named, since another argument follows; otherwise it is that of the
            working directory.
    """
    if required:
        parser.add_argument("blueprint", type=in_folder, help="the blueprint, or its folder")
    else:
        parser.add_argument(
            "blueprint",
            type=in_folder,
            nargs="?",
            default=BLUEPRINT,
            help=f"the blueprint, its folder, or - for standard input (default: {BLUEPRINT})",
        )
    add_layers(parser)


def in_folder(text: str) -> Path:
    """Return the path of a blueprint that is named by its file or its folder."""
    path = Path(text)
    return path / BLUEPRINT if path.is_dir() else path


def add_layers(parser: argparse.ArgumentParser) -> None:
    """Add the files over the blueprint."""
    parser.add_argument(
        "--layer",
        type=Path,
        action="append",
        default=[],
        help="layer over the blueprint; repeatable",
    )


def add_json(parser: argparse.ArgumentParser, what: str = "the result") -> None:
    """Add the option that prints the answer of a command as JSON."""
    parser.add_argument("--json", action="store_true", help=f"print {what} as JSON")


def add_packs(parser: argparse.ArgumentParser) -> None:
    """Add the folders of policies beside the built-in ones."""
    parser.add_argument(
        "--pack", type=Path, action="append", default=[], help="folder of more policies; repeatable"
    )


def add_aws_site(parser: argparse.ArgumentParser, *, hosts: bool = False) -> None:
    """Add which AWS site, and where it is provisioned; with ``hosts`` it may be hosts of bare metal instead."""
    parser.add_argument("--site", help="the AWS site, if the blueprint has several")
    parser.add_argument(
        "--target",
        choices=("local", "aws", "hosts") if hosts else ("local", "aws"),
        required=True,
        help="local: the embedded AWS of this machine; aws: AWS, with your credentials"
        + ("; hosts: Slurm and its hosts, over SSH" if hosts else ""),
    )


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
    from rackwright.reading.cures import meant_word
    from rackwright.reading.suggest import did_you_mean

    meant = meant_word(word, known)
    return f"did you mean '{meant}'?" if meant else did_you_mean(word, known)


def _list(names: Sequence[str]) -> str:
    shown = " and ".join(name.split("/")[-1] for name in names)
    return f"{shown} {'is' if len(names) == 1 else 'are'}"
