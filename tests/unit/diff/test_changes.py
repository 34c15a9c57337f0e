"""Differences between blueprints: meaning counts, spelling and order do not."""

from __future__ import annotations

from typing import Any

import pytest

from diff_factories import a_cloud, changed
from factories import a_hall, a_rack_group, a_row, a_site, some_nodes
from rackwright.diff.changes import Change, compare, reorderings, whole


def changes_of(change: Any, *sites: dict[str, Any], **more: Any) -> tuple[Change, ...]:
    return compare(*changed(change, *sites, **more))


def set_in(*path: Any, to: Any) -> Any:
    """A change of one value."""

    def change(data: Any) -> None:
        for part in path[:-1]:
            data = data[part]
        data[path[-1]] = to

    return change


@pytest.mark.parametrize(
    "change",
    [
        set_in("sites", 0, "power", "contract", to="550000 W"),
        set_in("sites", 0, "allow_estimates", to=False),
        set_in("sites", 0, "fabrics", to=[]),
        lambda data: data["sites"].reverse(),
        lambda data: data["sites"][1]["network"]["endpoints"].reverse(),
        lambda data: data["sites"][0]["power"]["sources"].reverse(),
        lambda data: data["sites"][0]["node_groups"].reverse(),
        lambda data: data.update(dict(reversed(list(data.items())))),
    ],
)
def test_another_spelling_or_order_is_no_change(change: Any) -> None:
    groups = [some_nodes(), some_nodes("more", count=1, racks="c02")]
    halls = [a_hall(rows=[a_row(a_rack_group("c[01-02]"))])]
    site = a_site(node_groups=groups, halls=halls)
    cloud = a_cloud()
    cloud["network"]["endpoints"] = ["s3", "ssm"]
    assert changes_of(change, site, cloud) == ()


def test_a_changed_field_has_its_words_both_values_and_its_place() -> None:
    (change,) = changes_of(set_in("sites", 0, "power", "contract", to="600 kW"))
    assert change.path == "sites.lab.power.contract"
    assert change.pattern == "sites/onprem/power/contract"
    assert (change.kind, change.before, change.after) == ("changed", "550000 W", "600000 W")
    assert (change.shown_before, change.shown_after) == ("550 kW", "600 kW")
    assert change.location is not None
    assert change.location.file == "head:blueprint.yaml"
    assert change.location.line > 1


def test_a_field_that_is_set_first_and_one_that_falls_back_to_its_default() -> None:
    (change,) = changes_of(set_in("owner", to="team@example.com"))
    assert (change.kind, change.shown_before) == ("changed", "not set")
    (change,) = changes_of(lambda data: data["sites"][0].pop("pue"))
    assert (change.before, change.after, change.shown_after) == (1.35, None, "not set")


def test_items_of_lists_are_known_by_name() -> None:
    added = some_nodes("more", count=1, racks="c01", per_rack=1)
    (change,) = changes_of(lambda data: data["sites"][0]["node_groups"].insert(0, added))
    assert (change.kind, change.path) == ("added", "sites.lab.node_groups.more")
    assert change.pattern == "sites/onprem/node_groups/*"
    assert change.shown_after.startswith("{name: more, role: compute")


def test_ranges_of_addresses_are_known_by_what_they_are_of() -> None:
    ranges = [{"of": "dgx", "first": "10.0.0.9"}, {"of": "more", "first": "10.0.0.1"}]
    network = {"name": "mgmt", "kind": "management", "prefix": "10.0.0.0/24", "ranges": ranges[:1]}
    site = a_site(
        node_groups=[some_nodes(), some_nodes("more", count=1, racks="c02")],
        halls=[a_hall(rows=[a_row(a_rack_group("c[01-02]"))])],
        addresses={"domain": "example.com", "networks": [network]},
    )
    (change,) = changes_of(
        lambda data: data["sites"][0]["addresses"]["networks"][0]["ranges"].insert(0, ranges[1]),
        site,
    )
    assert (change.kind, change.path) == ("added", "sites.lab.addresses.networks.mgmt.ranges.more")


def test_removed_entry_is_located_in_the_base() -> None:
    site = a_site(node_groups=[some_nodes(), some_nodes("more", count=1, per_rack=1)])
    (change,) = changes_of(lambda data: data["sites"][0]["node_groups"].pop(), site)
    assert (change.kind, change.shown_after) == ("removed", "not set")
    assert change.location is not None
    assert change.location.file == "base:blueprint.yaml"


def test_a_rack_group_is_the_one_that_shares_racks() -> None:
    groups = [a_rack_group("c[01-04]"), a_rack_group("d[01-02]")]
    site = a_site(halls=[a_hall(rows=[a_row(*groups)])])

    def change(data: dict[str, Any]) -> None:
        row = data["sites"][0]["halls"][0]["rows"][0]["rack_groups"]
        row.reverse()
        row[1]["racks"] = "c[01-05]"
        row.append(a_rack_group("e01"))

    racks, added = changes_of(change, site)
    assert racks.path == "sites.lab.halls.hall-1.rows.row-1.rack_groups.c[01-04].racks"
    assert (racks.before, racks.after) == ("c[01-04]", "c[01-05]")
    assert (added.kind, added.path.rpartition(".")[2]) == ("added", "e01")


def test_a_site_of_another_provider_is_another_site() -> None:
    gone, come = changes_of(set_in("sites", 0, to=a_cloud(name="lab")))
    assert (gone.kind, gone.pattern) == ("removed", "sites/onprem")
    assert (come.kind, come.pattern) == ("added", "sites/aws")


def test_a_blueprint_that_comes_or_goes_is_told_by_its_sites() -> None:
    before, _ = changed(lambda _: None, a_site(), a_cloud())
    assert [(c.kind, c.path) for c in whole(None, before)] == [
        ("added", "sites.lab"),
        ("added", "sites.cloud"),
    ]
    assert [(c.kind, c.after) for c in whole(before, None)] == [("removed", None)] * 2


def test_long_and_hostile_values_are_shown_in_one_short_line() -> None:
    (change,) = changes_of(set_in("owner", to="a\x1b[31m\n" + "b" * 200))
    assert change.shown_after.isprintable()
    assert len(change.shown_after) == 80
    assert change.after == "a\x1b[31m\n" + "b" * 200


def test_the_order_of_feeds_is_told_apart_from_their_fields() -> None:
    def change(data: Any) -> None:
        data["sites"][0]["halls"][0]["rows"][0]["rack_groups"][0]["feeds"].reverse()

    before, after = changed(change)
    assert compare(before, after) == ()
    (order,) = reorderings(before, after)
    assert order.path == "sites.lab.halls.hall-1.rows.row-1.rack_groups.c01.feeds.(order)"
    assert (order.shown_before, order.shown_after) == ("[A, B, C]", "[C, B, A]")


def test_an_item_that_comes_or_goes_is_no_other_order() -> None:
    def change(data: Any) -> None:
        del data["sites"][0]["halls"][0]["rows"][0]["rack_groups"][0]["feeds"][0]

    assert reorderings(*changed(change)) == ()
    assert reorderings(*changed(lambda data: data["sites"][0]["power"]["sources"].reverse())) == ()
