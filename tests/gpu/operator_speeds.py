"""Measure products of matrices, attention and copies on one NVIDIA GPU; print them as JSON.

    python3 tests/gpu/operator_speeds.py > speeds.json
    python tests/gpu/compare_speeds.py speeds.json

Needs PyTorch with CUDA and nothing else. It takes about two minutes. Each operator runs until it has taken a fifth of a
second, ten times at least; the median is printed. Two products run for ten seconds each, with the clocks that the GPU falls to.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as functional

SHAPES = [
    (m, n, k)
    for m in (1024, 4096, 8192)
    for n, k in (
        (2048, 768), (2880, 2880), (4096, 4096), (6144, 4096), (28672, 4096), (4096, 14336),
        (8192, 8192), (10240, 8192), (13312, 16384), (16384, 6656),
    )
]  # fmt: skip
"""Rows, columns and inner elements: 30 products, of layers of models from 30B to 405B over tensor parallelism."""
ATTENTIONS = [
    (1, 4096, 32, 8, 128), (1, 8192, 32, 8, 128), (2, 8192, 32, 8, 128), (1, 16384, 16, 2, 128),
    (1, 32768, 8, 1, 128), (4, 4096, 64, 8, 64), (1, 8192, 64, 8, 64), (4, 2048, 16, 16, 128),
]  # fmt: skip
"""Sequences, tokens, query heads, key heads, width of a head."""
LONGEST = 170.0
"""Seconds after which no further operator is measured."""
BEGAN = time.monotonic()


def median_seconds(call: Callable[[], Any], least: float = 0.2) -> float:
    """Return the median time of one call, in s; short calls are timed by the dozen, so that no launch is."""
    for _ in range(3):
        call()
    torch.cuda.synchronize()
    together = max(1, round(2e-3 / max(1e-6, _elapsed(call, 3) / 3)))
    taken: list[float] = []
    while sum(taken) < least or len(taken) < 10:
        taken.append(_elapsed(call, together))
    return sorted(taken)[len(taken) // 2] / together


def _elapsed(call: Callable[[], Any], times: int) -> float:
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    for _ in range(times):
        call()
    end.record()
    end.synchronize()
    seconds: float = begin.elapsed_time(end) / 1e3
    return seconds


def eight_bits(values: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return a tensor in FP8 with its scale (current scaling)."""
    scale = values.abs().amax().float() / 448.0
    return (values / scale).to(torch.float8_e4m3fn), scale


