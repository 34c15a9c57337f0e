"""What sources carry after each single loss: the worst of it is the worst case of the record."""

from __future__ import annotations

import pytest

from rackwright.plan.expansion import SitePlan
from rackwright.plan.load import load_plan
from rackwright.resources import bundled


def a_fixture(name: str) -> SitePlan:
    (site,) = load_plan(bundled("policies") / "fixtures" / f"{name}.yaml").plan.onprem
    return site


@pytest.mark.parametrize("name", ["air", "busways", "plant", "two-feeds"])
def test_the_worst_state_is_the_worst_case(name: str) -> None:
    site = a_fixture(name)
    states = {
        lost.source: site.power.after_loss.without(lost.source) for lost in site.power.sources
    }
    moved = 0
    for source in site.power.sources:
        cases = [source.facility_w]
        cases += [loads[source.source] for loads in states.values() if source.source in loads]
        known = [case for case in cases if case is not None]
        if len(known) < len(cases) or source.facility_worst_w is None:
            assert source.facility_worst_w is None
            continue
        assert max(known) == pytest.approx(source.facility_worst_w)
        moved += max(known) > (source.facility_w or 0.0) * 1.001
    assert moved or name == "plant"


def test_sources_that_fail_with_a_source_carry_nothing() -> None:
    site = a_fixture("air")
    lost = [source.source for source in site.power.sources]
    dead = {name: site.power.tree.outages.dead[name] for name in lost}
    assert max(map(len, dead.values())) > 1
    assert [
        name for name in lost if not dead[name].isdisjoint(site.power.after_loss.without(name))
    ] == []
