"""What reads the log of a job, and obeys some of it: small models of runners and terminals."""

from __future__ import annotations

import re
import unicodedata

COMMANDS = frozenset(
    [
        "add-mask",
        "add-matcher",
        "add-path",
        "debug",
        "echo",
        "endgroup",
        "error",
        "group",
        "notice",
        "remove-matcher",
        "save-state",
        "set-env",
        "set-output",
        "stop-commands",
        "warning",
        "token",
    ]
)
"""What GitHub's runner knows, and a token that ends what 'stop-commands' began."""
_SECTION = re.compile(
    r"section_(?:start|end):\d+:[a-zA-Z0-9_.-]+(?:\[\w+=\w+(?:, ?\w+=\w+)*\])?\r\x1b\[0K"
)
_FILLERS = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0")
_TURNS = frozenset(
    "\u061c\u200e\u200f\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
)


def obeyed_by_github(log: str) -> list[str]:
    """The names of the commands that GitHub's runner finds in ``log``, in their order."""
    found = []
    for line in re.split(r"\r\n|\r|\n", log):
        # It compares by the rules of a language: what has no width is not there.
        seen = "".join(sign for sign in line if not _ignored(sign))
        told = seen.lstrip()
        if told.startswith("::") and "::" in told[2:]:
            name = told[2:].partition("::")[0].partition(" ")[0]
        elif "##[" in seen and "]" in seen.partition("##[")[2]:
            name = seen.partition("##[")[2].partition("]")[0].partition(" ")[0]
        else:
            continue
        if name.lower() in COMMANDS:
            found.append(name)
    return found


def obeyed_by_others(log: str) -> list[str]:
    """What other runners, GitLab's viewer and terminals would obey in ``log``."""
    found = re.findall(r"##(?:vso|teamcity)\[", log)
    found += [match[0] for match in _SECTION.finditer(log)]
    plain = log.replace("\r\n", "\n")
    return [*found, *(sign for sign in plain if _steers(sign))]


def obeyed(log: str) -> list[str]:
    """Everything that anybody obeys in ``log``."""
    return obeyed_by_github(log) + obeyed_by_others(log)


def _ignored(sign: str) -> bool:
    if sign in "\t\n\v\f\r\x85":
        return False
    selectors = "\ufe00" <= sign <= "\ufe0f" or "\U000e0000" <= sign <= "\U000e0fff"
    return unicodedata.category(sign) in {"Cc", "Cf", "Cn"} or sign in _FILLERS or selectors


def _steers(sign: str) -> bool:
    return (unicodedata.category(sign) == "Cc" and sign not in "\t\n") or sign in _TURNS
