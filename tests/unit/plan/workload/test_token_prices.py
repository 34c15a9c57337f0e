"""Dollars of 10¹² tokens on owned and on rented accelerators."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from cli_support import run_here
from rackwright.plan.load import load_plan
from rackwright.policy.packs.loader import builtin_pack

FIXTURE = builtin_pack() / "fixtures/workloads.yaml"
LAYER = """\
sites: [{name: sjc1, pue: 1.3}]
costs:
  as_of: 2026-11-21
  rental_region: us-east-1
  owned: {energy: 0.07 USD/kWh, utilisation: 80 %, amortisation_years: 4, opex: 5 %}
  capex: {dgx-h200: 350_000 USD, rack-48u: 2_000 USD, pdu-415v-60a-24c19: 3_000 USD,
          crah-spec-100kw: 40_000 USD, qm9700: 30_000 USD}
workloads: [{name: pretrain, hosts: 32}]
"""


@pytest.fixture
def layer(tmp_path: Path) -> Path:
    path = tmp_path / "layer.yaml"
    path.write_text(LAYER)
    return path


def test_tokens_of_half_a_site_cost_half_of_it(layer: Path, tmp_path: Path) -> None:
    ended = run_here(tmp_path, "cost", str(FIXTURE), "--layer", str(layer), "--compare", "--json")
    (found,) = json.loads(ended.out)["comparisons"]
    (price,) = found["per_trillion_tokens"]
    (prediction,) = load_plan(FIXTURE, [layer]).plan.predictions
    assert prediction.a_day is not None
    for name, amount in (("owned", found["owned"]), ("on demand", found["rented"])):
        hourly = float(amount["per_hour"]) / 2
        expected = hourly * 24 * 1e12 / prediction.a_day.value
        assert price["dollars"][name]["value"] == pytest.approx(expected)
        assert price["dollars"][name]["low"] < expected < price["dollars"][name]["high"]
    assert price["dollars"]["owned"]["value"] < price["dollars"]["on demand"]["value"]


def test_use_from_which_on_owning_is_cheaper_is_told(layer: Path, tmp_path: Path) -> None:
    ended = run_here(tmp_path, "cost", str(FIXTURE), "--layer", str(layer), "--compare")
    assert "  owning is cheaper where the accelerators are used more than " in ended.out
    assert "  USD per T tokens of 'pretrain', 100 % of the hours used (" in ended.out
    assert (
        "p5en.48xlarge (on-demand, us-east-1): 63.296 USD/instance-hour; AWS Price List"
        in ended.out
    )


def test_a_job_without_progress_has_no_price(layer: Path, tmp_path: Path) -> None:
    """It was left out without a word."""
    rare = "jobs: [{name: pretrain, checkpoint_interval: 12 h}]"
    layer.write_text(f"{LAYER}reliability: {{node_failures_per_1000_days: 1000, {rare}}}\n")
    ended = run_here(tmp_path, "cost", str(FIXTURE), "--layer", str(layer), "--compare")
    assert "  USD per T tokens of 'pretrain': none, the job makes no progress\n" in ended.out
    assert prices(layer, tmp_path)["dollars"] == {}


def test_a_price_that_is_not_known_is_left_out(layer: Path, tmp_path: Path) -> None:
    layer.write_text(LAYER.replace(", qm9700: 30_000 USD", ""))
    ended = run_here(tmp_path, "cost", str(FIXTURE), "--layer", str(layer), "--compare")
    lines = ended.out.splitlines()
    (head,) = [index for index, line in enumerate(lines) if "USD per T tokens of" in line]
    assert lines[head + 1].startswith("    on demand ")
    assert "owned " not in "".join(lines[head + 1 :])
    assert "owned against rented" in ended.out
    assert "owning is cheaper" not in ended.out


def prices(layer: Path, tmp_path: Path, *options: str) -> dict[str, Any]:
    """Return what 10¹² tokens cost, of the one workload."""
    words = ("cost", str(FIXTURE), "--layer", str(layer), "--compare", "--json", *options)
    (found,) = json.loads(run_here(tmp_path, *words).out)["comparisons"]
    (price,) = found["per_trillion_tokens"]
    assert isinstance(price, dict)
    return price


def test_half_the_use_doubles_the_price_of_owned_tokens_alone(layer: Path, tmp_path: Path) -> None:
    full, half = prices(layer, tmp_path), prices(layer, tmp_path, "--use", "50")
    for name, factor in (("owned", 2), ("on demand", 1)):
        expected = full["dollars"][name]["value"] * factor
        assert half["dollars"][name]["value"] == pytest.approx(expected)
        assert half["years"]["4"][name] == pytest.approx(expected)
    assert (full["use"], half["use"]) == (1, 0.5)


def test_a_purchase_is_paid_for_in_the_first_year(layer: Path, tmp_path: Path) -> None:
    """Two of four years of service cost the whole purchase and half of the running costs."""
    ended = run_here(tmp_path, "cost", str(FIXTURE), "--layer", str(layer), "--json")
    (site,) = json.loads(ended.out)["sites"]
    bought = sum(float(one["per_year"]) for one in site["lines"] if one["kind"] == "hardware") * 4
    running = float(site["per_year"]) - bought / 4
    owned = {count: found["owned"] for count, found in prices(layer, tmp_path)["years"].items()}
    for count in (1, 2):
        expected = (bought + count * running) / count / (bought / 4 + running)
        assert owned[str(count)] / owned["4"] == pytest.approx(expected)


def test_owning_and_renting_cost_the_same_at_the_break_even(layer: Path, tmp_path: Path) -> None:
    found = prices(layer, tmp_path, "--rent", "2.5")
    for name, share in found["break_even"].items():
        at = prices(layer, tmp_path, "--rent", "2.5", "--use", f"{share * 100}%")
        assert at["dollars"]["owned"]["value"] == pytest.approx(at["dollars"][name]["value"])
    assert set(found["break_even"]) == {"on demand", "at 2.50 USD/h each"}


def test_an_offer_that_owning_never_beats_is_told(layer: Path, tmp_path: Path) -> None:
    words = ("cost", str(FIXTURE), "--layer", str(layer), "--compare", "--rent", "0.5")
    told = run_here(tmp_path, *words).out
    assert "owning over 4 years is never cheaper than at 0.50 USD/h each" in told


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--use", "60"), "--use has no effect without --compare"),
        (("--compare", "--use", "120"), "'120' is more than 100 %"),
        (("--compare", "--use", "0"), "'0' is not a number above 0"),
        (("--compare", "--rent", "two"), "'two' is not a number above 0"),
    ],
)
def test_use_and_rent_are_checked(tmp_path: Path, options: Sequence[str], told: str) -> None:
    ended = run_here(tmp_path, "cost", str(FIXTURE), *options)
    assert ended.code == 2
    assert told in ended.err
