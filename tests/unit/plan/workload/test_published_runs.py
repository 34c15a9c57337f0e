"""Runs too large for any table of measurements: predicted against what was published of them.

``UPDATE_GOLDEN=1`` writes the table of ``docs/workloads.md``.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from rackwright.plan.reliability.failures import (
    DAY,
    daly_interval,
    effective_time,
    longest_restart,
)
from rackwright.plan.storage.training import CHECKPOINT
from rackwright.plan.workload.layout import ModelLayout
from rackwright.plan.workload.library import known_accelerators, known_models, known_programs
from rackwright.plan.workload.links import Links
from rackwright.plan.workload.software import Software
from rackwright.plan.workload.step import StepTime, TrainingJob, step_time
from rackwright.plan.workload.transformer import LanguageModel

DOCUMENT = Path(__file__).parents[4] / "docs/workloads.md"
HEADING = "| Run | Accelerators | Program | Published | Predicted | Measured / predicted |"
POD = 3072
"""Accelerators of a pod of the RoCE cluster of Llama 3, above which it is oversubscribed 7:1."""


def gpt(name: str, vocabulary: int, heads: int = 96) -> LanguageModel:
    """Return a model of the sizes of GPT-3: 96 layers of 12,288."""
    return LanguageModel(
        name, 96, 12288, heads, heads, 12288 // heads, 4 * 12288, vocabulary,
        gated=False, tied=True, dense_layers=96,
    )  # fmt: skip


LLAMA = known_models()["llama3.1-405b"]


@dataclass(frozen=True)
class Published:
    """A published run.

    Attributes:
        flops: TFLOP/s of the model on each accelerator, as published.
        fitted: the program was fitted to this row.
        pod: accelerators of a pod, above which the fabric is oversubscribed 7:1; 0 without one.
        overlapped: collectives are hidden behind products, as MegaScale describes it.
    """

    name: str
    model: LanguageModel
    system: str
    accelerators: int
    sequences: int
    sequence: int
    layout: ModelLayout
    program: str
    flops: float
    fitted: bool = False
    pod: int = 0
    overlapped: bool = False

    def software(self) -> Software:
        """Return its program.

        MegaScale cuts products into pieces that hide the collectives of a layer, and exchanges gradients and weights of one
        virtual stage while others work. From the last backward pass of one virtual stage to that of all of them, a
        stage works on as many micro-batches as there are stages, less the share of that first virtual stage
        (arXiv:2104.04473).
        """
        program = known_programs()[self.program]
        if not self.overlapped:
            return program
        hidden = self.layout.pipeline * (1 - 1 / self.layout.virtual)
        return replace(program, tensor=0.0, tensor_wait=0.0, hidden=hidden)

    def step(self) -> StepTime:
        """Return the predicted step."""
        accelerator = known_accelerators()[self.system]
        links = Links(
            domain=8,
            link=accelerator.link,
            delay=accelerator.delay,
            rail=25e9 if self.system == "a100" else 50e9,
            pod=self.pod or 1 << 30,
            oversubscription=7 if self.pod else 1,
        )
        return step_time(
            TrainingJob(self.model, self.sequences, self.sequence, "bf16"),
            self.layout,
            self.accelerators,
            accelerator,
            links,
            self.software(),
        )


RUNS = [
    Published(
        "GPT-3 175B (Megatron-LM, README of July 2024: 47 % MFU)", gpt("gpt3", 131072), "h100", 96,
        1152, 4096, ModelLayout(4, 12, 1, 8), "megatron-core-2024", 465, fitted=True,
    ),
    Published(
        "GPT-3 175B (the same, 42 % MFU)", gpt("gpt3", 131072), "h100", 4608,
        1152, 4096, ModelLayout(4, 6, 1, 16, 1, micro_batch=2), "megatron-core-2024", 415,
    ),
    Published(
        "Llama 3 405B, 8k (arXiv:2407.21783)", LLAMA, "h100", 8192,
        2048, 8192, ModelLayout(8, 16, 1, 8), "megatron-core-2024", 430, pod=POD,
    ),
    Published(
        "Llama 3 405B, 8k", LLAMA, "h100", 16384,
        2048, 8192, ModelLayout(8, 16, 1, 8), "megatron-core-2024", 400, pod=POD,
    ),
    Published(
        "Llama 3 405B, 131k", LLAMA, "h100", 16384,
        128, 131072, ModelLayout(8, 16, 16, 8), "megatron-core-2024", 380, pod=POD,
    ),
    Published(
        "OPT-175B (arXiv:2205.01068)", gpt("opt", 50272), "a100", 992,
        992, 2048, ModelLayout(8, sharded=True, micro_batch=8), "megatron-deepspeed-2022", 147,
    ),
    Published(
        "Megatron-LM beside MegaScale (arXiv:2402.15627: 55.2 % / 1.34 of MFU)",
        gpt("megascale", 64000, 128), "a100", 12288,
        6144, 2048, ModelLayout(8, 8, 1, 6), "megatron-lm-2023", 0.552 / 1.34 * 312,
    ),
    Published(
        "MegaScale (arXiv:2402.15627: 55.2 % MFU)", gpt("megascale", 64000, 128), "a100", 12288,
        6144, 2048, ModelLayout(8, 8, 1, 6), "megatron-lm-2023", 0.552 * 312, overlapped=True,
    ),
]  # fmt: skip


def line(run: Published) -> str:
    """Return the row of a run."""
    predicted = run.step().flops / 1e12
    fitted = ", fitted to it" if run.fitted else ", overlapped" if run.overlapped else ""
    return (
        f"| {run.name} | {run.accelerators:,} {run.system.upper()} | {run.program}{fitted} | "
        f"{run.flops:.0f} TFLOP/s | {predicted:.0f} TFLOP/s | {run.flops * 1e12 / run.step().flops:.2f} |"
    )


def test_published_runs_lie_in_the_stated_range() -> None:
    for run in RUNS:
        low, high = known_programs()[run.program].spread["dense"]
        assert low <= run.flops * 1e12 / run.step().flops <= high, run.name
        assert run.step().fits, run.name


def test_the_document_has_the_table_of_published_runs() -> None:
    table = "\n".join([HEADING, "|---|---|---|---|---|---|", *map(line, RUNS)])
    text = DOCUMENT.read_text(encoding="utf-8")
    before, _, after = text.partition(HEADING)
    rest = after.partition("\n\n")[2]
    if os.environ.get("UPDATE_GOLDEN"):
        text = f"{before}{table}\n\n{rest}"
        DOCUMENT.write_text(text, encoding="utf-8")
    assert table in text


EFFECTIVE = "| Checkpoint every | Restart in 5 min | Restart in 10 min | 90 % allows a restart of |"
FAILURES = 419 / 54
"""Unexpected interruptions a day of Llama 3 405B on 16,384 GPUs (arXiv:2407.21783)."""
STALL = CHECKPOINT * LLAMA.parameters / 2e12
"""Seconds in which a checkpoint is written at the sustained 2 TB/s of the storage (arXiv:2407.21783)."""
BEST = daly_interval(STALL, DAY / FAILURES)


def effective_lines() -> Iterator[str]:
    """Yield the rows of effective time, for intervals between checkpoints, in s."""
    for interval in (BEST, 15 * 60, 30 * 60):
        shares = (effective_time(FAILURES, restart * 60, interval, STALL) for restart in (5, 10))
        cells = [f"{interval / 60:.1f} min{' (the best)' if interval == BEST else ''}"]
        cells += [f"{100 * share:.1f} %" for share in shares]
        cells += [f"{longest_restart(FAILURES, 0.9, interval, STALL) / 60:.1f} min"]
        yield f"| {' | '.join(cells)} |"


def test_llama_3_is_effective_for_nine_tenths_of_its_time() -> None:
    """With the best interval that the published rates allow; one of 30 min leaves too little time to restart."""
    table = "\n".join([EFFECTIVE, "|---|---|---|---|", *effective_lines()])
    text = DOCUMENT.read_text(encoding="utf-8")
    if os.environ.get("UPDATE_GOLDEN"):
        before, _, after = text.partition(EFFECTIVE)
        text = f"{before}{table}\n\n{after.partition(chr(10) * 2)[2]}"
        DOCUMENT.write_text(text, encoding="utf-8")
    assert table in text
    assert effective_time(FAILURES, 600, BEST, STALL) > 0.9
    assert effective_time(FAILURES, 600, 1800, STALL) < 0.9
