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


REACHED = {"product": 0.76, "attention": 0.52, "link": 0.7}
"""Shares of the maker's peaks that products, fused attention and collectives reach: the means of the measured accelerators
(``test_rooflines.py``)."""
CAST = 8.5
"""Bytes of memory traffic for each operand that is cast to 8 bits, a mean as well."""
ROOFLINE_SPREAD = (0.6, 1.2)
"""Measured over predicted speed on accelerators that are known by their peaks alone.

Of the measured accelerators by their peaks, four of five runs lie within 0.86 and 1.16, and all within 0.7 and 1.22. Those of
other makers were not compared; their programs are younger, so more is left below.
"""


class Peaks(Model):
    """Peaks that a maker publishes of an accelerator, dense and in one direction."""

    products: dict[Precision, Tera]
    """Operations in a second by precision; in the file in TFLOP/s."""
    link: Giga
    """Bytes in a second to all others of a node; in the file in GB/s."""


class Accelerator(Model):
    """One accelerator, as far as a job feels it."""

    name: str = ""
    """Type in Slurm's GRES, like ``h100``."""
    peaks: Peaks | None = None
    """Peaks, where no operator was measured: the speeds follow from them."""
    gemms: dict[Precision, GemmSpeed] = {}
    """Speed of products by precision."""
    attention: Tera = 0.0
    """Operations of fused attention in a second, forward, heads of 128; in the file in TFLOP/s."""
    memory: Giga
    """Memory, in bytes; in the file in GB."""
    bandwidth: Tera
    """Bytes of its memory in a second; in the file in TB/s."""
    link: Giga = 0.0
    """Bytes in a second that each accelerator of a node gets in an all-gather over all of them; in the file in GB/s."""
    delay: Micro = 12e-6
    """Time of the smallest collective inside a node, in s; in the file in µs."""
    host_link: Giga | None = None
    """Bytes in a second of its copies to the memory of its host; in the file in GB/s. Unknown if omitted."""
    host: Host = "x86"
    """Kind of the processor that launches its kernels."""
    source: TableSource | None = None
    """Source of its numbers, if it is another than the file's."""

    @property
    def basis(self) -> Basis:
        """Basis of the speeds: measured operators, or the maker's peaks."""
        return "measured" if self.peaks is None else "roofline"

    def of_peaks(self) -> Accelerator:
        """Return the accelerator with the speeds that follow from its peaks; itself where it has none."""
        if self.peaks is None:
            return self
        gemms = {}
        for precision, peak in self.peaks.products.items():
            left = float("inf") if precision == "bf16" else self.bandwidth / CAST
            gemms[precision] = GemmSpeed.model_construct(
                fixed=5e-6,
                rate=REACHED["product"] * peak,
                product=float("inf"),
                left=left,
                right=float("inf"),
            )
        return self.model_copy(
            update={
                "gemms": gemms,
                "attention": REACHED["attention"] * self.peaks.products["bf16"],
                "link": REACHED["link"] * self.peaks.link,
            }
        )
