"""A product that cools or feeds nothing is no product: what is needed more of it cannot be counted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rackwright.catalog.loader import FOLDERS
from rackwright.errors import SpecErrors
from rackwright.resources import bundled
from rackwright.spec.loader import load_text, load_tree

GIVEN = {
    ("cdus", "cdu-spec-1mw", "capacity"): "W",
    ("cdus", "cdu-spec-1mw", "flow"): "L/min",
    ("air-handlers", "crah-spec-100kw", "capacity"): "W",
    ("air-handlers", "crah-spec-100kw", "airflow"): "CFM",
    ("power-shelves", "orv3-18kw", "rating"): "W",
    ("power-shelves", "orv3-18kw", "rating_n_plus_1"): "W",
}


@pytest.mark.parametrize("number", ["0", "0.0", "0.000000001", "0.99"])
@pytest.mark.parametrize(("folder", "name", "field"), GIVEN)
def test_fuzz_a_loop_with_units_of_no_capacity_stopped_the_check(
    folder: str, name: str, field: str, number: str
) -> None:
    path: Path = bundled("inventory") / "catalog" / folder / f"{name}.yaml"
    document = json.loads(json.dumps(load_tree(path).data))
    sources = next(iter(document["sources"]))
    unit = GIVEN[folder, name, field]
    document[field] = {"value": f"1 {unit}", "source": sources}
    load_text(json.dumps(document), FOLDERS[folder])
    document[field]["value"] = f"{number} {unit}"
    with pytest.raises(SpecErrors, match=f"{field}.*1 or more"):
        load_text(json.dumps(document), FOLDERS[folder])
