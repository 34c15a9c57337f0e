"""Documents changed by chance: their parts, knowing what such documents hold, or their raw bytes."""

from __future__ import annotations

import copy
import json
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import yaml

Path = tuple[Any, ...]

HOSTILE: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, -0.0, 0.1, 1e308, 5e-324, 10**18 - 1, -(10**18), 2**31, 10**400),
    *("", " ", "\0", "\x1b[31m", "\u202e", "\ud800", "../../etc/passwd", "x" * 10_000, "1 kW"),
    *("999999999999999 kW", "-1 kW", "0 W", "1e999", "nan", ".inf", "c[1-999999999]", "c[" * 50),
    *(
        "c[01-02,02-03]",
        "c[0-9][0-9]",
        "c[09-1]",
        "c[]",
        "c[01-08],c[01-08]",
        "rack,rack",
        ",",
        "é",
    ),
    *(
        "::/0",
        "0.0.0.0/0",
        "2026-13-45",
        "9999-12-31",
        "0001-01-01",
        "${x}",
        "{{ x }}",
        "%s",
        "{0}",
    ),
    *("!!python/name:os", "##[group]x", "::error::x", "a\nb", "a\rb", "a: b", "- a", "#", "&a *a"),
    *([], {}, [[]], [None], {"name": None}, {"": ""}, {"value": 1}, [{"name": "a"}] * 2),
)
_PIECES = (
    *(b"\0", b"\t", b"\r", b"\r\n", b"\n", b"\n\n", b"  ", b":", b": ", b"- ", b"? ", b"[", b"]"),
    *(b"{", b"}", b",", b"&a ", b"*a", b"<<: *a", b"!!set ", b"!t ", b"|", b">", b"'", b'"', b"#"),
    *(b"%", b"---\n", b"...\n", b"\\", b"\\u0000", b"\xef\xbb\xbf", b"\xff", b"\xc3", b"\x85"),
    *(
        "\u2028".encode(),
        "\u202e".encode(),
        b"\x1b[2J",
        b".nan",
        b"1e999",
        b"~",
        b"{{",
        b"}}",
        b"{%",
    ),
    *(b"null", b"true", b"0x10", b"1_000", b"-", b"@", b"`", b"9" * 30, b"[" * 70, b"a: " * 3),
)
_DUMPER: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?")


_WAYS: tuple[str, ...] = ("tweak",) * 8 + ("splice",) * 5 + ("add",) * 2
_WAYS += ("rename", "rename", "delete", "double", "swap", "hostile", "hostile", "key")


class Corpus:
    """What real documents of a kind hold under each key; new ones are put together from that."""

    def __init__(self, documents: Sequence[Any]) -> None:
        self.documents = documents
        self._values: dict[str, list[Any]] = {}
        self._keys: dict[str, list[str]] = {}
        for document in documents:
            self._read(document, "")

    def _read(self, value: Any, name: str) -> None:
        if isinstance(value, Mapping):
            known = self._keys.setdefault(name, [])
            known += [key for key in value if key not in known]
            for key, child in value.items():
                self._values.setdefault(key, []).append(child)
                self._read(child, key)
        elif isinstance(value, list):
            for child in value:
                self._values.setdefault(f"{name}[]", []).append(child)
                self._read(child, f"{name}[]")

    def mutate(self, document: Any, chance: random.Random) -> Any:
        """``document``, which stays as it is, with one part of it changed, or several."""
        made = copy.deepcopy(document)
        for _ in range(chance.choice((1, 1, 1, 1, 1, 1, 2, 2, 3, 6))):
            found = list(places(made))
            if not found:
                break
            # Numbers are what is judged; a name is spoilt more easily than changed.
            numbers = [path for path in found if _is_number(at(made, path))]
            if numbers and chance.random() < 0.4:
                found = numbers
            self._change(made, chance.choice(found), chance)
        return made

    def _change(self, document: Any, path: Path, chance: random.Random) -> None:
        *above, last = path
        parent: Any = at(document, above)
        names = ["", *(f"{k}" for k in above)]
        key = last if isinstance(last, str) else f"{names[-1]}[]"
        match chance.choice(_WAYS):
            case "delete":
                del parent[last]
            case "double" if isinstance(parent, list):
                parent.insert(last, copy.deepcopy(parent[last]))
            case "swap":
                others = list(parent) if isinstance(parent, dict) else range(len(parent))
                other = chance.choice(list(others))
                parent[last], parent[other] = parent[other], parent[last]
            case "tweak":
                parent[last] = _tweak(parent[last], chance)
            case "splice" if self._values.get(key):
                parent[last] = copy.deepcopy(chance.choice(self._values[key]))
            case "add" if isinstance(parent[last], dict) and self._keys.get(key):
                new = chance.choice(self._keys[key])
                parent[last][new] = copy.deepcopy(chance.choice(self._values[new]))
            case "rename" if isinstance(parent[last], str):
                _rename(document, parent[last], _tweak(parent[last], chance))
            case "key" if isinstance(parent, dict):
                parent[str(chance.choice(HOSTILE))] = parent.pop(last)
            case _:
                parent[last] = copy.deepcopy(chance.choice(HOSTILE))


