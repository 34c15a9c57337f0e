"""``rackwright predict``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from cli_support import run_here
from rackwright.diff.yields import JobYield, YieldChange
from rackwright.plan.load import load_plan
from rackwright.plan.workload.run import Bounds
from rackwright.policy.packs.loader import builtin_pack
from unit.plan.workload.test_prediction import JOB, SHORT


@pytest.fixture
def blueprint(tmp_path: Path) -> Path:
    document = yaml.safe_load(SHORT.read_text(encoding="utf-8"))
    path = tmp_path / "blueprint.yaml"
    path.write_text(yaml.safe_dump({**document, "workloads": [JOB, {**JOB, "name": "other"}]}))
    return path


def test_the_answer_names_tokens_parts_and_layout(blueprint: Path) -> None:
    done = run_here(blueprint.parent, "predict", str(blueprint), "--workload", "pretrain")
    assert done.code == 0
    assert "pretrain: llama3.1-70b, fp8, on 512 × H200 SXM of sjc1/dgx" in done.out
    for text in ("tokens a day", "the whole run", "layout", "matrix products", "not counted"):
        assert text in done.out
    assert "other" not in done.out


def test_json_has_each_part_in_seconds(blueprint: Path) -> None:
    done = run_here(blueprint.parent, "predict", str(blueprint), "--json")
    document = json.loads(done.out)
    assert document["schema"] == "rackwright.prediction/v1"
    assert [one["name"] for one in document["workloads"]] == ["pretrain", "other"]
    step = document["workloads"][0]["step"]
    assert sum(step["parts"].values()) == pytest.approx(step["seconds"])


def test_a_job_that_makes_no_progress_has_no_days_and_no_price(tmp_path: Path) -> None:
    """64 failures a day and a checkpoint every 6 h: nothing is divided by no tokens."""
    document = yaml.safe_load((builtin_pack() / "fixtures/workloads.yaml").read_text("utf-8"))
    document["reliability"]["node_failures_per_1000_days"] = 1000
    document["reliability"]["jobs"][0]["checkpoint_interval"] = "6 h"
    document["workloads"][0]["tokens"] = "1 T tokens"
    path = tmp_path / "blueprint.yaml"
    path.write_text(yaml.safe_dump(document))
    done = run_here(tmp_path, "predict", str(path))
    assert done.code == 0, done.err
    assert "tokens a day   0 (0 to 0), 0.0% of the time effective" in done.out
    assert "the whole run" not in done.out
    (found,) = json.loads(run_here(tmp_path, "predict", str(path), "--json").out)["workloads"]
    assert found["days"] is found["dollars_per_trillion"] is None
    assert found["effective"] == 0
    (none,) = load_plan(path).plan.predictions
    won = YieldChange("pretrain", JobYield(none.a_day), JobYield(Bounds(1.0, 2.0, 3.0)))
    assert won.gain is None


def test_a_workload_that_is_not_there_is_named(blueprint: Path) -> None:
    done = run_here(blueprint.parent, "predict", str(blueprint), "--workload", "none")
    assert done.code == 2
    assert "there is no workload 'none'" in done.err


def test_a_blueprint_without_workloads_is_told_how_to_state_one() -> None:
    done = run_here(SHORT.parent, "predict", str(SHORT))
    assert done.code == 2
    assert "add a job, with a site and a node group of yours:\n    workloads:\n" in done.err


OVERSUBSCRIBED = """\
sites: [{name: sjc1, pue: 1.3, fabric: {oversubscription: OVER, unit_hosts: 16}}]
costs:
  as_of: 2026-11-21
  owned: {energy: 0.07 USD/kWh, utilisation: 80 %, amortisation_years: 4, opex: 5 %}
  capex: {dgx-h200: 350_000 USD, rack-48u: 2_000 USD, pdu-415v-60a-24c19: 3_000 USD,
          crah-spec-100kw: 40_000 USD, qm9700: 30_000 USD}
workloads: [{name: pretrain, model: deepseek-v3, sequence: 4096,
             layout: {tensor: 1, pipeline: 2, virtual: 1, expert: 256}}]
"""


def test_a_change_of_the_fabric_is_told_with_tokens_and_money(tmp_path: Path) -> None:
    """It brings what the same blueprint without oversubscription gets, and costs what that one costs more."""
    fixture = str(builtin_pack() / "fixtures/workloads.yaml")
    tokens, dollars, found = {}, {}, {}
    for over in (1, 12):
        path = tmp_path / f"{over}.yaml"
        path.write_text(OVERSUBSCRIBED.replace("OVER", str(over)))
        said = run_here(tmp_path, "predict", fixture, "--layer", path.name, "--json").out
        (found,) = json.loads(said)["workloads"]
        tokens[over] = found["tokens_a_day"]["value"]
        cost = run_here(tmp_path, "cost", fixture, "--layer", path.name, "--json").out
        dollars[over] = float(json.loads(cost)["total"]["per_year"])
    field = "sites.sjc1.fabric.oversubscription"
    (change,) = (one for one in found["changes"] if one["field"] == field)
    assert change["gain"] == pytest.approx(tokens[1] / tokens[12] - 1, rel=1e-6)
    assert change["dollars_per_year"] == pytest.approx(dollars[1] - dollars[12], rel=1e-6)
    text = run_here(tmp_path, "predict", fixture, "--layer", "12.yaml").out
    money = f"+{change['gain']:.1%} tokens, {change['dollars_per_year']:+,.0f} USD/year: {field}, "
    assert f"  would bring    {money}" in text


def test_a_change_is_told_with_the_field_in_the_form_that_the_user_wrote(tmp_path: Path) -> None:
    """A blueprint with its fabrics in full was told of a field ``fabric``, which it does not have."""
    fixture = str(builtin_pack() / "fixtures/workloads.yaml")
    (tmp_path / "layer.yaml").write_text(OVERSUBSCRIBED.replace("OVER", "12"))
    full = run_here(tmp_path, "expand", fixture, "--layer", "layer.yaml")
    assert full.code == 0, full.err
    (tmp_path / "full.yaml").write_text(full.out)
    said = run_here(tmp_path, "predict", "full.yaml", "--json")
    (found,) = json.loads(said.out)["workloads"]
    fields = [one["field"] for one in found["changes"]]
    assert "sites.sjc1.fabrics.compute.oversubscription" in fields
    assert not [one for one in fields if ".fabric." in one]


def test_carbon_is_that_of_the_energy_of_the_site(tmp_path: Path) -> None:
    fixture = builtin_pack() / "fixtures/federation.yaml"
    document = yaml.safe_load(fixture.read_text(encoding="utf-8"))
    document["sites"][0]["pue"] = 1.3
    for one in document["federation"]["sites"]:
        one["carbon"] = "250 g/kWh"
    job = {**JOB, "site": "alpha", "group": "alpha-gpu", "hosts": 1, "model": "llama3.1-8b"}
    document["workloads"] = [{**job, "batch": "524288 tokens"}]
    (tmp_path / "blueprint.yaml").write_text(yaml.safe_dump(document))
    said = run_here(tmp_path, "predict", "blueprint.yaml", "--json")
    (found,) = json.loads(said.out)["workloads"]
    for bound in ("low", "value", "high"):
        expected = found["kwh_per_trillion"][bound] * 0.25
        assert found["carbon_kg_per_trillion"][bound] == pytest.approx(expected)
    assert " t of CO2 (" in run_here(tmp_path, "predict", "blueprint.yaml").out
