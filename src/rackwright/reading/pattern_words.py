"""Words for a text that does not match the pattern of its field: what is wrong, and what is right."""

from __future__ import annotations

import re
import string
import warnings
from functools import cache
from typing import Any

from rackwright.model.aws_partitions import REGION
from rackwright.model.directories import DIRECTORY
from rackwright.model.scheduler_settings import RELEASE

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    import sre_parse

_CLASSES = (
    ("small letters", frozenset(string.ascii_lowercase)),
    ("capital letters", frozenset(string.ascii_uppercase)),
    ("digits", frozenset(string.digits)),
)
_PRINTABLE = frozenset(map(chr, range(32, 127)))
_LONGEST = 2_000
_WELL_KNOWN = {REGION: "us-east-1", DIRECTORY: "/scratch", RELEASE: "25.05"}
"""Texts for patterns of which a made one reads badly."""


def explain(given: str, quoted: str, pattern: str) -> tuple[str, str | None]:
    """Return what is wrong with a text, and a hint.

    Args:
        given: the text.
        quoted: the same as messages show it.
        pattern: a regular expression that it does not match.
    """
    parsed = _parsed(pattern)
    if parsed is None:
        return f"{quoted} has a form that is not allowed here", None
    allowed, example, longest = parsed
    wrong = next((sign for sign in given if sign not in allowed), None)
    if wrong is not None:
        sign = "a blank" if wrong == " " else f"'{wrong}'"
        message = f"{quoted} has {sign}: only {_words(allowed)} are allowed"
    elif len(given) > longest:
        message = f"{quoted} has {len(given)} characters: at most {longest} are allowed"
    else:
        message = f"{quoted} has a form that is not allowed here"
    if near := _near(given, pattern, allowed, longest):
        return message, f"did you mean '{near}'?"
    return message, f"write it like '{example}'" if len(example) > 1 else None


@cache
def _parsed(pattern: str) -> tuple[frozenset[str], str, int] | None:
    """Return the characters that a pattern takes, a text that it matches, and the longest length."""
    try:
        tree = sre_parse.parse(pattern)
    except re.error:  # pydantic's own expressions can do what Python's cannot
        return None
    example = _WELL_KNOWN.get(pattern) or _example(tree)
    if not re.search(pattern, example):
        return None
    return frozenset(_characters(tree)), example, min(int(tree.getwidth()[1]), _LONGEST)


def _characters(tree: Any) -> set[str]:
    found: set[str] = set()
    for kind, value in tree:
        name = str(kind)
        if name == "LITERAL":
            found.add(chr(value))
        elif name in {"IN", "ANY", "NOT_LITERAL"}:
            found |= _members(name, value)
        elif name in {"MAX_REPEAT", "MIN_REPEAT"}:
            found |= _characters(value[2])
        elif name == "SUBPATTERN":
            found |= _characters(value[-1])
        elif name == "BRANCH":
            for branch in value[1]:
                found |= _characters(branch)
    return found


def _members(name: str, value: Any) -> set[str]:
    """Return the printable characters of a class."""
    if name != "IN":
        return set(_PRINTABLE) - ({chr(value)} if name == "NOT_LITERAL" else set())
    found: set[str] = set()
    negated = False
    for kind, part in value:
        match str(kind):
            case "NEGATE":
                negated = True
            case "LITERAL":
                found.add(chr(part))
            case "RANGE":
                found |= {chr(code) for code in range(part[0], min(part[1], 126) + 1)}
            case "CATEGORY" if str(part).endswith("CATEGORY_DIGIT"):
                found |= set(string.digits)
            case _:
                found |= set(_PRINTABLE)
    return set(_PRINTABLE) - found if negated else found


def _example(tree: Any) -> str:
    """Return a short text that a pattern matches."""
    parts = []
    for kind, value in tree:
        name = str(kind)
        if name == "LITERAL":
            parts.append(chr(value))
        elif name in {"IN", "ANY", "NOT_LITERAL"}:
            parts.append(_samples(_members(name, value))[0])
        elif name in {"MAX_REPEAT", "MIN_REPEAT"}:
            parts.append(_repeated(value))
        elif name == "SUBPATTERN":
            parts.append(_example(value[-1]))
        elif name == "BRANCH":
            parts.append(_example(value[1][0]))
    return "".join(parts)


def _repeated(value: Any) -> str:
    least, most, inner = int(value[0]), int(min(value[1], 3)), value[2]
    if len(inner) == 1 and str(inner[0][0]) == "IN":
        samples = _samples(_members("IN", inner[0][1]))
        count = max(least, min(most, 1))
        return "".join(samples[index % len(samples)] for index in range(count))
    return _example(inner) * least


def _samples(members: set[str]) -> list[str]:
    """Return the characters of a class, those that read well first."""
    return sorted(members, key=lambda sign: (not sign.isalnum(), sign == "0", sign.isupper(), sign))


def _words(allowed: frozenset[str]) -> str:
    words = [name for name, members in _CLASSES if members <= allowed]
    rest = allowed - {sign for _, members in _CLASSES if members <= allowed for sign in members}
    words += ["blanks" if sign == " " else f"'{sign}'" for sign in sorted(rest)[:12]]
    if len(rest) > 12:
        words = ["letters, digits and signs of ASCII"]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def _near(given: str, pattern: str, allowed: frozenset[str], longest: int) -> str | None:
    """Return a text near ``given`` that the pattern takes; None if there is none."""
    plain = "".join(sign for sign in given.strip() if sign.isprintable())
    if ":" not in allowed:
        plain = re.sub(r"^[A-Za-z0-9]+://", "", plain)  # a bucket or a host by its URL
    small = not any(sign in allowed for sign in string.ascii_uppercase)
    texts = (plain.lower(), plain) if small else (plain, plain.lower(), plain.upper())
    for text in texts:
        for filler in ("-", "_", ""):
            if filler and filler not in allowed:
                continue
            made = "".join(sign if sign in allowed else filler for sign in text)
            made = made.strip(filler or None)[:longest]
            if len(made) * 2 > len(plain) and re.search(pattern, made):
                return made
    return None
