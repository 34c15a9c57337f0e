"""A file put over another one."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rackwright.errors import SpecErrors
from rackwright.reading.layering import merge
from rackwright.reading.loader import layers_of, load_tree, tree_of
from rackwright.reading.tree import Tree, to_data
from rackwright.reading.yaml_reader import read_text


def merged(base: str, *layers: str) -> Tree:
    root = read_text(base, "base")
    for number, layer in enumerate(layers):
        root = merge(root, read_text(layer, f"layer-{number}"))
    return Tree(root, to_data(root), ())


def test_mappings_merge_by_key():
    tree = merged("a: 1\nb: {x: 1, y: 2}", "b: {y: 3, z: 4}\nc: 5")
    assert tree.data == {"a": 1, "b": {"x": 1, "y": 3, "z": 4}, "c": 5}


def test_null_removes_a_key():
    assert merged("a: 1\nb: {x: 1, y: 2}", "a: null\nb: {x: ~}").data == {"b": {"y": 2}}
    assert merged("a: 1", "b: null").data == {"a": 1}


def test_lists_of_named_things_merge_by_name_and_keep_their_order():
    base = "groups: [{name: x, count: 1}, {name: y, count: 2}]"
    tree = merged(base, "groups: [{name: z}, {name: y, count: 5}]")
    assert tree.data["groups"] == [
        {"name": "x", "count": 1},
        {"name": "y", "count": 5},
        {"name": "z"},
    ]


def test_facts_merge_by_product_and_field():
    base = "facts: [{product: p, field: a, value: 1}, {product: p, field: b, value: 2}]"
    tree = merged(base, "facts: [{product: p, field: b, value: 3}, {product: q, field: a}]")
    assert tree.data["facts"] == [
        {"product": "p", "field": "a", "value": 1},
        {"product": "p", "field": "b", "value": 3},
        {"product": "q", "field": "a"},
    ]


@pytest.mark.parametrize(
    ("layer", "places"),
    [
        ("a:", ["1:1"]),
        ("a: {b: {c: }}", ["1:9"]),
        ("a:  # a comment\nd: 1", ["1:1"]),
        ("e: [{name: x, b: }]", ["1:15"]),
        ("e: [{name: y, b: }]", ["1:15"]),
        ("f: [{product: p, field: g, value: , source: }]", ["1:28", "1:37"]),
        ("a:\n  -\n  -", ["2:4", "3:4"]),
    ],
)
def test_a_key_without_a_value_changes_nothing_and_is_counted(
    tmp_path: Path, layer: str, places: list[str]
):
    """A sheet that somebody fills in bit by bit was refused key by key."""
    (tmp_path / "base.yaml").write_text("a: 1\nd: 1\ne: [{name: x, b: 2}]\n")
    (tmp_path / "layer.yaml").write_text(layer)
    tree = load_tree(tmp_path / "base.yaml", layers=[tmp_path / "layer.yaml"])
    assert tree.data == {"a": 1, "d": 1, "e": [{"name": "x", "b": 2}]}
    assert [f"{place.line}:{place.column}" for place in tree.unfilled] == places
    assert {Path(place.file).name for place in tree.unfilled} == {"layer.yaml"}


def test_what_is_filled_in_beside_an_empty_key_counts(tmp_path: Path):
    items = [
        read_text("a: {b: 1}", "base"),
        read_text("a: {b: , c: 2}\ng: [{name: x, h: , i: 3}]", "l"),
    ]
    tree = tree_of(items)
    assert tree.data == {"a": {"b": 1, "c": 2}, "g": [{"name": "x", "i": 3}]}
    assert len(tree.unfilled) == 2


@pytest.fixture
def layered(tmp_path: Path) -> Path:
    (tmp_path / "site").mkdir()
    (tmp_path / "common.yaml").write_text("a: 2\nb: 2\n")
    (tmp_path / "site/prices.yaml").write_text("b: 3\n")
    path = tmp_path / "site/blueprint.yaml"
    path.write_text(
        "apiVersion: rackwright/v1\nlayers: [../common.yaml, prices.yaml]\na: 1\nc: 1\n"
    )
    return path


def test_layers_that_a_document_names_are_below_those_of_the_command(layered: Path):
    assert load_tree(layered).data == {"apiVersion": "rackwright/v1", "a": 2, "b": 3, "c": 1}
    more = layered.with_name("more.yaml")
    more.write_text("b: 4\n")
    assert load_tree(layered, layers=[more]).data["b"] == 4
    named_again = load_tree(layered, layers=[more, layered.with_name("prices.yaml")])
    assert named_again.data["b"] == 4, (
        "a layer that is named twice stays where the document names it"
    )
    assert [path.name for path in layers_of(layered)] == ["common.yaml", "prices.yaml"]


@pytest.mark.parametrize(
    ("layers", "text"),
    [
        ("facility.yaml", "layers is not a list of file names"),
        ("[1]", "layers is not a list of file names"),
        ("['']", "layers is not a list of file names"),
        ("[/etc/x.yaml]", "the layer '/etc/x.yaml' is not beside the blueprint"),
        ("[x.yaml, x.yaml]", "the layer 'x.yaml' is named twice"),
        ("[blueprint.yaml]", "the layer 'blueprint.yaml' is named twice"),
        ("[nowhere.yaml]", "nowhere.yaml' cannot be read"),
    ],
)
def test_layers_that_cannot_be_read_are_told(layered: Path, layers: str, text: str):
    layered.write_text(f"apiVersion: rackwright/v1\nlayers: {layers}\n")
    with pytest.raises(SpecErrors) as caught:
        load_tree(layered)
    assert text in str(caught.value)


def test_only_documents_with_a_version_have_layers(tmp_path: Path):
    path = tmp_path / "rackwright.yaml"
    path.write_text("layers: [x.yaml]\n")
    assert load_tree(path).data == {"layers": ["x.yaml"]}


def test_the_word_null_and_a_text_that_is_empty_are_values(tmp_path: Path):
    (tmp_path / "base.yaml").write_text("a: 1\nb: 2\nc: 3\nd: 4\n")
    (tmp_path / "layer.yaml").write_text("a: null\nb: ~\nc: ''\nd: !!null\n")
    tree = load_tree(tmp_path / "base.yaml", layers=[tmp_path / "layer.yaml"])
    assert tree.data == {"c": ""}


def test_other_lists_are_replaced():
    assert merged("a: [1, 2, 3]", "a: [4]").data == {"a": [4]}
    assert merged("a: [{name: x}]", "a: [4]").data == {"a": [4]}
    assert merged("a: [{name: x}]", "a: [{nme: x}]").data == {"a": [{"nme": "x"}]}


def test_a_value_of_another_kind_replaces():
    assert merged("a: {b: 1}", "a: 2").data == {"a": 2}
    assert merged("a: 2", "a: {b: 1}").data == {"a": {"b": 1}}


def test_the_last_layer_is_on_top():
    assert merged("a: 1", "a: 2", "a: 3").data == {"a": 3}


def test_every_value_keeps_the_file_it_came_from():
    tree = merged("a: 1\nb: {x: 1}\nl: [{name: n, v: 1}]", "\nb: {y: 2}\nl: [{name: n, v: 2}]")
    assert str(tree.locate(("a",))) == "base:1:4"
    assert str(tree.locate(("b", "x"))) == "base:2:8"
    assert str(tree.locate(("b", "y"))) == "layer-0:2:8"
    assert str(tree.locate(("l", 0, "v"))) == "layer-0:3:18"
    assert str(tree.locate(("l", 0))) == "base:3:5"


def test_the_key_of_a_replaced_value_is_the_one_of_its_layer():
    tree = merged("a: 1\nlong: 1", "x: 0\ny: 0\nlong: 2")
    assert str(tree.locate(("long",), key=True)) == "layer-0:3:1"


def test_merging_leaves_its_inputs_alone():
    base, layer = (
        read_text("a: {b: [{name: x, c: 1}]}", "base"),
        read_text("a: {b: [{name: x}, {name: y}]}", "layer"),
    )
    before = to_data(base), to_data(layer)
    merge(base, layer)
    assert (to_data(base), to_data(layer)) == before


def test_layers_are_read_from_files(tmp_path):
    for name, text in {"a": "x: 1\ny: 1", "b": "x: 2", "c": "y: null"}.items():
        (tmp_path / name).write_text(text)
    tree = load_tree(tmp_path / "a", layers=[tmp_path / "b", tmp_path / "c"])
    assert tree.data == {"x": 2}
    assert tree.files == tuple(str(tmp_path / name) for name in "abc")
    with pytest.raises(SpecErrors):
        load_tree(tmp_path / "a", layers=[tmp_path / "absent"])


def test_name_that_the_base_has_twice_is_not_lost():
    base, layer = "l: [{name: x, v: 1}, {name: x, v: 2}]", "l: [{name: x, w: 3}]"
    assert [item.get("v") for item in merged(base, layer).data["l"]] == [1, 2]


@pytest.mark.parametrize(
    ("layer", "said"),
    [
        ("l: [{name: x, w: 3}, {name: x, w: 4}]", "l: 'x' is given twice\n  hint: write one item"),
        ("l: {x: {w: 3}}", "l: a mapping is not a list\n  hint: begin each item with '- name:'"),
        ("a: {l: {x: {w: 3}}}", "l: a mapping is not a list\n  hint: begin each item"),
    ],
)
def test_layer_that_would_replace_named_items_is_refused(layer: str, said: str) -> None:
    """Items of the base were gone, and the mistake that was told followed from that."""
    with pytest.raises(SpecErrors) as caught:
        merged("l: [{name: x, v: 1}]\na: {l: [{name: x, v: 1}]}", layer)
    assert said in str(caught.value)


def test_an_empty_list_empties():
    assert merged("l: [{name: x}]", "l: []").data == {"l": []}
    assert merged("l: []", "l: [{name: x}]").data == {"l": [{"name": "x"}]}


WORDS = st.text("abc", min_size=1, max_size=2)
DOCUMENTS = st.recursive(
    st.integers(0, 9),
    lambda inner: (
        st.dictionaries(WORDS, inner, min_size=1, max_size=3) | st.lists(inner, max_size=2)
    ),
    max_leaves=8,
)
MAPPINGS = st.dictionaries(WORDS, DOCUMENTS, min_size=1, max_size=4)


def text_of(value: object) -> str:
    import json

    return json.dumps(value)


@given(MAPPINGS)
def test_a_layer_that_says_the_same_changes_nothing(value):
    assert merged(text_of(value), text_of(value)).data == value


@given(MAPPINGS, MAPPINGS)
def test_a_layer_applied_twice_is_a_layer_applied_once(base, layer):
    once = merged(text_of(base), text_of(layer)).data
    assert merged(text_of(base), text_of(layer), text_of(layer)).data == once


@given(MAPPINGS, MAPPINGS)
def test_what_a_layer_does_not_name_stays(base, layer):
    found = merged(text_of(base), text_of(layer)).data
    assert set(found) == set(base) | set(layer)
    for key in set(base) - set(layer):
        assert found[key] == base[key]
