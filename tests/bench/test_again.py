"""Hosts configured again, with nothing to change, beside a play that only collects their facts."""

from __future__ import annotations

import json
import os
import statistics
import time
from pathlib import Path

import pytest

from lab_snapshots import SLURM, configured_machines

pytestmark = [
    pytest.mark.bench,
    pytest.mark.skipif(os.geteuid() != 0, reason="the lab needs root"),
]
RUNS = int(os.environ.get("RACKWRIGHT_BENCH_RUNS", "3"))


def test_hosts_with_nothing_to_change(tmp_path: Path) -> None:
    configured, collected, changed = [], [], []
    with configured_machines(tmp_path, "again", "10.213.98.0/24", SLURM) as machines:
        machines.rackwright("configure")  # Prometheus is told the addresses of this lab
        for _ in range(RUNS):
            made = json.loads(machines.rackwright("configure", "--json"))
            changed += [host["changed"] for host in made["hosts"].values()]
            configured.append(made["seconds"])
            began = time.monotonic()
            assert machines.play([{"hosts": "all", "gather_facts": True}]).code == 0
            collected.append(time.monotonic() - began)
    assert changed == [[]] * len(SLURM.hosts) * RUNS
    again, facts = statistics.median(configured), statistics.median(collected)
    print(
        f"\n{len(SLURM.hosts)} hosts with nothing to change, medians of {RUNS} runs: {again:.0f} s; "
        f"their facts alone take {facts:.0f} s: {again / facts:.1f} times"
    )