def places(value: Any, path: Path = ()) -> Iterator[Path]:
    """The path of every part of a document but the whole."""
    if not isinstance(value, (dict, list)):
        return
    for key, child in value.items() if isinstance(value, dict) else enumerate(value):
        yield (*path, key)
        yield from places(child, (*path, key))


def at(document: Any, path: Sequence[Any]) -> Any:
    """The part of ``document`` at ``path``."""
    for part in path:
        document = document[part]
    return document


def _rename(value: Any, old: str, new: Any) -> None:
    """Write ``new`` for ``old`` wherever it stands by itself."""
    if isinstance(value, (dict, list)):
        for key, child in value.items() if isinstance(value, dict) else enumerate(value):
            if child == old:
                value[key] = new
            _rename(child, old, new)


def _is_number(value: Any) -> bool:
    if isinstance(value, str):
        return value[:1].isdigit()
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _tweak(value: Any, chance: random.Random) -> Any:
    """Nearly the same: a number that is a little or much more or less, a text with a change in it."""
    match value:
        case bool():
            return not value
        case int() | float():
            return _number(value, chance)
        case str() if _NUMBER.search(value) and chance.random() < 0.7:
            found = chance.choice(list(_NUMBER.finditer(value)))
            text = found[0]
            number = float(text) if "." in text else int(text)
            return f"{value[: found.start()]}{_number(number, chance)}{value[found.end() :]}"
        case str() if value:
            cut = chance.randrange(len(value))
            new = chance.choice(
                ["", value[cut], value[:cut], "é", "\u202e", "-", ".", "[1-2]", " ", "A"]
            )
            return value[:cut] + new + value[cut + chance.randrange(2) :]
        case list():
            return value * chance.choice((0, 2, 3))
        case _:
            return copy.deepcopy(chance.choice(HOSTILE))


def _number(value: float, chance: random.Random) -> Any:
    way = chance.randrange(9)
    if way < 6:
        return (0, -value, value + 1, value - 1, value * 10, value * 1000)[way]
    return (value / 3 if abs(value) < 10**300 else 0, 2**63, 1e-9)[way - 6]


def mutate_bytes(raw: bytes, chance: random.Random) -> bytes:
    """``raw`` with bytes and lines deleted, doubled, moved and put in."""
    for _ in range(chance.choice((1, 1, 2, 3, 6))):
        cut = chance.randrange(len(raw) + 1)
        end = min(len(raw), cut + chance.choice((1, 1, 2, 8, 64, 512)))
        match chance.randrange(8):
            case 0:
                raw = raw[:cut] + raw[end:]
            case 1:
                raw = raw[:end] + raw[cut:]
            case 2:
                raw = raw[:cut] + bytes([chance.randrange(256)]) + raw[cut + 1 :]
            case 3:
                raw = raw[:cut]
            case 4 | 5:
                raw = raw[:cut] + chance.choice(_PIECES) + raw[cut:]
            case _:
                lines = raw.splitlines(keepends=True) or [b""]
                one, other = chance.randrange(len(lines)), chance.randrange(len(lines))
                lines[one : one + chance.randrange(3)] = lines[other : other + chance.randrange(4)]
                raw = b"".join(lines)
    return raw


def as_file(document: Any, chance: random.Random) -> bytes:
    """``document`` as a file: YAML, or JSON, which is YAML as well."""
    if chance.random() < 0.25:
        try:
            dumped: str = yaml.dump(document, None, _DUMPER, sort_keys=False, allow_unicode=True)
            return dumped.encode()
        except (ValueError, yaml.YAMLError):
            pass  # half a character has no place in a file; in JSON it is escaped
    return json.dumps(document, indent=1).encode()
