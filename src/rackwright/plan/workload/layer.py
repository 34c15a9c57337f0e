"""Time of one layer for one micro-batch on one accelerator, forward and backward, by part."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, fields

from rackwright.plan.workload.layout import ModelLayout
from rackwright.plan.workload.links import Links
from rackwright.plan.workload.memory import Repeated
from rackwright.plan.workload.software import Software
from rackwright.plan.workload.speeds import Accelerator, GemmSpeed, Precision
from rackwright.plan.workload.transformer import Gemm, LanguageModel

FUSED_BIASES = 0.4
"""Share of the traffic of biases that is left where a kernel adds them: that of their gradients."""
COPIED = 0.8
"""Share of its memory's bandwidth that an element-wise kernel reaches."""
ELEMENT = 2
"""Bytes of an element between kernels, in bf16."""


@dataclass(frozen=True, slots=True)
class Work:
    """Properties that every layer of a job shares.

    Attributes:
        tokens: of one micro-batch on one accelerator.
        sequence: tokens of a sequence.
        frozen: weights get no gradient, as in LoRA.
        stage: accelerators among which the experts of a stage lie.
    """

    model: LanguageModel
    layout: ModelLayout
    accelerator: Accelerator
    links: Links
    software: Software
    precision: Precision
    sequence: int
    tokens: float
    frozen: bool
    stage: int


@dataclass(frozen=True, slots=True)
class Parts:
    """Seconds by part; they add up.

    Attributes:
        products: of matrices.
        attention: scores and values.
        memory: element-wise passes, permutation of tokens.
        tensor: collectives of tensor parallelism that nothing hides.
        context: exchanges of context parallelism that nothing hides.
        experts: exchanges of expert parallelism that nothing hides.
        host: waiting for kernels to be launched.
        recompute: forward passes that are repeated for want of memory.
        gather: gathers of sharded parameters that nothing hides.
    """

    products: float = 0.0
    attention: float = 0.0
    memory: float = 0.0
    tensor: float = 0.0
    context: float = 0.0
    experts: float = 0.0
    host: float = 0.0
    recompute: float = 0.0
    gather: float = 0.0

    @property
    def seconds(self) -> float:
        """Return the sum."""
        return math.fsum(getattr(self, one.name) for one in fields(self))

    def plus(self, other: Parts, times: float = 1.0) -> Parts:
        """Return the parts and ``times`` those of another, each by its name."""
        names = [one.name for one in fields(self)]
        return Parts(**{n: getattr(self, n) + times * getattr(other, n) for n in names})


