"""The fastest layout that fits, among those that a practitioner would try."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

from rackwright.plan.workload.layout import ModelLayout, mistakes
from rackwright.plan.workload.links import Links
from rackwright.plan.workload.software import Software
from rackwright.plan.workload.speeds import Accelerator
from rackwright.plan.workload.step import StepTime, TrainingJob, memory_of, step_time
from rackwright.plan.workload.transformer import LanguageModel

LONG = 8192
"""Tokens on one accelerator from which on a sequence is worth sharing."""
MICRO_BATCHES = (1, 2, 4, 8)
MOST_TRIED = 64
"""Numbers of sequences that are tried in each direction."""


def layouts(job: TrainingJob, accelerators: int, links: Links) -> Iterator[ModelLayout]:
    """Yield the layouts that divide the job evenly.

    Tensor parallelism stays inside an NVLink domain and a node's eight; pipelines have stages of
    equal layers, or nearly so; sequences are shared where they are long; experts by powers of two.
    """
    model = job.model
    for tensor in _powers(min(8, links.domain, accelerators)):
        for context in _powers(max(1, min(64, job.sequence // LONG))):
            for pipeline in _stages(model, accelerators // (tensor * context)):
                base = ModelLayout(tensor=tensor, pipeline=pipeline, context=context)
                for micro_batch in MICRO_BATCHES:
                    for expert in _expert_shares(model, accelerators // pipeline):
                        one = replace(base, expert=expert, micro_batch=micro_batch)
                        if any(mistakes(model, one, accelerators, job.sequences)):
                            continue
                        yield from (replace(one, virtual=v) for v in _virtual(model, pipeline))
                        if pipeline == 1 and not model.experts and job.task != "lora":
                            yield replace(one, sharded=True)


def fastest(
    job: TrainingJob,
    accelerators: int,
    accelerator: Accelerator,
    links: Links,
    software: Software,
) -> tuple[ModelLayout, StepTime] | None:
    """Return the layout with the shortest step among those that fit; None where none does."""
    best: tuple[ModelLayout, StepTime] | None = None
    for layout in layouts(job, accelerators, links):
        need = memory_of(job, layout, accelerators, software)
        if need.repeated(accelerator.memory) is None:
            continue
        step = step_time(job, layout, accelerators, accelerator, links, software, need)
        if best is None or step.seconds < best[1].seconds:
            best = layout, step
    return best


def batches(job: TrainingJob, accelerators: int, links: Links) -> list[int]:
    """Return the next smaller and the next larger number of sequences that some layout divides evenly, if any."""

    def divides(sequences: int) -> bool:
        return (
            next(layouts(replace(job, sequences=sequences), accelerators, links), None) is not None
        )

    smaller = range(job.sequences - 1, job.sequences // 2, -1)
    larger = range(job.sequences + 1, 2 * job.sequences)
    ways = (smaller[:MOST_TRIED], larger[:MOST_TRIED])
    found = (next(filter(divides, way), None) for way in ways)
    return [one for one in found if one is not None]


def enough(
    job: TrainingJob,
    accelerators: int,
    accelerator: Accelerator,
    links: Links,
    software: Software,
) -> int | None:
    """Return the first doubling of ``accelerators`` that some layout fits; None where none of ten does."""
    for count in (accelerators << doublings for doublings in range(1, 11)):
        for layout in layouts(job, count, links):
            if memory_of(job, layout, count, software).repeated(accelerator.memory) is not None:
                return count
    return None


def nearest(
    job: TrainingJob,
    layout: ModelLayout,
    accelerators: int,
    accelerator: Accelerator,
    links: Links,
    software: Software,
) -> list[ModelLayout]:
    """Return up to three layouts that divide the job and fit, those that change least first."""

    def change(other: ModelLayout) -> float:
        degrees = ("tensor", "pipeline", "context", "virtual", "expert", "micro_batch")
        moved = (math.log2(getattr(other, d) / getattr(layout, d)) for d in degrees)
        return sum(map(abs, moved)) + (other.sharded != layout.sharded)

    found = [
        one
        for one in layouts(job, accelerators, links)
        if memory_of(job, one, accelerators, software).repeated(accelerator.memory) is not None
    ]
    return sorted(found, key=change)[:3]


def _powers(most: int) -> Iterator[int]:
    value = 1
    while value <= most:
        yield value
        value *= 2


def _stages(model: LanguageModel, most: int) -> Iterator[int]:
    """Yield numbers of stages: powers of two, and those that divide the layers."""
    seen = set(_powers(min(most, model.layers)))
    seen |= {n for n in (3, 6, 9, 12, 18) if n <= most and model.layers % n == 0}
    yield from sorted(seen)


def _virtual(model: LanguageModel, stages: int) -> Iterator[int]:
    """Yield parts of a stage's layers: all at once, some, one layer each."""
    if stages == 1:
        yield 1
        return
    each = max(1, round(model.layers / stages))
    yield from sorted({1, each, *(n for n in (2, 4) if n < each)})


def _expert_shares(model: LanguageModel, stage: int) -> Iterator[int]:
    if not model.experts:
        yield 1
        return
    yield from (n for n in _powers(min(model.experts, stage)) if model.experts % n == 0)
