"""Whole files that hosts get: NCCL, EFA, health checks, exporters, and what Prometheus asks.

``UPDATE_GOLDEN=1`` writes the golden files anew.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml

from rackwright.inventory.inventory import build_inventory
from rackwright.plan.load import load_plan
from rackwright.policy.packs.loader import builtin_pack
from unit.inventory.played import files_of

FIXTURES = builtin_pack() / "fixtures"
GOLDEN = Path(__file__).parents[2] / "golden"

HEALTH = """\
scheduler:
  health_check: {program: /etc/slurm/health.sh, interval: 5 min}
  prolog: /etc/slurm/prolog.sh
"""
BILL = """\
operations:
  health_checks: true
  drain_on_xids: [48, 79, 94]
  software:
    - name: all
      driver: 570.133.20
      cuda: "12.8"
      nccl: 2.26.2-1
      dcgm: 4.2.3
      libfabric: 2.1.0amzn3.0
      ofi_plugin: 1.15.0
      efa_installer: 1.42.0
"""
FOUND = {"efa_chosen": [["libfabric1-aws", "2.1.0amzn3.0"], ["libnccl-ofi", "1.15.0-1"]]}
"""What the role ``efa`` has chosen from a repository."""

CASES: Mapping[str, tuple[str, str, Mapping[str, tuple[str, ...]]]] = {
    "infiniband": (
        "slurm",
        "tree",
        {"dgx-01": ("nccl", "health_check", "dcgm_exporter"), "head-1": ("prometheus",)},
    ),
    "aws": (
        "slurm",
        "hybrid",
        {"train-01": ("efa", "nccl", "health_check")},
    ),
    "nvl72": ("liquid", "blocks", {"nvl72-01": ("nccl", "health_check")}),
}
"""A fixture, the layer of Slurm's golden files, and the roles of hosts, by name of the golden folder."""


@pytest.mark.parametrize("case", sorted(CASES))
def test_the_files_of_hosts_are_the_golden_ones(tmp_path: Path, case: str) -> None:
    fixture, slurm, roles = CASES[case]
    layers = [GOLDEN / "slurm" / slurm / "layer.yaml"]
    for name, text in (("health", HEALTH), ("bill", BILL)):
        layers.append(tmp_path / f"{name}.yaml")
        layers[-1].write_text(text)
    plan = load_plan(FIXTURES / f"{fixture}.yaml", tuple(layers)).plan
    made = files_of(tmp_path, build_inventory(plan), roles, FOUND)
    golden = GOLDEN / "hosts" / case
    if os.environ.get("UPDATE_GOLDEN"):
        for path in golden.rglob("*"):
            if path.is_file():
                path.unlink()
        for name, text in made.items():
            (golden / name).parent.mkdir(parents=True, exist_ok=True)
            (golden / name).write_text(text, encoding="utf-8")
    kept = {
        str(path.relative_to(golden)): path.read_text(encoding="utf-8")
        for path in golden.rglob("*")
        if path.is_file()
    }
    assert sorted(made) == sorted(kept)
    for name, text in made.items():
        assert text == kept[name], name


def test_golden_files_are_what_their_programs_read() -> None:
    """Nobody would see it in a file that is only compared with itself."""
    etc = GOLDEN / "hosts/infiniband/head-1/etc/prometheus"
    targets = json.loads((etc / "targets/gpus.json").read_text())
    assert len(targets) == 64
    assert {one["labels"]["expected_gpus"] for one in targets} == {"8"}
    scraped = yaml.safe_load((etc / "prometheus.yml").read_text())["scrape_configs"]
    assert [job["job_name"] for job in scraped] == ["prometheus", "node", "dcgm"]
    for rules in (etc / "rules").iterdir():
        assert yaml.safe_load(rules.read_text())["groups"], rules
    for host, gpus in (("infiniband/dgx-01", 8), ("aws/train-01", 8), ("nvl72/nvl72-01", 4)):
        etc = GOLDEN / "hosts" / host / "etc"
        wanted = json.loads((etc / "rackwright/node-health.json").read_text())
        assert (wanted["accelerators"], wanted["node"]) == (gpus, host.partition("/")[2])
        assert {48, 79, 94} <= {one.get("xid") for one in wanted["faults"]}
        assert (etc / "slurm/health.sh").read_text().startswith("#!/bin/sh\n")
