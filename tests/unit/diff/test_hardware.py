"""Products and hosts that come and go."""

from __future__ import annotations

from typing import Any

from diff_factories import a_cloud, changed
from factories import a_hall, a_rack_group, a_row, a_site, some_feeds, some_nodes
from rackwright.diff.hardware import HostChange, compare_hosts, compare_products


def products_of(change: Any, *sites: dict[str, Any]) -> list[tuple[str, str, str, int, int]]:
    before, after = changed(change, *sites)
    found = compare_products(before.plan, after.plan)
    return [(c.site, c.kind, c.product, c.before, c.after) for c in found]


def hosts_of(change: Any, *sites: dict[str, Any]) -> tuple[HostChange, ...]:
    before, after = changed(change, *sites)
    return compare_hosts(before.plan, after.plan)


def test_a_rack_brings_its_power_distribution_along() -> None:
    def change(data: dict[str, Any]) -> None:
        groups = data["sites"][0]["halls"][0]["rows"][0]["rack_groups"]
        groups.append(a_rack_group("c[02-03]", feeds=some_feeds("AB", pdus=2)))

    assert products_of(change) == [
        ("lab", "PDU", "pdu-415v-60a-24c19", 3, 11),
        ("lab", "rack", "rack-48u", 1, 3),
    ]


def test_switches_coolers_and_air_handlers_count() -> None:
    tier = {"name": "leaf", "type": "qm9700", "count": 2, "racks": "c01", "per_rack": 2}
    loop = {"name": "tcs", "cdu": "cdu-spec-1mw", "count": 2, "fluid": "pg25",
            "temperature_rise": "10 K"}  # fmt: skip

    def change(data: dict[str, Any]) -> None:
        site = data["sites"][0]
        site["fabrics"] = [{"name": "compute", "role": "compute", "tiers": [tier]}]
        site["loops"] = [loop]
        site["halls"][0]["air"]["count"] = 5

    found = {(kind, after - before) for _, kind, _, before, after in products_of(change)}
    assert found == {("switch", 2), ("CDU", 2), ("air handler", 2)}


def test_another_product_is_one_less_and_one_more() -> None:
    def change(data: dict[str, Any]) -> None:
        data["sites"][0]["node_groups"][0]["type"] = "dgx-a100"

    assert products_of(change) == [
        ("lab", "node", "dgx-a100", 0, 4),
        ("lab", "node", "dgx-h100", 4, 0),
    ]
    assert hosts_of(change) == ()


def test_instances_of_groups_and_servers_add_up() -> None:
    def change(data: dict[str, Any]) -> None:
        site = data["sites"][0]
        site["node_groups"][0]["count"] = 18
        site["login"] = {**site["head"], "count": 2}

    assert products_of(change, a_cloud()) == [
        ("cloud", "instance", "m7i.4xlarge", 1, 3),
        ("cloud", "instance", "p5.48xlarge", 16, 18),
    ]
    assert hosts_of(change, a_cloud()) == (
        HostChange("cloud", "login", 0, 2, "login-[1-2]", ""),
        HostChange("cloud", "train", 16, 18, "train-[17-18]", ""),
    )


def test_hosts_are_host_lists() -> None:
    racks = [a_hall(rows=[a_row(a_rack_group("c[01-04]"))])]
    groups = [some_nodes(count=12, racks="c[01-04]"), some_nodes("old", count=1, per_rack=1)]
    site = a_site(halls=racks, node_groups=groups)

    def change(data: dict[str, Any]) -> None:
        data["sites"][0]["node_groups"] = [some_nodes(count=15, racks="c[01-04]")]

    assert hosts_of(change, site) == (
        HostChange("lab", "dgx", 12, 15, "dgx-[13-15]", ""),
        HostChange("lab", "old", 1, 0, "", "old-1"),
    )


def test_a_blueprint_that_comes_or_goes_brings_all() -> None:
    before, _ = changed(lambda _: None)
    assert {c.before for c in compare_products(None, before.plan)} == {0}
    assert {c.after for c in compare_products(before.plan, None)} == {0}
    (gone,) = compare_hosts(before.plan, None)
    assert (gone.removed, gone.after) == ("dgx-[1-4]", 0)
    assert compare_products(before.plan, before.plan) == ()
    assert compare_hosts(None, None) == ()
