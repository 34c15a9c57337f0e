"""Overhead of a training program: constants fitted to published runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from rackwright.plan.workload.speeds import Precision

Task = Literal["pre-training", "sft", "lora"]


@dataclass(frozen=True, slots=True)
class Software:
    """A training program at one release.

    Each number was fitted to published rows, with the value that physics suggests as its prior;
    ``docs/workloads.md`` has the rows and the errors that are left, by model and by system.

    Attributes:
        name: of the program and its release.
        sustained: time of a product in a long run over that of the product alone: clocks, gaps.
        traffic: bytes of element-wise passes over those of the fewest passes that can do it.
        cast: bytes for each operand element of a product in lower precision, by precision.
        tensor: share of a tensor-parallel collective that no product hides.
        tensor_wait: seconds of each tensor-parallel collective that nothing hides.
        context: share of a context-parallel exchange that attention does not hide.
        hidden: share of a micro-batch in which gradients and weights are sent unnoticed.
        exchange: share of an expert exchange inside a domain that nothing hides.
        exchange_far: the same between domains.
        routed: traffic of permuting tokens, in bytes for each element of each copy.
        grouped: time of grouped products beyond that of plain ones, as a share of it.
        launch: seconds in which the host launches one layer with experts, by kind of host.
        launch_plain: the same of a layer without experts.
        recompute: time of a recomputed forward pass over that of the first.
        tuning: factor on steps of fine-tuning: packed sequences, masked losses.
        unfused: passes over the scores where attention is not fused; 0 where it is.
        unfused_sinks: the same of attention with learned sinks.
        balanced: the loss counts as work where layers are spread over stages.
        gather: share of the gathers of sharded parameters that no layer hides.
        backward: time of attention backward over forward.
        attention: rate of its attention kernels over the measured one.
        reached: share of a rail's rate that its collectives reach.
        recompute_all: every layer is recomputed, whatever the memory.
        jitter: standard deviation of a step between accelerators, as a share of it.
        spread: measured over predicted speed of rows that the fit had not seen, tenth and ninetieth
            percentile, of ``dense`` models and of those with ``experts``.
    """

    name: str
    sustained: float = 1.06
    traffic: float = 1.0
    cast: Mapping[Precision, float] = field(default_factory=dict)
    tensor: float = 0.4
    tensor_wait: float = 30e-6
    context: float = 0.5
    hidden: float = 0.6
    exchange: float = 0.7
    exchange_far: float = 1.0
    routed: float = 10.0
    grouped: float = 0.5
    launch: Mapping[str, float] = field(default_factory=dict)
    launch_plain: Mapping[str, float] = field(default_factory=dict)
    recompute: float = 0.9
    tuning: float = 1.05
    unfused: float = 0.0
    unfused_sinks: float = 0.0
    balanced: bool = True
    gather: float = 0.1
    backward: float = 2.8
    attention: float = 1.0
    reached: float = 0.8
    recompute_all: bool = False
    jitter: float = 0.01
    spread: Mapping[str, tuple[float, float]] = field(default_factory=dict)
