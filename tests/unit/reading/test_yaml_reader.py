"""YAML out of careless and hostile hands."""

from __future__ import annotations

import contextlib
import math
import re
from typing import Any

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from known import known
from rackwright.errors import Location, SpecErrors
from rackwright.reading.syntax_errors import DEEPEST
from rackwright.reading.tree import Tree, to_data
from rackwright.reading.yaml_reader import (
    LARGEST_FILE,
    MOST_NODES,
    _most_depth,
    _read_nodes,
    _read_plain,
    read_file,
    read_text,
)


def data(text: str) -> Any:
    return to_data(read_text(text, "b.yaml"))


def mistakes(text: str) -> list[tuple[str, int, int]]:
    with pytest.raises(SpecErrors) as caught:
        read_text(text, "b.yaml")
    return [
        (e.summary, e.location.line, e.location.column) if e.location else (e.summary, 0, 0)
        for e in caught.value.errors
    ]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("yes", "yes"),
        ("No", "No"),
        ("on", "on"),
        ("off", "off"),
        ("y", "y"),
        ("012", "012"),
        ("0o14", "0o14"),
        ("0x1F", "0x1F"),
        ("12:30", "12:30"),
        ("190:20:30", "190:20:30"),
        ("2026-11-21", "2026-11-21"),
        ("true", True),
        ("False", False),
        ("null", None),
        ("~", None),
        ("", None),
        ("12", 12),
        ("-3", -3),
        ("1_000", 1000),
        ("1.5", 1.5),
        ("1e3", 1000.0),
        ("00.5", "00.5"),
        ("1.2.3", "1.2.3"),
        ("10.20.0.0/16", "10.20.0.0/16"),
        ("46.2 kW", "46.2 kW"),
        ("'12'", "12"),
        ('"true"', "true"),
        ("|\n  12\n", "12\n"),
    ],
)
def test_words_are_what_people_mean(text, value):
    found = data(f"a: {text}\nb: 1")["a"]
    assert found == value
    assert type(found) is type(value)


def test_every_key_and_value_has_its_position():
    tree_root = read_text("a: 1\nb:\n  - x\n  - c: 2\n", "b.yaml")
    tree = Tree(tree_root, to_data(tree_root), ("b.yaml",))
    assert tree.locate(("a",)) == Location("b.yaml", 1, 4)
    assert tree.locate(("a",), key=True) == Location("b.yaml", 1, 1)
    assert tree.locate(("b", 1, "c")) == Location("b.yaml", 4, 8)
    assert tree.locate(("b", 1, "c"), key=True) == Location("b.yaml", 4, 5)
    assert tree.locate(("b", 7)) == tree.locate(("b",))
    assert tree.locate(("nothing",)) == Location("b.yaml", 1, 1)
    assert str(tree.locate(("b", 0))) == "b.yaml:3:5"


def test_a_key_given_twice_is_refused_and_points_at_the_first():
    with pytest.raises(SpecErrors) as caught:
        read_text("a: 1\nb: 2\na: 3\n", "b.yaml")
    (error,) = caught.value.errors
    assert str(error) == "b.yaml:3:1: the key 'a' is given twice\n  hint: the first one is at 1:1"


def test_several_mistakes_are_collected_in_order():
    assert mistakes("a: .nan\nb: !!python/object:os.system x\nc: {d: .inf}\n? [1]\n: 2\n") == [
        ("'.nan' is not a finite number", 1, 4),
        ("the tag 'tag:yaml.org,2002:python/object:os.system' is not allowed", 2, 4),
        ("'.inf' is not a finite number", 3, 8),
        ("a key is a single word", 4, 3),
    ]


@pytest.mark.parametrize("tag", ["!!binary", "!!set", "!secret", "!!python/name:os.system"])
def test_tags_are_refused_and_never_run(tag):
    ((message, line, column),) = mistakes(f"a: {tag} x")
    assert message.endswith("is not allowed")
    assert (line, column) == (1, 4)


@pytest.mark.parametrize("number", [".nan", ".NaN", "-.inf", "+.INF", "1e999", "9" * 19])
def test_numbers_without_an_end_are_refused(number):
    ((_, line, column),) = mistakes(f"a: {number}")
    assert (line, column) == (1, 4)


