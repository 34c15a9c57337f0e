"""How full trays are, by hand: two DGX in each of c01 to c04 with leaves at their tops, spines in n01.

A leaf has eight cables to each of two spines, so 16 lie in the tray from each rack on its way to n01. Racks
are 0.6 m wide. A cable of 10 mm has a section of 78.54 mm².
"""

from __future__ import annotations

import math
from typing import Any

import pytest

from fabric_factories import a_tier, some_cables, top_of_rack
from factories import CATALOGUE, a_blueprint, a_hall, a_rack_group, a_row, a_site, some_nodes
from rackwright.model.cluster import Blueprint
from rackwright.plan.expand import expand
from rackwright.plan.fabric.trays import TrayFill

SECTION = {"width": "200 mm", "depth": "100 mm"}
TRAYS = {"height": "2.7 m", "row_pitch": "3 m", "joined": "first", "section": SECTION}
EACH = 100 * math.pi / 4 * 10**2 / (200 * 100)
"""Percent of such a tray that one cable takes."""


def fills(
    trays: dict[str, Any] | None = TRAYS,
    *,
    rows: tuple[str, ...] = ("c[01-04],n01",),
    halls: tuple[str, ...] = (),
    spines: dict[str, Any] | None = None,
    entries: dict[str, Any] | None = None,
    **more: Any,
) -> tuple[TrayFill, ...]:
    links = [
        some_cables("dgx", "leaf", name="nodes", diameter="10 mm"),
        some_cables(parallel=8, **(spines or {"diameter": "10 mm"})),
    ]
    hall = a_hall(rows=[{**a_row(a_rack_group(r)), "name": f"row-{n}"} for n, r in enumerate(rows)])
    hall["trays"] = trays
    others = [{**a_hall(rows=[a_row(a_rack_group(r))]), "name": f"other-{r}"} for r in halls]
    tiers = [a_tier("leaf", 4, racks="c[01-04]", per_rack=1), a_tier("spine", 2)]
    fabric = top_of_rack(**{"tiers": tiers, "links": links, "top_of_rack": True, **more})
    site = a_site(
        halls=[hall, *others],
        node_groups=[some_nodes(count=8, racks="c[01-04]", per_rack=2)],
        fabrics=[fabric],
    )
    plan = expand(Blueprint.model_validate(a_blueprint(site)), CATALOGUE.patched(entries or {}))
    return plan.onprem[0].tray_fills


def fill(*given: Any, **more: Any) -> TrayFill:
    (found,) = fills(*given, **more)
    return found


def test_the_cables_of_a_row_add_up_towards_the_switches() -> None:
    """Beside n01 lie the cables of four racks, 64; those of hosts stay in their racks."""
    found = fill()
    assert found.percent == pytest.approx(64 * EACH)
    assert [(share.kind, share.cables) for share in found.shares] == [("up", 64)]
    assert (found.place, found.width_m, found.missing) == ("tray of row row-0", 0.2, ())


def test_cables_from_both_sides_do_not_add_up() -> None:
    """With n01 between c02 and c03, 32 come from each side."""
    assert fill(rows=("c[01-02],n01,c[03-04]",)).percent == pytest.approx(32 * EACH)


@pytest.mark.parametrize("joined", ["first", "last"])
def test_cables_to_another_row_go_by_the_end_that_joins_them(joined: str) -> None:
    """All of them leave by c01, or by c04."""
    found = fill({**TRAYS, "joined": joined}, rows=("c[01-04]", "n01"))
    assert found.percent == pytest.approx(64 * EACH)


def test_cables_go_by_the_shorter_way_where_both_ends_join_the_rows() -> None:
    """n01 is in the middle of 3 m: c01 and c02 leave by their end, c03 and c04 by theirs."""
    rows = ("c[01-02],x01,c[03-04]", "y[01-02],n01")
    assert fill({**TRAYS, "joined": "both"}, rows=rows).percent == pytest.approx(32 * EACH)


def test_a_tray_across_the_rows_has_a_section_of_its_own() -> None:
    """Half as wide, it is the fullest: 64 cables through it, and through the row that ends at n01."""
    crossing = {"width": "100 mm", "depth": "100 mm"}
    found = fill({**TRAYS, "crossing": crossing}, rows=("c[01-04]", "n01"))
    assert found.percent == pytest.approx(2 * 64 * EACH)
    assert (found.place, found.width_m) == ("tray across the rows at their first racks", 0.1)


def test_a_third_row_shares_the_tray_of_the_second() -> None:
    """From c01's row 16 lie across two gaps, from the second row 48 across the last one: 64."""
    crossing = {"width": "100 mm", "depth": "100 mm"}
    found = fill({**TRAYS, "crossing": crossing}, rows=("c01", "c[02-04]", "n01"))
    assert found.percent == pytest.approx(2 * 64 * EACH)


def test_no_more_than_150_mm_of_the_depth_count() -> None:
    deep = {"width": "200 mm", "depth": "300 mm"}
    assert fill({**TRAYS, "section": deep}).percent == pytest.approx(64 * EACH * 100 / 150)


def test_a_copper_cable_of_two_ports_counts_once() -> None:
    """MCP4Y10 joins two ports of 400 Gbps at each end: 32 cables of 64 links."""
    entry = {"diameter": {"value": "10 mm", "source": "nvidia-reach"}}
    found = fill(spines={"cable": "mcp4y10"}, entries={"mcp4y10": entry})
    assert found.percent == pytest.approx(32 * EACH)


