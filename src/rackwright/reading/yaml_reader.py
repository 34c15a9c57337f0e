"""YAML 1.2 core scalars out of hostile or careless text, within bounds.

PyYAML only composes nodes here; no constructor runs. ``yes``, ``012`` and ``12:30`` stay text,
which is what the 1.2 core schema says and what people mean.
"""

from __future__ import annotations

import os
import re
import stat
import sys
import unicodedata
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, BinaryIO

import yaml
from yaml import (
    DocumentEndEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    StreamEndEvent,
    StreamStartEvent,
)

from rackwright.errors import Location, SpecError, SpecErrors
from rackwright.harmless import visible
from rackwright.reading.syntax_errors import DEEPEST, TOO_DEEP, syntax_error
from rackwright.reading.tree import Item, KeyValue

LARGEST_FILE = 16 * 1024 * 1024
SAFE_DEPTH = 2_500
"""What the recursion of libyaml's binding certainly takes: 20,000 levels fit into 8 MiB of stack."""
MOST_NODES = 500_000
LONGEST_KEY = 256
MOST_DIGITS = 18
MOST_ERRORS = 1_000


_Base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_INTEGER = re.compile(r"[-+]?(0|[1-9][0-9_]*)", re.ASCII)
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?", re.ASCII)
_NOT_FINITE = re.compile(r"[-+]?\.(inf|nan)", re.IGNORECASE)
_LINE_BREAKS = re.compile("[\n\r\x85\u2028\u2029]")
_OPENING = re.compile(r"(?<![0-9A-Za-z])[\[{]")
"""A bracket that may begin a collection; behind a letter or a digit it is text, or an error."""
_WORDS: dict[str, Any] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_CORE = "tag:yaml.org,2002:"
_SCALAR_TAGS = frozenset(_CORE + t for t in ("null", "bool", "int", "float", "timestamp", "str"))
_COLLECTION_TAGS = frozenset((_CORE + "seq", _CORE + "map"))
_TAGS = {
    yaml.ScalarNode: _CORE + "str",
    yaml.SequenceNode: _CORE + "seq",
    yaml.MappingNode: _CORE + "map",
}
_UNKNOWN = object()
STANDARD_INPUT = "-"
_HIDDEN = frozenset({"Cc", "Cf", "Cs"})


class _Loader(_Base):  # type: ignore[misc]
    def resolve(self, kind: type[yaml.Node], _value: Any, _implicit: Any) -> str:
        """The tag of a node without one; what a scalar means is decided by ``_Reader``."""
        return _TAGS[kind]


