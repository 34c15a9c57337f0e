"""Complete products: each fact on the list is one that a hall needs, and the report counts them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from catalogue_team import an_entry
from cli_support import run_here
from rackwright.catalog.completeness import coverage, needed, unanswered
from rackwright.catalog.loader import FOLDERS, load_catalogue
from rackwright.model.hardware import Confidence, Node, Switch
from rackwright.plan.missing import ProductField, fields_of
from rackwright.policy.api import Outcome
from rackwright.policy.check import check_blueprint
from rackwright.render.blueprints import find_template, write_blueprint
from template_support import example_answers

SHEET: dict[str, Any] = yaml.safe_load(
    load_catalogue().source_of(Node, "dgx-h100").read_text("utf-8")
)


def unknown(folder: Path, gone: str | None) -> set[str]:
    """Fields of a server like a DGX H100 that rules lack in a hall of it, where its entry lacks one field."""
    document = json.loads(json.dumps({**SHEET, "id": "acme-8x", "notes": []}, default=str))
    *parts, last = (gone or "x").split(".")
    place = document
    for part in parts:
        place = place[part]
    place.pop(last, None)
    cited = json.dumps({key: value for key, value in document.items() if key != "sources"})
    document["sources"] = {k: v for k, v in document["sources"].items() if f'"{k}"' in cited}
    (blueprint, *_) = write_blueprint(
        template := find_template("onprem-h100"), folder / "site", example_answers(template)
    )
    blueprint.write_text(blueprint.read_text("utf-8").replace("dgx-h100", "acme-8x"), "utf-8")
    (folder / "site/hardware/nodes").mkdir(parents=True)
    (folder / "site/hardware/nodes/acme-8x.yaml").write_text(yaml.safe_dump(document), "utf-8")
    (folder / "site/rackwright.yaml").write_text("catalogue:\n  - path: hardware\n", "utf-8")
    lacking = (
        field
        for result in check_blueprint(blueprint).results
        if result.outcome is Outcome.UNKNOWN
        for missing in result.missing
        for field in fields_of(missing)
    )
    return {
        one.name for one in lacking if isinstance(one, ProductField) and one.product == "acme-8x"
    }


def test_of_a_complete_node_nothing_is_unknown(tmp_path: Path) -> None:
    assert unknown(tmp_path, None) == set()


@pytest.mark.parametrize(
    "field",
    [
        name
        for name in needed(load_catalogue().get(Node, "dgx-h100"))
        if name not in {"power_supplies.count", "power_supplies.degraded"}
    ],
)
def test_a_needed_fact_that_a_node_lacks_is_unknown(field: str, tmp_path: Path) -> None:
    """The number of supplies cannot be left out; a third feed spares the fewest that it runs on."""
    assert field in unknown(tmp_path, field)


@pytest.mark.parametrize(
    ("folder", "numbers", "lacks"),
    [
        (
            "cdus",
            {"capacity": "1 MW", "approach": "4 K", "flow": "1500 L/min", "head": "250 kPa"},
            (),
        ),
        ("cdus", {"capacity": "1 MW", "approach": "4 K"}, ("flow", "head")),
        (
            "dry-coolers",
            {"capacity": "1 MW", "supply_temperature": "35 °C"},
            ("outdoor_temperature",),
        ),
        (
            "chillers",
            {
                "capacity": "1 MW",
                "supply_temperature": "18 °C",
                "condenser_temperature": "30 °C",
                "restart": "3 min",
            },
            (),
        ),
    ],
)
def test_what_a_product_of_the_plant_lacks(
    folder: str, numbers: dict[str, str], lacks: tuple[str, ...]
) -> None:
    kind = folder.removesuffix("s")
    entry = FOLDERS[folder].model_validate(an_entry(kind, "acme", numbers))
    assert unanswered(entry) == lacks


def test_coverage_counts_products_and_confidence_but_no_specifications() -> None:
    catalogue = load_catalogue()
    switches = [catalogue.get(Switch, one) for one in catalogue.ids(Switch)]
    row = coverage("switches", switches)
    assert (row.products, row.complete) == (
        len(switches),
        sum(1 for one in switches if not unanswered(one)),
    )
    assert row.total == sum(len(list(one.facts())) for one in switches)
    assert sum(row.share(one) for one in Confidence) == pytest.approx(100)
    generic = catalogue.get(Node, "cpu-2u")
    assert coverage("nodes", [generic]).products == 0
    assert coverage("nodes", []).share(Confidence.OFFICIAL) == 0


def test_the_report_prints_kinds_and_whom_to_ask(tmp_path: Path) -> None:
    ended = run_here(tmp_path, "catalogue", "coverage", "--missing")
    assert ended.code == 0
    lines = ended.out.splitlines()
    assert lines[-1] != lines[0]
    assert any(line.startswith("nodes") and "complete" in line for line in lines)
    (dell,) = [line for line in lines if line.startswith("dell-xe9680-h200: ")]
    assert dell.startswith("dell-xe9680-h200: ask Dell for max_power, ")
    data = json.loads(run_here(tmp_path, "catalogue", "coverage", "--json").out)
    every = data["kinds"][-1]
    assert every["kind"] == "all"
    assert every["products"] == sum(one["products"] for one in data["kinds"][:-1])
    assert every["complete"] >= 61, "a product that was complete lost a number"
    assert every["products"] >= 158
    assert every["numbers"]["official"] >= 0.49 * sum(every["numbers"].values())
