"""A site of 12,500 DGX H100 with the scheduler over it."""

from __future__ import annotations

from typing import Any

from rackwright.catalog.loader import load_catalogue
from rackwright.model.cluster import Blueprint
from rackwright.plan.expand import expand
from rackwright.plan.model import Plan

NODES, PER_LEAF, LEAVES_PER_POD, PODS = 12_500, 32, 32, 13
FIRST = "10.64.0.10"
"""Address of the first node."""


def large_cluster(**scheduler: Any) -> Plan:
    """DGX H100 with one port each on a fabric of three tiers; ``scheduler`` changes what it has."""
    circuit = {"voltage": "415 V", "current": "60 A", "phases": 3}
    feeds = [{"name": "A", "source": "grid", "circuit": circuit}]
    rack = {"type": "rack-48u", "feeds": feeds, "cooling": {"mode": "air"}}
    racks = [{**rack, "racks": "c[0001-3125]"}, {**rack, "racks": "n[001-140]"}]
    leaves, cores = LEAVES_PER_POD * PODS, 224

    def tier(name: str, count: int) -> dict[str, Any]:
        return {
            "name": name,
            "type": "qm9700",
            "count": count,
            "racks": "n[001-140]",
            "per_rack": 4,
        }

    site = {
        "name": "big",
        "provider": "onprem",
        "power": {
            "continuous_derate": "80 %",
            "power_factor": 0.95,
            "sources": [{"name": "grid", "kind": "utility", "capacity": "200 MW"}],
        },
        "halls": [{"name": "hall", "rows": [{"name": "row", "rack_groups": racks}]}],
        "node_groups": [
            {
                "name": "dgx",
                "role": "compute",
                "type": "dgx-h100",
                "count": NODES,
                "racks": "c[0001-3125]",
                "per_rack": 4,
            }
        ],
        "addresses": {
            "domain": "big.example.com",
            "networks": [
                {
                    "name": "mgmt",
                    "kind": "management",
                    "prefix": "10.64.0.0/18",
                    "ranges": [{"of": "dgx", "first": FIRST}],
                }
            ],
        },
        "fabrics": [
            {
                "name": "ib",
                "role": "compute",
                "tiers": [tier("leaf", leaves), tier("spine", leaves), tier("core", cores)],
                "attached": [{"group": "dgx", "interfaces": 1, "rails": False}],
                "links": [
                    {"name": "up", "lower": "leaf", "upper": "spine", "parallel": 1, "pods": PODS},
                    {
                        "name": "top",
                        "lower": "spine",
                        "upper": "core",
                        "parallel": 4,
                        "planes": LEAVES_PER_POD,
                    },
                ],
            }
        ],
    }
    settings = {
        "kind": "slurm",
        "version": "22.05",
        "controllers": [{"host": "head-1", "address": "127.0.0.1"}],
        "topology": {"plugin": "tree"},
        "partitions": [
            {"name": "gpu", "groups": ["dgx"], "default": True, "max_time": "7-00:00:00"},
            {"name": "urgent", "groups": ["dgx"], "priority_tier": 10},
        ],
        "preemption": {"by": "partition", "mode": "requeue"},
        "reserve": {"cores": 4, "memory": "64 GiB"},
        "private_data": ["jobs"],
        "processes": {"tracking": "linuxproc", "tasks": ["none"], "accounting": "none"},
        **scheduler,
    }
    data = {"apiVersion": "rackwright/v1", "name": "big", "sites": [site], "scheduler": settings}
    return expand(Blueprint.model_validate(data), load_catalogue())
