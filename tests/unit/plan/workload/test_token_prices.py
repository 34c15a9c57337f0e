"""Dollars of 10¹² tokens on owned and on rented accelerators."""

from __future__ import annotations

import json
from pathlib import Path

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
    assert "  USD per T tokens of 'pretrain': owned " in ended.out


def test_a_price_that_is_not_known_is_left_out(layer: Path, tmp_path: Path) -> None:
    layer.write_text(LAYER.replace(", qm9700: 30_000 USD", ""))
    ended = run_here(tmp_path, "cost", str(FIXTURE), "--layer", str(layer), "--compare")
    assert "  USD per T tokens of 'pretrain': on demand " in ended.out
    assert "owned against rented" in ended.out
    assert "owning is cheaper" not in ended.out
