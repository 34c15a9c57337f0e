"""Memory of an accelerator that a job needs: states, activations, and what the libraries take."""

from __future__ import annotations

from dataclasses import dataclass

from rackwright.plan.workload.layout import ModelLayout
from rackwright.plan.workload.speeds import Precision
from rackwright.plan.workload.transformer import LanguageModel

RESERVED = 4.0e9
"""Bytes of the context, NCCL's buffers and fragments."""
WEIGHT = {"nvfp4": 1.2}
"""Bytes of a weight where they are not 2: in 4 bits with its scales, row by row and column by column.

In 8 bits the two orders are 2 bytes as well.
"""
OPTIMIZER = 12
"""Bytes of a parameter: master weight and the two moments of Adam, in fp32."""


@dataclass(frozen=True, slots=True)
class Repeated:
    """Work that is repeated in the backward pass for want of memory, as shares from 0 to 1.

    Attributes:
        passes: of the norms and activation functions, which cost their traffic alone.
        layers: of the whole layers.
    """

    passes: float = 0.0
    layers: float = 0.0


EVERYTHING = Repeated(1.0, 1.0)
"""All layers are recomputed."""


@dataclass(frozen=True, slots=True)
class MemoryNeed:
    """Bytes on the accelerator that needs most, which holds the first stage.

    Attributes:
        states: weights, gradients and the optimizer's.
        activations: kept for the backward pass, without recomputation.
        cheap: activations that norms and activation functions give again, at the cost of their passes.
        least: what is kept of activations where all layers are recomputed.
        logits: of the output embedding.
        reserved: by libraries.
    """

    states: float
    activations: float
    cheap: float
    least: float
    logits: float
    reserved: float = RESERVED

    def kept(self, repeated: Repeated) -> float:
        """Return the bytes of activations where some are computed a second time."""
        kept = self.activations - self.cheap * repeated.passes
        return kept + (self.least - kept) * repeated.layers

    def total(self, repeated: Repeated) -> float:
        """Return all bytes where some activations are computed a second time."""
        return self.states + self.kept(repeated) + self.logits + self.reserved

    def repeated(self, memory: float) -> Repeated | None:
        """Return the least work to repeat so that it fits: passes first; None where nothing helps."""
        room = memory - self.states - self.logits - self.reserved
        if self.activations <= room:
            return Repeated()
        if self.least > room:
            return None
        kept = self.activations - self.cheap
        if kept <= room:
            return Repeated((self.activations - room) / self.cheap)
        return Repeated(1.0, (kept - room) / (kept - self.least))


def memory_need(
    model: LanguageModel,
    layout: ModelLayout,
    *,
    accelerators: int,
    sequences: int,
    sequence: int,
    precision: Precision,
    frozen: bool,
    gradient: float = 4.0,
    logits: float = 6.0,
) -> MemoryNeed:
    """Return what the first stage needs, after Korthikanti et al. (arXiv:2205.05198) with flash attention.

    The optimizer is distributed over the replicas. A stage keeps as many micro-batches as stages
    follow it, and a little more with virtual stages.
    """
    split, stages = layout.tensor, layout.pipeline
    tokens = layout.micro_batch * sequence / layout.context
    per_layer, cheap = (one * tokens for one in _bytes_per_token(model, split, precision))
    layers = (model.layers + model.predicted) / stages
    ahead = 1 + (stages - 1) / (stages * layout.virtual)
    waiting = min(float(stages), max(1.0, layout.micro_batches(accelerators, sequences)))
    in_flight = layers * min(ahead * stages, waiting * ahead)
    return MemoryNeed(
        states=_states(model, layout, accelerators, precision, gradient, frozen=frozen),
        activations=per_layer * in_flight,
        cheap=cheap * in_flight,
        least=2 * tokens * model.hidden / split * in_flight + per_layer,
        logits=logits * tokens * model.vocabulary / split if stages == 1 else 0.0,
    )


def _states(
    model: LanguageModel,
    layout: ModelLayout,
    accelerators: int,
    precision: Precision,
    gradient: float,
    *,
    frozen: bool,
) -> float:
    split, stages = layout.tensor, layout.pipeline
    if frozen:
        width = 2 if precision == "bf16" else 1
        return model.parameters * width / (split * stages)
    kept = WEIGHT.get(precision, 2.0) + gradient
    if layout.sharded:
        gathered = 2 * (model.parameters - model.embedding_parameters) / max(1, model.layers)
        return (kept + OPTIMIZER) * model.parameters / accelerators + gathered
    dense = model.shared_parameters / (split * stages)
    dense_copies = accelerators / (split * stages)
    routed = model.expert_parameters / (layout.expert * stages)
    routed_copies = layout.expert_replicas(accelerators)
    return dense * (kept + OPTIMIZER / dense_copies) + routed * (kept + OPTIMIZER / routed_copies)


def _bytes_per_token(model: LanguageModel, split: int, precision: Precision) -> tuple[float, float]:
    """Return the bytes that one layer keeps of one token, and those that cheap passes give again.

    Cheap are the outputs of both norms and of the activation function.
    """
    operand = 2 if precision == "bf16" else 1
    attention = (12 * model.hidden + 6 * model.heads * model.head_dim) / split
    norms = 2 * operand * model.hidden / split
    if model.experts:
        routed = model.experts_per_token / split
        whole = attention + routed * (2 * operand * model.hidden + 8 * model.expert_feed_forward)
        return whole, norms + routed * 4 * model.expert_feed_forward
    wide = model.feed_forward / split
    inputs = (
        4 if model.gated else 2
    )  # of the activation function: the product, and that of the gate
    return attention + wide * (inputs + operand), norms + wide * operand
