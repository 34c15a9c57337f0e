"""Speeds of an accelerator: multiply, attend, copy and send, as measured or as published."""

from __future__ import annotations

import datetime as dt
from typing import Annotated, Literal

from pydantic import AfterValidator

from rackwright.model.base import Model
from rackwright.plan.workload.transformer import Gemm

Precision = Literal["bf16", "fp8", "mxfp8", "nvfp4"]
Basis = Literal["measured", "roofline"]
Host = Literal["x86", "grace"]


def _in(unit: float) -> AfterValidator:
    """Return the marker of a number that its file states in ``unit``, and that is kept in SI units."""
    return AfterValidator(lambda value: value * unit)


Micro = Annotated[float, _in(1e-6)]
Giga = Annotated[float, _in(1e9)]
Tera = Annotated[float, _in(1e12)]


class TableSource(Model):
    """Source of the numbers of a table."""

    title: str
    """Title of the source."""
    date: dt.date
    """Day on which it was read."""
    confidence: str
    """Confidence in the numbers, in the words of the catalogue."""


class GemmSpeed(Model):
    """The time of a product of m × k by k × n elements: fixed + 2mnk/rate + mn/a + mk/b + nk/c.

    The five numbers are fitted to measured products, casts of operands included, and give their
    times within 6 % in the median (docs/workloads.md). A term that is not seen is infinite.
    """

    fixed: Micro
    """Time that the smallest product takes, in s; in the file in µs."""
    rate: Tera
    """Operations in a second; in the file in TFLOP/s."""
    product: Tera = float("inf")
    """Elements of the result in a second; in the file, like the next two, in 10¹²."""
    left: Tera = float("inf")
    """Elements of the activations in a second."""
    right: Tera = float("inf")
    """Elements of the weights in a second."""

    def seconds(self, gemm: Gemm) -> float:
        """Return the time of one product, in s."""
        m, n, k = gemm.rows, gemm.columns, gemm.inner
        traffic = m * n / self.product + m * k / self.left + n * k / self.right
        return self.fixed + 2 * m * n * k / self.rate + traffic


class Accelerator(Model):
    """One accelerator, as far as a job feels it."""

    name: str = ""
    """Type in Slurm's GRES, like ``h100``."""
    gemms: dict[Precision, GemmSpeed]
    """Speed of products by precision."""
    attention: Tera
    """Operations of fused attention in a second, forward, heads of 128; in the file in TFLOP/s."""
    memory: Giga
    """Memory, in bytes; in the file in GB."""
    bandwidth: Tera
    """Bytes of its memory in a second; in the file in TB/s."""
    link: Giga
    """Bytes in a second that each accelerator of a node gets in an all-gather over all of them; in the file in GB/s."""
    delay: Micro
    """Time of the smallest collective inside a node, in s; in the file in µs."""
    host: Host = "x86"
    """Kind of the processor that launches its kernels."""
    basis: Basis = "measured"
    """Measured operators, or the maker's peaks."""
    source: TableSource | None = None
    """Source of its numbers, if it is another than the file's."""
