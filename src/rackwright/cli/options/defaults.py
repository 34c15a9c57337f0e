"""Defaults of options, from ``defaults`` of a team's ``rackwright.yaml``."""

from __future__ import annotations

import argparse
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from rackwright.cli.options.arguments import BLUEPRINT
from rackwright.team.place import find_config

if TYPE_CHECKING:
    from rackwright.errors import SpecError
    from rackwright.reading.tree import Tree
    from rackwright.team.config import OptionValue

HABITS: Final = frozenset(
    {
        "color", "colour", "days", "forge", "forks", "format", "hash", "install-from", "poll", "region",
        "show-waived", "strict-waivers", "target", "timeout", "verbose",
    }
)  # fmt: skip
"""Options that may have a default: those by which no command checks less, or confirms something."""

_ELSEWHERE = {
    "layer": "name layers in the blueprint: 'layers: [facility.yaml]'",
    "pack": "list folders of policies under 'packs' of this file",
    "stage": "set 'stage' in the blueprint",
}


def parse(
    parser: argparse.ArgumentParser, verb: str, words: list[str], verbs: Collection[str]
) -> argparse.Namespace:
    """Return the arguments of a verb, with the defaults of the team's configuration.

    Args:
        parser: of the verb.
        verb: the verb.
        words: words behind the verb.
        verbs: all verbs that there are.

    Raises:
        SpecErrors: a default is not valid; each with its place.
    """
    place, command, inner = _command(parser, verb, words)
    # The configuration may give them; where it is follows from the other words.
    needed = [
        one for one in inner._actions if one.required and HABITS & {one.dest.replace("_", "-")}
    ]
    for action in needed:
        action.required = False
    found = parse_words(parser, words)
    for action in needed:
        action.required = True
    path = getattr(found, "blueprint", None)
    added = _added(parser, verb, inner, command, Path(path or BLUEPRINT), verbs)
    if not added and all(getattr(found, one.dest) is not None for one in needed):
        return found
    return parse_words(parser, [*words[:place], *added, *words[place:]])


def parse_words(parser: argparse.ArgumentParser, words: list[str]) -> argparse.Namespace:
    """Return the arguments of a verb, also where an optional place is behind options."""
    found, left = parser.parse_known_args(words)
    if not left:
        return found
    if "--" not in words and not any(word.startswith("-") for word in left):
        with suppress(TypeError):  # of a verb with actions
            return parser.parse_intermixed_args(words)
    return parser.parse_args(words)


def _added(
    parser: argparse.ArgumentParser,
    verb: str,
    inner: argparse.ArgumentParser,
    command: str,
    blueprint: Path,
    verbs: Collection[str],
) -> list[str]:
    """Return the words that the configuration of a blueprint adds to a command.

    Raises:
        SpecErrors: a default is not valid; each with its place.
    """
    config = find_config(blueprint)
    if config is None or b"defaults" not in config.read_bytes():
        return []
    from rackwright.errors import SpecErrors
    from rackwright.reading.loader import load
    from rackwright.team.config import TeamConfig, config_of

    loaded = load(config_of(config) or config, TeamConfig)
    errors: list[SpecError] = []
    added: list[str] = []
    for name, options in loaded.value.defaults.items():
        found = inner if name == command else None
        for error in _wrong_command(parser, verb, name, verbs, loaded.tree):
            errors.append(error)
            found = None
        if found is not None:
            added += _words(found, name, options, loaded.tree, errors)
    if errors:
        raise SpecErrors(errors)
    return added


def _inside(parser: argparse.ArgumentParser) -> Mapping[str, argparse.ArgumentParser]:
    """Return the parsers of the actions of a verb, by name."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            found: Mapping[str, argparse.ArgumentParser] = action.choices
            return found
    return {}


def _command(
    parser: argparse.ArgumentParser, verb: str, words: Sequence[str]
) -> tuple[int, str, argparse.ArgumentParser]:
    """Return where the options of a command begin, the command in full and its parser."""
    inside = _inside(parser)
    for number, word in enumerate(words):
        if word in inside:
            return number + 1, f"{verb} {word}", inside[word]
    return 0, verb, parser


def _wrong_command(
    parser: argparse.ArgumentParser, verb: str, name: str, verbs: Collection[str], tree: Tree
) -> Iterator[SpecError]:
    """Yield the error of a key of ``defaults`` that is no command."""
    from rackwright.errors import SpecError
    from rackwright.reading.suggest import did_you_mean

    first, _, rest = name.partition(" ")
    known = list(verbs)
    if first == verb:
        known = [f"{verb} {action}" for action in _inside(parser)] or [verb]
    elif first in verbs:
        return  # checked when that command is called
    if name not in known:
        hint = did_you_mean(name, known) or (f"write one of {', '.join(known)}" if rest else None)
        place = tree.locate(("defaults", name))
        yield SpecError(f"defaults: there is no command '{name}'", hint=hint, location=place)


def _words(
    parser: argparse.ArgumentParser,
    command: str,
    options: Mapping[str, OptionValue],
    tree: Tree,
    errors: list[SpecError],
) -> Iterator[str]:
    """Yield the words that give the options of a command their defaults; errors are added to ``errors``."""
    from rackwright.errors import SpecError

    for name, value in options.items():
        place = tree.locate(("defaults", command, name))
        action = parser._option_string_actions.get(f"--{name}")
        problem = _no_default(parser, command, name, action)
        if problem is None and action is not None:
            wrong = _wrong_value(action, f"--{name}", value)
            problem = (wrong, None) if wrong else None
        if problem is not None:
            errors.append(SpecError(f"defaults: {problem[0]}", hint=problem[1], location=place))
        elif isinstance(value, bool):
            yield from [f"--{name}"] if value else []
        else:
            values = value if isinstance(value, tuple) else (value,)
            yield from (f"--{name}={one}" for one in values)


def _no_default(
    parser: argparse.ArgumentParser, command: str, name: str, action: argparse.Action | None
) -> tuple[str, str | None] | None:
    """Return why an option cannot have a default, and what to do instead; None if it can."""
    from rackwright.reading.suggest import did_you_mean

    if action is None:
        known = [one[2:] for one in parser._option_string_actions if one.startswith("--")]
        plain = name.lstrip("-")
        hint = did_you_mean(plain, [one for one in known if one in HABITS])
        return f"'{command}' has no option '--{plain}'", hint
    if name in HABITS:
        return None
    allowed = sorted(one[2:] for one in parser._option_string_actions if one[2:] in HABITS)
    usual = f"of '{command}' these can: {', '.join(allowed)}" if allowed else None
    return f"'--{name}' cannot have a default", _ELSEWHERE.get(name, usual)


def _wrong_value(action: argparse.Action, option: str, value: OptionValue) -> str | None:
    """Return what is wrong with a default, or None."""
    if action.nargs == 0:
        return None if isinstance(value, bool) else f"'{option}' is true or false, not '{value}'"
    repeatable = isinstance(action, argparse._AppendAction)
    if isinstance(value, tuple) and not repeatable:
        return f"'{option}' takes one value, not a list"
    for one in value if isinstance(value, tuple) else (value,):
        if action.choices is not None and one not in action.choices:
            return f"'{option}' is one of {', '.join(map(str, action.choices))}, not '{one}'"
        if callable(action.type):
            try:
                action.type(str(one))
            except (argparse.ArgumentTypeError, ValueError, TypeError) as error:
                kind = "a whole number" if action.type is int else str(error)
                return f"'{option}' must be {kind}, got '{one}'"
    return None
