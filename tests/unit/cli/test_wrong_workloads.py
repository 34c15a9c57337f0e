"""Mistakes that people make in workloads, from an empty folder: each with its place and its cure, in a golden table."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from cli_support import run_here

TABLE = Path(__file__).parents[2] / "golden/wrong-workloads.txt"
JOB = (
    "name: pretrain, model: llama3.1-70b, site: hall1, group: dgx, precision: fp8, sequence: 8192, "
    "batch: 4.194304 M tokens"
)
CASES = [
    ("model: llama3.1-70b", "model: llama3-70b"),
    ("model: llama3.1-70b", "model: our-own-model"),
    ("precision: fp8", "precision: fp6"),
    ("precision: fp8", "precision: nvfp4"),
    ("8192", "8k"),
    ("8192", "0"),
    ("4.194304 M tokens", "4194304"),
    ("4.194304 M tokens", "4 MB"),
    ("4.194304 M tokens", "100 tokens"),
    ("4.194304 M tokens", "4.1 M tokens, hosts: 30"),
    ("tokens", "tokens, tokens: 15"),
    ("tokens", "tokens, tokens: 15 trillion"),
    ("tokens", "tokens, target: 40 B"),
    ("site: hall1", "site: hall2"),
    ("group: dgx", "group: dxg"),
    ("group: dgx", "group: head"),
    ("tokens", "tokens, hosts: 64"),
    ("tokens", "tokens, hosts: 0"),
    ("tokens", "tokens, task: rlhf"),
    ("tokens", "tokens, software: megatron"),
    ("tokens", "tokens, job: big"),
    ("tokens", "tokens, layout: fast"),
    ("tokens", "tokens, layout: {tp: 8}"),
    ("tokens", "tokens, layout: {tensor: 3}"),
    ("tokens", "tokens, layout: {tensor: 0}"),
    ("tokens", "tokens, layout: {virtual: 4}"),
    ("tokens", "tokens, layout: {expert: 8}"),
    ("tokens", "tokens, layout: {micro_batch: 3}"),
    ("tokens", "tokens, dataset: {sample_size: 40}"),
    ("tokens", "tokens, dataset: {sample_size: 40 Mbps}"),
    ("tokens", "tokens, dataset: {sample_size: 0 MiB}"),
    ("tokens", "tokens, dataset: {sample: 40 MiB}"),
    ("tokens", "tokens, dataset: {file_system: scratch}"),
    ("tokens", "tokens, dataset: imagenet"),
    ("model: llama3.1-70b", "layout: {tensor: 8}, model: llama3.1-405b"),
    ("model: llama3.1-70b", "hosts: 1, model: kimi-k2"),
    ("model: llama3.1-70b", "model: ours, config: {hidden_size: 10}"),
    ("model: llama3.1-70b", "model: ours, config: {layer_types: [mamba]}"),
]
"""Words of a workload that is right, and what is written instead."""
PLACE = re.compile(r"site/blueprint\.yaml:\d+:\d+: workloads\.pretrain")
CURE = re.compile(
    r"hint: |; |is not one of|known: |or 'auto'|is not (a whole number|above 0|1 or more)|, and the model|those of|is not a unit of|config\.json|not counted"
)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder in which `init` has written a blueprint with 32 DGX H200."""
    folder = tmp_path_factory.mktemp("site")
    ended = run_here(folder, "init", "site", "--template", "onprem-h200", "--example")
    assert ended.code == 0, ended.err
    return folder


def told(folder: Path, blueprint: str, job: str) -> str:
    """Return what `predict` says of a job."""
    path = folder / "site/blueprint.yaml"
    path.write_text(f"{blueprint}\nworkloads:\n  - {{{job}}}\n", encoding="utf-8")
    ended = run_here(folder, "predict", "site/blueprint.yaml")
    assert ended.code in {0, 2}
    return ended.err or ended.out.partition("\n\n")[2]


def test_every_wrong_workload_is_told_with_its_place_and_its_cure(site: Path) -> None:
    blueprint = (site / "site/blueprint.yaml").read_text(encoding="utf-8")
    assert "tokens a day" in told(site, blueprint, JOB)
    assert "(found)" in told(site, blueprint, f"{JOB}, layout: auto")
    entries = []
    for old, new in CASES:
        assert old in JOB
        text = told(
            site, blueprint, JOB.replace(old, new, 1) if old != "tokens" else f"{JOB}{new[6:]}"
        )
        assert "matrix products" not in text, (old, new)
        assert PLACE.search(text), (new, text)
        assert CURE.search(text), (new, text)
        entries.append(f"{old} -> {new}\n{text}")
    table = "\n".join(entries)
    if os.environ.get("UPDATE_GOLDEN"):
        TABLE.write_text(table, encoding="utf-8")
    assert table == TABLE.read_text(encoding="utf-8")
