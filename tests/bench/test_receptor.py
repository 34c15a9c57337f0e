"""The same hosts configured by three workers and by one controller, all on this machine."""

from __future__ import annotations

import os
import statistics
from pathlib import Path

import pytest

from receptor_support import a_mesh, changes, failures

pytestmark = [
    pytest.mark.bench,
    pytest.mark.skipif(os.geteuid() != 0, reason="the lab needs root"),
]
RUNS = int(os.environ.get("RACKWRIGHT_BENCH_RUNS", "3"))


def test_three_workers_against_one_controller(tmp_path: Path) -> None:
    seconds: dict[bool, list[float]] = {True: [], False: []}
    with a_mesh(tmp_path) as mesh:
        assert failures(mesh.configure()) == {}
        for _ in range(RUNS):
            for workers, taken in seconds.items():
                made = mesh.configure("--limit", "slurm_compute", workers=workers)
                assert (failures(made), changes(made), len(made["hosts"])) == ({}, {}, 3)
                taken.append(made["seconds"])
    shared, alone = (statistics.median(seconds[workers]) for workers in (True, False))
    print(
        f"\n3 hosts with nothing to change, medians of {RUNS} runs: {shared} s by 3 workers, "
        f"{alone} s by one controller: {shared / alone:.2f} times"
    )
