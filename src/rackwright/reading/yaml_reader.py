"""YAML 1.2 core scalars out of hostile or careless text, within bounds.

Items are made from the events of PyYAML's parser; nothing is composed and no constructor runs.
``yes``, ``012`` and ``12:30`` stay text, as in the 1.2 core schema and as people mean them.
"""

from __future__ import annotations

import os
import re
import stat
import sys
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

import yaml
from yaml import (
    AliasEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    StreamEndEvent,
)

from rackwright.errors import Location, SpecError, SpecErrors
from rackwright.harmless import visible
from rackwright.reading.suggest import nearest
from rackwright.reading.syntax_errors import DEEPEST, NO_WORD, TOO_DEEP, syntax_error
from rackwright.reading.tree import Item, KeyValue

LARGEST_FILE = 16 * 1024 * 1024
MOST_NODES = 500_000
LONGEST_KEY = 256
MOST_DIGITS = 18
MOST_ERRORS = 1_000


_TOO_LARGE = "the document is too large once its aliases are expanded"

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_INTEGER = re.compile(r"[-+]?(0|[1-9][0-9_]*)", re.ASCII)
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?", re.ASCII)
_NOT_FINITE = re.compile(r"[-+]?\.(inf|nan)", re.IGNORECASE)
_WORDS: dict[str, Any] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_CORE = "tag:yaml.org,2002:"
_TEXT_TAGS = frozenset((None, "!", _CORE + "str"))
_SCALAR_TAGS = _TEXT_TAGS | {_CORE + tag for tag in ("null", "bool", "int", "float", "timestamp")}
_COLLECTION_TAGS = frozenset((None, "!", _CORE + "seq", _CORE + "map"))
_UNKNOWN = object()
_MOST_BESIDE = 1_000
"""Files of a folder among which one that may be meant is sought."""
_OTHER_KINDS = {
    b"\xff\xfe": "UTF-16",
    b"\xfe\xff": "UTF-16",
    b"PK\x03\x04": "an archive or a document of an office program",
    b"\xd0\xcf\x11\xe0": "a document of an office program",
    b"%PDF": "a PDF",
    b"\x89PNG": "a picture",
    b"\xff\xd8\xff": "a picture",
    b"\x1f\x8b": "compressed",
}
"""First bytes of files that people name by mistake."""
STANDARD_INPUT = "-"
_HIDDEN = frozenset({"Cc", "Cf", "Cs"})


def is_table(name: str) -> bool:
    """Return True if a file is a sheet by its name; the item of a sheet is its text."""
    return name.lower().endswith(".csv")


def read_file(path: Path) -> Item:
    """Return the document in ``path``.

    Raises:
        SpecErrors: it cannot be read or is not a YAML document that Rackwright accepts.
    """
    return read_bytes(read_raw(path), str(path))


def read_raw(path: Path) -> bytes:
    """Return the content of the file ``path``, at most one byte more than is accepted.

    The path ``-`` is the standard input, which is read once.

    Raises:
        SpecErrors: it cannot be read, or is no regular file.
    """
    name = str(path)
    try:
        if name == STANDARD_INPUT:
            return _standard_input(sys.stdin.buffer)
        # Opening a pipe without a writer would wait forever, and a device may never end.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise SpecErrors([SpecError(f"'{visible(name)}' is not a regular file")])
            return file.read(LARGEST_FILE + 1)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        found = SpecError(
            f"'{visible(name)}' cannot be read: {reason}", hint=_other_file(path, error)
        )
        raise SpecErrors([found]) from None


def _other_file(path: Path, error: OSError) -> str | None:
    """Return the hint for a file that cannot be opened: one beside it that may be meant."""
    folder = path if isinstance(error, IsADirectoryError) else path.parent
    if not isinstance(error, (FileNotFoundError, IsADirectoryError)):
        return None
    try:
        with os.scandir(folder) as entries:
            names = [one.name for one in islice(entries, _MOST_BESIDE) if one.name[:1] != "."]
    except OSError:
        return f"there is no folder '{visible(str(folder))}'"
    documents = sorted(name for name in names if name.endswith((".yaml", ".yml", ".json")))
    stems = {Path(name).stem: name for name in documents}
    near = nearest(path.stem, stems)
    if path.name == "blueprint.yaml" and len(stems) == 1:
        (near,) = stems
    if near is not None:
        return f"did you mean '{visible(str(folder / stems[near]))}'?"
    if path.name != "blueprint.yaml":
        return None if path.suffix else "name a blueprint, or a folder with a blueprint.yaml"
    beside = f"; the folder has {', '.join(documents[:5])}" if documents else ""
    return visible(f"'rackwright init FOLDER' writes a blueprint{beside}")


