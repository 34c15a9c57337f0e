"""The plan: each part of it is worked out once, whoever asks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rackwright.accept.expected import expect
from rackwright.diff.hardware import compare_hosts, compare_products
from rackwright.inventory.inventory import build_inventory
from rackwright.plan.fabric import fabrics
from rackwright.plan.load import load_plan
from rackwright.plan.slurm import cluster
from rackwright.policy.check import check_plan
from rackwright.policy.packs.loader import builtin_pack
from rackwright.render.slurm import render_slurm

FIXTURES = builtin_pack() / "fixtures"
TREE = Path(__file__).parents[2] / "golden" / "slurm" / "tree" / "layer.yaml"


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """How often each part is worked out."""
    found: dict[str, int] = {}
    for module, name in ((fabrics, "lay_out"), (cluster, "node_sets"), (cluster, "topologies")):
        original = getattr(module, name)

        def counted(*arguments: Any, name: str = name, original: Any = original) -> Any:
            found[name] = found.get(name, 0) + 1
            return original(*arguments)

        monkeypatch.setattr(module, name, counted)
    return found


def test_policies_inventory_and_files_lay_out_each_fabric_once(
    calls: dict[str, int],
) -> None:
    loaded = load_plan(FIXTURES / "slurm.yaml", (TREE,))
    plan = loaded.plan
    check_plan(loaded)
    build_inventory(plan)
    render_slurm(plan)
    expect(plan)
    compare_products(plan, plan)
    compare_hosts(plan, plan)
    assert sum(len(site.fabrics) for site in plan.onprem) > 0
    assert calls == {
        "lay_out": sum(len(site.fabrics) for site in plan.onprem),
        "node_sets": 1,
        "topologies": 1,
    }


def test_layouts_are_those_of_the_fabrics() -> None:
    """Rules and programs of a team may ask a plan for them: ``rackwright.api`` has ``Plan``."""
    plan = load_plan(FIXTURES / "fabric.yaml").plan
    found = [fabric for site in plan.onprem for fabric in site.fabrics]
    assert {path: id(layout) for path, layout in plan.layouts.items()} == {
        fabric.path: id(fabric.layout) for fabric in found if fabric.layout is not None
    }
    assert plan.layouts


def test_a_plan_without_a_scheduler_has_no_slurm() -> None:
    plan = load_plan(FIXTURES / "air.yaml").plan
    assert plan.slurm is None


def test_sections_of_the_blueprint_are_attributes_of_the_plan() -> None:
    plan = load_plan(FIXTURES / "operated.yaml").plan
    blueprint = plan.blueprint
    for name in (
        "name",
        "owner",
        "scheduler",
        "users",
        "reliability",
        "operations",
        "costs",
        "facts",
        "policies",
    ):
        assert getattr(plan, name) is getattr(blueprint, name), name
    assert plan.site_names == tuple(site.name for site in blueprint.sites)
    for site in plan.onprem:
        for name in ("name", "security", "nfs", "altitude", "pue_budget"):
            assert getattr(site, name) is getattr(site.spec, name), name
        assert site.power.settings is site.spec.power
    for cloud in plan.aws:
        for name in ("name", "region", "network", "limits", "file_systems"):
            assert getattr(cloud, name) is getattr(cloud.spec, name), name
