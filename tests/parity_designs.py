"""Designs that the command line, a stack and the engine's analyzer are to judge alike.

They are fixtures of the rules, such fixtures with something else in them, and fabrics.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from fabric_factories import a_fabric, a_tier, some_cables
from factories import a_blueprint, a_hall, a_rack_group, a_row, a_site, some_nodes
from rackwright.policy.packs.loader import builtin_pack

EXAMPLES = Path(__file__).parents[1] / "docs" / "examples"
DESIGNS = {
    **{
        name: builtin_pack() / "fixtures" / f"{name}.yaml"
        for name in (
            "busways",
            "cdu-in-rack",
            "electrical",
            "immersion",
            "mixed-loop",
            "nvlink-domains",
            "plant",
            "plates-and-doors",
            "top-of-rack",
            "two-feeds",
        )
    },
    **{name: EXAMPLES / f"{name}.yaml" for name in ("colossus-array", "superpod-dgx-h100")},
}

SHELVES = "                shelves: {type: mgx-33kw, count: 8}\n"
AIR_COOLED = "cooling: {mode: air, power_limit: 45 kW}"
DOOR = (
    "cooling: {mode: rear-door, loop: doors, power_limit: 45 kW, rear_door_capacity: 46 kW, "
    "rear_door_difference: 20 K, rear_door_weight: 150 kg}"
)
DOORS = """\
    loops:
      - {name: doors, cdu: cdu-spec-1mw, count: 2, fluid: water, temperature_rise: 6 K,
         supply_temperature: 18 °C}
    halls:
"""
DOORS_ALONE = {AIR_COOLED: DOOR, "    halls:\n": DOORS}
# A fixture of the rules, and what stands in it otherwise.
CHANGED: dict[str, tuple[str, dict[str, str]]] = {
    "eight shelves": ("liquid", {}),
    "five shelves": ("liquid", {SHELVES: SHELVES.replace("8", "5")}),
    "no declared shelves": ("liquid", {SHELVES: ""}),
    "a rear door alone": ("air", DOORS_ALONE),
    "a rear door of warm water": (
        "air",
        {**DOORS_ALONE, "    halls:\n": DOORS.replace("18 °C", "40 °C"), "count: 5": "count: 4"},
    ),
}


def a_changed_fixture(folder: Path, design: str) -> Path:
    """A file with the fixture, in which each text is replaced once."""
    fixture, changes = CHANGED[design]
    text = (builtin_pack() / "fixtures" / f"{fixture}.yaml").read_text("utf-8")
    for old, new in changes.items():
        assert text.count(old) == 1
        text = text.replace(old, new)
    path = folder / f"{fixture}.yaml"
    path.write_text(text, "utf-8")
    return path


BOTH_RATIOS = (
    some_nodes(count=84, per_rack=84),
    {
        "tiers": [a_tier("leaf", 16), a_tier("spine", 22, oversubscription=3), a_tier("core", 11)],
        "links": [
            some_cables(parallel=2, pods=2),
            some_cables("spine", "core", name="top", parallel=6, planes=11),
        ],
        "oversubscription": 2,
        "unit_hosts": 42,
    },
)
# Nodes, tiers, cables and more of a fabric; racks of one hall hold all of it, which other rules refuse.
FABRICS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "three tiers, 3 to 1 above": (
        some_nodes(count=192, per_rack=192),
        {
            "tiers": [
                a_tier("leaf", 48),
                a_tier("spine", 32, oversubscription=3),
                a_tier("core", 8),
            ],
            "links": [
                some_cables(parallel=1),
                some_cables("spine", "core", name="top", parallel=2),
            ],
        },
    ),
    "three tiers, 2 to 1 and 3 to 1": BOTH_RATIOS,
    "three tiers, 2 to 1 where nobody allows it": BOTH_RATIOS,
    "two planes of split ports": (
        some_nodes(count=64, per_rack=64, type="dgx-b300"),
        {
            "tiers": [a_tier("leaf", 16, "sn5600", split=2), a_tier("spine", 8, "sn5600", split=2)],
            "links": [some_cables(parallel=16, planes=2)],
            "attached": [{"group": "dgx", "split": 2}],
        },
    ),
    "uneven units of rails": (
        some_nodes(count=40, per_rack=40),
        {
            "tiers": [a_tier("leaf", 16), a_tier("spine", 8)],
            "unit_hosts": 32,
            "last_unit_hosts": 8,
            "links": [some_cables(parallel=4)],
        },
    ),
}
REFUSED = {
    "five shelves": {"PWR-012"},
    "a rear door of warm water": {"COOL-001", "COOL-016", "COOL-017"},
    "three tiers, 2 to 1 where nobody allows it": {"NET-002"},
}
"""Designs that fail, with the rules that say so, of the families that the design is about."""


def a_fabric_of_its_own(folder: Path, design: str) -> Path:
    """A file with a site that has one of the fabrics."""
    nodes, more = FABRICS[design]
    hall = a_hall(rows=[a_row(a_rack_group("c01,n01"))])
    site = a_site(halls=[hall], node_groups=[nodes], fabrics=[a_fabric(**more)])
    ratio = 1 if design in REFUSED else more.get("oversubscription", 1)
    limits = {"compute": ratio, "compute_upper": 3}
    allowed = {"NET-002": {"parameters": limits, "reason": "jobs stay in their pods"}}
    path = folder / "fabric.yaml"
    path.write_text(
        yaml.safe_dump(a_blueprint(site, policies=allowed), allow_unicode=True), "utf-8"
    )
    return path


def place_of(folder: Path, design: str) -> Path:
    """The file of a design, written into ``folder`` where it is none of the fixtures."""
    if design in DESIGNS:
        return DESIGNS[design]
    return (a_changed_fixture if design in CHANGED else a_fabric_of_its_own)(folder, design)