def layer_parts(work: Work, *, routed: bool, repeated: Repeated, stored: float) -> Parts:
    """Return the time of one layer, with routed experts or without.

    Args:
        work: what the layers have in common.
        routed: the layer has routed experts.
        repeated: work that is done twice for want of memory.
        stored: bytes that would have to go to the host's memory and back instead.
    """
    model, layout, software = work.model, work.layout, work.software
    split, tokens = layout.tensor, work.tokens
    both, forward = _products(work, model.attention_gemms(tokens, split))
    attention_once = _attention_forward(work)
    attention = attention_once * (1 + software.backward) * software.sustained + _unfused(work)
    moved = _attention_bytes(work)
    cheap = 8 * tokens * model.hidden / split  # of both norms, read and written
    exchange = 0.0
    if routed:
        copies = tokens * model.experts_per_token / split
        local = model.experts / layout.expert
        grouped, grouped_once = _grouped(work, copies / local, local)
        shared, shared_once = (
            _products(work, model.feed_forward_gemms(tokens, model.shared_feed_forward / split))
            if model.shared_feed_forward
            else (0.0, 0.0)
        )
        slower = software.grouped_fused if software.fused else software.grouped
        both += grouped * (1 + slower) + shared
        forward += grouped_once + shared_once
        permuted = software.routed + (0.0 if software.once else software.permuted)
        moved += copies * (16 * model.expert_feed_forward + permuted * model.hidden)
        cheap += 6 * copies * model.expert_feed_forward
        if model.biased:  # a fused kernel adds them; their gradients are left
            bytes_each = software.biases * (FUSED_BIASES if software.fused else 1.0)
            moved += bytes_each * copies * (2 * model.expert_feed_forward + model.hidden)
            if not software.fused:
                cheap += 2 * (1 - FUSED_BIASES) * bytes_each * copies * model.expert_feed_forward
        exchange = _exchange(work, tokens / split)
    else:
        plain, plain_once = _products(
            work, model.feed_forward_gemms(tokens, model.feed_forward / split)
        )
        both, forward = both + plain, forward + plain_once
        moved += 16 * tokens * model.feed_forward / split
        cheap += 6 * tokens * model.feed_forward / split
    copied = COPIED * work.accelerator.bandwidth / software.traffic
    memory = moved / copied
    again = software.recompute * repeated.layers * (forward + attention_once + memory / 3)
    if stored and (rate := software.offload.get(work.accelerator.host, 0.0)):
        again = min(again, 2 * max(0.0, stored / rate - forward - attention_once))
    passes = max(repeated.passes, float(software.passes)) * (1 - repeated.layers)
    again += passes * cheap / copied
    if software.projections and model.latent and not repeated.layers:
        again += _products(work, model.up_projections(tokens, split))[1]
    busy = both + attention + memory + exchange + again
    return Parts(
        products=both,
        attention=attention,
        memory=memory,
        experts=exchange,
        recompute=again,
        host=_host_wait(work, busy, routed=routed),
        tensor=_tensor(work),
        context=_context(work),
    )


def output_seconds(work: Work) -> float:
    """Return the time of the output embedding and the loss for one micro-batch, in s."""
    model, tokens = work.model, work.tokens
    columns = model.vocabulary / work.layout.tensor
    speed = work.accelerator.gemms.get("bf16") or _speed(work)
    seconds = _there_and_back([Gemm(tokens, columns, model.hidden)], speed, frozen=work.frozen)
    passes = 14 * tokens * columns / (COPIED * work.accelerator.bandwidth)
    return seconds * work.software.sustained + passes


def _speed(work: Work) -> GemmSpeed:
    return work.accelerator.gemms[work.precision]


def _sustained(work: Work) -> float:
    """Return the time of a product in a long run over that of the table."""
    return work.software.sustained * work.software.slower.get(work.precision, 1.0)


def _there_and_back(gemms: Iterable[Gemm], speed: GemmSpeed, *, frozen: bool) -> float:
    total = 0.0
    for one in gemms:
        total += speed.seconds(one)
        total += speed.seconds(Gemm(one.rows, one.inner, one.columns))  # gradient of the input
        if not frozen:
            total += speed.seconds(Gemm(one.columns, one.inner, one.rows))  # and of the weights
    return total


def _products(work: Work, gemms: Iterable[Gemm], cast_share: float = 1.0) -> tuple[float, float]:
    """Return the seconds of products forward and backward, and of the forward ones alone."""
    listed, speed = list(gemms), _speed(work)
    operands = sum(2 * g.rows * g.inner + g.rows * g.columns for g in listed)
    cast = work.software.cast.get(work.precision, 0.0) * operands * cast_share
    both = _there_and_back(listed, speed, frozen=work.frozen)
    both += cast / (COPIED * work.accelerator.bandwidth)
    return both * _sustained(work), sum(map(speed.seconds, listed)) * _sustained(work)


def _grouped(work: Work, rows: float, experts: float) -> tuple[float, float]:
    """Return the seconds of the experts' products: their fixed part is paid once for all of them."""
    gemms = list(work.model.feed_forward_gemms(rows, work.model.expert_feed_forward))
    both, forward = _products(work, gemms, work.software.cast_fused if work.software.fused else 1.0)
    fixed = _speed(work).fixed * _sustained(work)
    passes = len(gemms) * (2 if work.frozen else 3)
    return (
        experts * (both - passes * fixed) + passes * fixed,
        experts * (forward - len(gemms) * fixed) + len(gemms) * fixed,
    )