def test_catalogue_fact_of_a_cable_is_not_contradicted() -> None:
    entry = {"diameter": {"value": "10 mm", "source": "nvidia-reach"}}
    spines = {"cable": "mcp4y10", "diameter": "1 mm"}
    assert fill(spines=spines, entries={"mcp4y10": entry}).percent == pytest.approx(32 * EACH)
    assert fill(spines=spines).percent == pytest.approx(32 * EACH / 100)


def test_cables_from_another_hall_are_stated() -> None:
    """Which way they come in is nobody's guess; both halls have to say it."""
    words = "'fill' of the trays, through which cables come from another hall"
    here, there = fills(rows=("c[01-04]",), halls=("n01",))
    assert (here.percent, here.missing) == (None, (words,))
    assert there.missing == ("'trays' of the hall",)
    stated, _ = fills({**TRAYS, "fill": "30 %"}, rows=("c[01-04]",), halls=("n01",))
    assert (stated.percent, stated.missing, stated.shares) == (30, (), ())


@pytest.mark.parametrize(
    ("trays", "rows", "spines", "missing"),
    [
        (None, ("c[01-04],n01",), None, "'trays' of the hall"),
        ({"height": "2.7 m"}, ("c[01-04],n01",), None, "'section' of the trays"),
        (
            {"height": "2.7 m", "section": SECTION},
            ("c[01-04]", "n01"),
            None,
            "'joined' of the trays",
        ),
        (TRAYS, ("c[01-04],n01",), {"cable": "mma4z00"}, "'diameter' of the cables 'up'"),
        (TRAYS, ("c[01-04],n01",), {"cable": "mcp4y10"}, "mcp4y10: diameter"),
    ],
)
def test_missing_fact_of_a_tray_is_unknown(
    trays: dict[str, Any] | None, rows: tuple[str, ...], spines: Any, missing: str
) -> None:
    found = fill(trays, rows=rows, spines=spines)
    assert found.percent is None
    assert missing in found.missing


def test_cables_that_stay_in_a_rack_need_no_tray() -> None:
    """With one rack and no switch above, nothing lies in a tray."""
    tiers = [a_tier("leaf", 4, racks="c[01-04]", per_rack=1)]
    links = [some_cables("dgx", "leaf", name="nodes")]
    assert fills(None, tiers=tiers, links=links) == ()


@pytest.mark.parametrize("swapped", [False, True])
def test_of_trays_as_full_the_order_of_fabrics_chooses_none(swapped: bool) -> None:
    """Two fabrics, each in a row of its own, with 32 cables from two racks to the third."""
    groups, fabrics = [], []
    for name in "cd":
        racks = f"{name}[01-02]"
        groups.append(some_nodes(f"dgx-{name}", count=4, racks=racks, per_rack=2))
        tiers = [a_tier("leaf", 2, racks=racks, per_rack=1), a_tier("spine", 2, racks=f"{name}03")]
        links = [
            some_cables(f"dgx-{name}", "leaf", name="nodes", diameter="10 mm"),
            some_cables(parallel=8, diameter="10 mm"),
        ]
        attached = [{"group": f"dgx-{name}"}]
        fabrics.append(top_of_rack(name=name, tiers=tiers, links=links, attached=attached))
    hall = a_hall(rows=[{**a_row(a_rack_group(f"{r}[01-03]")), "name": f"row-{r}"} for r in "cd"])
    hall["trays"] = TRAYS
    site = a_site(halls=[hall], node_groups=groups, fabrics=fabrics[::-1] if swapped else fabrics)
    plan = expand(Blueprint.model_validate(a_blueprint(site)), CATALOGUE)
    (found,) = plan.onprem[0].tray_fills
    assert found.percent == pytest.approx(32 * EACH)
    assert found.place == "tray of row row-c"


def test_halls_that_differ_by_names_are_filled_alike() -> None:
    """Each is told with its own names; one with fewer cables, or whose switches stand apart, is not as full."""
    halls, groups, fabrics = [], [], []
    for name, racks, parallel in (
        ("a", "{}[01-03]", 8),
        ("b", "{}[01-03]", 8),
        ("c", "{}[01-03]", 4),
        ("d", "{0}01,{0}03,{0}02", 8),
    ):
        own = f"{name}[01-02]"
        groups.append(some_nodes(f"dgx-{name}", count=4, racks=own, per_rack=2))
        links = [
            some_cables(f"dgx-{name}", "leaf", name=f"nodes-{name}", diameter="10 mm"),
            some_cables(parallel=parallel, name=f"up-{name}", diameter="10 mm"),
        ]
        tiers = [a_tier("leaf", 2, racks=own, per_rack=1), a_tier("spine", 2, racks=f"{name}03")]
        attached = [{"group": f"dgx-{name}"}]
        fabrics.append(top_of_rack(name=name, tiers=tiers, links=links, attached=attached))
        row = {**a_row(a_rack_group(racks.format(name))), "name": f"row-{name}"}
        halls.append({**a_hall(rows=[row]), "name": f"hall-{name}", "trays": TRAYS})
    site = a_site(halls=halls, node_groups=groups, fabrics=fabrics)
    plan = expand(Blueprint.model_validate(a_blueprint(site)), CATALOGUE)
    told = [
        (one.hall, one.place, *((share.fabric, share.kind, share.cables) for share in one.shares))
        for one in plan.onprem[0].tray_fills
    ]
    assert told == [
        (f"hall-{name}", f"tray of row row-{name}", (name, f"up-{name}", cables))
        for name, cables in (("a", 32), ("b", 32), ("c", 16), ("d", 16))
    ]
