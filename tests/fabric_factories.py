"""Small fabrics for tests: blueprints as data, and their layouts."""

from __future__ import annotations

from typing import Any

from factories import CATALOGUE, a_site, some_nodes
from rackwright.catalog.loader import Catalogue
from rackwright.model.onprem import OnPremSite
from rackwright.plan.fabric.layout import Layout, lay_out


def a_tier(name: str, count: int, entry: str = "qm9700", **more: Any) -> dict[str, Any]:
    return {"name": name, "type": entry, "count": count, "racks": "n01", "per_rack": count, **more}


def a_fabric(leaves: int = 8, spines: int = 4, **more: Any) -> dict[str, Any]:
    """A non-blocking fabric of 64-port switches: 32 cables from each leaf to all spines."""
    made = {
        "name": "compute",
        "role": "compute",
        "tiers": [a_tier("leaf", leaves), a_tier("spine", spines)],
        "attached": [{"group": "dgx"}],
        "rail_optimized": True,
        "links": [some_cables(parallel=32 // spines)],
        **more,
    }
    return {key: value for key, value in made.items() if value is not None}


def some_cables(lower: str = "leaf", upper: str = "spine", **more: Any) -> dict[str, Any]:
    return {"name": "up", "lower": lower, "upper": upper, **more}


def three_tiers(pods: int = 4) -> dict[str, Any]:
    """Pods of 32 leaves and 32 spines, with as many cores as keep it non-blocking."""
    cores = 16 * pods
    links = [
        {"name": "a", "lower": "leaf", "upper": "spine", "parallel": 1, "pods": pods},
        {"name": "b", "lower": "spine", "upper": "core", "parallel": 64 // pods, "planes": 32},
    ]
    tiers = [a_tier("leaf", 32 * pods), a_tier("spine", 32 * pods), a_tier("core", cores)]
    return a_fabric(tiers=tiers, links=links)


def top_of_rack(racks: int = 4, **more: Any) -> dict[str, Any]:
    """A leaf in each rack and two spines: 16 ports of hosts and 16 uplinks of 64 ports a leaf."""
    tiers = [a_tier("leaf", racks, racks=f"c[01-{racks:02d}]", per_rack=1), a_tier("spine", 2)]
    made = {"tiers": tiers, "rail_optimized": False, "links": [some_cables(parallel=8)], **more}
    return a_fabric(**made)


def in_racks(fabric: dict[str, Any] | None = None, racks: int = 4, **more: Any) -> Layout:
    """A layout with two DGX H100, of eight ports each, in each of some racks."""
    nodes = {"count": 2 * racks, "racks": f"c[01-{racks:02d}]", "per_rack": 2, **more}
    return layout_of(fabric or top_of_rack(racks), groups=[some_nodes(**nodes)])


def site_of(*fabrics: dict[str, Any], nodes: int = 32, groups: Any = None) -> OnPremSite:
    made = a_site(
        node_groups=groups or [some_nodes(count=nodes)], fabrics=list(fabrics) or [a_fabric()]
    )
    return OnPremSite.model_validate(made)


def layout_of(
    fabric: dict[str, Any] | None = None,
    *,
    nodes: int = 32,
    groups: Any = None,
    catalogue: Catalogue = CATALOGUE,
) -> Layout:
    """The layout of one fabric; it has attached nodes."""
    site = site_of(*([fabric] if fabric else []), nodes=nodes, groups=groups)
    made = lay_out(site, site.fabrics[0], catalogue)
    assert made is not None
    return made


def a_patch(node: str, interface: int, switch: str, port: int) -> dict[str, Any]:
    return {"node": node, "interface": interface, "switch": switch, "port": port}
