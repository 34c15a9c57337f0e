"""The names in the subject of a result, and patterns over them.

A subject reads like ``sjc1 racks c[01-08] feed A``: the site, then a noun and a name each. The
words that a report prints are the words that a waiver matches.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import TYPE_CHECKING

from rackwright.model.names import compress_hostlist, expand_hostlist
from rackwright.policy.policy_sets import released_words

if TYPE_CHECKING:
    from rackwright.policy.engine import Result

_KEY = re.compile(r"[a-z][a-z0-9_]{0,31}", re.ASCII)
_LONGEST = 200
_RACKS = re.compile(r"(?P<head>.*?)(?<!\S)racks? (?P<racks>\S+)(?P<tail>.*)")


def check_pattern(key: str, pattern: str) -> None:
    """Refuse what can never match.

    Raises:
        ValueError: the key is no noun, or the pattern is empty, too long or cannot be printed.
    """
    if not _KEY.fullmatch(key):
        raise ValueError(f"{key!a} is no word of a subject; write it like 'rack' or 'file_system'")
    if not pattern.strip():
        raise ValueError(f"'{key}' is empty; name what is waived")
    if len(pattern) > _LONGEST or not pattern.isprintable():
        raise ValueError(f"'{key}' is not a name or a pattern of at most {_LONGEST} characters")


def matches(match: Mapping[str, str], result: Result) -> bool:
    """Return True if every pattern of ``match`` fits ``result``."""
    return all(
        any(fits(pattern, name) for name in named(result, key)) for key, pattern in match.items()
    )


def named(result: Result, key: str) -> Iterator[str]:
    """Yield the names that ``result`` has for a noun, like ``c[01-08]`` for ``rack``."""
    text = result.subject.name
    words = text.split()
    if key == "subject":
        yield text
    elif key == "what":
        yield result.what
        yield released_words(result.policy, result.what)
    elif key == "site":
        if result.subject.path[:1] == ("sites",) and words:
            # A site as a whole is called 'site sjc1', a part of it begins with the site's name.
            yield words[1] if words[0] == "site" and len(words) > 1 else words[0]
    else:
        noun = key.split("_")
        plural = [*noun[:-1], f"{noun[-1]}s"]
        for start in range(len(words) - len(noun)):
            if words[start : start + len(noun)] in (noun, plural):
                yield words[start + len(noun)]


def nouns(result: Result) -> set[str]:
    """Return the keys that can match ``result``, as far as its subject shows them."""
    words = result.subject.name.split()[1:]
    found = {word.removesuffix("s") for word in words[:-1:2] if _KEY.fullmatch(word)}
    return found | {"site", "subject"} | ({"what"} if result.what else set())


def match_for(result: Result, results: Iterable[Result]) -> dict[str, str]:
    """Return a match that fits ``result`` and no other result of its rule among ``results``.

    It names the nouns of the subject where they are enough, for these outlast a change of what
    stands beside it in a report; else the whole subject.
    """
    keys = sorted(nouns(result) - {"subject"})
    found = {key: next(named(result, key), "") for key in keys}
    by_nouns = {key: name for key, name in found.items() if name}
    if set(by_nouns) - {"site", "what"}:
        rivals = [r for r in results if r.policy == result.policy and matches(by_nouns, r)]
        if all((r.subject.name, r.what) == (result.subject.name, result.what) for r in rivals):
            return by_nouns
    whole = {"subject": result.subject.name}
    return whole | ({"what": result.what} if result.what else {})


def fits(pattern: str, name: str) -> bool:
    """Return True if ``name``, or every name of a host list such as ``c[01-08]``, fits ``pattern``.

    ``*`` and ``?`` are wildcards; brackets are those of a host list.
    """
    if pattern == name:
        return True
    if "*" in pattern or "?" in pattern:
        glob = pattern.replace("[", "[[]")
        return all(fnmatchcase(member, glob) for member in members(name))
    return members(name) <= members(pattern)


def split_racks(name: str) -> tuple[str, frozenset[str]]:
    """Return a subject without its racks, and the racks.

    ``sjc1 racks c[01-02] feed A`` gives ``sjc1 rack feed A`` and c01, c02; a subject without racks
    gives itself and the empty name, as the only one.
    """
    match = _RACKS.fullmatch(name)
    if match is None:
        return name, frozenset({""})
    return f"{match['head']}rack{match['tail']}", members(match["racks"])


def with_racks(name: str, racks: Iterable[str]) -> str:
    """Return a subject with other racks; one without racks stays as it is."""
    match = _RACKS.fullmatch(name)
    names = sorted(racks)
    if match is None or not names:
        return name
    noun = "rack" if len(names) == 1 else "racks"
    return f"{match['head']}{noun} {compress_hostlist(names)}{match['tail']}"


@lru_cache(maxsize=64)
def members(text: str) -> frozenset[str]:
    """Return the names of a host list; any other text is the one name it is."""
    try:
        return frozenset({text}) if " " in text else frozenset(expand_hostlist(text))
    except ValueError:
        return frozenset({text})