@lru_cache(maxsize=1)
def _standard_input(stream: BinaryIO) -> bytes:
    return stream.read(LARGEST_FILE + 1)


def read_bytes(raw: bytes, name: str) -> Item:
    """Return the document in ``raw``, the content of a file; ``name`` stands for it in positions.

    A sheet is returned as its text: only the documents below it tell where its answers belong.

    Raises:
        SpecErrors: as ``read_file``.
    """
    if len(raw) > LARGEST_FILE:
        raise SpecErrors(
            [SpecError(f"'{visible(name)}' is larger than {LARGEST_FILE // 2**20} MiB")]
        )
    for begin, kind in _OTHER_KINDS.items():
        if raw.startswith(begin):
            hint = "save a sheet as CSV in UTF-8 and any other text as UTF-8"
            place = Location(name, 1, 1)
            raise SpecErrors(
                [SpecError(f"the file is {kind}, not text in UTF-8", hint=hint, location=place)]
            )
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = (raw[: error.start] + b".").splitlines()
        place = Location(name, len(before), len(before[-1]))
        hint = "save it as 'CSV UTF-8'" if is_table(name) else "save it as UTF-8"
        raise SpecErrors([SpecError("the file is not UTF-8", hint=hint, location=place)]) from None
    return Item(text, name, 1, 1) if is_table(name) else read_text(text, name)


def read_text(text: str, name: str) -> Item:
    """Return the document in ``text``; ``name`` stands for the file in positions.

    Raises:
        SpecErrors: it is empty, no YAML, or beyond the bounds.
    """
    errors: list[SpecError] = []
    try:
        loader = _Loader(text)
        try:
            return _Reader(name, loader.get_event, errors).document()
        finally:
            loader.dispose()
    except yaml.YAMLError as error:
        raise SpecErrors([*errors, syntax_error(error, text, name)]) from None
    except UnicodeError:
        raise SpecErrors([SpecError(f"'{visible(name)}' holds text that is not Unicode")]) from None


@dataclass(frozen=True, slots=True)
class _Anchor:
    """A part of a document that aliases repeat.

    Attributes:
        nodes: number of items below it, with those that its own aliases repeat.
        height: number of collections that it nests, itself included.
        text: text of a scalar, which an alias may stand for as a key; None for a collection.
    """

    item: Item
    nodes: int
    height: int
    text: str | None


