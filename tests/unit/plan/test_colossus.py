"""The Colossus rack as it was described, planned whole: eight 4U servers, a CDU in it, nine links of 400 Gbps."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from rackwright.plan.expansion import SitePlan
from rackwright.plan.fabric.cables import wires
from rackwright.plan.load import load_plan
from rackwright.policy.api import Outcome
from rackwright.policy.check import check_blueprint

BLUEPRINT = Path(__file__).parents[3] / "docs" / "examples" / "colossus-array.yaml"
SERVER, CDU = "hgx-h100-4u-liquid", "supermicro-lcs-scdu-250l4001"


@pytest.fixture(scope="module")
def site() -> SitePlan:
    (found,) = load_plan(BLUEPRINT).plan.onprem
    return found


def test_a_rack_holds_eight_servers_with_manifolds_and_its_cdu(site: SitePlan) -> None:
    (rack,) = (one for one in site.racks if one.kind.loop)
    inside = Counter(device.entry for device in rack.kind.devices)

    assert (inside[SERVER], inside[CDU]) == (8, 1)
    assert (rack.count, rack.kind.used_u, rack.kind.height_u) == (8, 8 * (4 + 1) + 4, 48)
    assert (site.totals.accelerators, site.totals.hosts) == (512, 64)


def test_a_server_has_nine_links_of_400_gbps(site: SitePlan) -> None:
    ends = Counter(
        wire.lower
        for layout in site.layouts
        for wire in wires(layout)
        if wire.lower.startswith("hgx-")
    )
    assert len(ends) == 64
    assert set(ends.values()) == {9}
    assert {layout.fabric.rate for layout in site.layouts} == {400.0}


def test_failures_of_colossus_are_known_and_unpublished_facts_unknown(site: SitePlan) -> None:
    results = check_blueprint(BLUEPRINT).results
    failed = {(r.policy, r.subject.name, r.value) for r in results if r.outcome is Outcome.FAIL}
    lacking = {
        (owner, what)
        for r in results
        for owner, _, what in (text.partition(": ") for text in r.missing)
        if owner in {SERVER, CDU}
    }

    assert failed == {
        ("NET-012", "memphis fabric storage nodes hgx", 1),
        ("NET-016", "memphis fabric compute", None),  # no published code point or priority
        ("NET-016", "memphis fabric storage", None),
    }
    assert lacking >= {
        (SERVER, "published weight"),
        (SERVER, "published heat into the liquid"),
        (SERVER, "supplies that full performance needs"),
        (CDU, "published power"),
        (CDU, "flow with a pump lost"),
        (CDU, "approach of its rating"),
    }
    assert {r.policy for r in results if r.outcome is Outcome.ERROR} == set()
    assert (site.totals.it_power_w, site.totals.weight_kg) == (None, None)
