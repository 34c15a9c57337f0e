"""Spread of a model over accelerators, and the checks that it divides what it has to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from rackwright.plan.workload.transformer import LanguageModel


@dataclass(frozen=True)
class ModelLayout:
    """A spread of a model, in the field's terms.

    Attributes:
        tensor: accelerators that share each layer.
        pipeline: stages, each with a part of the layers.
        context: accelerators that share each sequence.
        virtual: parts of its layers that a stage takes in turn.
        expert: accelerators that share the routed experts.
        sharded: parameters are gathered when they are used (FSDP, ZeRO-3).
        micro_batch: sequences that one replica works on at a time.
    """

    tensor: int = 1
    pipeline: int = 1
    context: int = 1
    virtual: int = 1
    expert: int = 1
    sharded: bool = False
    micro_batch: int = 1

    @cached_property
    def of_replica(self) -> int:
        """Return the accelerators that hold one copy of the dense part of the model."""
        return self.tensor * self.pipeline * self.context

    def replicas(self, accelerators: int) -> int:
        """Return the copies of the dense part among ``accelerators``."""
        return accelerators // self.of_replica

    def micro_batches(self, accelerators: int, sequences: int) -> float:
        """Return the micro-batches of a step of ``sequences`` on one replica."""
        return sequences / (self.micro_batch * self.replicas(accelerators))

    def expert_replicas(self, accelerators: int) -> int:
        """Return the copies of each routed expert among ``accelerators``."""
        return max(1, accelerators // (self.expert * self.pipeline))

    def __str__(self) -> str:
        parts = {
            "tp": self.tensor,
            "pp": self.pipeline,
            "cp": self.context,
            "vp": self.virtual,
            "ep": self.expert,
        }
        told = [f"{name} {value}" for name, value in parts.items() if value > 1]
        told += ["fsdp"] if self.sharded else []
        return ", ".join([*told, f"micro-batch {self.micro_batch}"])


def mistakes(
    model: LanguageModel, layout: ModelLayout, accelerators: int, sequences: int
) -> Iterator[str]:
    """Yield why ``layout`` does not divide what it has to divide; nothing where it does."""
    if accelerators % layout.of_replica:
        yield (f"tp × pp × cp = {layout.of_replica} does not divide {accelerators:,} accelerators")
    elif (replicas := layout.replicas(accelerators)) and sequences % (
        layout.micro_batch * replicas
    ):
        yield (
            f"{sequences:,} sequences are not whole micro-batches of {layout.micro_batch} on "
            f"{replicas:,} replicas"
        )
    if model.heads % layout.tensor:
        yield f"tp = {layout.tensor} does not divide {model.heads} heads"
    if layout.pipeline > model.layers:
        yield f"pp = {layout.pipeline} is more than {model.layers} layers"
    if layout.virtual > 1 and layout.pipeline == 1:
        yield f"vp = {layout.virtual} needs a pipeline; pp is 1"
    if layout.pipeline * layout.virtual > model.layers + model.predicted + 2:
        yield f"pp × vp = {layout.pipeline * layout.virtual} is more than {model.layers} layers"
    if layout.expert > 1 and not model.experts:
        yield f"ep = {layout.expert}, and the model has no routed experts"
    if model.experts and model.experts % layout.expert:
        yield f"ep = {layout.expert} does not divide {model.experts} experts"
    if layout.expert > 1 and (accelerators // layout.pipeline) % layout.expert:
        yield (
            f"ep = {layout.expert} does not divide {accelerators // layout.pipeline:,} accelerators of a stage"
        )
