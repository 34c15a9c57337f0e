"""Time of one training step and its parts."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from rackwright.plan.workload.layer import ELEMENT, Parts, Work, layer_parts, output_seconds
from rackwright.plan.workload.layout import ModelLayout
from rackwright.plan.workload.links import Links
from rackwright.plan.workload.memory import EVERYTHING, MemoryNeed, Repeated, memory_need
from rackwright.plan.workload.software import Software, Task
from rackwright.plan.workload.speeds import Accelerator, Precision
from rackwright.plan.workload.transformer import LanguageModel

UPDATE = 30
"""Bytes of memory traffic of the optimizer for each parameter."""
FITTED = 256
"""Accelerators of a typical run that the training programs were fitted to."""
SEEN = 0.1
"""Least share of the exchange of gradients that is not hidden: its first and last part."""


@dataclass(frozen=True, slots=True)
class TrainingJob:
    """A training job: what is trained, in which steps.

    Attributes:
        sequences: of one step, over all replicas.
        sequence: tokens of one.
    """

    model: LanguageModel
    sequences: int
    sequence: int
    precision: Precision
    task: Task = "pre-training"

    @property
    def tokens(self) -> int:
        """Return the tokens of a step."""
        return self.sequences * self.sequence


@dataclass(frozen=True, slots=True)
class StepTime:
    """One step on ``accelerators``, in seconds.

    Attributes:
        parts: of the micro-batches.
        output: output embedding and loss.
        bubble: stages that wait for others, and for what these send.
        replicas: gradients and weights between replicas that nothing hides.
        optimizer: the update.
        stragglers: waiting for the slowest of all accelerators.
        reads: waiting for training data from storage.
        repeated: work that is done twice for want of memory.
        memory: what the first stage needs.
        fits: it does, with that recomputation.
        flops: operations of the model in a second on one accelerator.
    """

    accelerators: int
    tokens: int
    parts: Parts
    output: float
    bubble: float
    replicas: float
    optimizer: float
    stragglers: float
    repeated: Repeated
    memory: MemoryNeed
    fits: bool
    flops: float
    reads: float = 0.0

    @property
    def seconds(self) -> float:
        """Return the whole step."""
        known = self.output + self.bubble + self.replicas + self.optimizer + self.stragglers
        return self.parts.seconds + known + self.reads

    @property
    def wanted(self) -> float:
        """Tokens/s of all accelerators without a power cap and without waiting for training data."""
        return self.tokens / (self.seconds - self.reads)

    def limited(self, most: float) -> StepTime:
        """Return the step where storage delivers ``most`` tokens/s; it waits for what is not read during the rest of it."""
        if self.wanted <= most:
            return self
        busy, whole = self.seconds - self.reads, self.tokens / most
        return replace(self, reads=whole - busy, flops=self.flops * self.seconds / whole)

    @property
    def tokens_per_second(self) -> float:
        """Return the tokens that one accelerator trains on in a second."""
        return self.tokens / self.seconds / self.accelerators

    def by_part(self) -> Mapping[str, float]:
        """Return the seconds of each part by its name, the longest first."""
        found = {
            "matrix products": self.parts.products + self.output,
            "attention": self.parts.attention,
            "memory traffic": self.parts.memory,
            "tensor parallel": self.parts.tensor,
            "context parallel": self.parts.context,
            "expert exchange": self.parts.experts,
            "kernel launches": self.parts.host,
            "recomputation": self.parts.recompute,
            "sharded weights": self.parts.gather,
            "pipeline bubble": self.bubble,
            "data parallel": self.replicas,
            "optimizer": self.optimizer,
            "stragglers": self.stragglers,
            "storage reads": self.reads,
        }
        return dict(sorted(found.items(), key=lambda one: -one[1]))


def memory_of(
    job: TrainingJob, layout: ModelLayout, accelerators: int, software: Software
) -> MemoryNeed:
    """Return the memory that a job needs on the accelerator with the first stage."""
    return memory_need(
        job.model,
        layout,
        accelerators=accelerators,
        sequences=job.sequences,
        sequence=job.sequence,
        precision=job.precision,
        frozen=job.task == "lora",
        gradient=software.gradient,
        logits=software.logits,
    )


def step_time(
    job: TrainingJob,
    layout: ModelLayout,
    accelerators: int,
    accelerator: Accelerator,
    links: Links,
    software: Software,
    memory: MemoryNeed | None = None,
) -> StepTime:
    """Return the time of one step; ``layout`` divides what it has to (``layout.mistakes``).

    ``memory`` is the need of memory, where a caller has worked it out already.

    Raises:
        KeyError: the accelerator has no speed for the job's precision.
        ValueError: a collective leaves an NVLink domain and there is no network.
    """
    model, frozen = job.model, job.task == "lora"
    memory = memory or memory_of(job, layout, accelerators, software)
    enough = memory.repeated(accelerator.memory)
    repeated = EVERYTHING if enough is None or software.recompute_all else enough
    links = replace(links, reached=software.reached)
    stage = accelerators // layout.pipeline
    work = Work(
        model=model,
        layout=layout,
        accelerator=accelerator,
        links=links,
        software=software,
        precision=job.precision,
        sequence=job.sequence,
        tokens=layout.micro_batch * job.sequence / layout.context,
        frozen=frozen,
        stage=stage,
    )
    stored = 0.0
    if layout.sharded and repeated.layers:
        stored = (memory.kept(Repeated(repeated.passes)) - memory.kept(repeated)) / model.layers
    micro = Parts()
    for routed, count in ((False, model.plain_layers), (True, model.expert_layers)):
        if count:
            one = layer_parts(work, routed=routed, repeated=repeated, stored=stored)
            micro = micro.plus(one, count)
    if layout.sharded:
        micro = replace(micro, gather=_gathers(work, micro.seconds, accelerators))
    times = layout.micro_batches(accelerators, job.sequences)
    scale = times / layout.pipeline * (software.tuning if job.task != "pre-training" else 1.0)
    scale *= software.older if software.old else 1.0
    parts = Parts().plus(micro, scale)
    output = output_seconds(work) * scale
    through = (parts.seconds + output) / times
    waited = times * _later(model, layout, parts.seconds / times, output / times)
    bubble = through * (layout.pipeline - 1) / layout.virtual + waited
    bubble += _passing(work, times, accelerators)
    replicas, update = (0.0, 0.0) if frozen else _between_replicas(work, accelerators, through)
    flops = model.flops_per_token(job.sequence) * (2 / 3 if frozen else 1)
    total = parts.seconds + output + bubble + replicas + update
    slowest = total * software.jitter * _slowest(accelerators)
    total += slowest
    return StepTime(
        accelerators=accelerators,
        tokens=job.tokens,
        parts=parts,
        output=output,
        bubble=bubble,
        replicas=replicas,
        optimizer=update,
        stragglers=slowest,
        repeated=repeated,
        memory=memory,
        fits=enough is not None,
        flops=flops * job.tokens / total / accelerators,
    )


def _later(model: LanguageModel, layout: ModelLayout, layers: float, output: float) -> float:
    """Return the seconds by which the last stage is later with a micro-batch than all stages on average.

    It has the loss besides its layers. Where the layers divide evenly among the stages it has as many as the others; where
    they do with two more (126 of Llama 3 405B, 94 of Qwen3 235B), the first and the last stage have one less. Other numbers
    are laid out by hand and taken as even.

    Args:
        model: that is trained.
        layout: its stages.
        layers: mean time of a stage's layers, in s.
        output: time of the loss over the number of stages, in s.
    """
    stages = layout.pipeline
    if not model.layers % (stages * layout.virtual):
        return output * (stages - 1)
    if (model.layers + 2) % (stages * layout.virtual):
        return 0.0
    one = layers * stages / model.layers
    most = one * (model.layers + 2) / stages
    return max(most, most - one + output * stages) - layers - output


def _slowest(accelerators: int) -> float:
    """Return by how many deviations the slowest of ``accelerators`` is later than that of the fitted runs.

    The largest of n normal deviates is about √(2·ln n); a fit to runs of ``FITTED`` holds theirs.
    """
    return max(0.0, math.sqrt(2 * math.log(max(2, accelerators))) - math.sqrt(2 * math.log(FITTED)))


def _passing(work: Work, times: float, accelerators: int) -> float:
    """Return the seconds of sending activations and their gradients between stages that nothing hides.

    Without virtual stages each micro-batch waits for both. With them only the first and the last wait, before stages work
    forward and backward in turn (Narayanan et al., arXiv:2104.04473).
    """
    stages, parts = work.layout.pipeline, work.layout.virtual
    if stages == 1:
        return 0.0
    links, volume = work.links, ELEMENT * work.tokens * work.model.hidden / work.layout.tensor
    near = accelerators <= links.domain  # else some stages are in other domains than the next
    span = accelerators if near else max(links.domain + 1, 2 * work.stage)
    once = volume / links.rate(1, span) + (links.delay if near else links.rail_delay)
    waits = times if parts == 1 else min(times * parts, 2 * (stages - 1) + (parts - 1) * stages)
    return 2 * waits * once


def _gathers(work: Work, busy: float, accelerators: int) -> float:
    """Return the seconds of gathering and scattering sharded parameters that no layer hides."""
    volume = work.model.parameters / work.layout.tensor
    links = work.links
    whole = 3 * links.gather(2 * volume, accelerators // work.layout.tensor, accelerators)
    return max(work.software.gather * whole, whole - busy)


def _between_replicas(work: Work, accelerators: int, through: float) -> tuple[float, float]:
    """Return the seconds of exchanging gradients and weights that nothing hides, and of the update."""
    model, layout, links = work.model, work.layout, work.links
    stage = work.stage
    dense = model.shared_parameters / (layout.tensor * layout.pipeline)
    copies = max(1, stage // layout.tensor)
    routed = model.expert_parameters / (layout.expert * layout.pipeline)
    routed_copies = layout.expert_replicas(accelerators)
    owned = dense / copies + routed / routed_copies
    if layout.sharded:
        owned = model.parameters / accelerators
        sent = 0.0
    else:
        width = work.software.gradient + work.software.weight.get(work.precision, 2.0)
        sent = links.gather(width * dense, copies, stage)
        sent += links.gather(width * routed, routed_copies, stage)
    seen = max(SEEN * sent, sent - work.software.hidden * through)
    return seen, UPDATE * owned / work.accelerator.bandwidth
