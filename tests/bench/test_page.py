"""The page of ``check --output html=FILE``: its size, and the time to write it and to open it."""

from __future__ import annotations

import statistics
import time
from pathlib import Path
from typing import Any

import pytest
import yaml

from bench.test_check import (
    NODES_PER_RACK,
    RACKS_PER_ROW,
    cluster,
    measure,
    rack_group,
    row_sources,
)
from browser import CHROMIUM, browser
from rackwright.model.names import compress_hostlist

pytestmark = [
    pytest.mark.bench,
    pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed"),
]

LIMIT_MB, LIMIT_S = 15.0, 3.0
GPUS_PER_NODE, SWITCHES_PER_RACK, RUNS = 8, 6, 3
RADIX, UP = 144, 72
"""Ports of a switch, and those of them that lead upwards."""


def with_fabric(racks: int) -> dict[str, Any]:
    """The site of ``check``'s bench with a rail-optimised fabric, its switches in rows of their own."""
    document = cluster(racks)
    (site,) = document["sites"]
    leaves = 8 * -(-NODES_PER_RACK * racks // UP)
    counts = {"leaf": leaves, "spine": 4}
    links: list[dict[str, Any]] = [
        {"name": "up", "lower": "leaf", "upper": "spine", "parallel": UP // 4}
    ]
    if leaves > RADIX:
        pods = -(-leaves // UP)
        each = max(n for n in range(1, UP + 1) if UP % n == 0 and n * pods <= RADIX)
        counts = {"leaf": leaves, "spine": UP * pods, "core": UP * UP // each}
        links = [
            {"name": "up", "lower": "leaf", "upper": "spine", "parallel": 1, "pods": pods},
            {"name": "top", "lower": "spine", "upper": "core", "parallel": each, "planes": UP},
        ]
    names = [f"n{n:04}" for n in range(1, 1 + -(-sum(counts.values()) // SWITCHES_PER_RACK))]
    for start in range(0, len(names), RACKS_PER_ROW):
        row = 10_000 + start
        group = rack_group(row, names[start : start + RACKS_PER_ROW])
        site["halls"][-1]["rows"].append({"name": f"net-{start}", "rack_groups": [group]})
        site["power"]["sources"] += row_sources(row)
    where = {"racks": compress_hostlist(names), "per_rack": SWITCHES_PER_RACK}
    site["fabrics"] = [
        {
            "name": "compute",
            "role": "compute",
            "technology": "infiniband",
            "unit_hosts": UP,
            "tiers": [
                {"name": name, "type": "q3400-ra", "count": count, **where}
                for name, count in counts.items()
            ],
            "attached": [{"group": "dgx", "rails": True}],
            "links": links,
        }
    ]
    return document


@pytest.mark.parametrize("gpus", [256, 12_288, 100_000])
def test_the_page_is_small_and_opens_soon(tmp_path: Path, gpus: int) -> None:
    racks = -(-gpus // (NODES_PER_RACK * GPUS_PER_NODE))
    blueprint, page = tmp_path / "cluster.yaml", tmp_path / "page.html"
    blueprint.write_text(yaml.dump(with_fabric(racks), sort_keys=False, allow_unicode=True))
    alone = measure("-m", "rackwright", "check", blueprint)
    took, peak, code, _ = measure(
        "-m", "rackwright", "check", blueprint, "--output", f"html={page}"
    )
    assert code == alone[2], "the page changes no verdict"
    size = page.stat().st_size / 1e6
    opened = []
    with browser(tmp_path) as tab:
        tab.set_view(1280)
        for _ in range(RUNS):
            start = time.perf_counter()
            tab.open(page)
            # Two frames: what was laid out has been painted as well.
            tab.ask(
                "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
            )
            opened.append(time.perf_counter() - start)
        assert not tab.complaints
        assert tab.count(".elevation svg") == 1
    opens = statistics.median(opened)
    print(
        f"\n{gpus:,} GPUs: {size:.2f} MB, {size / LIMIT_MB:.2f} of {LIMIT_MB:.0f} MB; "
        f"opens in a median of {opens:.2f} s, {opens / LIMIT_S:.2f} of {LIMIT_S:.0f} s; "
        f"check {alone[0]:.2f} s, with the page {took:.2f} s, peak {peak:.0f} MiB"
    )
    assert size < LIMIT_MB
