"""``rackwright cost``."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path

import pytest

from rackwright.cli import main
from rackwright.plan.load import load_plan
from rackwright.report.cost import storage_cost
from rackwright.resources import bundled

FIXTURE = str(bundled("policies") / "fixtures" / "cost.yaml")
NO_COSTS = str(bundled("policies") / "fixtures" / "air.yaml")


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["cost", *arguments]) == 0
    return capsys.readouterr().out


def test_text_has_totals_groups_and_the_origin_of_every_price(
    capsys: pytest.CaptureFixture[str],
) -> None:
    out = run(capsys, FIXTURE)
    assert out.startswith("ledger: 931.88 USD/h, 8,163,281.66 USD/year\n")
    assert "  dgx                35.94    314,805.60\n" in out
    assert "dgx-h100: 300,000 USD/unit, the owner's own" in out
    assert "p5.48xlarge (on-demand, us-east-1): 55.04 USD/instance-hour; AWS Price List" in out
    assert "2026-01-19, secondary" in out
    assert "not counted (aws): traffic" in out
    assert "missing" not in out


def test_an_unknown_total_is_a_lower_bound_and_says_what_is_missing(
    capsys: pytest.CaptureFixture[str],
) -> None:
    out = run(capsys, NO_COSTS)
    assert out.startswith("air: unknown\n")
    assert "site sjc1 (onprem)  unknown" in out
    assert "  - purchase price of 'rack-48u' ('capex' of the costs)\n" in out
    assert "no price is set" in out


def test_a_layer_is_put_over_the_blueprint(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    layer = tmp_path / "layer.yaml"
    layer.write_text("costs: {discount: 50 %}\n")
    out = run(capsys, FIXTURE, "--layer", str(layer))
    assert "27.52 USD/instance-hour, 55.04 before the discount;" in out


def test_owned_against_rented(capsys: pytest.CaptureFixture[str]) -> None:
    out = run(capsys, FIXTURE, "--compare")
    assert "owned against rented, site lab1 against us-east-1:" in out
    assert "  - 32 × H100 of 'dgx' as 4 × p5.48xlarge\n" in out
    assert "157.32 USD/h, 1,378,123.20 USD/year (in a capacity block)\n" in out
    assert "  owning costs 17.5 % of renting on demand\n" in out
    out = run(capsys, FIXTURE, "--compare", "--region", "eu-north-1")
    assert "missing: price of 'p5.48xlarge' on demand in eu-north-1" in out
    assert "owning costs" not in out


def test_json_is_versioned_exact_and_adds_up(capsys: pytest.CaptureFixture[str]) -> None:
    document = json.loads(run(capsys, FIXTURE, "--json", "--compare"))
    assert document["schema"] == "rackwright.cost/v1"
    assert document["total"] == {
        "per_hour": "931.881468",
        "per_year": "8163281.664000",
        "at_least_per_hour": "931.881468",
        "at_least_per_year": "8163281.664000",
        "missing": [],
    }
    found = [Decimal(line["per_year"]) for site in document["sites"] for line in site["lines"]]
    assert sum(found) == Decimal(document["total"]["per_year"])
    (comparison,) = document["comparisons"]
    assert list(comparison["rented_otherwise"]) == ["capacity-block"]
    assert comparison["rented_otherwise"]["capacity-block"]["per_year"] == "1378123.200000"
    (comparison,) = document["comparisons"]
    assert comparison["matches"][0]["price"]["listed"]["date"] == "2026-01-19"


def test_json_of_an_unknown_cost_holds_null(capsys: pytest.CaptureFixture[str]) -> None:
    document = json.loads(run(capsys, NO_COSTS, "--json"))
    assert document["total"]["per_year"] is None
    assert document["total"]["at_least_per_year"] == "0.000000"
    assert document["total"]["missing"]
    assert "comparisons" not in document


def test_a_region_without_a_comparison_is_bad_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cost", FIXTURE, "--region", "us-east-1"]) == 2
    assert "--region has no effect without --compare" in capsys.readouterr().err


def test_a_bare_number_is_refused_at_its_place(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    layer = tmp_path / "layer.yaml"
    layer.write_text("costs:\n  budget_per_year: 5\n")
    assert main(["cost", FIXTURE, "--layer", str(layer)]) == 2
    err = capsys.readouterr().err
    assert "layer.yaml:2:" in err
    assert "an amount is written as text like '1 USD/year'" in err


def test_storage_that_outlives_its_stacks_has_a_price() -> None:
    plan = load_plan(bundled("policies") / "fixtures" / "aws.yaml", []).plan
    told = storage_cost(plan.cost.lines, "use1")
    assert told.startswith("storage that is retained goes on at 11.05 USD/h (scratch)")
