"""The schema for editors takes both forms, and refuses a misspelt word of either."""

from __future__ import annotations

import copy
from typing import Any

import jsonschema
import pytest

from rackwright.model.cluster import Blueprint
from rackwright.plan.derivation.derive import derive
from rackwright.plan.derivation.schema import FOLLOWS, with_short_form
from rackwright.reading.schema import export_schema
from short_forms import CATALOGUE, SHORT, a_short_site, tree

FULL = export_schema(Blueprint, title="t", schema_id="urn:x")
SCHEMA = with_short_form(FULL)
HALL = tree((SHORT / "dgx-h200.yaml").read_text("utf-8"))


def mistakes(data: Any, schema: Any = SCHEMA) -> list[str]:
    return [one.message for one in jsonschema.Draft7Validator(schema).iter_errors(data)]


@pytest.mark.parametrize("one", [HALL, tree(a_short_site(racks="auto"))])
def test_both_forms_are_taken(one: Any) -> None:
    assert mistakes(one.data) == []
    assert mistakes(one.data, FULL)
    assert mistakes(derive(one, CATALOGUE).tree.data) == []
    assert mistakes(derive(one, CATALOGUE).tree.data, FULL) == []


@pytest.mark.parametrize("path", [("fabric", "presett"), ("power", "feed"), ("racks", "limit")])
def test_a_misspelt_word_is_refused(path: tuple[str, str]) -> None:
    data = copy.deepcopy(HALL.data)
    data["sites"][0][path[0]][path[1]] = "x"
    assert mistakes(data)


def test_each_field_that_may_follow_is_one_that_the_full_form_needs() -> None:
    for name, fields in FOLLOWS.items():
        assert fields <= set(FULL["definitions"][name]["required"]), name
    assert {"RackIntent", "FeedElement"} <= SCHEMA["definitions"].keys()
