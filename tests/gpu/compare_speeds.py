"""Compare measured operators with the speeds of ``inventory/workloads/accelerators.yaml``.

    python tests/gpu/compare_speeds.py speeds.json [--type h100]

``speeds.json`` is what ``operator_speeds.py`` printed. Each line has the ratio of predicted to measured time: above 1 the table
is slower than the GPU.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from rackwright.plan.workload.layer import COPIED
from rackwright.plan.workload.library import known_accelerators, known_programs
from rackwright.plan.workload.speeds import Accelerator, Precision
from rackwright.plan.workload.transformer import Gemm

KINDS: Mapping[str, Precision] = {"bf16": "bf16", "fp8": "fp8", "fp8_cast": "fp8"}
"""Precision of the table by the name of a measured product; that of FP8 has the cast of its left operand."""


def ratios(found: Mapping[str, Any], accelerator: Accelerator) -> Iterator[tuple[str, float]]:
    """Yield each operator by its kind with predicted over measured time."""
    for one in found["products"]:
        shape = Gemm(one["m"], one["n"], one["k"])
        for kind, precision in KINDS.items():
            if kind in one and precision in accelerator.gemms:
                yield f"product {kind}", accelerator.gemms[precision].seconds(shape) / one[kind]
    for one in found["attention"]:
        narrow = 1.0 if one["width"] > 64 else 0.75
        done = 2 * one["batch"] * one["heads"] * one["width"] * one["tokens"] ** 2
        forward = done / (accelerator.attention * narrow)
        backward = next(iter(known_programs().values())).backward
        best = [one[name] for name in ("cudnn_attention", "flash_attention") if name in one]
        if best:
            yield "attention forward", forward / min(b["forward"] for b in best)
            yield "attention backward", forward * backward / min(b["backward"] for b in best)
    for kind, rate in found["copies"].items():
        yield f"copy {kind}", rate / (COPIED * accelerator.bandwidth)
    for one in found["sustained"]:
        shape = Gemm(one["m"], one["n"], one["k"])
        kind = f"sustained {one['precision']}"
        yield kind, accelerator.gemms[one["precision"]].seconds(shape) / one["seconds"]


def lines(found: Mapping[str, Any], accelerator: Accelerator) -> Iterator[str]:
    """Yield a line for each kind: how many, median, least and most."""
    by_kind: dict[str, list[float]] = {}
    for kind, ratio in ratios(found, accelerator):
        by_kind.setdefault(kind, []).append(ratio)
    for kind, values in by_kind.items():
        error = statistics.median(abs(one - 1) for one in values)
        yield (
            f"{kind:<20} n {len(values):3}  predicted / measured {statistics.median(values):5.2f}  "
            f"({min(values):.2f} to {max(values):.2f})  median error {error:.1%}"
        )


def main() -> int:
    """Print the comparison; 2 for a type that the table does not have."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("speeds", type=Path)
    parser.add_argument("--type", default="h100", choices=sorted(known_accelerators()))
    arguments = parser.parse_args()
    found = json.loads(arguments.speeds.read_text(encoding="utf-8"))
    print(f"{found['device']}, PyTorch {found['torch']}, driver {found['driver']}")
    for line in lines(found, known_accelerators()[arguments.type]):
        print(line)
    for one in found["sustained"]:
        print(f"sustained {one['precision']}: {one['rate'] / 1e12:.0f} TFLOP/s, {one['state']}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
