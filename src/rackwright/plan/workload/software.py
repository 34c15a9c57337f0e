"""Overhead of a training program: constants fitted to published runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from rackwright.plan.workload.speeds import Precision

Task = Literal["pre-training", "sft", "lora"]
Graphs = Literal["none", "router", "attention", "all"]


@dataclass(frozen=True, slots=True)
class Software:
    """A training program at one release.

    Each number was fitted to published rows, with the value that physics suggests as its prior;
    ``docs/workloads.md`` has the rows and the errors that are left, by model and by system.

    Attributes:
        name: of the program and its release.
        sustained: time of a product in a long run over that of the product alone: clocks, gaps.
        slower: time of a product over that of the table, by precision; 1 where it is not listed.
        traffic: bytes of element-wise passes over those of the fewest passes that can do it.
        cast: bytes for each operand element of a product in lower precision, by precision.
        tensor: share of a tensor-parallel collective that no product hides.
        tensor_wait: seconds of each tensor-parallel collective that nothing hides.
        context: share of a context-parallel exchange that attention does not hide.
        hidden: share of a micro-batch in which gradients and weights are sent unnoticed.
        old: releases before 26.04.
        older: time of a step of such a release over that of a later one.
        projections: up-projections of latent attention are recomputed, whatever the memory.
        passes: norms and activation functions are.
        graphs: part of a layer whose kernels are launched together (CUDA graphs).
        launched: share of a layer's launches that is left, by ``graphs``.
        fused: products of the experts, their activation and their casts are one kernel.
        once: an exchange of experts sends each token once to each destination (DeepEP, HybridEP).
        overlapped: exchanges of experts are hidden behind another micro-batch.
        gradient: bytes of a gradient, kept and sent.
        weight: bytes of a weight that is sent, by precision; 2 where it is not listed.
        exchange_hidden: share of an expert exchange that shows where it is overlapped.
        exchange: share of an expert exchange inside a domain that nothing hides.
        exchange_far: the same between domains.
        routed: traffic of permuting tokens, in bytes for each element of each copy.
        permuted: traffic of the second permutation that an exchange needs which is not ``once``.
        grouped: time of grouped products beyond that of plain ones, as a share of it.
        grouped_fused: the same where they are fused.
        cast_fused: casts of grouped products where they are fused, over those where they are not.
        launch_expert: seconds in which the host launches the products of one expert, by kind of host.
        launch: seconds in which the host launches one layer with experts, by kind of host.
        launch_plain: the same of a layer without experts.
        recompute: time of a recomputed forward pass over that of the first.
        tuning: factor on steps of fine-tuning: packed sequences, masked losses.
        unfused: passes over the scores where attention is not fused; 0 where it is.
        biases: traffic of the biases of experts, in bytes for each element of their products.
        offload: bytes in a second that go to the host's memory unnoticed, by kind of host, where
            parameters are sharded.
        crossed: launches of a layer and its experts where exchanges are overlapped, over those where they are not.
        gather: share of the gathers of sharded parameters that no layer hides.
        backward: time of attention backward over forward.
        attention: rate of its attention kernels over that of ``kernels``.
        kernels: rate of its attention kernels over the measured one as published, by type of accelerator; 1 where it is
            not listed.
        logits: bytes of a logit that are kept until the backward pass.
        reached: share of a rail's rate that its collectives reach.
        recompute_all: every layer is recomputed, whatever the memory.
        jitter: standard deviation of a step between accelerators, as a share of it.
        spread: measured over predicted speed of rows that the fit had not seen, tenth and ninetieth
            percentile, of ``dense`` models, of those with ``experts`` and of those of ``images``.
    """

    name: str
    sustained: float = 1.06
    slower: Mapping[Precision, float] = field(default_factory=dict)
    traffic: float = 1.0
    cast: Mapping[Precision, float] = field(default_factory=dict)
    tensor: float = 0.4
    tensor_wait: float = 30e-6
    context: float = 0.5
    hidden: float = 0.6
    old: bool = False
    older: float = 1.0
    projections: bool = False
    passes: bool = False
    graphs: Graphs = "none"
    launched: Mapping[str, float] = field(default_factory=dict)
    fused: bool = False
    once: bool = True
    overlapped: bool = False
    gradient: float = 4.0
    weight: Mapping[Precision, float] = field(default_factory=dict)
    exchange_hidden: float = 0.3
    exchange: float = 0.7
    exchange_far: float = 1.0
    routed: float = 10.0
    permuted: float = 0.0
    grouped: float = 0.5
    grouped_fused: float = 0.2
    cast_fused: float = 0.5
    launch_expert: Mapping[str, float] = field(default_factory=dict)
    launch: Mapping[str, float] = field(default_factory=dict)
    launch_plain: Mapping[str, float] = field(default_factory=dict)
    recompute: float = 0.9
    tuning: float = 1.05
    unfused: float = 0.0
    biases: float = 0.0
    offload: Mapping[str, float] = field(default_factory=dict)
    crossed: float = 1.0
    gather: float = 0.1
    backward: float = 2.8
    attention: float = 1.0
    kernels: Mapping[str, float] = field(default_factory=dict)
    logits: float = 6.0
    reached: float = 0.8
    recompute_all: bool = False
    jitter: float = 0.01
    spread: Mapping[str, tuple[float, float]] = field(default_factory=dict)
