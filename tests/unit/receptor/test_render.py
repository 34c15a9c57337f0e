"""Receptor's configuration, compared whole with the files in ``tests/golden/receptor``.

``UPDATE_GOLDEN=1`` writes them anew; the difference is then for people to read.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import yaml

from rackwright.receptor.render import render_receptor
from rackwright.receptor.workers import Workers

GOLDEN = Path(__file__).parents[2] / "golden" / "receptor"
WORKERS = Workers.model_validate(
    {
        "apiVersion": "rackwright/v1",
        "head": {"address": "10.1.0.2"},
        "workers": [
            {"node": "hall-a", "hosts": ["hall_sjc1_a"]},
            {"node": "on", "hosts": ["hall_sjc1_b"]},
        ],
    }
)
FILES = [
    (node, name)
    for node in ("controller", "hall-a")
    for name in ("receptor.yml", "receptor.service")
]


@pytest.mark.parametrize(("node", "name"), FILES)
def test_the_files_are_the_golden_ones(node: str, name: str) -> None:
    text = render_receptor(WORKERS)[node][name]
    path = GOLDEN / node / name
    if os.environ.get("UPDATE_GOLDEN"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    assert path.read_text() == text


def test_the_files_are_yaml_whatever_nodes_are_called() -> None:
    made = render_receptor(WORKERS)
    assert list(made) == ["controller", "hall-a", "on"]
    listener = yaml.safe_load(made["controller"]["receptor.yml"])[-1]["tcp-listener"]
    assert listener["allowedpeers"] == ["hall-a", "on"]
    assert yaml.safe_load(made["on"]["receptor.yml"])[0]["node"]["id"] == "on"