def test_aliases_are_expanded_within_bounds():
    assert data("a: &x {b: 1}\nc: *x") == {"a": {"b": 1}, "c": {"b": 1}}
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    ((message, *_),) = mistakes("\n".join(lines))
    assert message == "the document is too large once its aliases are expanded"


def test_an_alias_to_itself_is_refused():
    ((message, *_),) = mistakes("a: &a [*a]")
    assert "too large" in message or "alias" in message


def test_a_merge_key_fills_in_what_is_absent():
    text = "base: &b {x: 1, y: 2}\none: {<<: *b, y: 3}\ntwo: {<<: [*b, {z: 4}]}"
    found = data(text)
    assert found["one"] == {"y": 3, "x": 1}
    assert found["two"] == {"x": 1, "y": 2, "z": 4}
    assert mistakes("a: {<<: 1}")[0][0] == "'<<' takes a mapping"
    assert data("'<<': 1") == {"<<": 1}


@pytest.mark.parametrize(
    "text",
    ["[" * 5000, "{a: " * 5000, "- " * 5000, "- " * 2_000_000, "[" * 100_000 + "]" * 100_000],
)
def test_deep_nesting_is_refused_without_recursion(text):
    ((message, line, _),) = mistakes(text)
    assert message == f"nested more than {DEEPEST} deep"
    assert line == 1


def test_deep_nesting_in_block_style_is_refused():
    text = "".join(f"{' ' * n}a:\n" for n in range(DEEPEST + 5))
    assert mistakes(text)[0][0] == f"nested more than {DEEPEST} deep"


def real_depth(text: str) -> int:
    """How deep the parser comes, to the end or to the first mistake."""
    depth = deepest = 0
    with contextlib.suppress(yaml.YAMLError):
        for event in yaml.parse(text, yaml.CSafeLoader):
            depth += isinstance(event, yaml.CollectionStartEvent)
            depth -= isinstance(event, yaml.CollectionEndEvent)
            deepest = max(deepest, depth)
    return deepest


NESTED = st.recursive(
    st.sampled_from(["a", "- b", "[", "c: d", "e\nf", 1, None]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["k", "? l", "m: n"]), inner, max_size=3)
    ),
    max_leaves=30,
)


@given(NESTED, st.booleans() | st.none(), st.integers(2, 9), st.integers(20, 80))
def test_nothing_nests_deeper_than_its_bound(value, flow, indent, width):
    text = yaml.safe_dump(value, default_flow_style=flow, indent=indent, width=width)
    assert _most_depth(text) >= real_depth(text)


@given(st.text("[]{}ab0,:-?&*!|>#%\"' \n", max_size=60))
def test_a_mistake_is_found_before_it_nests_deeper_than_the_bound(text):
    assert _most_depth(text) >= real_depth(text)


@pytest.mark.parametrize(
    "text",
    [
        "- - - - - - - - a",
        "? ? ? ? - ? - a",
        "-   -     - a: b",
        "a:\n- b:\n  - c:\n    - d",
        "[a: [b: [c: d]]]",
        "{? [{? [x]}]}",
        "a:\r b:\r  c:\r   - d",
        "a:\u2028 b:\u2028  c:\x85   - d",
    ],
)
def test_nothing_nests_deeper_than_its_bound_in_odd_forms(text):
    assert 2 < real_depth(text) <= _most_depth(text)


def test_characters_that_cannot_be_seen_are_refused_in_keys():
    for hidden in ("\u202e", "\u200b", "\u2066", "\ufeff", "\u00ad"):
        ((message, line, _),) = mistakes(f"x: 1\nna{hidden}me: 2")
        assert "characters that cannot be seen" in message
        assert line == 2


def test_an_empty_or_endless_key_is_refused():
    assert mistakes("'': 1")[0][0] == "a key is empty"
    assert mistakes("'  ': 1")[0][0] == "a key is empty"
    assert mistakes(f"{'k' * 300}: 1")[0][0] == "a key has at most 256 characters"


