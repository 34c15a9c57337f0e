"""Pydantic's errors as messages for people, each at its place in the file."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pydantic import ValidationError

from rackwright.errors import SpecError, SpecErrors
from rackwright.harmless import visible
from rackwright.model.base import EMPTY_OR_TEXT, PROSE, TEXT
from rackwright.reading import cures, pattern_words
from rackwright.reading.suggest import alike, did_you_mean, nearest, similar
from rackwright.reading.tree import Path, Tree
from rackwright.reading.type_paths import (
    TypePlace,
    fitting,
    is_nested,
    keys_to_write,
    lists_text,
    names,
    tags,
    walk,
)
from rackwright.reading.unions import NO_MEMBER, Found, collapse

_EXPECTED: Mapping[str, str] = {
    **dict.fromkeys(("model_type", "model_attributes_type", "dict_type"), "a mapping"),
    **dict.fromkeys(("tuple_type", "list_type"), "a list"),
    "string_type": "text",
    "string_too_short": "text of {min_length:,} or more characters",
    **dict.fromkeys(("int_type", "int_parsing", "int_from_float"), "a whole number"),
    **dict.fromkeys(("float_type", "float_parsing"), "a number"),
    **dict.fromkeys(("bool_type", "bool_parsing"), "true or false"),
    **dict.fromkeys(
        ("date_type", "date_parsing", "date_from_datetime_parsing", "date_from_datetime_inexact"),
        "a date like 2026-11-27",
    ),
    **dict.fromkeys(
        ("datetime_type", "datetime_parsing", "datetime_from_date_parsing", "timezone_aware"),
        "a time like 2026-11-27T08:00:00Z",
    ),
    "greater_than": "above {gt:g}",
    "greater_than_equal": "{ge:g} or more",
    "less_than": "below {lt:g}",
    "less_than_equal": "{le:g} or less",
}
"""What pydantic wanted, by the kind of its error."""

_MOST_GUESSES = 200
"""Unknown keys of one document for which a suggestion is sought; more are no slips of the pen."""

_MOST_PLACES = 2_000
"""Mappings of a document in which the place of a misplaced key is sought."""

MOST_ERRORS = 1_000
"""Mistakes of one document that are told; finding the words for each takes time."""

_Explanation = tuple[str, str | None]
"""A message and its hint."""


@dataclass(frozen=True)
class UnknownKey:
    """A key that a document has and its model does not.

    Attributes:
        path: where it is.
        meant: the key that it is taken for; None if no known key is near.
        error: the words for people.
    """

    path: Path
    meant: str | None
    error: SpecError


def unknown_keys(
    tree: Tree, model: Any, also: Callable[[Path], Collection[str]]
) -> list[UnknownKey]:
    """Return the keys of a document that neither ``model`` nor another form of it knows.

    Args:
        tree: the document.
        model: what it is meant to be.
        also: the keys that the other form allows in the mapping at a path.
    """
    try:
        model.model_validate(tree.data)
    except ValidationError as error:
        reader = _Reader(tree, model, (), also)
        try:
            details = _details(error)
        except UnicodeEncodeError:  # half a character in plain data, which is told by itself
            return []
        found = [(d, walk(model, reader.data, d["loc"])) for d in details]
        foreign = [
            (detail, place)
            for detail, place in found
            if detail["type"] == "extra_forbidden" and place.path[-1] not in also(place.path[:-1])
        ]
        reader.guess(foreign)
        return [
            UnknownKey(place.path, reader.guesses.get(place.path), reader.convert(detail, place))
            for detail, place in foreign[:MOST_ERRORS]
        ]
    return []


def wrong_values(tree: Tree, model: Any) -> tuple[list[SpecError], bool]:
    """Return the values of a document that are wrong whatever is derived from it, and if one is no list."""
    try:
        model.model_validate(tree.data)
    except ValidationError as error:
        reader = _Reader(tree, model, ())
        wrong = [
            one
            for one in _details(error)[:MOST_ERRORS]
            if (_is_scalar(one["input"]) and one["type"] != "extra_forbidden") or _wants_list(one)
        ]
        found = [reader.convert(one, walk(model, reader.data, one["loc"])) for one in wrong]
        return found, any(map(_wants_list, wrong))
    return [], False


def _wants_list(detail: Mapping[str, Any]) -> bool:
    return _EXPECTED.get(detail["type"]) == "a list" and detail["input"] is not None


def to_spec_errors(
    error: ValidationError,
    tree: Tree,
    model: Any,
    prefix: Path = (),
    also: Callable[[Path], Collection[str]] = lambda path: (),
) -> SpecErrors:
    """Return every error of ``error`` with its position in ``tree``, below ``prefix``.

    Args:
        error: what pydantic found.
        tree: the document.
        model: the model, or other type, that the part at ``prefix`` was validated as.
        prefix: where in the document that part is.
        also: keys that another form of the model allows in the mapping at a path.
    """
    reader = _Reader(tree, model, prefix, also)
    details = _details(error)
    told = details[:MOST_ERRORS]
    found = collapse([(d, walk(model, reader.data, d["loc"])) for d in told])
    misspelt = reader.guess(found)
    cut = {
        (*place.path[:-1], before)
        for detail, place in found
        if detail["type"] == "extra_forbidden"
        and (before := cures.cut_number(_value_at(reader.data, place.path[:-1]), place.path[-1]))
    }
    errors: dict[tuple[object, str], SpecError] = {}
    for detail, place in found:
        if detail["type"] == "missing" and place.path in misspelt:
            continue  # it is there, in another spelling, and told as such
        if place.path in cut:
            continue  # the key behind it is the rest of its number, and told as such
        spec_error = reader.convert(detail, place)
        errors.setdefault((spec_error.location, spec_error.summary), spec_error)
    if hidden := len(details) - len(told):
        errors[None, ""] = SpecError(f"{hidden:,} more mistakes are not told")
    return SpecErrors(list(errors.values()))


def _details(error: ValidationError) -> list[Mapping[str, Any]]:
    details = error.errors(include_url=False)
    broken = {d["loc"][:depth] for d in details for depth in range(len(d["loc"]))}
    # Pydantic does not count the items that are wrong themselves.
    return [d for d in details if d["type"] != "too_short" or d["loc"] not in broken]


class _Reader:
    """Turns the errors of one validation into ours."""

    def __init__(
        self,
        tree: Tree,
        model: Any,
        prefix: Path,
        also: Callable[[Path], Collection[str]] = lambda path: (),
    ) -> None:
        self.tree = tree
        self.also = also
        self.model = model
        self.prefix = prefix
        self.data = _value_at(tree.data, prefix)
        self.guesses: dict[Path, str] = {}

    def guess(self, found: Sequence[Found]) -> set[Path]:
        """Return the places of missing keys that unknown keys beside them were meant to be."""
        missing: dict[Path, list[str]] = {}
        for detail, place in found:
            if detail["type"] == "missing":
                missing.setdefault(place.path[:-1], []).append(str(place.path[-1]))
        unknown = [f for f in found if f[0]["type"] == "extra_forbidden"]
        meant: set[Path] = set()
        for _, place in unknown[:_MOST_GUESSES]:
            *parent, last = place.path
            where = tuple(parent)
            wanted = [name for name in missing.get(where, []) if (*where, name) not in meant]
            if near := cures.meant_key(str(last), wanted, wanted):
                meant.add((*where, near))
                self.guesses[place.path] = near
        for detail, place in unknown[:_MOST_GUESSES]:
            if place.path not in self.guesses and not self._elsewhere(place.path):
                given = _value_at(self.data, place.path[:-1])
                known = self._known(detail["loc"], place.path)
                absent = [
                    name for name in known if not isinstance(given, Mapping) or name not in given
                ]
                word = str(place.path[-1])
                near = cures.meant_key(word, known, absent)
                if near is not None and self._fits(detail["loc"], place.path, word, near):
                    self.guesses[place.path] = near
        return meant

    def _fits(self, loc: Path, path: Path, word: str, near: str) -> bool:
        """Return True if the value of an unknown key may be that of a known one."""
        kind = walk(self.model, self.data, loc[:-1]).kind
        given, nested = _value_at(self.data, path), is_nested(kind, near)
        if similar(word, near) or nested is None or given is None:
            return True
        return nested or not isinstance(given, (Mapping, list))

    @cached_property
    def _homes(self) -> Mapping[str, list[Path]]:
        """Places of the document at which each key may be."""
        found: dict[str, list[Path]] = {}
        places: list[tuple[Path, Any]] = [((), self.data)]
        for path, value in places:  # grows
            if isinstance(value, Mapping):
                models = fitting(walk(self.model, self.data, path).models, value)
                for key in {*names(models), *self.also(path)} - value.keys():
                    found.setdefault(key, []).append(path)
            inner = value.items() if isinstance(value, Mapping) else enumerate(value)
            places += [
                ((*path, key), child)
                for key, child in inner
                if isinstance(child, (Mapping, list)) and len(places) < _MOST_PLACES
            ]
        return found

    def _belongs(self, path: Path) -> str | None:
        """Return the hint for a key that is known at one other place of the document."""
        for key in cures.synonyms(str(path[-1])):
            homes = [home for home in self._homes.get(key, ()) if home != path[:-1]]
            if len(homes) == 1:
                name = self.tree.describe((*self.prefix, *homes[0], key))
                return f"it belongs to '{name}'" if key == path[-1] else f"did you mean '{name}'?"
        return None

    def convert(self, detail: Mapping[str, Any], place: TypePlace) -> SpecError:
        """Return the error that people read."""
        kind = detail["type"]
        at_key = place.at_key or kind == "extra_forbidden"
        path = self.prefix + place.path
        if kind == "extra_forbidden":
            message, hint = self._unknown_key(detail, place.path)
        elif kind == "missing":
            message = f"'{path[-1]}' is missing"
            hint = self._added_by_a_layer(path[:-1]) or cures.instead(
                detail, str(path[-1]), self._known(detail["loc"], place.path)
            )
        else:
            message, hint = _explain(detail, place)
            given = detail["ctx"]["tag"] if kind == "union_tag_invalid" else detail.get("input")
            hint = cures.of_variable(given) or hint
            if not path and _is_scalar(detail.get("input")):
                # Nothing of a file that is no document is quoted: a link may lead to any file.
                message = "this is not a document of Rackwright: it has no 'key: value' lines"
                hint = cures.OTHER_FILE
            if kind == "union_tag_not_found":
                hint = self._added_by_a_layer(path) or _tag_hint(detail, place)
        if place.at_key:
            message = f"key {message}"
        where = self.tree.describe(path[:-1] if at_key or kind == "missing" else path)
        text = f"{where}: {message}" if where else message
        if kind == "missing":
            path = path[:-1]
        elif kind == "union_tag_invalid":
            path = (*path, detail["ctx"]["discriminator"].strip("'"))
        location = self.tree.locate(path, key=at_key)
        return SpecError(visible(text), hint=hint and visible(hint), location=location)

    def _added_by_a_layer(self, path: Path) -> str | None:
        """Return the hint for an item that a layer adds to a list of named items; None for others."""
        if not path or not isinstance(path[-1], int) or len(self.tree.files) == 1:
            return None
        base = self.tree.files[0]
        added, items = self.tree.find(path), _value_at(self.tree.data, path[:-1])
        if added is None or added.file == base or not isinstance(items, list):
            return None
        named = {
            index: item["name"]
            for index, item in enumerate(items)
            if isinstance(item, Mapping) and isinstance(item.get("name"), str)
        }
        below = [
            name
            for index, name in named.items()
            if (item := self.tree.find((*path[:-1], index))) and item.file == base
        ]
        name = named.get(path[-1])
        if name is None and path[-2] == "facts":
            return None  # facts are told apart by product and field
        if name is None:
            return "a layer names the item that it changes: begin it with '- name: …'"
        if not below:
            return None
        meant = nearest(name, below)
        guess = f"; did you mean '{meant}'?" if meant else ""
        return f"{base} has no '{name}' in {self.tree.describe(path[:-1])}, so this layer adds one{guess}"

    def _unknown_key(self, detail: Mapping[str, Any], path: Path) -> _Explanation:
        message = f"unknown key '{path[-1]}'"
        given = _value_at(self.data, path[:-1])
        if before := cures.cut_number(given, path[-1]):
            if re.match(r"\d{3}(?!\d)", str(path[-1])):
                number = f"{before}: {given[before]}{path[-1]}"
                return message, f"write thousands without a separator: '{number}'"
            number = f"{before}: {given[before]}.{path[-1]}"
            return message, f"decimals stand behind a point: '{number}'"
        if cure := self._elsewhere(path):
            return message, cure
        near = self.guesses.get(path)
        if near is None or not alike(str(path[-1]), near):
            exact = self._belongs(path) if str(path[-1]) in self._homes or near is None else None
            if exact:
                return message, exact
        if near:
            return message, f"did you mean '{near}'?"
        known = self._known(detail["loc"], path)
        return message, f"known are: {', '.join(known)}" if known else None

    def _elsewhere(self, path: Path) -> str | None:
        """Return the cure for a key that no mapping has, or that another file has."""
        return cures.of_key(path[-1], top=len(path) == 1 and not self.prefix)

    def _known(self, loc: Path, path: Path) -> list[str]:
        known = names(walk(self.model, self.data, loc[:-1]).models)
        if len(path) == 1 and not self.prefix and "apiVersion" in known:
            known = [*known, "layers", "example"]  # which are taken out when a document is read
        return [*known, *sorted(set(self.also(path[:-1])) - set(known))]


def _tag_hint(detail: Mapping[str, Any], place: TypePlace) -> str | None:
    """Return the hint for a mapping without the key that tells its kinds apart."""
    key, given = str(detail["ctx"]["discriminator"]).strip("'"), detail.get("input")
    words = tags(place.kind)
    if not words or not isinstance(given, Mapping):
        return None
    for other, value in given.items():
        if key in cures.synonyms(str(other)) and (near := nearest(str(value), words)):
            return f"write '{key}: {near}' instead of '{other}: {value}'"
        if near := nearest(str(other), words):
            return f"write '{key}: {near}'"
    return f"write '{key}: {words[0]}'" + (
        f", or another of {', '.join(words)}" if words[1:] else ""
    )


def _cure(kind: str, given: object, place: TypePlace) -> str | None:
    """Return what to write instead of a value of another kind."""
    expected = _EXPECTED[kind]
    name = str(place.path[-1]) if place.path and isinstance(place.path[-1], str) else ""
    if expected == "a mapping" and given in tags(place.kind):
        return f"write '{name}: {{{keys_to_write(place.kind)[0]}: {given}}}'"
    if expected == "a mapping":
        return cures.of_mapping(given, name, keys_to_write(place.kind))
    if expected == "a list":
        if isinstance(given, (int, float)) and lists_text(place.kind):
            return f"name each: '{name}: [NAME, …]'"
        return cures.of_list(given, name, keys_to_write(place.kind))
    if expected == "text":
        return cures.of_text(given, name)
    if expected in {"a whole number", "a number"}:
        return cures.of_number(given, whole=expected == "a whole number", name=name)
    return None


def _explain(detail: Mapping[str, Any], place: TypePlace) -> _Explanation:
    kind = detail["type"]
    context = detail.get("ctx") or {}
    given = detail.get("input")
    if given is None and (kind in _EXPECTED or kind in {"literal_error", "enum"}):
        wanted = _expected(detail)
        return "no value is set", f"write {wanted}"
    if kind == NO_MEMBER:
        return _no_member(given, detail["members"])
    if kind in {"literal_error", "enum"}:
        allowed = str(context.get("expected", ""))
        if allowed.count("'") == 2 and re.fullmatch(r"'[^']*'", allowed):
            return f"{_quote(given)} is not {allowed}", f"write {allowed}"
        name = str(place.path[-1]) if place.path else ""
        choices = [*_words(allowed), *map(int, re.findall(r"\d+", allowed))]
        hint = _near(given, _words(allowed)) or cures.of_choice(given, name, choices)
        return f"{_quote(given)} is not one of {allowed}", hint
    if kind == "union_tag_invalid":
        words = _words(str(context["expected_tags"]))
        key = str(context["discriminator"]).strip("'")
        message = f"{key} {_quote(context['tag'])} is not one of {', '.join(words)}"
        return message, _near(str(context["tag"]), words)
    if kind == "union_tag_not_found":
        return f"{context['discriminator']} is missing", None
    if kind in {"string_too_short", "string_pattern_mismatch"} and not str(given).strip():
        return "the text is empty", "leave the key out, or say something"
    if kind == "string_pattern_mismatch" and context["pattern"] in {EMPTY_OR_TEXT, PROSE, TEXT}:
        return f"{_quote(given)} has blanks around it", f"write '{str(given).strip()}'"
    if kind == "string_pattern_mismatch":
        return pattern_words.explain(str(given), _quote(given), context["pattern"])
    if kind in _EXPECTED:
        unit = " %" if isinstance(given, str) and given.endswith("%") else ""
        wanted = re.sub(r"(?<=\d)(?=\D*$)", unit, _expected(detail))
        share = cures.of_share(given) if context.get("le") == 1 else None
        cure = cures.of_unknown(given) or share or _cure(kind, given, place)
        return f"{_quote(given)} is not {wanted}", cure
    if kind == "too_short":
        return f"{context['actual_length']} given, at least {context['min_length']} needed", None
    if kind == "too_long":
        return f"{_count(given, context)} given, at most {context['max_length']} allowed", None
    text = re.sub("^(Value error|Assertion failed), ", "", str(detail["msg"]))
    if text.startswith("Input should be"):
        text = f"{_quote(given)} {text[6:]}" if _is_scalar(given) else text
    return text[:1].lower() + text[1:].rstrip("."), None


def _no_member(given: object, members: Sequence[Mapping[str, Any]]) -> _Explanation:
    if given is None:
        return "no value is set", "leave the key out, or write a value"
    words = [
        w for d in members if d["type"] in {"literal_error", "enum"} for w in _words(_allowed(d))
    ]
    wanted = dict.fromkeys(_expected(detail) for detail in members)
    return f"{_quote(given)} is not {' or '.join(wanted)}", _near(given, words)


def _expected(detail: Mapping[str, Any]) -> str:
    """Return the expected value, in words that follow 'is not'."""
    if detail["type"] in {"literal_error", "enum"}:
        return _allowed(detail)
    if detail["type"] in _EXPECTED:
        return _EXPECTED[detail["type"]].format(**(detail.get("ctx") or {}))
    return str(detail["msg"]).removeprefix("Input should be ").rstrip(".")


def _allowed(detail: Mapping[str, Any]) -> str:
    return str((detail.get("ctx") or {}).get("expected", ""))


def _words(allowed: str) -> list[str]:
    """Return the words of a list such as ``'a', 'b' or 'c'``."""
    return re.findall(r"'([^']*)'", allowed)


def _near(given: object, words: Sequence[str]) -> str | None:
    if not isinstance(given, str):
        return None
    meant = cures.meant_word(given, words)
    return f"did you mean '{meant}'?" if meant else did_you_mean(given, words)


def _count(given: object, context: Mapping[str, Any]) -> object:
    return len(given) if isinstance(given, (list, Mapping)) else context["actual_length"]


def _is_scalar(value: object) -> bool:
    return isinstance(value, (str, int, float, bool))


def _quote(value: object) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, (Mapping, list)):
        return "a mapping" if isinstance(value, Mapping) else "a list"
    if isinstance(value, bool):
        return f"'{str(value).lower()}'"
    text = f"'{value}'"
    return text if len(text) <= 80 else text[:76] + "...'"


def _value_at(data: Any, path: Path) -> Any:
    """Return the value at ``path``, or None when the document ends before it."""
    for part in path:
        try:
            data = data[part]
        except (LookupError, TypeError):
            return None
    return data
