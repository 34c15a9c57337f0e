"""Measured operators beside the table: a GPU that is as fast as the table says has ratios of 1."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from rackwright.plan.workload.layer import COPIED
from rackwright.plan.workload.library import known_accelerators, known_programs
from rackwright.plan.workload.transformer import Gemm

H100 = known_accelerators()["h100"]


def script() -> ModuleType:
    path = Path(__file__).parents[3] / "gpu/compare_speeds.py"
    spec = importlib.util.spec_from_file_location("compare_speeds", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def measured(slower: float) -> dict[str, Any]:
    """Return what a GPU measures that takes ``slower`` times as long as the table says."""
    shape = Gemm(4096, 8192, 8192)
    times = {p: one.seconds(shape) * slower for p, one in H100.gemms.items()}
    forward = 2 * 32 * 128 * 8192**2 / H100.attention * slower
    backward = forward * next(iter(known_programs().values())).backward
    sizes = {"m": 4096, "n": 8192, "k": 8192}
    return {
        "products": [{**sizes, "bf16": times["bf16"], "fp8": times["fp8"], "fp8_cast": times["fp8"]}],
        "attention": [
            {
                "batch": 1, "tokens": 8192, "heads": 32, "keys": 8, "width": 128,
                "flash_attention": {"forward": forward, "backward": backward},
            }
        ],
        "copies": {"sum": COPIED * H100.bandwidth / slower},
        "sustained": [{**sizes, "precision": "bf16", "seconds": times["bf16"]}],
    }  # fmt: skip


@pytest.mark.parametrize("slower", [1.0, 1.25])
def test_ratios_are_those_of_the_times(slower: float) -> None:
    found = list(script().ratios(measured(slower), H100))
    assert {kind for kind, _ in found} == {
        "product bf16", "product fp8", "product fp8_cast", "attention forward", "attention backward",
        "copy sum", "sustained bf16",
    }  # fmt: skip
    assert [ratio for _, ratio in found] == pytest.approx([1 / slower] * len(found))