def read_file(path: Path) -> Item:
    """The document in ``path``.

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
        # Opening a pipe that nobody writes to would wait for ever, and a device may never end.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise SpecErrors([SpecError(f"'{visible(name)}' is not a regular file")])
            return file.read(LARGEST_FILE + 1)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise SpecErrors([SpecError(f"'{visible(name)}' cannot be read: {reason}")]) from None


@lru_cache(maxsize=1)
def _standard_input(stream: BinaryIO) -> bytes:
    return stream.read(LARGEST_FILE + 1)


def read_bytes(raw: bytes, name: str) -> Item:
    """The document in ``raw``, the content of a file; ``name`` stands for it in positions.

    Raises:
        SpecErrors: as ``read_file``.
    """
    if len(raw) > LARGEST_FILE:
        raise SpecErrors(
            [SpecError(f"'{visible(name)}' is larger than {LARGEST_FILE // 2**20} MiB")]
        )
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = len((raw[: error.start] + b".").splitlines())
        raise SpecErrors(
            [SpecError("the file is not UTF-8", location=Location(name, line, 1))]
        ) from None
    return read_text(text, name)


def read_text(text: str, name: str) -> Item:
    """The document in ``text``; ``name`` stands for the file in positions.

    Raises:
        SpecErrors: it is empty, no YAML, or beyond the bounds.
    """
    plain = _read_plain(text, name)
    return _read_nodes(text, name) if plain is None else plain


def _read_nodes(text: str, name: str) -> Item:
    """The document in ``text``, whatever it has in it.

    Raises:
        SpecErrors: as ``read_text``.
    """
    reader = _Reader(name, text)
    try:
        if _most_depth(text) > SAFE_DEPTH:
            _check_depth(text, name)
        loader = _Loader(text)
        try:
            node = loader.get_single_node()
        finally:
            loader.dispose()
    except yaml.YAMLError as error:
        raise SpecErrors([syntax_error(error, text, name)]) from None
    except UnicodeError:
        raise SpecErrors([SpecError(f"'{visible(name)}' holds text that is not Unicode")]) from None
    except RecursionError:
        raise SpecErrors([SpecError(f"'{visible(name)}' is nested too deeply")]) from None
    if node is None:
        raise SpecErrors([SpecError(f"'{visible(name)}' is empty", location=Location(name, 1, 1))])
    item = reader.convert(node, 0)
    if reader.errors:
        raise SpecErrors(reader.errors)
    return item


class _NotPlainError(Exception):
    """A document has something that one pass over it does not tell."""


def _read_plain(text: str, name: str) -> Item | None:
    """The document in ``text`` if it is plain: without anchors, tags, merges and mistakes; else None.

    Nearly every document is. Its items are made from what the parser sees, one after the other; nodes
    in between would take as long again, and most of the memory.
    """
    try:
        loader = _Loader(text)
        try:
            return _PlainReader(name, loader.get_event).document()
        finally:
            loader.dispose()
    except (_NotPlainError, yaml.YAMLError, ValueError):
        return None


class _PlainReader:
    """Makes items of a plain document while it is parsed; no deeper than the bound."""

    def __init__(self, name: str, following: Callable[[], Any]) -> None:
        self._name = name
        self._following = following
        self._nodes = 1
        # A large document repeats most of its words: each is looked at, and kept, once.
        self._keys: dict[str, str] = {}
        self._meanings: dict[str, Any] = {}

    def document(self) -> Item:
        """The one document that there is.

        Raises:
            _NotPlainError: it is not plain, or there is another number of them.
            ValueError: a number in it is out of bounds.
            yaml.YAMLError: it is not YAML.
        """
        begun = [type(self._following()) for _ in range(2)]
        if begun != [StreamStartEvent, DocumentStartEvent]:
            raise _NotPlainError
        item = self._item(self._following(), 0)
        ended = [type(self._following()) for _ in range(2)]
        if ended != [DocumentEndEvent, StreamEndEvent]:
            raise _NotPlainError
        return item

    def _item(self, event: Any, depth: int) -> Item:
        """The item that begins with an event.

        Raises:
            _NotPlainError: it has an anchor or a tag, or goes beyond the bounds.
        """
        mark, kind = event.start_mark, type(event)
        if event.anchor or event.tag:
            raise _NotPlainError
        value: Any
        if kind is ScalarEvent:
            text: str = event.value
            if event.style:
                return Item(text, self._name, mark.line + 1, mark.column + 1)
            value = self._meanings.get(text, _UNKNOWN)
            if value is _UNKNOWN:
                value = self._meanings[text] = _meaning(text)
            if not text:
                return Item(value, self._name, mark.line + 1, mark.column + 1, blank=True)
            return Item(value, self._name, mark.line + 1, mark.column + 1)
        if depth >= DEEPEST:
            raise _NotPlainError
        value = self._mapping(depth + 1) if kind is MappingStartEvent else self._list(depth + 1)
        self._nodes += len(value)
        if self._nodes > MOST_NODES:
            raise _NotPlainError
        return Item(value, self._name, mark.line + 1, mark.column + 1)

    def _list(self, depth: int) -> list[Item]:
        following = self._following
        items = []
        while type(event := following()) is not SequenceEndEvent:
            items.append(self._item(event, depth))
        return items

    def _mapping(self, depth: int) -> dict[str, KeyValue]:
        following, keys = self._following, self._keys
        entries: dict[str, KeyValue] = {}
        while type(event := following()) is not MappingEndEvent:
            if type(event) is not ScalarEvent or event.anchor or event.tag:
                raise _NotPlainError
            key: str = event.value
            known = keys.get(key)
            if known is None:
                if key == "<<" or _key_problem(key):
                    raise _NotPlainError
                known = keys[key] = key
            if known in entries:
                raise _NotPlainError
            mark: Any = event.start_mark
            item = self._item(following(), depth)
            entries[known] = KeyValue(item, mark.line + 1, mark.column + 1)
        return entries


def _most_depth(text: str) -> int:
    """No less than how deeply ``text`` nests, found without parsing it.

    In brackets a level, and a pair that is a level by itself, takes a bracket of its own. Elsewhere
    a column begins a mapping and a sequence at most, either by the indentation of the line or
    behind one of the marks on it. So no character stands for more than two levels.
    """
    lines = _LINE_BREAKS.split(text)
    brackets = 2 * len(_OPENING.findall(text)) + 3
    most = brackets + 2 * max(map(len, lines))
    if most <= SAFE_DEPTH:
        return most
    block = max(
        2 * (len(line) - len(line.lstrip(" "))) + sum(map(line.count, "-?:")) for line in lines
    )
    return brackets + block


def events(text: str) -> Iterator[yaml.Event]:
    """What the parser sees in ``text``, one after the other; reading them takes no recursion.

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


