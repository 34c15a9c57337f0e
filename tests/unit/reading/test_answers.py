"""Answers of a sheet over a document."""

from __future__ import annotations

from typing import Any

import pytest

from rackwright.errors import SpecErrors
from rackwright.reading.loader import tree_of
from rackwright.reading.yaml_reader import read_bytes, read_text

SITES = "sites: [{name: s1, altitude: 5 m, halls: [{name: h1}]}, {name: s2}]\n"


def _answered(text: str, *rows: str, name: str = "todo.csv", parted: str = ",") -> Any:
    sheet = "\n".join([parted.join(("field", "answer")), *rows])
    return tree_of([read_text(text, "b.yaml"), read_bytes(sheet.encode(), name)]).data


def _layered(text: str, layer: str) -> Any:
    return tree_of([read_text(text, "b.yaml"), read_text(layer, "l.yaml")]).data


def _refused(text: str, *rows: str, parted: str = ",") -> str:
    with pytest.raises(SpecErrors) as caught:
        _answered(text, *rows, parted=parted)
    return str(caught.value)


@pytest.mark.parametrize("parted", [",", ";", "\t"])
@pytest.mark.parametrize(
    "address", ["192.168.100.100", "192.168.100.128/25", "10.100.100.100:8443"]
)
def test_address_is_not_a_number_with_thousands(address: str, parted: str) -> None:
    assert _answered("a: {b: 1}\n", f"a.b{parted}{address}", parted=parted) == {"a": {"b": address}}


@pytest.mark.parametrize("answer", ["1.234.567.100 kg", "1.200.100.100 W", "-1.200.100.100"])
def test_number_with_four_groups_is_not_an_address(answer: str) -> None:
    assert "thousands" in _refused("a: 1\n", f"a;{answer}", parted=";")


def test_point_of_a_table_with_tabs_may_separate_thousands() -> None:
    """Programs that write tabs may have a decimal comma: 1.500 kW was taken for 1.5 kW without a word."""
    told = _refused("a: 1\n", "a\t1.500 kW", parted="\t")
    assert "a point that may separate thousands" in told
    assert "write '1500 kW' or '1.5 kW'" in told
    assert _answered("a: 1\n", "a,1.500 kW") == {"a": "1.500 kW"}


@pytest.mark.parametrize(
    ("field", "answer"),
    [
        ("sites", "[{name: s1}]"),
        ("sites", "[{name: s3}]"),
        ("sites", "[{name: s1, altitude: null}]"),
        ("sites", "[]"),
        ("sites", "[{name: s2, altitude: 7 m}]"),
        ("sites", "[s1]"),
        ("costs", "{capex: {a: 1}}"),
    ],
)
def test_answer_is_merged_as_a_layer_is(field: str, answer: str) -> None:
    """The answer ``[{name: s1}]`` dropped every other site."""
    base = f"{SITES}costs: {{capex: {{b: 2}}}}\n"
    quoted = f'"{answer}"'
    assert _answered(base, f"{field},{quoted}") == _layered(base, f"{field}: {answer}\n")


def test_answer_about_an_entry_of_a_list_is_merged() -> None:
    layer = "sites: [{name: s1, halls: [{name: h2}]}]\n"
    row = 'sites.s1,"{halls: [{name: h2}]}"'
    assert _answered(SITES, row) == _layered(SITES, layer)


@pytest.mark.parametrize("answer", ["[{name: s1}, {name: s1}]", "{s1: {altitude: 7 m}}"])
def test_answer_that_no_layer_may_have_is_refused(answer: str) -> None:
    with pytest.raises(SpecErrors) as caught:
        _layered(SITES, f"sites: {answer}\n")
    told = caught.value.errors[0].summary
    assert told in _refused(SITES, f'sites,"{answer}"')


def test_number_is_not_an_index_where_every_entry_has_a_name() -> None:
    """The answer for a rack '1' that is not there was given to the second rack."""
    racks = "racks: [{name: '3', width: 1}, {name: '4', width: 1}]\n"
    assert "there is no '1' for 'racks.1.width'" in _refused(racks, "racks.1.width,2")
    assert _answered(racks, "racks.4.width,2")["racks"][1] == {"name": "4", "width": 2}
    unnamed = "racks: [{width: 1}, {width: 1}]\n"
    assert _answered(unnamed, "racks.1.width,2")["racks"][1] == {"width": 2}


@pytest.mark.parametrize(
    ("base", "field", "told"),
    [
        ("ids: [48, 63]\n", "ids.x", "there is no 'x' for 'ids.x'"),
        ("ids: [48, 63]\n", f"ids.{'9' * 5000}", "there is no '999"),
        ("ids: 1\n", "a" + ".a" * 1500, "the field is nested more than 64 deep"),
    ],
    ids=["name in a list of numbers", "index of 5,000 digits", "1,500 keys"],
)
def test_hostile_field_is_refused(base: str, field: str, told: str) -> None:
    """Each of them ended in a traceback."""
    assert told in _refused(base, f"{field},1")


def test_each_row_without_a_field_is_told() -> None:
    told = _refused("a: 1\n", ",4 m", ",5 m")
    assert told.count("there is no field for this answer") == 2
    assert "twice" not in told


def test_table_with_an_ending_in_capitals_is_a_table() -> None:
    """It was read as YAML, and its text replaced the blueprint."""
    assert _answered("a: 1\n", "a,2", name="TODO.CSV") == {"a": 2}
    with pytest.raises(SpecErrors, match="it is a table"):
        tree_of([read_bytes(b"field,answer\n", "TODO.CSV")])