class _Reader:
    """Makes the items of a document while it is parsed, and collects every mistake."""

    def __init__(self, name: str, following: Callable[[], Any], errors: list[SpecError]) -> None:
        self._name = name
        self._following = following
        self._errors = errors
        self._nodes = 1
        self._deepest = 0
        # A large document repeats most of its words: each is looked at, and kept, once.
        self._keys: dict[str, str] = {}
        self._meanings: dict[str, Any] = {}
        self._anchors: dict[str, _Anchor | None] = {}  # None until the anchored part ends

    def document(self) -> Item:
        """Return the only document of the stream.

        Raises:
            SpecErrors: there is none or a second one, or it has mistakes.
            yaml.YAMLError: it is not YAML.
        """
        following = self._following
        following()  # the stream begins
        if type(following()) is StreamEndEvent:
            message = f"'{visible(self._name)}' is empty"
            hint = "write keys and values into it, or leave it out"
            raise SpecErrors([SpecError(message, hint=hint, location=Location(self._name, 1, 1))])
        item = self._item(following(), 0)
        following()  # the document ends
        if type(event := following()) is not StreamEndEvent:
            self._stop("a file holds one document", event.start_mark, "remove '---'")
        if self._errors:
            raise SpecErrors(self._errors)
        return item

    def _error(self, message: str, mark: Any, hint: str | None = None) -> SpecError:
        return SpecError(
            message, hint=hint, location=Location(self._name, mark.line + 1, mark.column + 1)
        )

    def _complain(self, message: str, mark: Any, hint: str | None = None) -> None:
        self._errors.append(self._error(message, mark, hint))
        if len(self._errors) >= MOST_ERRORS:
            raise SpecErrors(self._errors)

    def _stop(self, message: str, mark: Any, hint: str | None = None) -> NoReturn:
        raise SpecErrors([*self._errors, self._error(message, mark, hint)])

    def _item(self, event: Any, depth: int) -> Item:
        """Return the item that begins with ``event``, below ``depth`` collections.

        Raises:
            SpecErrors: it nests too deeply, or makes the document too large.
        """
        if event.anchor or event.tag:
            return self._marked(event, depth)
        mark, kind = event.start_mark, type(event)
        value: Any
        if kind is ScalarEvent:
            text: str = event.value
            if event.style:  # quoted or block: text, whatever it looks like
                return Item(text, self._name, mark.line + 1, mark.column + 1)
            value = self._meanings.get(text, _UNKNOWN)
            if value is _UNKNOWN:
                value = self._meaning(text, mark)
            if not text:
                return Item(value, self._name, mark.line + 1, mark.column + 1, blank=True)
            return Item(value, self._name, mark.line + 1, mark.column + 1)
        depth += 1
        if depth > self._deepest:
            self._deepest = depth
            if depth > DEEPEST:
                self._stop(TOO_DEEP, mark)
        value = self._mapping(depth) if kind is MappingStartEvent else self._list(depth)
        self._nodes += len(value)
        if self._nodes > MOST_NODES:
            self._stop(_TOO_LARGE, mark)
        return Item(value, self._name, mark.line + 1, mark.column + 1)

    def _meaning(self, text: str, mark: Any) -> Any:
        try:
            value = self._meanings[text] = _meaning(text)
        except ValueError as error:
            self._complain(str(error), mark)
            return 0
        return value

    def _marked(self, event: Any, depth: int) -> Item:
        """Return the item of an alias, or of an event with an anchor or a tag."""
        if type(event) is AliasEvent:
            return self._repeated(event, depth)
        name, tag, scalar = event.anchor, event.tag, type(event) is ScalarEvent
        event.anchor = event.tag = None
        if tag not in (_SCALAR_TAGS if scalar else _COLLECTION_TAGS):
            hint = "write the value without '!', or in quotes"
            self._complain(f"the tag '{visible(tag)}' is not allowed", event.start_mark, hint)
        if name in self._anchors:
            self._stop(
                "two anchors have one name", event.start_mark, "give one of them another name"
            )
        if name:
            self._anchors[name] = None
        nodes, deepest, self._deepest = self._nodes, self._deepest, depth
        item = self._item(event, depth)
        if item.blank and tag not in _TEXT_TAGS:
            item.blank = False
        if name:
            text = event.value if scalar else None
            height = self._deepest - depth
            self._anchors[name] = _Anchor(item, self._nodes - nodes, height, text)
        self._deepest = max(self._deepest, deepest)
        return item

    def _anchor(self, event: Any) -> _Anchor:
        """Return the part of the document that an alias repeats."""
        if event.anchor not in self._anchors:
            hint = "define the anchor with '&' before it is used"
            self._stop("an alias names no anchor", event.start_mark, hint)
        anchor = self._anchors[event.anchor]
        if anchor is None:  # an alias within the part that it repeats has no end
            self._stop(_TOO_LARGE, event.start_mark)
        return anchor

    def _repeated(self, event: Any, depth: int) -> Item:
        anchor = self._anchor(event)
        self._nodes += anchor.nodes
        self._deepest = max(self._deepest, depth + anchor.height)
        if self._nodes > MOST_NODES or self._deepest > DEEPEST:
            self._stop(_TOO_LARGE, event.start_mark)
        return anchor.item

    def _list(self, depth: int) -> list[Item]:
        following = self._following
        items: list[Item] = []
        while type(event := following()) is not SequenceEndEvent:
            items.append(self._item(event, depth))
        return items

    def _mapping(self, depth: int) -> dict[str, KeyValue]:
        following, keys = self._following, self._keys
        entries: dict[str, KeyValue] = {}
        merged: tuple[tuple[str, KeyValue], ...] = ()
        while (kind := type(event := following())) is not MappingEndEvent:
            mark: Any = event.start_mark
            key: Any
            if kind is ScalarEvent and not event.anchor and not event.tag:
                key = event.value
            else:
                key = self._key(event, depth)
            known = keys.get(key)
            if known is None:
                if key == "<<" and kind is ScalarEvent and not event.style:
                    merged += tuple(self._merged(self._item(following(), depth)))
                    continue
                if key is None:  # often a variable: its braces are a mapping inside a mapping
                    raise yaml.MarkedYAMLError(problem=NO_WORD, problem_mark=mark)
                if problem := _key_problem(key):
                    self._complain(problem, mark)
                    self._item(following(), depth)
                    continue
                known = keys[key] = key
            if known in entries:
                first = entries[known]
                hint = f"the first one is at {first.line}:{first.column}"
                self._complain(f"the key '{visible(known)}' is given twice", mark, hint)
                self._item(following(), depth)
                continue
            item = self._item(following(), depth)
            entries[known] = KeyValue(item, mark.line + 1, mark.column + 1)
        for key, entry in merged:
            entries.setdefault(key, entry)
        return entries

    def _key(self, event: Any, depth: int) -> str | None:
        """Return the text of a key that is an alias or has an anchor or a tag; None if it has no text."""
        if type(event) is AliasEvent:
            return self._anchor(event).text
        self._item(event, depth)
        text: str | None = event.value if type(event) is ScalarEvent else None
        return text

    def _merged(self, item: Item) -> Iterator[tuple[str, KeyValue]]:
        """Yield the entries that ``<<`` adds to a mapping, those of the first source first."""
        for source in item.value if isinstance(item.value, list) else [item]:
            if isinstance(source.value, dict):
                yield from source.value.items()
            else:
                where = Location(source.file, source.line, source.column)
                self._errors.append(SpecError("'<<' takes a mapping", location=where))


