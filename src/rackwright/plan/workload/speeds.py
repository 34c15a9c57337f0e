"""Speeds of an accelerator: multiply, attend, copy and send, as measured or as published."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from rackwright.plan.workload.transformer import Gemm

Precision = Literal["bf16", "fp8", "mxfp8", "nvfp4"]
Basis = Literal["measured", "roofline"]
Host = Literal["x86", "grace"]


@dataclass(frozen=True, slots=True)
class GemmSpeed:
    """The time of a product of m × k by k × n elements: fixed + 2mnk/rate + mn/a + mk/b + nk/c.

    The five numbers are fitted to measured products, casts of operands included, and give their
    times within 6 % in the median (docs/workloads.md). A term that is not seen is infinite.

    Attributes:
        fixed: seconds that the smallest product takes.
        rate: operations in a second.
        product: elements of the result in a second.
        left: elements of the activations in a second.
        right: elements of the weights in a second.
    """

    fixed: float
    rate: float
    product: float = float("inf")
    left: float = float("inf")
    right: float = float("inf")

    def seconds(self, gemm: Gemm) -> float:
        """Return the time of one product, in s."""
        m, n, k = gemm.rows, gemm.columns, gemm.inner
        traffic = m * n / self.product + m * k / self.left + n * k / self.right
        return self.fixed + 2 * m * n * k / self.rate + traffic


@dataclass(frozen=True, slots=True)
class Accelerator:
    """One accelerator, as far as a job feels it.

    Attributes:
        name: type in Slurm's GRES, like ``h100``.
        gemms: speed of products by precision.
        attention: operations of fused attention in a second, forward, heads of 128.
        memory: bytes that it has.
        bandwidth: bytes of its memory in a second.
        link: bytes in a second that each accelerator of a node gets in an all-gather over all of them.
        delay: seconds that the smallest collective in a node takes.
        basis: where the speeds come from.
        host: kind of the processor that launches its kernels.
    """

    name: str
    gemms: Mapping[Precision, GemmSpeed]
    attention: float
    memory: float
    bandwidth: float
    link: float
    delay: float
    basis: Basis
    host: Host = "x86"
