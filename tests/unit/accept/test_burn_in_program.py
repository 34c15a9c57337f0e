"""The burn-in of a node finds what it corrupts itself, on processors; accelerators need hardware."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

FILES = Path(__file__).parents[3] / "roles/acceptance/files"
SMALL = {"seconds": 0, "size": 96, "calls": 20, "dimm_mib": 16, "storage_mib": 2}
MODULES = ("programs", "arithmetic", "checks", "node_parts", "burn_in")


@pytest.fixture
def parts() -> Iterator[dict[str, Any]]:
    sys.path.insert(0, str(FILES / "burn_in"))
    try:
        yield {name: importlib.import_module(name) for name in MODULES}
    finally:
        sys.path.remove(str(FILES / "burn_in"))
        for name in MODULES:
            sys.modules.pop(name, None)


def run(**request: Any) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, FILES / "burn_in/burn_in.py", json.dumps({**SMALL, **request})],
        capture_output=True, text=True, check=True, env={**os.environ, "SLURMD_NODENAME": "gpu-7"},
    )  # fmt: skip
    lines = done.stdout.splitlines()
    assert all(
        line.startswith("rackwright.burn-in/v1 gpu-7 ") and len(line) < 800 for line in lines
    )
    made: dict[str, Any] = json.loads("".join(line.split(" ", 3)[3] for line in lines))
    return made


def test_sound_processors_have_equal_digests_and_no_wrong_value(tmp_path: Path) -> None:
    first = run(steps=["cpu", "dimm", "storage", "gemm"], folder=str(tmp_path), seconds=0.2)
    again = run(steps=["gemm"])
    gemm = first["devices"][0]["steps"]["gemm"]
    assert gemm.keys() == {"fp32", "fp64"}
    for form, found in gemm.items():
        assert (found["wrong_calls"], found["exact_wrong_rows"]) == (0, 0)
        assert found["digest"] == again["devices"][0]["steps"]["gemm"][form]["digest"]
        assert found["tflop_s"] > 0
    assert first["steps"]["cpu"]["wrong_cores"] == []
    assert first["steps"]["dimm"]["wrong_words"] == 0
    assert first["steps"]["storage"]["wrong_blocks"] == 0
    assert first["node"] == "gpu-7"
    assert list(tmp_path.iterdir()) == [], "the file of the storage test is removed"


def test_flipped_bit_of_a_product_is_found_with_its_place() -> None:
    flip = {"step": "gemm", "format": "fp32", "call": 13, "position": 96 * 2 + 5, "bit": 31}
    found = run(steps=["gemm"], flip=flip)["devices"][0]["steps"]["gemm"]
    assert found["fp32"]["wrong_calls"] == 1
    assert found["fp32"]["first_wrong"] == {"call": 13, "row": 2, "column": 5, "bits": "0x80000000"}
    assert found["fp64"]["wrong_calls"] == 0


def test_flipped_bit_of_memory_is_found_in_each_pattern(parts: dict[str, Any]) -> None:
    for pattern in range(5):
        flip = {"step": "memory", "pattern": pattern, "position": 77, "bit": pattern * 12}
        request = {**parts["burn_in"].DEFAULTS, "flip": flip}
        found = parts["checks"].memory(parts["arithmetic"].Numpy(), request, 2**22)
        assert found["wrong_words"] == 1
        assert found["first_wrong"]["bits"] == hex(1 << pattern * 12)
        assert found["first_wrong"]["pattern"] == pattern


class Corrupt:
    """Arithmetic in which one value of some products of small numbers is off by one."""

    def __init__(self, arithmetic: Any, every: int) -> None:
        self.own, self.every, self.calls = arithmetic.Numpy(), every, 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.own, name)

    def product(self, a: Any, b: Any) -> Any:
        made = self.own.product(a, b)
        self.calls += 1
        if self.calls % self.every == 0:
            made[self.calls % len(made), 0] += 1
        return made


def test_product_that_is_wrong_from_the_first_call_is_found(parts: dict[str, Any]) -> None:
    """Equal wrong results agree with each other: the exact sums of rows tell."""
    device = Corrupt(parts["arithmetic"], 1)
    exact = parts["checks"].exact_products(device, "fp32", 64)
    assert [next(exact) for _ in range(3)] == [1, 1, 1]
    sound = parts["checks"].exact_products(parts["arithmetic"].Numpy(), "fp32", 64)
    assert [next(sound) for _ in range(3)] == [0, 0, 0]


def test_one_wrong_product_in_ten_thousand_is_found(parts: dict[str, Any]) -> None:
    device = Corrupt(parts["arithmetic"], 10_000)
    request = {**parts["burn_in"].DEFAULTS, "size": 16, "seconds": 0, "calls": 20_000}
    assert parts["checks"].products(device, "fp32", request)["wrong_calls"] >= 1


def test_core_that_ends_otherwise_is_named(
    parts: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    node = parts["node_parts"]
    cores = {0: "aa", 1: "aa", 2: "bb"}

    def fork(core: int, seconds: float) -> tuple[int, int]:
        reading, writing = os.pipe()
        pid = os.fork()
        if not pid:
            os.write(writing, f"1 {cores[core]}\n".encode())
            os._exit(0)
        os.close(writing)
        return pid, reading

    monkeypatch.setattr(node, "fork_chain", fork)
    monkeypatch.setattr(node.os, "sched_getaffinity", lambda _: set(cores))
    assert node.cpu({"seconds": 1}) == {"cores": 3, "rounds": 1, "wrong_cores": [2]}


def test_errors_of_memory_controllers_are_counted_by_label(
    parts: dict[str, Any], tmp_path: Path
) -> None:
    dimm = tmp_path / "mc0/dimm3"
    dimm.mkdir(parents=True)
    (tmp_path / "mc0/ce_count").write_text("4\n")
    (dimm / "dimm_ce_count").write_text("4\n")
    (dimm / "dimm_label").write_text("CPU0_DIMM_D1\n")
    assert parts["node_parts"].edac_counts(str(tmp_path)) == {
        "mc0 ce": 4,
        "mc0/dimm3 CPU0_DIMM_D1 ce": 4,
    }


DIAGNOSED = {
    "DCGM Diagnostic": {
        "test_categories": [
            {"category": "Hardware", "tests": [
                {"name": "memory", "results": [{"entity_id": 0, "status": "Pass"}, {"entity_id": 1, "status": "Fail"}]},
                {"name": "pcie", "results": [{"entity_id": 0, "status": "Skip"}]},
            ]},
        ]
    }
}  # fmt: skip


def test_failed_tests_of_dcgm_are_named(
    parts: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "dcgmi"
    program.write_text(f"#!/bin/sh\ncat <<'EOF'\n{json.dumps(DIAGNOSED)}\nEOF\nexit 226\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    found = parts["node_parts"].dcgm({"dcgm_level": 3})
    assert found == {"level": 3, "tests": 3, "failed": ["memory"]}


def test_step_that_cannot_run_has_a_reason_and_hides_no_other() -> None:
    report = run(steps=["storage", "dcgm", "gemm"])
    assert report["steps"] == {"storage": None, "dcgm": None}
    assert report["problems"]["storage"] == "no folder is named for the storage test"
    assert report["problems"]["dcgm"] == "no level of DCGM is asked for"
    assert report["devices"][0]["steps"]["gemm"]["fp32"]["wrong_calls"] == 0


def test_cycles_add_up_what_is_wrong_and_keep_the_lowest_rate(parts: dict[str, Any]) -> None:
    merged = parts["burn_in"].merged
    one = {
        "fp32": {"calls": 20, "wrong_calls": 0, "first_wrong": None, "tflop_s": 2.0, "digest": "a"}
    }
    two = {
        "fp32": {
            "calls": 30,
            "wrong_calls": 1,
            "first_wrong": {"call": 3},
            "tflop_s": 1.5,
            "digest": "a",
        }
    }
    joined = merged(one, two)["fp32"]
    assert joined == {
        "calls": 50,
        "wrong_calls": 1,
        "first_wrong": {"call": 3},
        "tflop_s": 1.5,
        "digest": "a",
    }
    other = {"fp32": {**two["fp32"], "wrong_calls": 0, "digest": "b"}}
    assert merged(one, other)["fp32"]["wrong_calls"] == 1


def test_unknown_step_is_an_error() -> None:
    done = subprocess.run(
        [sys.executable, FILES / "burn_in/burn_in.py", '{"steps": ["gem"]}'],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (1, "burn_in.py: there is no step 'gem'\n")


def test_process_that_holds_a_gpu_is_named_and_nothing_reset(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from importlib.util import module_from_spec, spec_from_file_location

    spec = spec_from_file_location("gpu_reset", FILES / "gpu_reset.py")
    assert spec is not None
    assert spec.loader is not None
    program: Any = module_from_spec(spec)
    spec.loader.exec_module(program)
    for pid, device, maps in (
        ("41", "/dev/nvidia1", ""),
        ("42", "/dev/null", "7f-80 rw-s 0 00:06 9 /dev/nvidia0\n"),
    ):
        (tmp_path / pid / "fd").mkdir(parents=True)
        (tmp_path / pid / "fd/3").symlink_to(device)
        (tmp_path / pid / "maps").write_text(maps)
    assert program.holders(["1"], proc=str(tmp_path)) == {41: ["/dev/nvidia1"]}
    assert program.holders(["0", "1"], proc=str(tmp_path)) == {
        41: ["/dev/nvidia1"],
        42: ["/dev/nvidia0"],
    }
    assert program.holders(["2"], proc=str(tmp_path)) == {}
    assert program.holders(proc=str(tmp_path)) == program.holders(["0", "1"], proc=str(tmp_path))
    calls: list[list[str]] = []

    def call(words: list[str]) -> int:
        calls.append(words[:2])
        return 0

    monkeypatch.setattr(program.subprocess, "call", call)
    monkeypatch.setattr(program, "holders", lambda *_: {41: ["/dev/nvidia1"]})
    assert program.main([]) == 3
    assert ["nvidia-smi", "--gpu-reset"] not in calls
    verbs = [words[1] for words in calls if words[1] in {"stop", "start"}]
    assert verbs == ["stop"] * 4 + ["start"] * 4, "what was stopped runs again, whatever happened"
