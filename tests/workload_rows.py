"""Measured training runs, for tests and benches of predictions.

The rows lie above the checkout, in ``shared/data/training``; they are others' and no part of it.
Where they are absent, the runs that ``docs/workloads.md`` names are left (``PUBLISHED``).
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from rackwright.plan.workload.layout import ModelLayout
from rackwright.plan.workload.library import known_accelerators, known_models, known_programs
from rackwright.plan.workload.links import Links
from rackwright.plan.workload.memory import Repeated
from rackwright.plan.workload.software import Software, Task
from rackwright.plan.workload.speeds import Precision
from rackwright.plan.workload.step import StepTime, TrainingJob, step_time
from rackwright.plan.workload.transformer import LanguageModel

ROWS = next(
    (
        found
        for above in Path(__file__).resolve().parents
        if (found := above / "shared/data/training").is_dir()
    ),
    Path("shared/data/training"),
)
RAILS = {
    "a100": 25e9,
    "a100-40gb": 25e9,
    "h100": 50e9,
    "b200": 50e9,
    "b300": 50e9,
    "gb200": 50e9,
    "gb300": 100e9,
}
"""Bytes a second of each accelerator's network port on the systems of the rows."""
DOMAINS = {"gb200": 72, "gb300": 72}
"""Accelerators of an NVLink domain, where it is not a node of eight."""
MODELS = {
    "LLAMA3_8B": "llama3.1-8b",
    "LLAMA3_70B": "llama3.1-70b",
    "LLAMA3.1_405B": "llama3.1-405b",
    "DeepSeekV3": "deepseek-v3",
    "Kimi_K2": "kimi-k2",
    "Qwen3_235B_a22B": "qwen3-235b-a22b",
    "Qwen3_30B_a3B": "qwen3-30b-a3b",
    "GPT OSS 120B": "gpt-oss-120b",
}
PRECISIONS: dict[str, Precision] = {
    "FP8": "fp8", "FP8-CS": "fp8", "FP8-CS (FP8-MX)": "fp8", "MXFP8": "mxfp8", "FP8-MX": "mxfp8",
    "NVFP4": "nvfp4", "BF16": "bf16",
}  # fmt: skip
TASKS: dict[str, Task] = {"P": "pre-training", "S": "sft", "L": "lora"}


@dataclass(frozen=True)
class Run:
    """A measured run.

    Attributes:
        rate: tokens in a second of one accelerator.
        release: of the NeMo container; empty for other programs.
        recomputed: every layer is, as the run's recipe says; None where the run does not say.
    """

    job: TrainingJob
    layout: ModelLayout
    accelerators: int
    system: str
    program: str
    rate: float
    release: str = ""
    recomputed: bool | None = None

    @property
    def generation(self) -> str:
        """Type of its accelerators, whatever their memory."""
        return self.system.partition("-")[0]

    def fits(self) -> bool:
        """Return True if the predicted memory is right about the run, which ran.

        A run that recomputes all layers fits with that and, since it pays for it, not without; one that recomputes none
        fits without. Of others it is known alone that they fit in some way.
        """
        step, memory = self.step(), known_accelerators()[self.system].memory
        free = step.memory.total(Repeated()) <= memory
        if self.recomputed is None:
            return step.fits
        return step.fits and not free if self.recomputed else free

    def software(self, program: Software | None = None) -> Software:
        """Return the program of the run, or another one, with the settings of the run's recipe."""
        found = program or known_programs()[self.program]
        if not self.release:
            return replace(found, recompute_all=found.recompute_all or bool(self.recomputed))
        found = replace(found, old=self.release < "26.04")
        return replace(found, **_recipe(self)) if self.job.model.experts else found

    @property
    def kind(self) -> str:
        """Return ``images``, ``experts`` or ``dense``."""
        return self.job.model.kind

    def step(self, software: Software | None = None) -> StepTime:
        """Return the predicted step, with the program of the run or another one."""
        accelerator = known_accelerators()[self.system]
        precision = self.job.precision if self.job.precision in accelerator.gemms else "bf16"
        links = Links(
            domain=DOMAINS.get(self.system, 8),
            link=accelerator.link,
            delay=accelerator.delay,
            rail=RAILS[self.system],
        )
        return step_time(
            replace(self.job, precision=precision),
            self.layout,
            self.accelerators,
            accelerator,
            links,
            self.software(software),
        )

    def ratio(self, software: Software | None = None) -> float:
        """Return predicted over measured speed."""
        return self.step(software).tokens_per_second / self.rate


