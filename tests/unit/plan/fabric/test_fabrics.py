"""The fabrics of a site: their technology, and what is laid out."""

from __future__ import annotations

from typing import Any

import pytest

from fabric_factories import a_fabric, a_tier, site_of
from factories import CATALOGUE
from rackwright.plan.fabric.fabrics import FabricPlan, check_adaptive_routing, plan_fabrics


def planned(**changes: Any) -> FabricPlan:
    (found,) = plan_fabrics(site_of(a_fabric(**changes)), ("sites", 0), CATALOGUE)
    return found


def test_a_fabric_has_its_place_its_switches_and_its_graph() -> None:
    found = planned()
    assert (found.name, found.path) == ("compute", ("sites", 0, "fabrics", 0))
    assert found.layout is not None
    assert found.switches == tuple(tier.switches for tier in found.layout.tiers) == (8, 4)
    assert found.graph is not None
    assert found.graph is found.graph


def test_nothing_is_laid_out_where_nothing_is_attached() -> None:
    found = planned(attached=[])
    assert (found.layout, found.graph) == (None, None)
    assert found.switches == (8, 4)


@pytest.mark.parametrize("technology", [None, "infiniband"])
def test_adaptive_routing_of_ethernet_is_refused_for_infiniband(technology: str | None) -> None:
    """It had no effect where the technology is that of the switches."""
    found = planned(adaptive_routing=True, technology=technology)
    (problem,) = check_adaptive_routing([found, planned()])
    assert problem.path == ("sites", 0, "fabrics", 0, "adaptive_routing")
    assert problem.message == "'adaptive_routing' is for Ethernet, and 'compute' is InfiniBand"
    assert problem.hint == "set 'routing_engine' to 'ar_updn' or 'ar_ftree'"
    ethernet = planned(tiers=[a_tier("leaf", 8, "sn5610")], links=[], adaptive_routing=True)
    assert list(check_adaptive_routing([ethernet])) == []


MIXED = [a_tier("leaf", 8), a_tier("spine", 4, "sn5610")]


@pytest.mark.parametrize(
    ("changes", "technology", "is_infiniband"),
    [
        ({}, "infiniband", True),
        ({"tiers": MIXED}, None, True),
        ({"tiers": MIXED, "technology": "ethernet"}, "ethernet", False),
        ({"tiers": [a_tier("leaf", 8, "sn5610")], "links": []}, "ethernet", False),
    ],
)
def test_the_technology_is_what_is_declared_else_that_of_all_switches(
    changes: dict[str, Any], technology: str | None, is_infiniband: bool
) -> None:
    found = planned(**changes)
    assert (found.technology, found.is_infiniband) == (technology, is_infiniband)
