"""Edits of scalars: only what is meant changes, whatever the text around it looks like."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from rackwright.errors import Location
from rackwright.reading.edits import Edit, Scalar, applied, changes_only, means, scalar_text, spans
from rackwright.reading.yaml_reader import read_text

COMMENT = st.text(st.characters(blacklist_categories=["Cs", "Cc", "Zl", "Zp"]), max_size=12)
LINE = st.builds(
    "{}: {}{}".format,
    st.integers(0, 10**9).map("k{}".format),
    st.sampled_from(["5", "4 kW", "'é \U0001d11e'", '"\\u00e9"', "true", "[1, {a: 2}]", "-1.5"]),
    st.one_of(st.just(""), st.just("\t# tab"), COMMENT.map(lambda text: f" # {text}")),
)


def edit_at(text: str, line: int, column: int, value: Scalar) -> Edit:
    span = spans(text, {(line, column)})[line, column]
    old = text[span.start : span.stop]
    new = scalar_text(value, span.style)
    return Edit(Location("", line, column), column + len(old), span.start, "", old, new)


@given(
    st.lists(LINE, min_size=1, max_size=8, unique_by=lambda line: line.split(":")[0]),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
    st.data(),
)
def test_all_outside_an_edit_is_the_same(
    lines: list[str],
    end: str,
    ended: bool,
    data: st.DataObject,
) -> None:
    text = end.join(lines) + (end if ended else "")
    number = data.draw(st.integers(0, len(lines) - 1))
    column = lines[number].index(": ") + 3
    if lines[number][column - 1] == "[":
        assert spans(text, {(number + 1, column)}) == {}
        column += 1
    values: list[int | str] = [7, True, "4.5 kW", "24.05", "é: # '\"", "", "a, b", "no"]
    value = data.draw(st.sampled_from(values))
    edit = edit_at(text, number + 1, column, value)
    assume(edit.new != edit.old)
    after = applied(text, [edit])
    assert after.startswith(text[: edit.start])
    assert after[edit.start + len(edit.new) :] == text[edit.start + len(edit.old) :]
    assert [a == b for a, b in zip(text.split("\n"), after.split("\n"), strict=True)].count(
        False
    ) <= 1
    item = read_text(text, "").value[lines[number].split(":")[0]].item
    before = item.value[0].value if isinstance(item.value, list) else item.value
    assert changes_only(text, after, [edit])
    assert means(edit.old, before)
    item = read_text(after, "").value[lines[number].split(":")[0]].item
    assert (item.value[0].value if isinstance(item.value, list) else item.value) == value


@pytest.mark.parametrize(
    "text",
    [
        "a: &x 5\nb: *x\n",
        "a: &x {v: 5}\nb: *x\n",
        "a: !!int 5\n",
        "a: |\n  5\n",
        "a: >-\n  5\n",
        "a: five\n  six\n",
        "a: 'five\n\n  six'\n",
        "a:\n",
    ],
)
def test_what_cannot_be_changed_alone_is_left_alone(text: str) -> None:
    entry = read_text(text, "").value["a"].item
    inner = entry.value["v"].item if isinstance(entry.value, dict) else entry
    assert spans(text, {(inner.line, inner.column)}) == {}


@pytest.mark.parametrize(
    ("value", "style", "expected"),
    [
        (4, "", "4"),
        (True, '"', "true"),
        ("4 kW", "", "4 kW"),
        ("4 kW", "'", "'4 kW'"),
        ("it's", "'", "'it''s'"),
        ("24.05", "", '"24.05"'),
        ("true", "", '"true"'),
        ("1-00:00:00", "", '"1-00:00:00"'),
        ("é", '"', '"é"'),
        ("27 °C", "", "27 °C"),
    ],
)
def test_a_value_reads_back_as_it_is(value: Scalar, style: str, expected: str) -> None:
    made = scalar_text(value, style)
    assert made == expected
    assert read_text(made, "").value == value


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a: 5\nb: 5\n", "a: 4\nb: 4\n"),
        ("a: 6\n", "a: 4\n"),
        ("a: 5\n", "a: [\n"),
        ("a: 5\n", "b: 4\n"),
        ("a: 5\n", "a: '4'\n"),
        ("a: 5\n", "a: 4\nb: 1\n"),
        ("a: 5\nb: 1\n", "a: 4\n"),
        ("a: &x 5\n", "a: 4\n"),
        ("a: [\n", "a: [\n"),
        ("b: 1\n", "b: 1\n"),
    ],
)
def test_another_change_is_seen(before: str, after: str) -> None:
    edit = Edit(Location("", 1, 4), 5, 3, "a", "5", "4")
    assert changes_only("a: 5\n", "a: 4\n", [edit])
    assert not changes_only(before, after, [edit])
