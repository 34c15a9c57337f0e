"""The inventory plugin with 12,500 hosts: with a cache, without, and against a plain JSON file."""

from __future__ import annotations

import json
import os
import resource
import statistics
import time
from pathlib import Path

import pytest
import yaml

from bench.test_check import write
from collection_support import ansible, list_inventory
from rackwright.ansible_runs.files import as_yaml_inventory
from rackwright.inventory.inventory import build_inventory
from rackwright.plan.load import load_plan

pytestmark = pytest.mark.bench

RACKS, HOSTS = 3125, 12_500
RUNS = int(os.environ.get("RACKWRIGHT_BENCH_RUNS", "3"))


def processor_time() -> float:
    """Seconds that child processes kept a processor busy, whatever else the machine did."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def measure(source: Path) -> tuple[float, float]:
    """Seconds, and seconds of a processor, until Ansible has read ``source`` and shows one host."""
    busy, began = processor_time(), time.perf_counter()
    done = ansible("inventory", "-i", source, "--host", "dgx-00001")
    took = time.perf_counter() - began
    assert json.loads(done.stdout)["rackwright_rack"] == "c0001", done.stderr
    return took, processor_time() - busy


def test_reading_and_listing_12500_hosts(tmp_path: Path) -> None:
    blueprint = write(tmp_path, RACKS)
    plugin = {"plugin": "rackwright.cluster.blueprint", "blueprint": str(blueprint)}
    cache = {"cache_plugin": "ansible.builtin.jsonfile", "cache_connection": str(tmp_path / "kept")}
    sources = {
        "plain JSON": tmp_path / "plain.json",
        "plugin": tmp_path / "plain.rackwright.yml",
        "plugin, cached": tmp_path / "cached.rackwright.yml",
    }
    made = build_inventory(load_plan(blueprint).plan)
    sources["plain JSON"].write_text(json.dumps(as_yaml_inventory(made, {}, {})))
    sources["plugin"].write_text(yaml.safe_dump(plugin))
    sources["plugin, cached"].write_text(yaml.safe_dump({**plugin, **cache, "cache": True}))
    before, began = processor_time(), time.perf_counter()
    listed = list_inventory(sources["plugin, cached"])  # fills the cache
    whole, listing = time.perf_counter() - began, processor_time() - before
    assert len(listed["_meta"]["hostvars"]) == HOSTS
    print(
        f"\nansible-inventory --list of {HOSTS:,} hosts, nothing cached: {whole:.1f} s, "
        f"{listing:.1f} s of a processor"
    )
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in sources}
    for _ in range(RUNS):
        for name, source in sources.items():  # in turns, so that a busy moment is shared
            found[name].append(measure(source))
    busy = {name: min(run[1] for run in runs) for name, runs in found.items()}
    print(f"read, and one host shown, {RUNS} runs each:")
    for name, runs in found.items():
        took = statistics.median(run[0] for run in runs)
        print(
            f"  {name}: median {took:.1f} s, at least {busy[name]:.1f} s of a processor, "
            f"{busy[name] / busy['plain JSON']:.2f} of plain JSON"
        )
    saved = busy["plugin"] - busy["plugin, cached"]
    print(
        f"  cached / uncached: {busy['plugin, cached'] / busy['plugin']:.2f} ({saved:.1f} s less)"
    )
