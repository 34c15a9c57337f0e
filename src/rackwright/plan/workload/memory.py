"""Memory of an accelerator that a job needs: states, activations, and what the libraries take."""

from __future__ import annotations

from dataclasses import dataclass

from rackwright.plan.workload.layout import ModelLayout
from rackwright.plan.workload.speeds import Precision
from rackwright.plan.workload.transformer import LanguageModel

RESERVED = 4.0e9
"""Bytes of the context, NCCL's buffers and fragments."""
WEIGHT_AND_GRADIENT = 6
"""Bytes of a parameter: 2 of its weight in bf16, 4 of its gradient."""
OPTIMIZER = 12
"""Bytes of a parameter: master weight and the two moments of Adam, in fp32."""


@dataclass(frozen=True, slots=True)
class MemoryNeed:
    """Bytes on the accelerator that needs most, which holds the first stage.

    Attributes:
        states: weights, gradients and the optimizer's.
        activations: kept for the backward pass, without recomputation.
        least: what is kept of activations where all layers are recomputed.
        logits: of the output embedding.
        reserved: by libraries.
    """

    states: float
    activations: float
    least: float
    logits: float
    reserved: float = RESERVED

    def total(self, recomputed: float = 0.0) -> float:
        """Return all bytes with a share of the layers recomputed."""
        kept = self.activations + (self.least - self.activations) * recomputed
        return self.states + kept + self.logits + self.reserved

    def recomputed(self, memory: float) -> float | None:
        """Return the least share of layers to recompute so that it fits; None where nothing helps."""
        room = memory - self.states - self.logits - self.reserved
        if self.activations <= room:
            return 0.0
        if self.least > room:
            return None
        return (self.activations - room) / (self.activations - self.least)


def memory_need(
    model: LanguageModel,
    layout: ModelLayout,
    *,
    accelerators: int,
    sequences: int,
    sequence: int,
    precision: Precision,
    frozen: bool,
) -> MemoryNeed:
    """Return what the first stage needs, after Korthikanti et al. (arXiv:2205.05198) with flash attention.

    The optimizer is distributed over the replicas. A stage keeps as many micro-batches as stages
    follow it, and a little more with virtual stages.
    """
    split, stages = layout.tensor, layout.pipeline
    tokens = layout.micro_batch * sequence / layout.context
    per_layer = _bytes_per_token(model, split, precision) * tokens
    layers = (model.layers + model.predicted) / stages
    ahead = 1 + (stages - 1) / (stages * layout.virtual)
    waiting = min(float(stages), max(1.0, layout.micro_batches(accelerators, sequences)))
    in_flight = layers * min(ahead * stages, waiting * ahead)
    return MemoryNeed(
        states=_states(model, layout, accelerators, precision, frozen=frozen),
        activations=per_layer * in_flight,
        least=2 * tokens * model.hidden / split * in_flight + per_layer,
        logits=6 * tokens * model.vocabulary / split if stages == 1 else 0.0,
    )


def _states(
    model: LanguageModel,
    layout: ModelLayout,
    accelerators: int,
    precision: Precision,
    *,
    frozen: bool,
) -> float:
    split, stages = layout.tensor, layout.pipeline
    if frozen:
        width = 2 if precision == "bf16" else 1
        return model.parameters * width / (split * stages)
    if layout.sharded:
        gathered = 2 * (model.parameters - model.embedding_parameters) / max(1, model.layers)
        return (WEIGHT_AND_GRADIENT + OPTIMIZER) * model.parameters / accelerators + gathered
    dense = model.shared_parameters / (split * stages)
    dense_copies = accelerators / (split * stages)
    routed = model.expert_parameters / (layout.expert * stages)
    routed_copies = layout.expert_replicas(accelerators)
    return dense * (WEIGHT_AND_GRADIENT + OPTIMIZER / dense_copies) + routed * (
        WEIGHT_AND_GRADIENT + OPTIMIZER / routed_copies
    )


def _bytes_per_token(model: LanguageModel, split: int, precision: Precision) -> float:
    """Return the bytes that one layer keeps of one token."""
    operand = 2 if precision == "bf16" else 1
    attention = (12 * model.hidden + 6 * model.heads * model.head_dim) / split
    if model.experts:
        routed = model.experts_per_token / split
        return attention + routed * (2 * operand * model.hidden + 8 * model.expert_feed_forward)
    return attention + model.feed_forward * (4 + operand) / split
