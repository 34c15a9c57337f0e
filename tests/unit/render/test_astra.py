"""Inputs of ASTRA-sim have the plan's network and the step's work."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
import yaml

from cli_support import run_here
from rackwright.plan.load import load_plan
from rackwright.plan.workload.links import Links
from rackwright.plan.workload.prediction import Prediction
from rackwright.policy.packs.loader import builtin_pack
from rackwright.render.astra import _dimensions, astra_files

FIXTURE = builtin_pack() / "fixtures/workloads.yaml"


def predicted(folder: Path, layer: str = "") -> Prediction:
    path = folder / "layer.yaml"
    path.write_text(layer)
    (found,) = load_plan(FIXTURE, [path] if layer else ()).plan.predictions
    return found


def test_network_is_that_of_the_plan(tmp_path: Path) -> None:
    found = predicted(tmp_path)
    files = astra_files(found)
    assert files is not None
    network = yaml.safe_load(files["network.yml"])
    assert network["topology"] == ["Switch"] * 3
    assert network["npus_count"] == [8, 32, 2]
    assert network["bandwidth"] == [333, 50, 50]
    assert math.prod(network["npus_count"]) == 512
    system = json.loads(files["system.json"])
    assert system["all-reduce-implementation"] == ["ring"] * 3
    assert system["local-mem-bw"] == 4800


@pytest.mark.parametrize(
    ("accelerators", "counts", "rates"),
    [
        (8, [8], [400]),
        (256, [8, 32], [400, 50]),
        (1024, [8, 32, 4], [400, 50, 25]),
        (12, [12], [50]),
    ],
)
def test_dimensions_are_domain_pod_and_pods(
    accelerators: int, counts: list[int], rates: list[float]
) -> None:
    links = Links(domain=8, link=400e9, delay=1e-5, rail=50e9, pod=256, oversubscription=2)
    found = _dimensions(links, accelerators)
    assert [one[0] for one in found] == counts
    assert [one[1] for one in found] == rates


def test_workload_has_the_compute_of_the_step(tmp_path: Path) -> None:
    found = predicted(tmp_path)
    files = astra_files(found)
    assert files is not None
    assert found.step is not None
    head, count, *rows = files["workload.txt"].splitlines()
    assert (head, int(count), len(rows)) == ("HYBRID_MODEL_DATA", 20, 20)
    cells = [row.split() for row in rows]
    parts = found.step.parts
    busy = parts.products + parts.attention + parts.memory + parts.recompute + parts.host
    told = sum(int(row[column]) for row in cells for column in (2, 5, 8)) / 1e6
    assert told == pytest.approx(busy, rel=1e-4)
    assert {row[3] for row in cells} == {"ALLGATHER"}
    assert {row[9] for row in cells} == {"ALLREDUCE"}
    # bf16 gradients of 70.6 billion parameters over tp 4, pp 4 and 20 layers
    assert int(cells[0][10]) == pytest.approx(2 * 70.55e9 / 16 / 20, rel=1e-3)


EXPERTS = """
workloads:
  - {name: pretrain, model: qwen3-235b-a22b, sequence: 4096, layout: {tensor: 1, pipeline: 2, virtual: 1, expert: 64}}
"""
COLUMNS = 12
"""Columns of a record that AICB writes."""


@pytest.mark.parametrize(
    ("layer", "kinds"),
    [
        ("", {"ALLGATHER", "REDUCESCATTER"}),
        (
            EXPERTS,
            {"NONE", "ALLTOALL_EP"},
        ),
    ],
)
def test_workload_of_simai_has_the_compute_of_the_step(
    tmp_path: Path, layer: str, kinds: set[str]
) -> None:
    found = predicted(tmp_path, layer)
    files = astra_files(found)
    assert files is not None
    assert found.step is not None
    assert found.layout is not None
    head, count, *rows = files["simai.txt"].splitlines()
    assert len(rows) == int(count)
    words = head.split()
    told = dict(zip(words[1::2], words[2::2], strict=True))
    assert words[0] == "HYBRID_TRANSFORMER_FWD_IN_BCKWD"
    assert int(told["model_parallel_NPU_group:"]) == found.layout.tensor
    assert int(told["pp:"]) == found.layout.pipeline
    assert int(told["all_gpus:"]) == 512
    cells = [row.split("\t") for row in rows]
    assert {len(one) for one in cells} == {COLUMNS}
    once, layers = cells[:2], cells[2:]
    assert [one[0] for one in once] == ["grad_gather", "grad_param_comm"]
    assert len(layers) == 4 * int(told["vpp:"]) * int(told["ga:"])
    parts = found.step.parts
    busy = parts.products + parts.attention + parts.memory + parts.recompute + parts.host
    compute = sum(int(one[column]) for one in layers for column in (2, 5, 8)) / 1e9
    assert compute == pytest.approx(busy, rel=1e-3)
    assert {one[3] for one in layers} == kinds
    if found.layout.tensor > 1:  # whole activations of a micro-batch in bf16
        assert {int(one[4]) for one in layers} == {2 * 8192 * 8192}


def test_predict_writes_the_files_of_each_workload(tmp_path: Path) -> None:
    ended = run_here(tmp_path, "predict", str(FIXTURE), "--write-astra", "out")
    assert ended.code == 0
    names = sorted(one.name for one in (tmp_path / "out/pretrain").iterdir())
    assert names == ["network.yml", "simai.txt", "system.json", "workload.txt"]


def test_a_workload_without_a_prediction_writes_nothing(tmp_path: Path) -> None:
    layer = "workloads: [{name: pretrain, layout: {tensor: 3}}]\n"
    assert astra_files(predicted(tmp_path, layer)) is None
    refused = run_here(
        tmp_path, "predict", str(FIXTURE), "--layer", "layer.yaml", "--write-astra", "out"
    )
    refused.refused("no workload has a prediction")
    assert not (tmp_path / "out").exists()