def _attention_forward(work: Work) -> float:
    model = work.model
    span = model.span(work.sequence)
    heads = model.heads / work.layout.tensor
    narrow = 1.0 if model.head_dim > 64 else 0.75  # heads of 64 fill the tensor cores less
    kernels = work.software.kernels.get(work.accelerator.name.partition("-")[0], 1.0)
    rate = work.accelerator.attention * work.software.attention * kernels * narrow
    return 4 * work.tokens * span * heads * model.attention_width / rate


def _unfused(work: Work) -> float:
    """Return the seconds of passes over whole scores, of kernels that do not fuse them."""
    model = work.model
    scores = work.tokens * work.sequence * model.heads / work.layout.tensor
    moved = work.software.unfused * ELEMENT * scores
    return moved / (COPIED * work.accelerator.bandwidth)


def _attention_bytes(work: Work) -> float:
    """Return the bytes of norms, residuals and rotation, forward and backward."""
    model, split = work.model, work.layout.tensor
    width = model.heads * model.attention_width
    rotated = 3 * width if model.latent else width + 2 * model.kv_heads * model.head_dim
    return ELEMENT * work.tokens * (24 * model.hidden + 8 * rotated) / split


def _tensor(work: Work) -> float:
    """Return the seconds of eight gathers and scatters, with sequence parallelism, that are not hidden."""
    split = work.layout.tensor
    if split == 1:
        return 0.0
    volume = ELEMENT * work.tokens * work.model.hidden
    once = work.links.gather(volume, split, split)
    return 8 * (work.software.tensor * once + work.software.tensor_wait)


def _context(work: Work) -> float:
    """Return the seconds of passing keys and values on: once forward, twice backward."""
    parts = work.layout.context
    if parts == 1:
        return 0.0
    model = work.model
    keys = 2 * max(1, model.kv_heads / work.layout.tensor) * model.head_dim
    volume = ELEMENT * work.tokens * keys * parts
    once = work.links.gather(volume, parts, work.layout.tensor * parts)
    return 3 * work.software.context * once


def _exchange(work: Work, tokens: float) -> float:
    """Return the seconds of two dispatches and two combinations that nothing hides.

    Exchanges are hidden behind another micro-batch where the program does that.
    """
    layout, software = work.layout, work.software
    if layout.expert == 1:
        return 0.0
    width = work.model.hidden * (ELEMENT if work.precision == "bf16" else 1.5)  # dispatch in 8 bits
    seconds = work.links.exchange(
        tokens,
        width,
        layout.expert,
        work.model.experts_per_token,
        work.model.groups_per_token,
        once=software.once,
    )
    if software.overlapped:
        return 4 * seconds * software.exchange_hidden
    near = layout.expert <= work.links.domain
    return 4 * seconds * (software.exchange if near else software.exchange_far)


def _host_wait(work: Work, busy: float, *, routed: bool) -> float:
    """Return the seconds that the accelerator waits for its host: the two overlap, but not at once.

    The fourth-power mean goes over smoothly from one bound to the other.
    """
    software = work.software
    launches = software.launch if routed else software.launch_plain
    products = 3 + 2 * (work.model.shared_feed_forward > 0) + (5 if work.model.latent else 2)
    launch = launches.get(work.accelerator.host, 0.0) * software.launched.get(software.graphs, 1.0)
    launch *= products / 5 if routed else 1.0
    if routed and not software.fused:
        local = work.model.experts / work.layout.expert
        launch += software.launch_expert.get(work.accelerator.host, 0.0) * local
    if software.overlapped and software.graphs != "all":
        launch *= software.crossed
    return math.sqrt(math.hypot(busy**2, launch**2)) - busy