def test_a_second_document_is_refused():
    with pytest.raises(SpecErrors) as caught:
        read_text("a: 1\n---\nb: 2\n", "b.yaml")
    (error,) = caught.value.errors
    assert error.summary == "a file holds one document"
    assert known(error.location).line == 2


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a:\n  b: 1\n c: 2", "column 2, and the keys from line 1 on begin in column 1"),
        (
            "a:\n  - b: 1\n   c: 2",
            "column 4, and the items, each with its '-', from line 2 on begin",
        ),
        ("a: 1\n- b\n", "the keys from line 1 on end here with something else"),
        ('a: "x\nb: 1\n', "the quotes of line 1 are not closed"),
        ("a: {b: 1\nc: 2", "the '{' of line 1 is not closed here"),
    ],
)
def test_what_the_parser_means_is_told_in_words(text, told):
    with pytest.raises(SpecErrors, match=re.escape(told)):
        read_text(text, "b.yaml")


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("a:\n\tb: 1", "indent with spaces"),
        ("a:\n  b: é\n\tc: 2", "indent with spaces"),
        ("é: @x", "put a value that starts with '@' in quotes"),
        ("a: b: c", "check the indentation"),
        ("a: *nobody", "define the anchor"),
        ("a:\n  - é: 1\n   c: 2", "indent with as many blanks as there"),
        ("a: {b: é\nc: 2", "close it with '}', or put a ',' between two values"),
        ("a: [é, 2\n", "close it with ']'"),
    ],
)
def test_what_is_not_yaml_says_where_and_what_to_do(text, hint):
    with pytest.raises(SpecErrors) as caught:
        read_text(text, "b.yaml")
    (error,) = caught.value.errors
    assert known(error.location).file == "b.yaml"
    assert known(error.hint).startswith(hint)


@pytest.mark.parametrize("text", ["", "   \n", "# only a comment\n"])
def test_an_empty_document_is_refused(text):
    assert mistakes(text) == [("'b.yaml' is empty", 1, 1)]


def test_files_that_cannot_be_read(tmp_path):
    cases = {
        "absent.yaml": None,
        "latin.yaml": b"a: 1\nb: \xe9\n",
        "huge.yaml": b"#" * (LARGEST_FILE + 1),
    }
    messages = {}
    for name, content in cases.items():
        if content is not None:
            (tmp_path / name).write_bytes(content)
        with pytest.raises(SpecErrors) as caught:
            read_file(tmp_path / name)
        messages[name] = caught.value.errors[0]
    assert messages["absent.yaml"].summary.endswith("cannot be read: no such file or directory")
    assert messages["latin.yaml"].summary == "the file is not UTF-8"
    assert known(messages["latin.yaml"].location).line == 2
    assert messages["huge.yaml"].summary.endswith("is larger than 16 MiB")
    with pytest.raises(SpecErrors, match="cannot be read: is a directory"):
        read_file(tmp_path)


def test_a_lone_carriage_return_ends_a_line_before_what_is_not_utf_8(tmp_path):
    path = tmp_path / "b.yaml"
    path.write_bytes(b"a: 1\rb: 2\r\nc: 3\nd: \xe9\n")
    with pytest.raises(SpecErrors) as caught:
        read_file(path)
    assert caught.value.errors[0].location == Location(str(path), 4, 1)


def test_a_byte_order_mark_is_no_content(tmp_path):
    path = tmp_path / "b.yaml"
    path.write_bytes("\ufeffa: 1\n".encode())
    assert to_data(read_file(path)) == {"a": 1}


LINES = st.lists(
    st.sampled_from(
        ["# c", "a: 1", "b: 'x", "y'", 'c: "', '"', "d: |", "  x", "e: [", "]", " ", "é: >", "",
         "f: {g: 1}", ", h", "&i ", "\t", "- 1", "a: .nan"]
    ),
    max_size=8,
)  # fmt: skip


def placed(item: Any) -> Any:
    """The value of an item with the position of each part."""
    value = item.value
    if isinstance(value, dict):
        value = {key: (e.line, e.column, placed(e.item)) for key, e in value.items()}
    elif isinstance(value, list):
        value = [placed(child) for child in value]
    return item.line, item.column, item.blank, value