def products(m: int, n: int, k: int) -> dict[str, Any]:
    """Return the times of one product in BF16 and FP8, the latter also with the cast of its left operand."""
    left = torch.randn(m, k, device="cuda", dtype=torch.bfloat16)
    right = torch.randn(n, k, device="cuda", dtype=torch.bfloat16)
    low_left, scale_left = eight_bits(left)
    low_right, scale_right = eight_bits(right)

    def low(a: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
        return torch._scaled_mm(
            a, low_right.t(), scale_a=scale, scale_b=scale_right, out_dtype=torch.bfloat16, use_fast_accum=True,
        )  # fmt: skip

    found: dict[str, Any] = {
        "m": m,
        "n": n,
        "k": k,
        "bf16": median_seconds(lambda: left @ right.t()),
    }
    try:
        found["fp8"] = median_seconds(lambda: low(low_left, scale_left))
        found["fp8_cast"] = median_seconds(lambda: low(*eight_bits(left)))
    except (RuntimeError, NotImplementedError) as error:
        found["fp8_error"] = str(error)[:200]
    return found


def attention(batch: int, tokens: int, heads: int, keys: int, width: int) -> dict[str, Any]:
    """Return the times of causal attention forward and backward."""

    def tensor(count: int) -> torch.Tensor:
        return torch.randn(
            batch, count, tokens, width, device="cuda", dtype=torch.bfloat16, requires_grad=True
        )

    query, key, value = tensor(heads), tensor(keys), tensor(keys)

    def forward() -> torch.Tensor:
        return functional.scaled_dot_product_attention(
            query, key, value, is_causal=True, enable_gqa=heads != keys
        )

    gradient = torch.randn(batch, heads, tokens, width, device="cuda", dtype=torch.bfloat16)

    def there_and_back() -> None:
        forward().backward(gradient)

    found: dict[str, Any] = {
        "batch": batch, "tokens": tokens, "heads": heads, "keys": keys, "width": width,
    }  # fmt: skip
    for name in ("CUDNN_ATTENTION", "FLASH_ATTENTION"):
        kind = getattr(torch.nn.attention.SDPBackend, name)
        try:
            with torch.nn.attention.sdpa_kernel(kind):
                once = median_seconds(forward)
                both = median_seconds(there_and_back)
        except RuntimeError as error:
            found[f"{name.lower()}_error"] = str(error)[:200]
            continue
        found[name.lower()] = {"forward": once, "backward": both - once}
    return found


def copies() -> dict[str, float]:
    """Return the bytes a second of an element-wise sum and of a norm of 8,192 elements."""
    rows = torch.randn(32768, 8192, device="cuda", dtype=torch.bfloat16)
    other = torch.randn_like(rows)
    weight = torch.ones(8192, device="cuda", dtype=torch.bfloat16)
    size = rows.numel() * rows.element_size()
    norm = median_seconds(lambda: functional.rms_norm(rows, (8192,), weight))
    return {"sum": 3 * size / median_seconds(lambda: rows + other), "norm": 2 * size / norm}


def sustained(seconds: float = 10.0) -> list[dict[str, Any]]:
    """Return rates of a large product over ``seconds``, with clocks and power at the end."""
    m, n, k = 8192, 13312, 16384
    left = torch.randn(m, k, device="cuda", dtype=torch.bfloat16)
    right = torch.randn(n, k, device="cuda", dtype=torch.bfloat16)
    low_left, scale_left = eight_bits(left)
    low_right, scale_right = eight_bits(right)
    calls: dict[str, Callable[[], Any]] = {
        "bf16": lambda: left @ right.t(),
        "fp8": lambda: torch._scaled_mm(
            low_left, low_right.t(), scale_a=scale_left, scale_b=scale_right, out_dtype=torch.bfloat16,
            use_fast_accum=True,
        ),
    }  # fmt: skip
    found = []
    for name, call in calls.items():
        torch.cuda.synchronize()
        begin, count, state = time.monotonic(), 0, ""
        while time.monotonic() - begin < seconds:
            for _ in range(50):
                call()
            if time.monotonic() - begin > seconds - 1.5 and not state:
                state = asked("clocks.sm,power.draw,temperature.gpu")
            torch.cuda.synchronize()
            count += 50
        taken = time.monotonic() - begin
        rate = 2 * m * n * k * count / taken
        found.append(
            {
                "precision": name,
                "m": m,
                "n": n,
                "k": k,
                "seconds": taken / count,
                "rate": rate,
                "state": state,
            }
        )
    return found


def asked(fields: str) -> str:
    """Return fields of the first GPU as ``nvidia-smi`` tells them; empty without it."""
    command = ["nvidia-smi", "-i", "0", f"--query-gpu={fields}", "--format=csv,noheader"]
    try:
        return subprocess.run(
            command, capture_output=True, text=True, timeout=20, check=False
        ).stdout.strip()
    except (OSError, subprocess.TimeoutExpired):
        return ""


def main() -> int:
    """Print what was measured; 2 without a GPU."""
    if not torch.cuda.is_available():
        sys.stderr.write("no CUDA device\n")
        return 2
    torch.manual_seed(7)
    result: dict[str, Any] = {
        "schema": "rackwright.speeds/v1",
        "device": torch.cuda.get_device_name(0),
        "torch": torch.__version__,
        "cuda": torch.version.cuda,
        "driver": asked("driver_version,clocks.max.sm,power.limit"),
        "copies": copies(),
        "products": [],
        "attention": [],
    }
    for name, cases, measure in (
        ("products", SHAPES, products),
        ("attention", ATTENTIONS, attention),
    ):
        for case in cases:
            if time.monotonic() - BEGAN < LONGEST - 30:
                result[name].append(measure(*case))
                torch.cuda.empty_cache()
    result["sustained"] = sustained()
    result["seconds"] = time.monotonic() - BEGAN
    print(json.dumps(result, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