def _check_depth(text: str, name: str) -> None:
    """Refuse nesting that is too deep, with its place.

    Raises:
        SpecErrors: it is too deep.
    """
    depth = 0
    for event in events(text):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > DEEPEST:
                mark: Any = event.start_mark
                where = Location(name, mark.line + 1, mark.column + 1)
                raise SpecErrors([SpecError(TOO_DEEP, location=where)])
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1


class _Reader:
    """Turns composed nodes into items and collects every mistake."""

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self._text = text
        self.errors: list[SpecError] = []
        self._nodes = 0

    def _complain(self, message: str, mark: Any, hint: str | None = None) -> None:
        where = Location(self.name, mark.line + 1, mark.column + 1)
        self.errors.append(SpecError(message, hint=hint, location=where))
        if len(self.errors) >= MOST_ERRORS:
            raise SpecErrors(self.errors)

    def convert(self, node: yaml.Node, depth: int) -> Item:
        """The item of ``node``; aliases are expanded, within the bounds.

        Raises:
            SpecErrors: they make the document too large, or it nests too deeply.
        """
        self._nodes += 1
        mark = node.start_mark
        if self._nodes > MOST_NODES or depth > DEEPEST:
            _check_depth(self._text, self.name)
            self._complain("the document is too large once its aliases are expanded", mark)
            raise SpecErrors(self.errors)
        value: Any
        blank = False
        if isinstance(node, yaml.ScalarNode):
            value = self._scalar(node)
            blank = not (node.value or node.style) and node.tag == _CORE + "str"
        elif node.tag not in _COLLECTION_TAGS:
            self._complain(f"the tag '{visible(node.tag)}' is not allowed", mark)
            value = None
        elif isinstance(node, yaml.SequenceNode):
            value = [self.convert(child, depth + 1) for child in node.value]
        else:
            assert isinstance(node, yaml.MappingNode)  # noqa: S101 - YAML has three kinds of nodes
            value = self._mapping(node, depth)
        return Item(value, self.name, mark.line + 1, mark.column + 1, blank=blank)

    def _scalar(self, node: yaml.ScalarNode) -> Any:
        text: str = node.value
        if node.tag not in _SCALAR_TAGS:
            self._complain(f"the tag '{visible(node.tag)}' is not allowed", node.start_mark)
            return text
        if node.style:  # quoted or block: text, whatever it looks like
            return text
        try:
            return _meaning(text)
        except ValueError as error:
            self._complain(str(error), node.start_mark)
            return 0

    def _mapping(self, node: yaml.MappingNode, depth: int) -> dict[str, KeyValue]:
        entries: dict[str, KeyValue] = {}
        merged: list[tuple[str, KeyValue]] = []
        for key_node, value_node in node.value:
            mark = key_node.start_mark
            if not isinstance(key_node, yaml.ScalarNode):
                self._complain("a key is a single word", mark)
                continue
            key = key_node.value
            if key == "<<" and not key_node.style:
                merged += self._merge(value_node, depth)
                continue
            if problem := _key_problem(key):
                self._complain(problem, mark)
                continue
            if key in entries:
                first = entries[key]
                self._complain(
                    f"the key '{visible(key)}' is given twice",
                    mark,
                    f"the first one is at {first.line}:{first.column}",
                )
                continue
            item = self.convert(value_node, depth + 1)
            entries[key] = KeyValue(item, mark.line + 1, mark.column + 1)
        for key, entry in merged:
            entries.setdefault(key, entry)
        return entries

    def _merge(self, node: yaml.Node, depth: int) -> list[tuple[str, KeyValue]]:
        sources = node.value if isinstance(node, yaml.SequenceNode) else [node]
        merged: list[tuple[str, KeyValue]] = []
        for source in sources:
            if not isinstance(source, yaml.MappingNode):
                self._complain("'<<' takes a mapping", source.start_mark)
                continue
            merged += self.convert(source, depth + 1).value.items()
        return merged


def _meaning(text: str) -> Any:
    """What a scalar without quotes means.

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
