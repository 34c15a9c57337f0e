"""``rackwright show``: sites, cost, headroom, and a rack with its units."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli_support import Ended, run_here
from rackwright.plan.load import load_plan
from rackwright.resources import bundled

FIXTURES = bundled("policies") / "fixtures"
ROOT = Path(__file__).parents[3]


def run(*words: str) -> Ended:
    ended = run_here(ROOT, "show", *words)
    ended.harmless()
    return ended


@pytest.fixture(scope="module")
def fabric() -> str:
    return str(FIXTURES / "fabric.yaml")


def test_sites_cost_and_the_headroom_worst_first(fabric: str) -> None:
    out = run(fabric).out
    lines = out.splitlines()
    assert lines[0].split()[:5] == ["site", "provider", "racks", "hosts", "accelerators"]
    assert lines[1].split()[:2] == ["sjc1", "onprem"]
    assert "\ncost: unknown\n" in out
    at = lines.index("headroom of each budget where least is left, the worst first:")
    budgets = lines[at + 2 : lines.index("", at + 1)]
    assert len(budgets) == 17  # sixteen, and how many more there are
    assert budgets[-1].endswith("('--all' shows them)")
    assert lines[-1].startswith("fabric: ")


def test_all_shows_every_budget_of_the_json(fabric: str) -> None:
    document = json.loads(run(fabric, "--json").out)
    assert document["schema"] == "rackwright.show/v1"
    whole = run(fabric, "--all").out
    assert "'--all'" not in whole
    for one in document["budgets"]:
        assert one["subjects"]
        assert f"{one['policy']}" in whole
    checked = json.loads(run_here(ROOT, "check", "--json", fabric).out)
    measured = {
        (one["policy"], one["subject"]): one["value"]
        for one in checked["results"]
        if one["value"] is not None
    }
    shown = {
        (one["policy"], row["subject"]) for one in document["budgets"] for row in one["subjects"]
    }
    assert measured.keys() <= shown, "what the policies measure, and nothing that show works out"


def test_a_rack_with_units_devices_and_feeds(fabric: str) -> None:
    known = json.loads(run("rack", "c01", fabric, "--json").out)
    assert known["schema"] == "rackwright.rack/v1"
    out = run("rack", "c01", fabric).out
    assert out.startswith("c01: place 1 of ")
    nodes = [one for one in known["devices"] if one["kind"] == "node"]
    assert nodes
    for one in nodes:
        low, high = one["unit_low"], one["unit_low"] + one["height_u"] - 1
        assert f"U{high:g} │ {one['names'][0]}  {one['product']}" in out
        assert f"U{low:g} │" in out
    for feed in known["feeds"]:
        assert f"\n  {feed['feed']} from {feed['source']}, " in out


def test_names_of_hosts_are_those_of_the_plan(fabric: str) -> None:
    hosts = {host.name: host.place for host in load_plan(Path(fabric)).plan.hosts}
    found = {
        name: rack
        for rack in ("c01", "c02")
        for one in json.loads(run("rack", rack, fabric, "--json").out)["devices"]
        if one["kind"] == "node"
        for name in one["names"]
    }
    assert len(found) == 8
    for name, rack in found.items():
        place = hosts[name]
        assert place is not None
        assert place.rack == rack


def test_bad_usage_is_told_in_words(fabric: str) -> None:
    run("rack", "c0l", fabric).refused("there is no rack 'c0l'", "did you mean 'c0")
    run("rack", fabric).refused("neither a blueprint nor 'rack NAME BLUEPRINT'")
    run("shelf", "c01", fabric).refused("neither a blueprint nor")
    run(fabric, "--site", "sjc1").refused("--site has an effect on a rack only")
    run("rack", "c01", fabric, "--all").refused("--all has no effect on a rack")
    run("rack", "c01", fabric, "--site", "nowhere").refused("the site 'nowhere' has no racks")
