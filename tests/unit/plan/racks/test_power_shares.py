"""Which devices make up the load of a source, and how much work it is to say so."""

from __future__ import annotations

import pytest

from bench.test_check import cluster
from known import known
from rackwright.plan.expansion import SitePlan
from rackwright.plan.load import load_data
from rackwright.plan.racks.feeds import power_shares
from rackwright.plan.racks.feeds.power_shares import source_contributors
from rackwright.plan.records.racks import RackKind

RACKS_PER_ROW = 20
ROWS = 3


@pytest.fixture(scope="module")
def site() -> SitePlan:
    """Rows of twenty racks, each row on three panels of its own."""
    (site,) = load_data(cluster(RACKS_PER_ROW * ROWS)).plan.onprem
    return site


@pytest.mark.parametrize("lost", [None, "rpp-b-1"])
def test_contributors_of_a_source_are_its_load(site: SitePlan, lost: str | None) -> None:
    rows = {row.source: row for row in site.power.sources}
    for name in ("rpp-a-1", "ups-a-1", "rpp-a-0", "utility"):
        sum_w = sum(c.total for c in source_contributors(site, name, lost))
        more = 1.5 if lost and name in {"rpp-a-1", "ups-a-1"} else 1
        assert sum_w == pytest.approx(known(rows[name].load_w) * more, rel=1e-6)


def test_nothing_hangs_on_a_source_that_is_lost(site: SitePlan) -> None:
    assert source_contributors(site, "rpp-a-1", "rpp-a-1") == ()
    assert source_contributors(site, "rpp-a-1", "ups-a-1") == ()


def test_only_racks_below_a_source_are_looked_at(
    site: SitePlan, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each source looked at all racks, so a large site with every source over its capacity took minutes."""
    seen: list[RackKind] = []
    shares = power_shares._shares

    def counted(kind: RackKind, *rest: object) -> object:
        seen.append(kind)
        return shares(kind, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(power_shares, "_shares", counted)
    source_contributors(site, "rpp-a-1")
    assert len(seen) == len(site.racks_fed_by("rpp-a-1")) == len(site.racks) / ROWS
    seen.clear()
    source_contributors(site, "utility")
    assert len(seen) == len(site.racks)
