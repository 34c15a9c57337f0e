"""Blueprints of two revisions, as plans with positions."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from factories import CATALOGUE, a_blueprint
from rackwright.diff.actions import FieldUpdate
from rackwright.diff.compare import updates
from rackwright.plan.load import LoadedPlan, plan_tree
from rackwright.reading.loader import load_tree
from rackwright.reading.yaml_reader import read_text

IMAGE = "ami-0123456789abcdef0"


def a_cloud(**more: Any) -> dict[str, Any]:
    """A site on AWS with a file system."""
    server = {"type": "m7i.4xlarge", "image": IMAGE, "root_volume": "100 GiB"}
    return copy.deepcopy(
        {
            "provider": "aws",
            "name": "cloud",
            "region": "us-east-1",
            "network": {
                "cidr": "10.20.0.0/16",
                "availability_zones": ["us-east-1a"],
                "nat": "single",
                "dns_zone": "demo.internal",
            },
            "head": server,
            "node_groups": [
                {
                    "name": "train",
                    "type": "p5.48xlarge",
                    "count": 16,
                    "name_digits": 2,
                    "capacity": {"kind": "on-demand"},
                    "image": IMAGE,
                    "root_volume": "500 GiB",
                }
            ],
            "file_systems": [
                {
                    "name": "scratch",
                    "deployment": "PERSISTENT_2",
                    "capacity": "38400 GiB",
                    "throughput": "250 MB/s/TiB",
                    "efa": True,
                    "mount": "/scratch",
                }
            ],
            **more,
        }
    )


def loaded(blueprint: dict[str, Any], name: str = "head:blueprint.yaml") -> LoadedPlan:
    """The plan of ``blueprint``; JSON is YAML, so everything in it has a position."""
    text = json.dumps(blueprint, indent=1)
    tree = load_tree(Path(name), read=lambda path: read_text(text, str(path)))
    return plan_tree(tree, CATALOGUE)


def changed(
    change: Callable[[dict[str, Any]], Any], *sites: dict[str, Any], **more: Any
) -> tuple[LoadedPlan, LoadedPlan]:
    """A blueprint of ``sites`` as it is, and after ``change`` had its way with it."""
    before = a_blueprint(*sites, **more)
    after = copy.deepcopy(before)
    change(after)
    return loaded(before, "base:blueprint.yaml"), loaded(after)


def updates_of(
    change: Callable[[dict[str, Any]], Any], *sites: dict[str, Any], **more: Any
) -> dict[str, FieldUpdate]:
    """The update of each field that ``change`` touches."""
    return {update.change.path: update for update in updates(*changed(change, *sites, **more))}
