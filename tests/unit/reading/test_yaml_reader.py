"""YAML out of careless and hostile hands."""

from __future__ import annotations

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


NESTED = st.recursive(
    st.sampled_from(["a", "- b", "[", "c: d", "e\nf", 1, None]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["k", "? l", "m: n"]), inner, max_size=3)
    ),
    max_leaves=30,
)


@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ("- ", ""), ("{a: ", "}")])
def test_each_form_of_nesting_has_the_same_bound(opening, closing):
    ((message, line, _),) = mistakes(opening * (DEEPEST + 1) + "a" + closing * (DEEPEST + 1))
    assert (message, line) == (f"nested more than {DEEPEST} deep", 1)
    assert data(opening * DEEPEST + "a" + closing * DEEPEST)


def test_an_alias_nests_no_deeper_than_what_is_written_out():
    deep = "[" * (DEEPEST - 1) + "]" * (DEEPEST - 1)
    assert data(f"- &a {deep}\n- *a")[0] == data(deep)
    assert mistakes(f"- &a {deep}\n- [*a]") == [
        ("the document is too large once its aliases are expanded", 2, 4)
    ]


def test_aliases_count_as_much_as_what_they_repeat():
    items = ", ".join(["x"] * 998)
    text = f"- &a [{items}]\n" + "- *a\n" * ((MOST_NODES - 2) // 999 - 1)
    assert len(data(text)) == (MOST_NODES - 2) // 999
    assert mistakes(text + "- *a\n")[0][0].startswith("the document is too large")


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
    assert caught.value.errors[0].location == Location(str(path), 4, 4)


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


def composed(node: yaml.Node) -> Any:
    """The texts of what PyYAML composes, with their positions."""
    value: Any = node.value
    if isinstance(node, yaml.MappingNode):
        value = {key.value: (key.start_mark.line + 1, composed(child)) for key, child in value}
    elif isinstance(node, yaml.SequenceNode):
        value = [composed(child) for child in value]
    return node.start_mark.line + 1, node.start_mark.column + 1, value


def is_composed(text: str) -> bool:
    """Whether PyYAML composes a text."""
    try:
        yaml.compose(text, yaml.CSafeLoader)
    except yaml.YAMLError:
        return False
    return True


def shape(node: yaml.Node, item: Any) -> Any:
    """The same of an item; scalars with the text of their node, whose meaning other tests check."""
    value: Any = item.value
    if isinstance(node, yaml.MappingNode):
        assert type(value) is dict
        value = {
            key.value: (value[key.value].line, shape(child, value[key.value].item))
            for key, child in node.value
        }
    elif isinstance(node, yaml.SequenceNode):
        assert type(value) is list
        assert len(value) == len(node.value)
        value = [shape(child, part) for child, part in zip(node.value, value, strict=True)]
    else:
        value = node.value
    return item.line, item.column, value


MARKED = st.sampled_from(
    ["a: &x 1", "b: *x", "c: &y {d: 1, e: [2]}", "g: [*x, *y]", "h: !!str 1", "j: &z [*y, *y]", "k: *z",
     "&w l: v", "m: !!seq []", "n: {o: &v 1, p: *v}", "q: !!map {r: }", "s: '1'"]
)  # fmt: skip


@given(
    st.one_of(
        st.lists(PIECES, max_size=20).map("".join),
        st.lists(MARKED, max_size=8, unique=True).map("\n".join),
        NESTED.map(yaml.safe_dump),
    )
)
def test_items_are_what_pyyaml_composes(text):
    try:
        root = read_text(text, "b.yaml")
    except SpecErrors:
        return
    node = yaml.compose(text, yaml.CSafeLoader)
    assert node is not None
    assert "<<" in text or shape(node, root) == composed(node)


@given(st.lists(MARKED, max_size=12))
def test_whatever_pyyaml_cannot_compose_is_refused(lines):
    text = "\n".join(lines)
    assert is_composed(text) or mistakes(text)


def test_tags_and_anchors_of_keys_and_values_change_nothing():
    text = "&k a: &x 1\n!!str b: !!str x\nc: !!map {}\n? *x\n: *k\n!!str <<: {d: 2}"
    assert data(text) == {"a": 1, "b": "x", "c": {}, "1": "a", "d": 2}
    assert mistakes("a: &x [1]\n*x : 2") == [("a key is a single word", 2, 1)]


def test_an_anchor_is_given_once():
    assert mistakes("a: &x 1\nb: &x 2") == [("two anchors have one name", 2, 4)]


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
