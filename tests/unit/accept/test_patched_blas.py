"""A bit that a BLAS flips in one of 10,000 products is found by the burn-in's program."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from patched_blas import build

PROGRAM = Path(__file__).parents[3] / "roles/acceptance/files/burn_in/burn_in.py"


def products(**environment: str) -> dict[str, Any]:
    request = {"steps": ["gemm"], "size": 64, "seconds": 0, "calls": 12_000}
    done = subprocess.run(
        [sys.executable, PROGRAM, json.dumps(request)],
        capture_output=True, text=True, check=True, env={**os.environ, **environment},
    )  # fmt: skip
    text = "".join(line.split(" ", 3)[3] for line in done.stdout.splitlines())
    found: dict[str, Any] = json.loads(text)["devices"][0]["steps"]["gemm"]
    return found


@pytest.mark.skipif(shutil.which("gcc") is None, reason="no compiler here")
def test_flip_in_one_of_ten_thousand_products_is_found(tmp_path: Path) -> None:
    found = products(LD_PRELOAD=str(build(tmp_path)))
    assert found["fp32"]["wrong_calls"] == 1
    assert found["fp32"]["first_wrong"]["bits"] == "0x1000"
    assert found["fp64"]["wrong_calls"] == 0


@pytest.mark.skipif(shutil.which("gcc") is None, reason="no compiler here")
def test_flip_in_every_product_is_found_though_all_of_them_agree(tmp_path: Path) -> None:
    found = products(LD_PRELOAD=str(build(tmp_path, every=1)))
    assert found["fp32"]["wrong_calls"] == 0
    assert found["fp32"]["exact_wrong_rows"] > 0
    assert found["fp32"]["digest"] != products()["fp32"]["digest"]
