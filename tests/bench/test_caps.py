"""Power limits of a site of 16,384 nodes: a demand-response event becomes a plan of caps within a second.

pytest -m bench -s tests/bench/test_caps.py
"""

from __future__ import annotations

import time
from typing import Any

import pytest
import yaml

from rackwright.fleet.caps import CapClass, PowerBudget, plan_caps
from rackwright.plan.load import load_data
from rackwright.policy.packs.loader import builtin_pack

pytestmark = pytest.mark.bench

NODES, PER_RACK, RACKS_OF_A_ROW = 16_384, 4, 16
LIMIT_S = 1.0
CUT = 0.75
ORDER = (
    CapClass("idle"),
    CapClass("batch"),
    CapClass("train"),
    CapClass("serve", protected=True),
)


def large_site() -> dict[str, Any]:
    """The rows of ``fixtures/slurm.yaml`` without a fabric, as often as the nodes need them."""
    document: dict[str, Any] = yaml.safe_load((builtin_pack() / "fixtures/slurm.yaml").read_text())
    (site,) = document["sites"]
    rows = NODES // (PER_RACK * RACKS_OF_A_ROW)
    sources: list[dict[str, Any]] = [
        {"name": "utility", "kind": "utility", "capacity": f"{1.2 * rows} MW"}
    ]
    made = []
    for row in range(rows):
        for source in site["power"]["sources"][1:]:
            parents = source["fed_by"]
            fed_by = parents if parents == ["utility"] else [f"{one}-{row}" for one in parents]
            sources.append({**source, "name": f"{source['name']}-{row}", "fed_by": fed_by})
        group = dict(site["halls"][0]["rows"][0]["rack_groups"][0])
        group["racks"] = f"r{row}-[01-{RACKS_OF_A_ROW}]"
        group["feeds"] = [{**feed, "source": f"{feed['source']}-{row}"} for feed in group["feeds"]]
        made.append({"name": f"row-{row}", "rack_groups": [group]})
    site["power"] |= {"sources": sources, "contract": f"{1.1 * rows} MW"}
    site["halls"][0]["rows"] = made
    racks = ",".join(f"r{row}-[01-{RACKS_OF_A_ROW}]" for row in range(rows))
    site["node_groups"] = [
        {**site["node_groups"][0], "count": NODES, "name_digits": 1, "racks": racks}
    ]
    del site["fabrics"], document["scheduler"]
    return document


def test_caps_of_16384_nodes() -> None:
    plan = load_data(large_site()).plan
    (site,) = plan.onprem
    racked = plan.racked[site.name]
    names = [one.name for one in ORDER]
    hosts = site.groups[0].host_names
    classes = {host: names[number * 7 % 4] for number, host in enumerate(hosts)}
    whole = plan_caps(site, racked, PowerBudget(), classes, ORDER)
    before = next(check.before_w for check in whole.checks if check.name == "utility")
    assert before is not None
    for budget in (
        PowerBudget(site_w=CUT * before),
        PowerBudget(lost=frozenset({"rpp-a-7"}), site_w=CUT * before, after_next_loss=False),
    ):
        began = time.process_time()
        made = plan_caps(site, racked, budget, classes, ORDER)
        took = time.process_time() - began
        assert made.refused == ""
        print(
            f"\n{len(hosts):,} nodes, {made.hosts:,} limited, {len(made.checks):,} loads proven: "
            f"{took:.2f} s, {took / LIMIT_S:.2f} of {LIMIT_S:.0f} s"
        )
