"""Expressions of GitHub's workflows, as far as ours need them: what is not known is an error."""

from __future__ import annotations

import re
from collections.abc import Mapping

Value = str | bool
_TOKEN = re.compile(r"\s*('(?:[^']|'')*'|==|!=|&&|\|\||[!()]|[A-Za-z_][\w.-]*)")
_INSIDE = re.compile(r"\$\{\{(.*?)\}\}")


def evaluate(text: str, names: Mapping[str, Value]) -> Value:
    """The value of an expression; a name that nobody has set is empty, as it is there.

    Functions are names that end with ``()`` and must be known.
    """
    rest, tokens = text.strip(), []
    while rest:
        match = _TOKEN.match(rest)
        assert match, f"cannot read '{rest}' of '{text}'"
        tokens.append(match[1])
        rest = rest[match.end() :].strip()
    reader = _Reader(tokens, names)
    value = reader.either()
    assert not reader.tokens, f"'{text}' goes on with {reader.tokens}"
    return value


def interpolate(text: object, names: Mapping[str, Value]) -> str:
    """``text`` with the value of each ``${{ … }}`` in its place."""
    if isinstance(text, bool):
        return _written(text)
    return _INSIDE.sub(lambda found: _written(evaluate(found[1], names)), str(text))


def holds(condition: object, names: Mapping[str, Value]) -> bool:
    """Whether the ``if`` of a job or step holds; ``${{ }}`` around it is optional."""
    text = str(condition).strip()
    match = _INSIDE.fullmatch(text)
    return bool(evaluate(match[1] if match else text, names))


def _written(value: Value) -> str:
    return value if isinstance(value, str) else str(value).lower()


class _Reader:
    def __init__(self, tokens: list[str], names: Mapping[str, Value]) -> None:
        self.tokens = tokens
        self._names = names

    def either(self) -> Value:
        value = self._both()
        while self._take("||"):
            other = self._both()
            value = value or other
        return value

    def _both(self) -> Value:
        value = self._compared()
        while self._take("&&"):
            other = self._compared()
            value = other if value else value
        return value

    def _compared(self) -> Value:
        value = self._one()
        if self._take("=="):
            return value == self._one()
        if self._take("!="):
            return value != self._one()
        return value

    def _one(self) -> Value:
        if self._take("!"):
            return not self._one()
        if self._take("("):
            value = self.either()
            assert self._take(")")
            return value
        token = self.tokens.pop(0)
        if token.startswith("'"):
            return token[1:-1].replace("''", "'")
        assert token[0].isalpha(), token
        if self._take("("):
            assert self._take(")")
            return self._names[f"{token}()"]
        return {"true": True, "false": False}.get(token, self._names.get(token, ""))

    def _take(self, token: str) -> bool:
        taken = bool(self.tokens) and self.tokens[0] == token
        if taken:
            self.tokens.pop(0)
        return taken
