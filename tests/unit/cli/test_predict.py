"""``rackwright predict``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from cli_support import run_here
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


def test_a_workload_that_is_not_there_is_named(blueprint: Path) -> None:
    done = run_here(blueprint.parent, "predict", str(blueprint), "--workload", "none")
    assert done.code == 2
    assert "there is no workload 'none'" in done.err


def test_a_blueprint_without_workloads_is_told_how_to_state_one() -> None:
    done = run_here(SHORT.parent, "predict", str(SHORT))
    assert done.code == 2
    assert "add a job, with a site and a node group of yours:\n    workloads:\n" in done.err