def reading(text: str) -> Any:
    """What a text is read as: its parts with their positions, or its mistakes with theirs."""
    try:
        return placed(read_text(text, "b.yaml"))
    except SpecErrors as refused:
        return [str(error) for error in refused.errors]


def test_a_comment_ends_at_a_lone_carriage_return():
    assert reading("# waiver: W-1\ra: 1") == (2, 1, False, {"a": (2, 1, (2, 4, False, 1))})


@given(LINES, st.sampled_from(["\r", "\r\n", "\x85"]))
@example(["# waiver: W-1", "a: 1"], "\r")
def test_a_document_does_not_depend_on_how_its_lines_end(lines, line_break):
    assert reading(line_break.join(lines)) == reading("\n".join(lines))


PIECES = st.sampled_from(
    ["a", "b", ": ", ":", "- ", "\n", "  ", "\t", "[", "]", "{", "}", ",", "&x ", "*x", "<<: ", "!!int ",
     "'", '"', "|", ">", "#", "---\n", "...", "? ", "%YAML 1.1\n", "1", "-1", "0x", ".nan", "é", "\u202e", "\x00", "~"]
)  # fmt: skip


@given(st.one_of(st.text(), st.lists(PIECES, max_size=40).map("".join)))
@example("\ud800")
@example("a: \x85b")
@example("? {a: 1}\n: b")
@example("!<tag:yaml.org,2002:str> : x")
@example("&a : *a")
@example("- &a\n- <<: *a")
def test_any_text_is_a_document_or_a_mistake(text):
    try:
        root = read_text(text, "b.yaml")
    except SpecErrors as refused:
        found = refused.errors
    else:
        check(Tree(root, to_data(root), ("b.yaml",)).data)
        return
    assert found
    for error in found:
        assert error.summary
        assert error.location is None or error.location.line >= 1


@given(
    st.one_of(
        st.lists(PIECES, max_size=20).map("".join),
        st.lists(PIECES, max_size=3).map(
            lambda more: "a:\n- b: 1\n  c:\n- '1'\nd: 12 kW" + "".join(more)
        ),
        LINES.map("\n".join),
        NESTED.map(yaml.safe_dump),
    )
)
def test_one_pass_tells_what_the_nodes_tell(text):
    """What is not plain is left to them; so is each mistake."""
    plain = _read_plain(text, "b.yaml")
    assert plain is None or placed(plain) == placed(_read_nodes(text, "b.yaml"))


@pytest.mark.parametrize(
    "text", ["a:\n- b: 1\n  c:\n- '1'\n- 1_0", "--- 'a'\n...\n", "[{a: b}, {}]"]
)
def test_a_document_without_anchors_and_mistakes_is_plain(text):
    assert placed(_read_plain(text, "b.yaml")) == placed(_read_nodes(text, "b.yaml"))


@pytest.mark.parametrize(
    "text",
    [
        "a: &x 1",
        "&x a: 1",
        "a: &x [1]",
        "a: !!str 1",
        "!!str a: 1",
        "a: !!map {}",
        "<<: {a: 1}",
        "? [a]\n: b",
        "a: 1\na: 1",
        "a: .nan",
        "\u202e: 1",
        "a: 1\n--- b",
        "a: [",
        "",
        "[" * (DEEPEST + 2) + "]" * (DEEPEST + 2),
        "- 1\n" * MOST_NODES,
        "\ud800",
    ],
)
def test_what_one_pass_cannot_tell_is_left_to_the_nodes(text):
    assert _read_plain(text, "b.yaml") is None


def check(value: object) -> None:
    assert type(value) in {dict, list, str, int, float, bool, type(None)}
    if isinstance(value, float):
        assert math.isfinite(value)
    for child in (
        value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    ):
        check(child)


KEYS = st.text("abcdefgh", min_size=1, max_size=4)
DATA = st.recursive(
    st.one_of(
        st.integers(-(10**9), 10**9), st.text("abc xyz", max_size=6), st.booleans(), st.none()
    ),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=15,
)


@given(st.dictionaries(KEYS, DATA, min_size=1))
def test_json_is_read_as_what_it_says(value):
    import json

    assert data(json.dumps(value)) == value
