"""Blueprints in the short form, for the tests of what follows from them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rackwright.catalog.loader import load_catalogue
from rackwright.plan.derivation.derive import Derived, derive
from rackwright.plan.load import LoadedPlan, plan_tree
from rackwright.reading.loader import tree_of
from rackwright.reading.tree import Tree
from rackwright.reading.yaml_reader import read_text

SHORT = Path(__file__).parent / "unit/plan/derivation/short"
CATALOGUE = load_catalogue()

POWER = """{continuous_derate: 80 %, power_factor: 0.95, utility: 9 MW, feeds: [A, B, C],
      feed_path: [{kind: rpp, circuit: {voltage: 415 V, current: 800 A, phases: 3}}],
      pdu: pdu-415v-60a-24c19, circuit: {voltage: 415 V, current: 60 A, phases: 3}}"""
NODES = "[{name: dgx, role: compute, type: dgx-h200, count: 64}]"
FABRIC = "{preset: rail-optimized, technology: infiniband, rate: 400 Gbps}"


def a_short_site(
    fabric: str = FABRIC,
    nodes: str = NODES,
    power: str = POWER,
    racks: str = "{power_limit: 45 kW}",
    more: str = "",
    halls: str = "[{name: hall-1}]",
    top: str = 'derive: "1"',
) -> str:
    """A blueprint of one site, whose parts are flow mappings."""
    return f"""apiVersion: rackwright/v1
name: atlas
{top}
sites:
  - name: sjc1
    provider: onprem
    power: {power}
    halls: {halls}
    racks: {racks}
    node_groups: {nodes}
    fabric: {fabric}
    {more}
"""


def tree(*texts: str) -> Tree:
    """The document in the first text, with the others over it as layers."""
    names = ["blueprint.yaml", *(f"layer-{n}.yaml" for n in range(1, len(texts)))]
    return tree_of([read_text(text, name) for text, name in zip(texts, names, strict=True)])


def planned(*texts: str) -> LoadedPlan:
    """The plan of what ``tree`` reads."""
    return plan_tree(tree(*texts), CATALOGUE)


def derived(*texts: str) -> Derived:
    """The full form of what ``tree`` reads, whether it is a blueprint or not."""
    return derive(tree(*texts), CATALOGUE)


def at(made: Derived | LoadedPlan, name: str) -> Any:
    """The value of a field by its name, like ``fabrics.compute.tiers.leaf.count``, of the site."""
    item: Any = made.tree.data["sites"][0]
    for part in name.split("."):
        if isinstance(item, list):
            known = [one for one in item if one.get("name") == part]
            item = known[0] if known else item[int(part)]
        else:
            item = item[part]
    return item


def rule_of(made: Derived | LoadedPlan, name: str) -> tuple[str, str]:
    """The rule that gave a field, and why."""
    (found,) = [
        one for one in made.derivations if made.tree.describe(one.path) == f"sites.sjc1.{name}"
    ]
    return found.rule, found.why
