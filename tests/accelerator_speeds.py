"""Fit the speeds of ``inventory/workloads/accelerators.yaml`` to measured operators.

    pip install aiconfigurator-core==0.12.0
    python tests/accelerator_speeds.py > /tmp/accelerators.txt

The tables are those of NVIDIA's aiconfigurator-core (Apache-2.0): products of matrices, attention of
prompts, collectives. Five numbers for each precision take the place of 35,700 rows; what they miss
is printed beside them. Where no term is seen, the fit leaves it out.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

SYSTEMS = {
    "a100_sxm": "a100", "h100_sxm": "h100", "h200_sxm": "h200", "b200_sxm": "b200",
    "b300_sxm": "b300", "gb200": "gb200", "gb300": "gb300",
}  # fmt: skip
PRECISIONS = {"bfloat16": "bf16", "fp8": "fp8", "fp8_block": "mxfp8", "nvfp4": "nvfp4"}


def main() -> int:
    """Print what to copy; 2 without the package."""
    if find_spec("aiconfigurator_core") is None or find_spec("scipy") is None:
        sys.stderr.write("aiconfigurator-core is not installed\n")
        return 2
    import aiconfigurator_core

    data = Path(aiconfigurator_core.__file__).parent / "systems/data"
    for system, name in SYSTEMS.items():
        print(f"{name}:")
        for precision, line in gemm_lines(data / system):
            print(f"  {precision}: {line}")
        print(f"  attention: {attention(data / system):.0f} TFLOP/s")
        print(f"  collectives: {collectives(data / system)}")
    return 0


def gemm_lines(folder: Path) -> list[tuple[str, str]]:
    """Return the five numbers by precision, fitted with relative weights and none below zero."""
    import numpy as np
    import pandas as pd
    from scipy.optimize import nnls

    (path,) = sorted(folder.glob("gemm/trtllm/*/gemm_perf.parquet"))[-1:]
    rows = pd.read_parquet(path)
    lines = []
    for kind, precision in PRECISIONS.items():
        some = rows[
            (rows.gemm_dtype == kind) & (rows.m >= 1024) & (rows.n >= 512) & (rows.k >= 512)
        ]
        if some.empty:
            continue
        m, n, k, took = (some[one].to_numpy(float) for one in ("m", "n", "k", "latency"))
        terms = np.stack([np.ones_like(m), 2 * m * n * k, m * n, m * k, n * k], 1)
        found, _ = nnls(terms / took[:, None], np.ones_like(took))
        error = np.abs(terms @ found / took - 1)
        names = ("fixed_us", "tflops", "product_te", "left_te", "right_te")
        values: list[Any] = [
            found[0] * 1e3,
            *(1e-9 / one if one > 0 else None for one in found[1:]),
        ]
        told = ", ".join(f"{a}: {b:.3g}" for a, b in zip(names, values, strict=True) if b)
        lines.append(
            (
                precision,
                f"{{{told}}}  # {len(some)} rows, error {np.median(error):.1%}, p90 {np.quantile(error, 0.9):.1%}",
            )
        )
    return lines


def attention(folder: Path) -> float:
    """Return the median TFLOP/s of causal attention with heads of 128, for long prompts."""
    import pandas as pd

    paths = sorted(folder.glob("attention/trtllm/*/context_attention_perf.parquet"))
    rows = pd.read_parquet(paths[-1])
    if "head_dim" in rows:
        rows = rows[rows.head_dim == 128]
    if "window_size" in rows:
        rows = rows[rows.window_size == 0]
    rows = (
        rows[(rows.attn_dtype == "bfloat16") & (rows.isl >= 4096)] if "attn_dtype" in rows else rows
    )
    done = 2 * rows.batch_size * rows.num_heads * 128 * rows.isl**2
    return float((done / rows.latency / 1e9)[done > 1e12].median())


def collectives(folder: Path) -> str:
    """Return the bus bandwidth of the largest all-gathers and reduce-scatters, and the time of the smallest."""
    import pandas as pd

    told = []
    for path in sorted(folder.glob("comm/nccl/*/nccl_perf.parquet")):
        rows = pd.read_parquet(path)
        column = "op_name" if "op_name" in rows else "nccl_op"
        some = rows[rows[column].isin(["all_gather", "reduce_scatter"])]
        some = some[some.num_gpus == some.num_gpus.max()]
        big = some[some.message_size == some.message_size.max()]
        ranks = int(some.num_gpus.max())
        rates = big.message_size * (ranks - 1) / ranks / big.latency / 1e6
        told.append(f"{ranks} ranks, {rates.mean():.0f} GB/s, {some.latency.min() * 1e3:.1f} us")
    return "; ".join(told)


if __name__ == "__main__":
    sys.exit(main())
