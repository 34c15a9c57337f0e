"""Errors of the YAML parser in the words of those who write blueprints."""

from __future__ import annotations

import re

import yaml

from rackwright.errors import Location, SpecError
from rackwright.reading import cures

DEEPEST = 64
"""Levels of a document that are accepted."""
TOO_DEEP = f"nested more than {DEEPEST} deep"
_CONTROL = re.compile(
    r"[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufeff\uff00-\ufffd\U00010000-\U0010ffff]"
)
_QUOTE = "put the text in quotes"
_CONFLICT = re.compile(r"^(<{7}|>{7}) ", re.MULTILINE)
_AFTER_QUOTES = re.compile(r""":\s+(?:"[^"]*"|'[^']*')[ \t]*[^\s,#}\]:][^,}\]]*$""")
NO_WORD = "a key is a single word"
_WORDS: tuple[tuple[str, str, str | None], ...] = (
    (NO_WORD, NO_WORD, None),
    ("tab character", "a tab is not an indentation", "indent with spaces"),
    (
        "could not find expected ':'",
        "this line is no 'key: value'",
        "check the indentation and the ':' of this line and the one before",
    ),
    (
        "mapping values are not allowed",
        "a second ':' in one value, or a key that is indented too far",
        "check the indentation and the ':' of this line and the one before; put text with ': ' in quotes",
    ),
    (
        "unknown escape",
        "a '\\' in double quotes begins no known escape",
        "write '\\\\', or use single quotes",
    ),
    (
        "hexdecimal number",
        "an escape in double quotes lacks digits",
        "write '\\\\', or use single quotes",
    ),
    (
        "escape code",
        "an escape in double quotes is no character",
        "write '\\\\', or use single quotes",
    ),
    ("document indicator", "quotes are not closed before '---' or '...'", "close them"),
    (
        "unexpected ':'",
        "a ':' is where a value was expected",
        "write 'key: value', with a blank behind the ':'",
    ),
    (
        "block sequence entries are not allowed",
        "an item with '-' cannot be here",
        "begin it on a line of its own",
    ),
    ("mapping keys are not allowed", "a key cannot be here", "begin it on a line of its own"),
    (
        "alphabetic or numeric character",
        "'&' and '*' begin an anchor or an alias, which has a name",
        _QUOTE,
    ),
    (
        "comment or line break",
        "text behind '|' or '>' is not part of the value",
        "begin the text on the next line",
    ),
    ("indentation indicator", "an indentation of 0 is none", "write '|' or '>' alone"),
    ("tag handle", "a '!' begins a tag, which is not allowed", _QUOTE),
    ("URI", "a '!' begins a tag, which is not allowed", _QUOTE),
    ("expected '!'", "a '!' begins a tag, which is not allowed", _QUOTE),
    ("expected '>'", "a '!' begins a tag, which is not allowed", _QUOTE),
    ("directive", "a '%' at the begin of a line is not allowed", _QUOTE),
    ("YAML document", "a '%' at the begin of a line is not allowed", _QUOTE),
    (
        "<document start>",
        "the document ends before this line",
        "check the indentation of this line",
    ),
    (
        "node content",
        "a value is missing here",
        "write a value, or remove the ','; close what is open",
    ),
)
"""Words of the parser, what they mean, and what to do."""


def syntax_error(error: yaml.YAMLError, text: str, name: str) -> SpecError:
    """Return what is wrong with ``text``, the content of the file ``name``."""
    if hidden := _CONTROL.search(text):
        at = hidden.start()
        line = text.count("\n", 0, at) + 1
        column = at - text.rfind("\n", 0, at)
        return SpecError(
            f"the file has the character U+{ord(hidden[0]):04X}, which cannot be seen",
            hint="remove it; it often comes from copied or binary text",
            location=Location(name, line, column),
        )
    if conflict := _CONFLICT.search(text):
        return SpecError(
            "the file holds both sides of a merge that git could not finish",
            hint="keep one of them, and remove the lines with '<<<<<<<', '=======' and '>>>>>>>'",
            location=Location(name, text.count("\n", 0, conflict.start()) + 1, 1),
        )
    if not isinstance(error, yaml.MarkedYAMLError):
        return SpecError("the file is not YAML", location=Location(name, 1, 1))
    mark = error.problem_mark or error.context_mark
    where = Location(name, mark.line + 1, mark.column + 1) if mark else None
    at_mark = text[mark.index : mark.index + 1] if mark else ""
    hint: str | None
    problem = error.problem or ""
    if "exceeded maximum nesting depth" in problem:  # libyaml's own bound, met before an event
        return SpecError(TOO_DEEP, location=where)
    if at_mark == "\t":
        return SpecError("a tab is not an indentation", hint="indent with spaces", location=where)
    row = text.splitlines()[mark.line] if mark and mark.line < len(text.splitlines()) else ""
    if (cure := cures.of_variable(row)) and "{" in cure:
        return SpecError("a variable is not a value", hint=cure, location=where)
    if at_mark == "?" and "mapping keys are not allowed" in problem:
        hint = "leave the key out while the value is not known"
        return SpecError("'?' is not a value", hint=hint, location=where)
    if _AFTER_QUOTES.search(row):
        message = "there is text behind the closing quote"
        return SpecError(message, hint="quote the whole value, or nothing of it", location=where)
    if "cannot start any token" in problem:
        message = f"a value cannot begin with '{at_mark}'"
        hint = f"put a value that starts with '{at_mark}' in quotes"
        return SpecError(message, hint=hint, location=where)
    for words, message, hint in _WORDS:
        if words in problem:
            return SpecError(message, hint=hint, location=where)
    message, hint = _in_context(problem, error.context_mark, where)
    return SpecError(message, hint=hint, location=where)


def _in_context(
    problem: str, began: yaml.Mark | None, where: Location | None
) -> tuple[str, str | None]:
    """Return what is wrong and what to do; ``began`` is where the part begins that it is in."""
    if began is None:
        return "the file is not YAML from here on", "check the indentation, quotes and brackets"
    line, column = began.line + 1, began.column + 1
    if unclosed := re.search(r"expected ',' or '([]}])'", problem):
        opening = {"]": "[", "}": "{"}[unclosed[1]]
        hint = f"close it with '{unclosed[1]}', or put a ',' between two values"
        return f"the '{opening}' of line {line} is not closed here", hint
    if "unexpected end of stream" in problem:
        return f"the quotes of line {line} are not closed", None
    what = "items, each with its '-'," if "'-'" in problem else "keys"
    if where is not None and where.column != column:
        text = f"the indentation does not fit: column {where.column}, and the {what} from line"
        return f"{text} {line} on begin in column {column}", "indent with as many blanks as there"
    return f"the {what} from line {line} on end here with something else", None
