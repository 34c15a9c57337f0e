"""Texts of a blueprint that look like secrets.

A blueprint is stored in git, shown in pull requests and carried in the state of stacks; a secret in
it is known to everybody who reads one of them. Only the kind and the place of a find are returned,
never the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from pydantic import BaseModel

from rackwright.model.cluster import Blueprint
from rackwright.plan.base import Path

_SHAPES: Mapping[str, re.Pattern[str]] = {
    "a private key": re.compile(r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----"),
    "an AWS access key": re.compile(r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"),
    "a GitHub token": re.compile(r"\b(?:gh[pousr]_[A-Za-z0-9]{36}|github_pat_[A-Za-z0-9_]{22})"),
    "a GitLab token": re.compile(r"\bglpat-[A-Za-z0-9_-]{20}"),
    "a Slack token": re.compile(r"\bxox[abprs]-[A-Za-z0-9-]{10}"),
    "a Vault token": re.compile(r"\bhv[sb]\.[A-Za-z0-9_-]{24}"),
    "a JSON web token": re.compile(r"\beyJ[A-Za-z0-9_-]{10,2000}\.eyJ[A-Za-z0-9_-]{10}"),
    "a URL with a password": re.compile(r"\b[a-z][a-z0-9+.-]{1,20}://[^/\s:@]{1,99}:[^/\s@]{1,99}@"),
    "a password hash": re.compile(r"\$(?:1|2[aby]|5|6|7|y|argon2id?)\$[./A-Za-z0-9=,$]{8}"),
    "a password": re.compile(
        r"\b(?:password|passwd|secret|token|api[_-]?key)\s{0,9}[=:]\s{0,9}[^\s${]\S{5}", re.IGNORECASE
    ),
}  # fmt: skip
"""Kinds of secrets and their shapes; every repetition is bounded, so that no text is slow."""

_SHORTEST = 9
"""Characters of the shortest text that one of the shapes matches: ``ab://c:d@``."""

_KEY = re.compile(
    r"(?:^|[_.-])(?:password|passwd|passphrase|secret|token|private[_-]?key|api[_-]?key)$",
    re.IGNORECASE,
)
_NUMBERS = frozenset({bool, float, int, type(None)})
_REFERENCE = re.compile(
    r"(?:(?:arn|env|file|op|secretsmanager|sops|ssm|vault):|/|\$\{|\{\{|<).*", re.DOTALL
)
"""Where a secret is kept, a variable or a placeholder."""


@dataclass(frozen=True, slots=True)
class SecretPlace:
    """Place of a likely secret in a blueprint.

    Attributes:
        name: the place with dots, items of lists by their ``name`` where they have one.
        path: the place in the document; it ends before a key that is itself the secret.
    """

    name: str
    path: Path
    kind: str


def find_secrets(blueprint: Blueprint) -> tuple[SecretPlace, ...]:
    """Return every text of ``blueprint`` that looks like a secret, in its order."""
    if not _may_hold_one(blueprint):
        return ()
    found: list[SecretPlace] = []
    _look(blueprint.model_dump(mode="json", exclude_unset=True), (), (), found)
    return tuple(found)


def _may_hold_one(blueprint: BaseModel) -> bool:
    """Return True if any text looks like a secret, or has a key that names one.

    Nearly no blueprint has one, and most of its texts are repeated: that none of them is there is told
    without the places of all.
    """
    texts, names = set[str](), set[str]()
    left: list[Any] = [blueprint]
    while left:
        value = left.pop()
        parts: Iterable[Any] = ()
        if isinstance(value, (tuple, list, set, frozenset)):
            parts = value
        elif isinstance(value, dict):
            names.update(map(str, value))
            parts = value.values()
        elif isinstance(value, BaseModel):
            held, said = value.__dict__, value.model_fields_set
            names |= said
            parts = map(held.__getitem__, said)
        else:  # a word of some kind, or what is written as one
            texts.add(str(value))
        for part in parts:
            kind = type(part)
            if kind is str:
                texts.add(part)
            elif kind not in _NUMBERS:
                left.append(part)
    return any(map(_kind, texts | names)) or any(map(_names_one, names))


def _look(value: Any, path: Path, names: tuple[str, ...], found: list[SecretPlace]) -> None:
    """Add the secrets in ``value``, which is at ``path``."""
    if isinstance(value, dict):
        for key, item in value.items():
            if kind := _kind(key):
                found.append(SecretPlace(".".join((*names, "(a key)")), path, kind))
            elif isinstance(item, (dict, list, str)):
                _look(item, (*path, key), (*names, key), found)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            given = item.get("name") if isinstance(item, dict) else None
            own = given if isinstance(given, str) and _kind(given) is None else str(index)
            _look(item, (*path, index), (*names, own), found)
    elif isinstance(value, str) and value:
        kind = _kind(value)
        if kind is None and _names_one(names[-1]) and not _REFERENCE.fullmatch(value):
            kind = "a password"
        if kind is not None:
            found.append(SecretPlace(".".join(names), path, kind))


@lru_cache(maxsize=16_384)  # the sites and racks of a blueprint repeat most of their words
def _kind(text: str) -> str | None:
    """Return the kind of secret that ``text`` looks like; None if it looks like none."""
    if len(text) < _SHORTEST:
        return None
    return next((kind for kind, shape in _SHAPES.items() if shape.search(text)), None)


@lru_cache(maxsize=1_024)
def _names_one(key: str) -> bool:
    """Return True if ``key`` names a secret."""
    return _KEY.search(key) is not None
