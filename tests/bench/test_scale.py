"""``check`` at the sizes that the design promises: 100,000 and 1,000,000 GPUs.

Each size is measured twice: as sites that say little, of which many rules miss a number, and as sites
that say all that the rules ask for.
"""

from __future__ import annotations

import json
import os
import resource
import statistics
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from bench.test_check import LIMIT_MIB, LIMIT_S, cluster, measure
from design_halls import COSTS as HALL_COSTS
from full_cluster import full_cluster
from rackwright.policy.packs.loader import builtin_rules

pytestmark = pytest.mark.bench

SITES = 6
LIMIT_SITES_S = 8.0
GPUS_PER_RACK = 32
RUNS = int(os.environ.get("RACKWRIGHT_BENCH_RUNS", "3"))
COSTS = {**HALL_COSTS, "budget_per_year": "50_000_000_000 USD/year"}
LEFT_OUT = {"CST-003": "prices of a list are those of AWS: what a site owns has none"}
"""Rules that judge nothing on premises, with the reason; those of the family ``aws`` aside."""


class Plain(yaml.SafeDumper):
    """Writes equal parts out, as people do."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def processor_time() -> float:
    """Seconds that child processes kept a processor busy, whatever else the machine did."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def many_sites(racks: int, sites: int) -> dict[str, Any]:
    """Equal sites of so many racks of DGX H100, with the owner's prices, that say little."""
    document = cluster(racks)
    (site,) = document["sites"]
    named = [{**site, "name": f"site-{number}"} for number in range(1, sites + 1)]
    return {**document, "costs": COSTS, "sites": named}


def write(folder: Path, document: dict[str, Any]) -> Path:
    path = folder / "cluster.yaml"
    path.write_text(yaml.dump(document, Dumper=Plain, sort_keys=False, allow_unicode=True))
    return path


def measured(verb: str, path: Path, limit: float) -> Any:
    """What the verb finds, after its time and its memory are printed; the memory has to do."""
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
    assert peak <= LIMIT_MIB, verb
    return json.loads(runs[0][3])


@pytest.mark.parametrize("made", [many_sites, full_cluster])
@pytest.mark.parametrize(
    ("gpus", "sites", "limit"), [(100_000, 1, LIMIT_S), (1_000_000, SITES, LIMIT_SITES_S)]
)
def test_check_and_cost_of_many_gpus(
    tmp_path: Path,
    made: Callable[[int, int], dict[str, Any]],
    gpus: int,
    sites: int,
    limit: float,
) -> None:
    racks = -(-gpus // (GPUS_PER_RACK * sites))
    path = write(tmp_path, made(racks, sites))
    size = path.stat().st_size / 2**20
    print(f"\n{made.__name__}: {gpus:,} GPUs over {sites} sites, {size:.1f} MiB of YAML:")
    report, costs = (measured(verb, path, limit) for verb in ("check", "cost"))
    named = {f"site-{number}" for number in range(1, sites + 1)}
    subjects = {result["subject"] for result in report["results"]}
    assert {name for name in named if any(name in subject for subject in subjects)} == named
    nodes = sum(
        group["count"]
        for site in costs["sites"]
        for group in site["groups"]
        if group["name"].endswith("dgx")
    )
    assert nodes * 8 >= gpus
    assert costs["total"]["per_year"] is not None
    if made is full_cluster:
        sure = {"pass", "fail"}
        judged = {one["policy"] for one in report["results"] if one["outcome"] in sure}
        asked = {
            rule.id for rule in builtin_rules() if rule.since <= "0.3" and rule.family != "aws"
        }
        assert asked - judged == LEFT_OUT.keys()
