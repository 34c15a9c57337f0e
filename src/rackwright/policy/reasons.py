"""Reasons for what a blueprint sets, and their owners."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Mapping

from rackwright.errors import SpecError, SpecErrors
from rackwright.model.cluster import Blueprint, Reason
from rackwright.reading.suggest import did_you_mean
from rackwright.reading.tree import Path, Tree

LEAST = 4
"""Different letters and digits that a reason needs: fewer are a filled-in field, such as "ok"."""

_SYLLABLE_OR_WORD = (
    "CJK UNIFIED IDEOGRAPH", "HIRAGANA LETTER", "KATAKANA LETTER", "HANGUL SYLLABLE",
    "ETHIOPIC SYLLABLE", "YI SYLLABLE", "CHEROKEE", "VAI SYLLABLE", "CANADIAN SYLLABICS",
)  # fmt: skip
"""Unicode names of signs that stand for a syllable or a word; such a sign counts as three letters."""


def says_something(reason: str | None) -> bool:
    """Return True if a reason is more than signs that fill a field, in any script."""
    # Compatibility forms (full width, half width) and decomposed text count as the usual signs.
    signs = set(unicodedata.normalize("NFKC", reason or "").casefold())
    return sum(map(_weight, signs)) >= LEAST


def length(text: str) -> int:
    """Return the number of characters of ``text``, as many as it would have in an alphabet."""
    return sum(max(1, _weight(sign)) for sign in unicodedata.normalize("NFKC", text.strip()))


def _weight(sign: str) -> int:
    """Return how many letters ``sign`` counts as; vowel signs of Indic scripts are letters."""
    name = unicodedata.name(sign, "")
    if name.startswith(_SYLLABLE_OR_WORD):
        return 3
    is_mark = unicodedata.category(sign).startswith("M")
    return int(sign.isalnum() or (is_mark and ("VOWEL" in name or "CHARACTER" in name)))


def explained(reason: str | None, owner: str | None) -> str:
    """Return the reason and its author, in words that follow ``in this change``."""
    why = f", because '{reason}'" if says_something(reason) else ", without a reason"
    who = f", for which '{owner}' answers" if owner else ""
    return why + who


def decided(ref: str, stays: str, *, is_new: bool = False) -> str:
    """Return the decision about a milder claim of a change.

    Args:
        ref: the base.
        stays: what it has approved, in words; of a blueprint that is new, what holds by itself.
        is_new: the base does not have the blueprint.
    """
    if is_new:
        return f"the blueprint is new, so that is not approved; the default is {stays}"
    return f"'{ref}' decides: it stays {stays} until the change is merged"


def why(reasons: Mapping[str, Reason], name: str, owner: str | None) -> str:
    """Return the reason of a field, or of the nearest part around it that has one.

    Args:
        reasons: those of the blueprint.
        name: of the field.
        owner: of the blueprint.
    """
    parts = name.split(".")
    around = (".".join(parts[:end]) for end in range(len(parts), 0, -1))
    said = next((reasons[one] for one in around if one in reasons), None)
    return explained(None, owner) if said is None else explained(said.reason, said.owner or owner)


def check_reasons(blueprint: Blueprint, tree: Tree) -> None:
    """Raise if a reason is empty or names a field that the blueprint does not set.

    Raises:
        SpecErrors: with the place of each that does not.
    """
    if not blueprint.reasons:
        return
    places = [(tree.describe(path), value) for path, value in _places(tree.data, ())]
    known = {name for name, _ in places} | set(Blueprint.model_fields)
    things = {name for name, value in places if isinstance(value, Mapping)}
    errors = []
    for name, reason in blueprint.reasons.items():
        path = ("reasons", name)
        if name not in known and name.rpartition(".")[0] not in things:  # a field may be left out
            hint = did_you_mean(name, known) or "a report names the field like this"
            text = f"reasons: this blueprint has no '{name}'"
            errors.append(SpecError(text, hint=hint, location=tree.locate(path, key=True)))
        elif not says_something(reason.reason):
            text = f"reasons.{name}: '{reason.reason}' is no reason"
            hint = "say why the field is what it is, and by what ticket or test"
            errors.append(SpecError(text, hint=hint, location=tree.locate((*path, "reason"))))
    if errors:
        raise SpecErrors(errors)


def _places(data: object, path: Path) -> Iterator[tuple[Path, object]]:
    inside: Iterable[tuple[str | int, object]] = ()
    if isinstance(data, Mapping):
        inside = data.items()
    elif isinstance(data, list):
        inside = enumerate(data)
    for key, value in inside:
        yield (*path, key), value
        yield from _places(value, (*path, key))
