"""Sites that are refused: the examples of each policy, and complete sites with one fault each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path as FilePath
from typing import Any

from omissions import CATALOGUE, POLICIES, Refused, against, changed, in_force, plan_of
from rackwright.model.cluster import PolicySetting
from rackwright.plan.derivation.derive import derive
from rackwright.policy.api import Policy
from rackwright.policy.authoring.examples import document, load_examples
from rackwright.policy.packs.loader import builtin_pack
from rackwright.policy.settings import configure
from rackwright.reading.loader import load_tree
from rackwright.reading.tree import Item, Path, Tree
from rackwright.render.blueprints import find_template, write_blueprint


@cache
def refused_by(policy: type[Policy]) -> Sequence[Refused]:
    """The examples that a policy refuses, each judged by that policy alone."""
    found = []
    for example in load_examples(policy):
        nothing = Tree(Item({}, "<example>", 1, 1), {}, ("<example>",))
        settings = {policy.id: PolicySetting(parameters=example.parameters)}
        judges = configure([policy], settings, nothing)
        catalogue = CATALOGUE.patched(example.catalogue)
        data = derive(document(example, builtin_pack()), catalogue).tree.data
        if plan_of(data, catalogue) is not None:
            site = Refused(f"{policy.id} {example.name}", data, judges, catalogue)
            if site.refusing:
                found.append(site)
    return found


def example_of(rule: str, name: str) -> Refused:
    """An example that a rule refuses."""
    (policy,) = [policy for policy in POLICIES if policy.id == rule]
    (site,) = [site for site in refused_by(policy) if site.name == f"{rule} {name}"]
    return site


AIR = ("halls", 0, "air")
GROUP = ("halls", 0, "rows", 0, "rack_groups", 0)
SOURCES = ("power", "sources")
FAULTS: dict[str, dict[Path, Any]] = {
    "five nodes in a rack": {("node_groups", 0, "count"): 40, ("node_groups", 0, "per_rack"): 5},
    "a small utility": {(*SOURCES, 0, "capacity"): "300 kW"},
    "a small contract": {("power", "contract"): "300 kW"},
    "a UPS of small modules": {(*SOURCES, 1, "modules", "capacity"): "80 kW"},
    "a UPS with two spare modules": {(*SOURCES, 1, "modules", "spare"): 2},
    "a small panel": {(*SOURCES, 4, "circuit", "current"): "200 A"},
    "two feeds from one UPS": {
        (*SOURCES, 1, "modules", "capacity"): "300 kW",
        (*SOURCES, 5, "fed_by"): ["ups-a"],
    },
    "few air handlers": {(*AIR, "count"): 3},
    "open aisles": {(*AIR, "count"): 4, (*AIR, "containment"): "none"},
    "hot air": {(*AIR, "inlet_temperature"): "33 °C"},
    "a weak floor": {("halls", 0, "floor", "uniform"): "300 kg/m2"},
    "racks of low density": {(*GROUP, "cooling", "power_limit"): "30 kW"},
    "no room for cables": {(*GROUP, "cable_allowance"): "900 mm"},
    "supplies on one feed": {("node_groups", 0, "psus_per_feed"): {"A": 4, "B": 1, "C": 1}},
    "a mountain": {("altitude",): "3000 m"},
}
"""What is changed at the bare-metal site of a template for it to be refused for one reason."""


def a_faulty_site(template: str, fault: Mapping[Path, Any], folder: FilePath) -> Refused:
    """A complete site with one fault, judged by all that refuses a site on its own."""
    write_blueprint(find_template(template), folder, {})
    data = load_tree(folder / "blueprint.yaml").data
    where = next(n for n, site in enumerate(data["sites"]) if site["provider"] == "onprem")
    sound = plan_of(data)
    assert sound is not None
    assert not against(sound), "a template is refused without any fault"
    for path, value in fault.items():
        data = changed(data, ("sites", where, *path), value)
    site = Refused(template, data, in_force(sound.blueprint))
    assert site.refusing, "this is no fault"
    return site