def read_cell(text: str, place: Location) -> Item:
    """Return the value in a cell of a sheet: a list, a text in quotes, or a scalar without them.

    Raises:
        SpecErrors: it is a list that is not YAML, or a number that is too long or too large.
    """
    try:
        if text[0] in "[{\"'":
            return _at(read_text(text, place.file), place)
        return _at(Item(_meaning(text), place.file, 1, 1), place)
    except ValueError as error:
        raise SpecErrors([SpecError(str(error), location=place)]) from None
    except SpecErrors as error:
        (first, *_) = error.errors
        raise SpecErrors([SpecError(first.summary, hint=first.hint, location=place)]) from None


def _at(item: Item, place: Location) -> Item:
    """Return ``item`` with the position of the cell that it is in."""
    value = item.value
    if isinstance(value, dict):
        value = {
            key: KeyValue(_at(e.item, place), place.line, place.column) for key, e in value.items()
        }
    elif isinstance(value, list):
        value = [_at(child, place) for child in value]
    return Item(value, place.file, place.line, place.column)


def events(text: str) -> Iterator[yaml.Event]:
    """Yield the parser's events of ``text``; reading them takes no recursion.

    Raises:
        yaml.YAMLError: from here on it is not YAML.
        UnicodeError: it holds half a character.
    """
    loader = _Loader(text)
    try:
        while loader.check_event():
            yield loader.get_event()
    finally:
        loader.dispose()


def _meaning(text: str) -> Any:
    """Return the meaning of a scalar without quotes.

    Raises:
        ValueError: it is a number that is too long, too large or not finite.
    """
    if text in _WORDS:
        return _WORDS[text]
    first = text[0]
    if not (first.isdigit() or first in "+-."):
        return text
    if _INTEGER.fullmatch(text):
        digits = text.replace("_", "")
        if len(digits) > MOST_DIGITS:
            raise ValueError(f"a number has at most {MOST_DIGITS} digits")
        return int(digits)
    if _NOT_FINITE.fullmatch(text):
        raise ValueError(f"'{text}' is not a finite number")
    if len(text) > 64 or _FLOAT.fullmatch(text) is None or text.lstrip("+-")[:2] == "00":
        return text
    if text.isdigit():
        return text  # a leading zero: 012 is a label, not twelve and not ten
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise ValueError(f"'{text}' is too large")
    return number


def _key_problem(key: str) -> str | None:
    if len(key) > LONGEST_KEY:
        return f"a key has at most {LONGEST_KEY} characters"
    plain = key.isascii() and key.isprintable()
    if not plain and any(unicodedata.category(c) in _HIDDEN for c in key):
        return f"the key {key!a} holds characters that cannot be seen"
    return None if key.strip() else "a key is empty"
