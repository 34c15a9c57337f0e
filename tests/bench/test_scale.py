"""``check`` at the sizes that the design promises: 100,000 and 1,000,000 GPUs."""

from __future__ import annotations

import json
import resource
import statistics
from pathlib import Path
from typing import Any

import pytest
import yaml

from bench.test_check import LIMIT_MIB, LIMIT_S, cluster, measure
from design_halls import COSTS as HALL_COSTS

pytestmark = pytest.mark.bench

SITES = 6
LIMIT_SITES_S = 10.0
GPUS_PER_RACK = 32
RUNS = 3
COSTS = {**HALL_COSTS, "budget_per_year": "50_000_000_000 USD/year"}


class Plain(yaml.SafeDumper):
    """Writes equal parts out, as people do."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def processor_time() -> float:
    """Seconds that child processes kept a processor busy, whatever else the machine did."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def many_sites(gpus: int, sites: int) -> dict[str, Any]:
    """At least ``gpus`` GPUs of DGX H100 over equal sites, with the owner's prices."""
    racks = -(-gpus // (GPUS_PER_RACK * sites))
    document = cluster(racks)
    (site,) = document["sites"]
    named = [{**site, "name": f"site-{number}"} for number in range(1, sites + 1)]
    return {**document, "costs": COSTS, "sites": named}


def write(folder: Path, gpus: int, sites: int) -> Path:
    path = folder / f"cluster-{gpus}.yaml"
    document = many_sites(gpus, sites)
    path.write_text(yaml.dump(document, Dumper=Plain, sort_keys=False, allow_unicode=True))
    return path


@pytest.mark.parametrize(
    ("gpus", "sites", "limit"), [(100_000, 1, LIMIT_S), (1_000_000, SITES, LIMIT_SITES_S)]
)
def test_check_and_cost_of_many_gpus(tmp_path: Path, gpus: int, sites: int, limit: float) -> None:
    path = write(tmp_path, gpus, sites)
    print(f"\n{gpus:,} GPUs over {sites} sites, {path.stat().st_size / 2**20:.1f} MiB of YAML:")
    found = {}
    for verb in ("check", "cost"):
        before = processor_time()
        runs = [measure("-m", "rackwright", verb, path, "--json") for _ in range(RUNS)]
        busy = (processor_time() - before) / RUNS
        took, peak = statistics.median(run[0] for run in runs), max(run[1] for run in runs)
        print(
            f"  {verb}: median {took:.2f} s, {took / limit:.2f} of {limit:.0f} s, "
            f"{busy:.2f} s of a processor; "
            f"peak {peak:.0f} MiB, {peak / LIMIT_MIB:.2f} of {LIMIT_MIB} MiB"
        )
        assert runs[0][2] in {0, 5, 6}, verb
        found[verb] = json.loads(runs[0][3])
    report, costs = found["check"], found["cost"]
    named = {f"site-{number}" for number in range(1, sites + 1)}
    judged = {result["subject"] for result in report["results"]}
    assert {name for name in named if any(name in subject for subject in judged)} == named
    nodes = sum(
        group["count"]
        for site in costs["sites"]
        for group in site["groups"]
        if group["name"] == "dgx"
    )
    assert nodes * 8 >= gpus
    assert costs["total"]["per_year"] is not None
