"""What set 1 gives stays the same in every version: the full forms of a few blueprints, value by value.

``UPDATE_GOLDEN=1`` writes them anew, which nobody does once the set is released: another rule is another set.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from rackwright.plan.derivation.derive import VERSIONS
from short_forms import SHORT, a_short_site, derived

GOLDEN = Path(__file__).parents[3] / "golden" / "derivation"

_SERVERS = """[{name: dgx, role: compute, type: dgx-h200, count: 300}, {name: nas, role: storage, type: cpu-2u,
      count: 9}, {name: login, role: login, type: cpu-2u, count: 2}]"""

BLUEPRINTS = {
    "1-hall": (SHORT / "dgx-h200.yaml").read_text("utf-8"),
    "1-three-tiers": a_short_site(
        "{preset: rail-optimized, technology: infiniband, rate: 400 Gbps, network: 10.30.0.0/16}",
        _SERVERS,
        racks="{power_limit: 45 kW, blanking: true, network: {power_limit: 20 kW}}",
    ),
    "1-ethernet": a_short_site(
        "{preset: fat-tree, technology: ethernet, rate: 400 Gbps, oversubscription: 3}",
        racks="auto",
        more="fabrics: [{preset: fat-tree, name: disks, role: storage, switch: sn4600c, groups: [dgx]}]",
    ),
}
"""By the set that they name, and what they show."""


@pytest.mark.parametrize("name", BLUEPRINTS)
def test_a_set_gives_what_it_gave(name: str) -> None:
    made = derived(BLUEPRINTS[name])
    assert made.tree.data["derive"] == name[0]
    file = GOLDEN / f"{name}.json"
    if os.environ.get("UPDATE_GOLDEN"):
        text = json.dumps(made.tree.data, indent=1, ensure_ascii=False)
        file.write_text(f"{text}\n", encoding="utf-8")
    assert made.tree.data == json.loads(file.read_text("utf-8"))
    assert len(made.derivations) > 50


def test_each_set_has_blueprints() -> None:
    assert {name[0] for name in BLUEPRINTS} == set(VERSIONS)
