"""A product that cools or feeds nothing is no product: what is needed more of it cannot be counted."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from rackwright.catalog.loader import FOLDERS
from rackwright.errors import SpecErrors
from rackwright.reading.loader import load_text, load_tree
from rackwright.resources import bundled

GIVEN = {
    ("cdus", "cdu-spec-1mw", "capacity"): "W",
    ("cdus", "cdu-spec-1mw", "flow"): "L/min",
    ("air-handlers", "crah-spec-100kw", "capacity"): "W",
    ("air-handlers", "crah-spec-100kw", "airflow"): "CFM",
    ("ups", "galaxy-vxl-500kw", "rating"): "W",
    ("generators", "cummins-c550d5e-dcc", "rating"): "W",
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


LEAST = {
    ("racks", "rack-48u", "width"): ("10 mm", "9 mm"),
    ("racks", "rack-48u", "depth"): ("10 mm", "0 mm"),
    ("racks", "rack-48u", "height"): ("1 U", "0 U"),
    ("switches", "sn2201", "rate"): ("0.01 Gbps", "0 Gbps"),
    ("switches", "sn2201", "uplinks", "rate"): ("0.01 Gbps", "0.001 Gbps"),
}


@pytest.mark.parametrize("path", LEAST, ids="-".join)
def test_fuzz_a_rack_without_width_and_a_port_without_rate_broke_their_rules(
    path: tuple[str, ...],
) -> None:
    folder, name, *field = path
    least, less = LEAST[path]
    document, fact = _product(folder, name, field)
    fact["value"] = least
    load_text(json.dumps(document), FOLDERS[folder])
    fact["value"] = less
    with pytest.raises(SpecErrors, match=r"is not \S+( \w+)? or more"):
        load_text(json.dumps(document), FOLDERS[folder])


COUNTS = (
    ("switches", "sn2201", "power_supplies", "count"),
    ("switches", "sn2201", "radix"),
    ("nodes", "dgx-h100", "accelerators", "count"),
    ("racks", "rack-48u", "casters"),
)


@pytest.mark.parametrize("path", COUNTS, ids="-".join)
def test_fuzz_two_thousand_million_power_supplies_were_plugged_in(path: tuple[str, ...]) -> None:
    folder, name, *field, last = path
    document, holder = _product(folder, name, field)
    for count in (4096, 4097):
        holder[last] = count
        if count == 4096:
            load_text(json.dumps(document), FOLDERS[folder])
        else:
            with pytest.raises(SpecErrors, match=f"{last}.*4,?096 or less"):
                load_text(json.dumps(document), FOLDERS[folder])


def _product(folder: str, name: str, path: Sequence[str]) -> tuple[Any, Any]:
    """A product of the catalogue as data, and what stands at ``path`` in it."""
    file: Path = bundled("inventory") / "catalog" / folder / f"{name}.yaml"
    document = json.loads(json.dumps(load_tree(file).data))
    place = document
    for key in path:
        place = place[key]
    return document, place
