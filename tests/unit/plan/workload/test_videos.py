"""A video model: published rates of Wan 2.1 14B in bf16, which no program was fitted to.

``UPDATE_GOLDEN=1`` writes the table of ``docs/workloads.md``.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rackwright.plan.workload.layout import ModelLayout
from rackwright.plan.workload.library import known_accelerators, known_models, known_programs
from rackwright.plan.workload.links import Links
from rackwright.plan.workload.step import StepTime, TrainingJob, step_time
from rackwright.plan.workload.transformer import UnknownShapeError, read_config

DOCUMENT = Path(__file__).parents[4] / "docs/workloads.md"
HEADING = "| Wan 2.1 14B on | Layout | Published | Predicted | With all layers recomputed |"
PATCHES = 37440
ROWS = [
    ("gb300", 32, 64, ModelLayout(context=2), 100e9, 1030.67),
    ("gb200", 32, 64, ModelLayout(context=2, sharded=True), 50e9, 899.62),
    ("b200", 32, 64, ModelLayout(context=2, sharded=True), 50e9, 804.02),
    ("h100", 128, 128, ModelLayout(tensor=2, context=4), 50e9, 325.77),
]
"""System, accelerators, sequences of a step, layout, B/s of a port, and TFLOP/s of the model on each accelerator."""
WAN = known_models()["wan2.1-14b"]


def predicted(
    system: str, count: int, sequences: int, layout: ModelLayout, rail: float, *, again: bool
) -> StepTime:
    accelerator = known_accelerators()[system]
    domain = 72 if system.startswith("gb") else 8
    links = Links(domain=domain, link=accelerator.link, delay=accelerator.delay, rail=rail)
    software = replace(known_programs()["megatron-core-26.02"], recompute_all=again)
    job = TrainingJob(WAN, sequences, PATCHES, "bf16")
    return step_time(job, layout, count, accelerator, links, software)


def test_published_rates_lie_in_the_stated_range() -> None:
    low, high = known_programs()["megatron-core-26.02"].spread["images"]
    lines = [HEADING, "|---|---|---|---|---|"]
    for system, count, sequences, layout, rail, flops in ROWS:
        found, again = (
            predicted(system, count, sequences, layout, rail, again=one) for one in (False, True)
        )
        assert low <= flops * 1e12 / found.flops <= high, system
        lines.append(
            f"| {count} {system.upper()} | {layout} | {flops:.0f} TFLOP/s | {found.flops / 1e12:.0f} TFLOP/s | "
            f"{again.flops / 1e12:.0f} TFLOP/s |"
        )
    table = "\n".join(lines)
    text = DOCUMENT.read_text(encoding="utf-8")
    if os.environ.get("UPDATE_GOLDEN"):
        before, _, after = text.partition(HEADING)
        text = f"{before}{table}\n\n{after.partition(chr(10) * 2)[2]}"
        DOCUMENT.write_text(text, encoding="utf-8")
    assert table in text


def test_patches_attend_to_all_others() -> None:
    """Self-attention counts the whole square, and each layer has a second attention, to the text."""
    layer = 6 * 5120**2 + 2 * 5120 * 13824  # query, key, value, output; query, output; feed-forward
    ends = 2 * 5120 * 64  # a patch of 1 × 2 × 2 in 16 channels, in and out; only the way out counts
    assert WAN.parameters == 40 * layer + ends
    scores = 12 * 40 * 5120 * PATCHES
    assert WAN.flops_per_token(PATCHES) == pytest.approx(6 * (40 * layer + ends / 2) + scores)
    assert WAN.kind == "images"


@pytest.mark.parametrize("key", ["num_layers", "ffn_dim", "attention_head_dim", "in_channels"])
def test_a_size_that_is_missing_is_told(key: str) -> None:
    config: dict[str, Any] = {
        "_class_name": "WanTransformer3DModel", "num_layers": 30, "num_attention_heads": 12,
        "attention_head_dim": 128, "ffn_dim": 8960, "in_channels": 16,
    }  # fmt: skip
    del config[key]
    with pytest.raises(UnknownShapeError, match=key):
        read_config("ours", config)