def megatron_runs() -> list[Run]:
    """Return the distinct configurations of Megatron-Bridge, each at its newest release."""
    newest: dict[Any, Run] = {}
    for row in _rows("megatron_bridge.csv"):
        model = row["model"].split(" (")[0]
        if model not in MODELS:
            continue  # state-space layers, which no prediction covers
        shape = known_models()[MODELS[model]]
        if "w/o MTP" in row["model"]:
            shape = replace(shape, predicted=0)
        run = megatron_run(
            shape,
            row["system"][4:].lower(),
            PRECISIONS[row["prec"]],
            _number(row, "gpus"),
            _number(row, "gbs"),
            _number(row, "seq"),
            ModelLayout(
                tensor=_number(row, "tp"),
                pipeline=_number(row, "pp"),
                context=_number(row, "cp"),
                virtual=_number(row, "vp"),
                expert=_number(row, "ep"),
                sharded=float(row["fsdp"] or 0) > 0,
                micro_batch=_number(row, "mbs"),
            ),
            float(row["tok"]),
            row["container"],
            TASKS[row["task"][0]],
        )
        run = _as_it_ran(run)
        key = (run.system, run.job, run.layout, run.accelerators)
        if key not in newest or run.release > newest[key].release:
            newest[key] = run
    return list(newest.values())


def _as_it_ran(run: Run) -> Run:
    """Return a run with the layout that it had, where the table prints another.

    A 70B model with ``tp`` 1 and ``pp`` 1 does not fit an accelerator by any recomputation; rows of the same table and
    release have the same layout with FSDP. Three runs of release 25.11 print a layout that no recipe has, one number beside
    the recipe of that release for the same batch: they ran as the recipe says (docs/workloads.md).
    """
    if run.job.model.experts:
        return replace(run, layout=_layout_of_recipe(run))
    whole = run.layout.of_replica == 1 and run.job.task != "lora"
    if whole and not run.step().fits:
        return replace(run, layout=replace(run.layout, sharded=True))
    return run


def megatron_run(
    model: LanguageModel,
    system: str,
    precision: Precision,
    accelerators: int,
    sequences: int,
    sequence: int,
    layout: ModelLayout,
    rate: float,
    release: str,
    task: Task = "pre-training",
) -> Run:
    """Return a run of Megatron-Core with the program of its release."""
    job = TrainingJob(model, sequences, sequence, precision, task)
    return Run(job, layout, accelerators, system, "megatron-core-26.06", rate, release)


def vtrain_runs(name: str) -> list[Run]:
    """Return the runs of vTrain on A100: ``vtrain_multi.csv`` or ``vtrain_single.csv``."""
    runs = []
    for row in _rows(name):
        hidden, layers = int(row["hidden size"]), int(row["# layers"])
        heads = int(row["attention heads"])
        model = LanguageModel(
            f"gpt-{hidden}-{layers}", layers, hidden, heads, heads, hidden // heads, 4 * hidden, 51200,
            gated=False, tied=True, dense_layers=layers,
        )  # fmt: skip
        batch, sequence = int(row["global batch"]), int(row["sequence length"])
        count = int(row["# GPUs"])
        layout = ModelLayout(
            tensor=int(row["tensor parallelism"]),
            pipeline=int(row["pipeline parallelism"]),
            micro_batch=int(row["micro batch"]),
        )
        rate = batch * sequence / float(row["iteration time (ms)"]) * 1e3 / count
        job = TrainingJob(model, batch, sequence, "bf16")
        runs.append(Run(job, layout, count, "a100", "megatron-deepspeed-2022", rate))
    return runs


MPT = {
    "125m": (768, 12, 12), "350m": (1024, 16, 24), "760m": (1536, 12, 24), "1b": (2048, 16, 24), "3b": (2560, 20, 32),
    "7b": (4096, 32, 32), "13b": (5120, 40, 40), "30b": (7168, 56, 48), "70b": (8192, 64, 80),
}  # fmt: skip
"""Width, heads and layers of llm-foundry's models by their names."""


def foundry_runs() -> list[Run]:
    """Return the runs of llm-foundry on A100 and H100 whose parameters, gradients and states are all sharded."""
    runs = []
    for row in _rows("llm_foundry.csv"):
        if row["Sharding Strategy"] != "FULL_SHARD":
            continue
        hidden, heads, layers = MPT[row["Model"]]
        model = LanguageModel(
            f"mpt-{row['Model']}", layers, hidden, heads, heads, hidden // heads, 4 * hidden, 50368,
            gated=False, tied=True, dense_layers=layers,
        )  # fmt: skip
        precision: Precision = "fp8" if row["Precision"] == "amp_fp8" else "bf16"
        batch, sequence = int(row["GlobalBatchSize"]), int(row["SeqLen (T)"])
        runs.append(
            Run(
                TrainingJob(model, batch, sequence, precision),
                ModelLayout(sharded=True, micro_batch=int(row["MicroBatchSize"])),
                int(row["# GPUs"]),
                {"a100_40gb": "a100-40gb"}.get(row["GPU"], row["GPU"].partition("_")[0]),
                "llm-foundry-2024",
                float(row["Throughput (T/s/GPU)"]),
                recomputed=row["Activation Checkpointing"] == "True",
            )
        )
    return runs


LAYOUT = {
    "tp": "tensor",
    "pp": "pipeline",
    "vp": "virtual",
    "ep": "expert",
    "mbs": "micro_batch",
}
"""Columns of recipes by the field of a layout that they state."""


def _recipes_of(run: Run) -> list[dict[str, str]]:
    wanted = (run.job.model.name, run.system, run.job.precision)
    return [row for row in _recipes() if (row["model"], row["system"], row["precision"]) == wanted]


