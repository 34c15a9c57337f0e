"""Mistakes in a blueprint: each at its place, each with what was probably meant."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factories import a_blueprint, a_site
from known import known
from rackwright.errors import Location, SpecError, SpecErrors
from rackwright.model.cluster import Blueprint
from rackwright.reading.loader import load, load_text
from rackwright.reading.suggest import did_you_mean
from rackwright.reading.tree import Item, Path, Tree, to_data
from rackwright.reading.yaml_reader import read_text

TEN_MISTAKES = """\
apiVersion: rackwright/v2
name: Demo Cluster
ownr: someone
sites:
  - name: lab
    provider: onprem
    altitude: 300
    power:
      continuous_derate: 80 %
      power_factor: 1.5
      sources:
        - {name: utility, kind: utilty, capacity: 600 kg}
        - {name: ups, kind: ups, fed_by: [utility], modules: {count: 2, capacity: 1 kW, spare: 2}}
    halls:
      - name: hall-1
        rows:
          - name: row-1
            rack_groups:
              - racks: c[09-01]
                type: rack-48u
                feeds: [{name: A, source: ups}]
                cooling: {mode: liqid}
    node_groups:
      - {name: dgx, role: compute, type: dgx-h100, racks: c01, per_rack: 4}
"""

TEN_ERRORS = [
    ("b.yaml:1:13: apiVersion: 'rackwright/v2' is not 'rackwright/v1'", "rackwright/v1"),
    (
        "b.yaml:2:7: name: 'Demo Cluster' has 'D': only small letters",
        "did you mean 'demo-cluster'?",
    ),
    ("b.yaml:3:1: unknown key 'ownr'", "did you mean 'owner'?"),
    ("b.yaml:7:15: sites.lab.altitude: '300' has no unit; write it like '300 m'", None),
    ("b.yaml:10:21: sites.lab.power.power_factor: '1.5' is not 1 or less", None),
    ("b.yaml:12:33: sites.lab.power.sources.utility.kind: 'utilty' is not one of", "'utility'?"),
    ("b.yaml:12:51: sites.lab.power.sources.utility.capacity: 'kg' is not a unit of power", None),
    ("b.yaml:13:62: sites.lab.power.sources.ups.modules: 2 spare of 2 modules leaves", None),
    (
        "b.yaml:19:24: sites.lab.halls.hall-1.rows.row-1.rack_groups.0.racks: the range '09-01'",
        None,
    ),
    (
        "b.yaml:22:33: sites.lab.halls.hall-1.rows.row-1.rack_groups.0.cooling.mode: 'liqid' is not",
        "did you mean 'liquid'?",
    ),
    ("b.yaml:24:9: sites.lab.node_groups.dgx: 'count' is missing", None),
]


def errors_of(text: str) -> tuple[SpecError, ...]:
    with pytest.raises(SpecErrors) as caught:
        load_text(text, Blueprint, name="b.yaml")
    return caught.value.errors


def test_a_decimal_comma_that_cuts_a_number_is_told_as_one():
    power = "power: {power_factor: 0,95, contract: 1,5 kW}"
    text = f"sites: [{{name: lab, provider: onprem, {power}}}]\n"
    hints = [e.hint for e in errors_of(text) if "sites.lab.power: unknown" in e.summary]
    assert hints == [
        "decimals stand behind a point: 'power_factor: 0.95'",
        "decimals stand behind a point: 'contract: 1.5 kW'",
    ]


def test_every_mistake_of_a_blueprint_is_told_at_once():
    found = errors_of(TEN_MISTAKES)
    for error, (text, hint) in zip(found, TEN_ERRORS, strict=True):
        assert str(error).startswith(text)
        assert (error.hint is None) if hint is None else (hint in known(error.hint))


def test_nothing_names_the_machinery():
    text = "\n".join(str(error) for error in errors_of(TEN_MISTAKES)).lower()
    for word in ("pydantic", "value error", "input should", "extra inputs", "type=", "onpremsite"):
        assert word not in text


def test_a_good_blueprint_loads_with_its_tree(tmp_path):
    path = tmp_path / "b.yaml"
    path.write_text(json.dumps(a_blueprint()))
    loaded = load(path, Blueprint)
    assert loaded.value.site("lab").node_groups[0].count == 4
    assert loaded.tree.files == (str(path),)
    with pytest.raises(KeyError):
        loaded.value.site("nowhere")


def test_a_layer_changes_one_value_and_its_mistake_is_told_in_the_layer(tmp_path):
    base, layer = tmp_path / "b.yaml", tmp_path / "l.yaml"
    base.write_text(json.dumps(a_blueprint()))
    layer.write_text("sites:\n  - name: lab\n    node_groups:\n      - {name: dgx, count: 2}\n")
    assert load(base, Blueprint, layers=[layer]).value.site("lab").node_groups[0].count == 2
    layer.write_text("sites:\n  - name: lab\n    node_groups:\n      - {name: dgx, count: 0}\n")
    with pytest.raises(SpecErrors) as caught:
        load(base, Blueprint, layers=[layer])
    (error,) = caught.value.errors
    assert error.location == Location(str(layer), 4, 28)


@pytest.mark.parametrize(
    ("document", "text", "hint"),
    [
        ("[]", "b.yaml:1:1: a list is not a mapping", None),
        (
            "5",
            "this is not a document of rackwright: it has no 'key: value' lines",
            "'rackwright init FOLDER --from FILE' reads sheets and files of other tools",
        ),
        (
            "apiVersion: rackwright/v1\nname: x\nsites: []",
            "sites: 0 given, at least 1 needed",
            None,
        ),
        (
            "apiVersion: rackwright/v1\nname: x\nsites: [{name: a, provider: onprm}]",
            "provider 'onprm' is not one of aws, onprem",
            "did you mean 'onprem'?",
        ),
        ("apiVersion: rackwright/v1\nname: x\nsites: [{name: a}]", "'provider' is missing", None),
        ("apiVersion: rackwright/v1\nname: no\nsites: [5]", "sites.0: '5' is not a mapping", None),
        (
            "apiVersion: rackwright/v1\nname: yes\nsites: null",
            "sites: no value is set",
            "write a list",
        ),
    ],
)
def test_a_document_of_another_shape(document, text, hint):
    (error,) = errors_of(document)
    assert text in str(error).lower()
    if hint:
        assert error.hint == hint


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("count", 0, "'0' is not above 0"),
        ("count", 1.5, "'1.5' is not a whole number"),
        ("count", "many", "'many' is not a whole number"),
        ("count", [4], "a list is not a whole number"),
        ("name", {"a": 1}, "a mapping is not text"),
        ("psus_per_feed", [2, 2, 2], "a list is not a mapping"),
        ("psus_per_feed", {"A": -1}, "'-1' is not 0 or more"),
    ],
)
def test_a_value_of_another_kind_says_what_is_wanted(key, value, message):
    site = a_site()
    site["node_groups"][0][key] = value
    (error,) = errors_of(json.dumps(a_blueprint(site)))
    assert error.summary.endswith(f": {message}")


def test_neither_true_nor_false():
    (error,) = errors_of(json.dumps(a_blueprint(a_site(allow_estimates="maybe"))))
    assert error.summary == "sites.lab.allow_estimates: 'maybe' is not true or false"


def test_things_of_one_kind_have_different_names():
    for part, message in {
        "halls": "the hall 'hall-1' is named twice",
        "node_groups": "the node group 'dgx' is named twice",
    }.items():
        site = a_site()
        site[part] *= 2
        messages = " ".join(str(error) for error in errors_of(json.dumps(a_blueprint(site))))
        assert message in messages
    messages = str(errors_of(json.dumps(a_blueprint(a_site(), a_site())))[0])
    assert "the site 'lab' is named twice" in messages


def test_a_long_value_is_cut_in_its_message():
    site = a_site()
    site["node_groups"][0]["role"] = "x" * 10_000
    (error,) = errors_of(json.dumps(a_blueprint(site)))
    assert len(error.summary) < 300


@pytest.mark.parametrize("variable", ["{{ site }}", "${SITE}", "{% if x %}"])
def test_variable_in_a_name_gets_no_guess_with_dashes_in_its_place(variable):
    hints = [error.hint for error in errors_of(f'name: "hall-{variable}"\n')]
    assert f"'{variable}' is not replaced: write the value" in hints


def tree_of(text: str) -> Tree:
    root = read_text(text, "b")
    return Tree(root, to_data(root), ("b",))


def test_a_path_is_described_by_names():
    tree = tree_of("sites: [{name: lab, halls: [{rows: [1]}, 2]}]")
    assert tree.describe(("sites", 0, "halls", 0, "rows", 0)) == "sites.lab.halls.0.rows.0"
    assert tree.describe(("sites", 0, "halls", 9, "x")) == "sites.lab.halls.9.x"
    assert tree.describe(()) == ""
    assert tree_of("a: [{name: 5}]").describe(("a", 0)) == "a.0"


def test_an_item_knows_its_place():
    assert str(Item(1, "f", 2, 3).location) == "f:2:3"


@pytest.mark.parametrize(
    ("given_", "known", "hint"),
    [
        ("dgx-h10", ["dgx-h100", "rack"], "did you mean 'dgx-h100'?"),
        ("Power_Limit", ["power-limit"], "did you mean 'power-limit'?"),
        ("nothing", ["zzz"], None),
        ("x", [], None),
    ],
)
def test_suggestions(given_, known, hint):
    assert did_you_mean(given_, known) == hint


JUNK = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-5, 5), st.text("abkW 1%-", max_size=8)),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text("abname", max_size=5), inner, max_size=3)
    ),
    max_leaves=6,
)


def places(value: object, path: Path = ()) -> Iterator[Path]:
    yield path
    children = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for key, child in children:
        yield from places(child, (*path, key))


PLACES = list(places(a_blueprint()))[1:]


@given(st.lists(st.tuples(st.sampled_from(PLACES), JUNK), min_size=1, max_size=3))
def test_junk_anywhere_in_a_blueprint_is_a_blueprint_or_mistakes_with_places(changes):
    document = json.loads(json.dumps(a_blueprint()))
    for path, junk in changes:
        here = document
        try:
            for part in path[:-1]:
                here = here[part]
            here[path[-1]] = junk
        except (TypeError, KeyError, IndexError):
            continue
    try:
        load_text(json.dumps(document, indent=1), Blueprint, name="b.yaml")
    except SpecErrors as refused:
        found = refused.errors
    else:
        return
    assert all(known(error.location).line >= 1 for error in found)
    assert all(error.summary and not error.summary.endswith(".") for error in found)
