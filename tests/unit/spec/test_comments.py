"""Marked comments: told from text that only looks like one, in bounded time."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rackwright.spec.comments import MOST_COMMENTS, marked_comments
from rackwright.spec.yaml_reader import read_text

MARK = "waiver:"


def found(text: str) -> list[tuple[int, int, str, int | None]]:
    return [(c.line, c.column, c.text, c.target) for c in marked_comments(text, MARK)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a: 5 # waiver: W-1\n", [(1, 6, " W-1", 1)]),
        ("a: 5 #waiver: W-1", [(1, 6, " W-1", 1)]),
        ("a: 5\t#\twaiver: W-1\r\nb: 1\r\n", [(1, 6, " W-1", 1)]),
        ("# waiver: W-1\n\n# more\n  \na: 5\n", [(1, 1, " W-1", 5)]),
        ("a: 5\n# waiver: W-1\n# waiver: W-2\nb: 5\n", [(2, 1, " W-1", 4), (3, 1, " W-2", 4)]),
        ("a: 5\n# waiver: W-1\n\n", [(2, 1, " W-1", None)]),
        ("a: 5\n# waiver: W-1", [(2, 1, " W-1", None)]),
        ("# waiver: W-1" + "\n" * 30 + "a: 5\n", [(1, 1, " W-1", None)]),
        ("a: 'é 𝄞 # waiver: W-1' # waiver: W-2\n", [(1, 24, " W-2", 1)]),
        ('a: "\\"# waiver: W-1" # waiver: W-2\n', [(1, 22, " W-2", 1)]),
        ("a: |\n  # waiver: W-1\n  x\nb: 1\n", []),
        ("a: >-\n  x\n\n  # waiver: W-1\nb: 1\n", []),
        ("a: |\n  x\n# waiver: W-1\nb: 1\n", [(3, 1, " W-1", 4)]),
        ("a: 'x\n  # waiver: W-1\n  y'\n", []),
        ("a: x# waiver: W-1\n", []),
        ("a: x # see # waiver: W-1\n", []),
        ("a: {b: 1, # waiver: W-1\n  c: 2}\n", [(1, 11, " W-1", 1)]),
        ("a: # waiver: W-1\n  b: 1\n", [(1, 4, " W-1", 1)]),
        ("a: # waiver: W-1\nb: 1\n", [(1, 4, " W-1", 1)]),
        ("# waiver: W-1\n--- # waiver: W-2\na: 1\n", [(1, 1, " W-1", 2), (2, 5, " W-2", 2)]),
        ("a: no waiver: here", []),
        ("a: 5 # a waiver: W-1\n", []),
        ("a: 5 # waiver W-1\n", []),
    ],
)
def test_comments(text: str, expected: list[tuple[int, int, str, int | None]]) -> None:
    assert found(text) == expected


@given(st.lists(st.sampled_from(
    ["# waiver: W-1", "a: 1", "b: 'x", "y'", 'c: "', '"', "d: |", "  x", "e: [", "]", " ", "# x",
     "é: >", "f: {g: 1}", ", h", "&i ", "\t", "\r"]), max_size=10), st.sampled_from(["\n", " "])
)  # fmt: skip
def test_no_text_stops_it(parts: list[str], between: str) -> None:
    """What a reader takes as data holds no comment: removing all that are found changes nothing."""
    text = between.join(parts)
    comments = marked_comments(text, MARK)
    try:
        before = repr_of(text)
    except Exception:  # noqa: BLE001 - not YAML
        return
    lines = text.split("\n")
    for comment in comments:
        lines[comment.line - 1] = lines[comment.line - 1][: comment.column - 1]
    assert repr_of("\n".join(lines)) == before


def repr_of(text: str) -> str:
    def plain(item: object) -> object:
        value = getattr(item, "value", None)
        if isinstance(value, dict):
            return {key: plain(entry.item) for key, entry in value.items()}
        return [plain(child) for child in value] if isinstance(value, list) else value

    return repr(plain(read_text(text, "")))


@pytest.mark.parametrize(
    "text",
    [
        "a: 5\n" + "# waiver: x " * 300_000,
        "a: '" + "# waiver: x " * 300_000 + "'",
        "a: 5\n" + "# waiver: x\n" * 300_000,
        "# waiver: x\n" * 900 + "#\n" * 1_000_000,
        "#" + " " * 3_000_000 + "waiver:\na: 1",
        "a: [\n" + "# waiver: x\n1,\n" * 100_000 + "]",
        "a: [" + "# waiver: x\n" * 100_000,
    ],
)
def test_hostile_text_is_read_in_bounded_time(text: str) -> None:
    start = time.process_time()
    assert len(marked_comments(text, MARK)) <= MOST_COMMENTS + 1
    assert time.process_time() - start < 10