def _differing(run: Run, row: dict[str, str]) -> list[str]:
    """Return the columns of a recipe that differ from the layout of a run."""
    return [key for key, field in LAYOUT.items() if int(row[key]) != getattr(run.layout, field)]


def _layout_of_recipe(run: Run) -> ModelLayout:
    """Return the layout of the recipe of a run's release and batch, where no recipe has the printed one."""
    rows = [row for row in _recipes_of(run) if row["gbs"] == str(run.job.sequences)]
    if any(not _differing(run, row) for row in rows):
        return run.layout
    for row in rows:
        other = _differing(run, row)
        if row["release"] == run.release and len(other) == 1:
            changes: dict[str, Any] = {LAYOUT[key]: int(row[key]) for key in other}
            return replace(run.layout, **changes)
    return run.layout


def _recipe(run: Run) -> dict[str, Any]:
    """Return the settings of the recipe that comes nearest by layout, of releases that there were."""

    def distance(row: dict[str, str]) -> tuple[bool, int, str]:
        other = len(_differing(run, row)) + (row["gbs"] != str(run.job.sequences))
        later = row["release"] > run.release
        return later, other, row["release"] if later else _descending(row["release"])

    rows = _recipes_of(run)
    if not rows:
        return {}
    best = min(rows, key=distance)
    switches = ("once", "overlapped", "fused", "projections", "passes")
    return {"graphs": best["graphs"], **{key: best[key] == "1" for key in switches}}


def _descending(release: str) -> str:
    """Return a key that sorts releases from the newest to the oldest."""
    return "".join(
        chr(ord("9") - int(one)) if one.isdigit() else one for one in release.ljust(8, "0")
    )


@lru_cache(maxsize=1)
def _recipes() -> tuple[dict[str, str], ...]:
    with Path(__file__).with_name("workload_recipes.csv").open(encoding="utf-8") as file:
        return tuple(csv.DictReader(file))


def _rows(name: str) -> Iterator[dict[str, str]]:
    if not (ROWS / name).is_file():
        return
    with (ROWS / name).open(encoding="utf-8") as file:
        yield from csv.DictReader(file)


def _number(row: dict[str, str], key: str) -> int:
    return int(float(row[key])) if row[key] else 1


def _published() -> list[Run]:
    def run(
        model: str, system: str, precision: Precision, count: int, sequences: int, sequence: int,
        layout: ModelLayout, rate: float, release: str, task: Task = "pre-training",
    ) -> Run:  # fmt: skip
        shape = known_models()[model]
        return megatron_run(
            shape, system, precision, count, sequences, sequence, layout, rate, release, task
        )

    return [
        run("llama3.1-405b", "h100", "fp8", 1024, 1536, 8192, ModelLayout(8, 8, 2, 8), 326, "26.06"),
        run("llama3.1-405b", "gb200", "nvfp4", 256, 1536, 8192, ModelLayout(4, 16, 1, 8), 1166, "26.06"),
        run("llama3.1-405b", "gb300", "fp8", 256, 1536, 8192, ModelLayout(4, 8, 1, 4), 1048, "26.06"),
        run("llama3.1-70b", "gb200", "nvfp4", 64, 256, 8192, ModelLayout(2, 4, 1, 5), 4864, "26.04.01"),
        run("llama3.1-70b", "gb300", "nvfp4", 64, 256, 8192, ModelLayout(1, 4, 1, 5), 7296, "26.04.01"),
        run("llama3.1-8b", "b200", "fp8", 8, 128, 8192, ModelLayout(micro_batch=2), 30624, "25.11"),
        run("llama3.1-8b", "gb200", "fp8", 8, 128, 8192, ModelLayout(micro_batch=2), 31508, "25.11"),
        run("llama3.1-8b", "gb300", "fp8", 8, 128, 8192, ModelLayout(micro_batch=2), 37556, "25.11"),
        run("llama3.1-70b", "h100", "fp8", 32, 32, 4096, ModelLayout(4, 4, 1, 5), 1638, "26.06", "sft"),
        run("llama3.1-70b", "h100", "fp8", 8, 32, 4096, ModelLayout(2, 4, 1, 20), 2643, "26.06", "lora"),
        run("deepseek-v3", "gb200", "mxfp8", 256, 4096, 4096, ModelLayout(1, 4, 1, 4, 64), 4912, "26.08"),
        run("qwen3-235b-a22b", "h100", "fp8", 256, 8192, 4096, ModelLayout(2, 8, 1, 4, 32), 1712, "26.04.01"),
        run("qwen3-235b-a22b", "gb200", "mxfp8", 256, 8192, 4096, ModelLayout(1, 8, 1, 3, 32), 5680, "26.04.01"),
        run("gpt-oss-120b", "gb200", "mxfp8", 64, 1280, 4096, ModelLayout(expert=64, micro_batch=4), 28672, "26.08"),
    ]  # fmt: skip


PUBLISHED = _published()
"""Runs that the documents name, of NVIDIA's Megatron-Bridge, performance summaries 25.11 to 26.08."""
