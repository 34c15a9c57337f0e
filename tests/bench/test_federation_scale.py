"""A million GPUs over six federated sites: all files of the federation, and the page of the fleet.

pytest -m bench -s tests/bench/test_federation_scale.py
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from bench.test_scale import GPUS_PER_RACK, SITES, many_sites
from rackwright.fleet.asking import SiteAnswer
from rackwright.fleet.page import render_page
from rackwright.fleet.reading import read_nodes
from rackwright.fleet.view import FleetView, render_json, view_site
from rackwright.plan.load import load_data
from rackwright.plan.model import Plan
from rackwright.render.generated import generate

pytestmark = pytest.mark.bench

GPUS = 1_000_000
LIMIT_S = 10.0
LIMIT_MB = 15.0


def federated() -> dict[str, Any]:
    """Equal sites whose clusters are federated."""
    document = many_sites(-(-GPUS // (GPUS_PER_RACK * SITES)), SITES)
    names = [site["name"] for site in document["sites"]]
    groups = {group["role"]: group["name"] for group in document["sites"][0]["node_groups"]}
    document = json.loads(json.dumps(document, default=str))  # its sites share their halls
    for site in document["sites"]:
        if "head" not in groups:
            rack = site["halls"][0]["rows"][0]["rack_groups"][0]
            site["halls"][0]["rows"][0]["rack_groups"].append({**rack, "racks": "heads"})
            site["node_groups"] = [
                *site["node_groups"],
                {
                    "name": "head",
                    "role": "head",
                    "type": "cpu-2u",
                    "count": 1,
                    "racks": "heads",
                    "per_rack": 1,
                },
            ]
    host = f"{groups.get('head', 'head')}-1"
    return {
        **document,
        "scheduler": {
            "kind": "slurm",
            "version": "24.11",
            "controllers": [{"host": host}],
            "accounting": {"host": host},
            "topology": {"plugin": "flat"},
            "partitions": [{"name": "gpu", "groups": [groups["compute"]], "default": True}],
        },
        "federation": {
            "name": "globe",
            "sites": [{"site": name} for name in names],
            "database": {"site": names[0], "replica": {"site": names[1]}},
        },
    }


@pytest.fixture(scope="module")
def plan() -> Plan:
    began = time.process_time()
    made = load_data(federated()).plan
    print(f"\nplanned in {time.process_time() - began:.1f} s")
    return made


def test_files_of_a_million_gpus(plan: Plan) -> None:
    began = time.process_time()
    files = generate(plan)
    took = time.process_time() - began
    size = sum(map(len, files.values())) / 1e6
    print(
        f"{len(files)} files, {size:.1f} MB: {took:.1f} s, {took / LIMIT_S:.2f} of {LIMIT_S:.0f} s"
    )
    assert len(files) == 3 + 4 * SITES


def test_page_of_a_million_gpus(plan: Plan, tmp_path: Path) -> None:
    began = time.process_time()
    views = []
    for member in plan.members:
        slurm = member.plan.slurm
        assert slurm is not None
        names = [name for nodes in slurm.nodes for name in nodes.names]
        nodes = [
            {"name": name, "state": ["DOWN"] if number % 50 == 0 else ["ALLOCATED"],
             "reason": f"Xid 79 at card {number % 8}" if number % 50 == 0 else "",
             "tres": "gres/gpu=8", "tres_used": "gres/gpu=8"}
            for number, name in enumerate(names)
        ]  # fmt: skip
        answer = SiteAnswer(read_nodes(json.dumps({"nodes": nodes})))
        views.append(view_site(plan, member, answer, 0.0))
    fleet = FleetView(plan.name, "now", tuple(views))
    page = render_page(fleet, plan)
    took = time.process_time() - began
    print(
        f"page {len(page) / 1e6:.2f} MB, JSON {len(render_json(fleet)) / 1e6:.1f} MB: {took:.1f} s"
    )
    assert len(page) / 1e6 <= LIMIT_MB
