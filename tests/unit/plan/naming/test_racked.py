"""Names of the devices in racks."""

from __future__ import annotations

from factories import a_hall, a_plan, a_rack_group, a_row, a_site, some_nodes


def test_hosts_are_named_in_the_order_in_which_racks_are_filled() -> None:
    halls = [a_hall(rows=[a_row(a_rack_group("c[01-02]"))])]
    plan = a_plan(
        a_site(halls=halls, node_groups=[some_nodes(count=3, racks="c[01-02]", per_rack=2)])
    )
    (site,) = plan.onprem
    racks = plan.racked[site.name]
    named = [name for rack in ("c01", "c02") for names in racks[rack].values() for name in names]
    assert named == list(site.groups[0].host_names)
    for rack in site.racks:
        slots = {number for number, one in enumerate(rack.kind.devices) if one.kind == "node"}
        assert all(set(racks[name]) == slots for name in rack.names)


def test_a_system_of_trays_has_all_its_hosts() -> None:
    from rackwright.plan.load import load_plan
    from rackwright.resources import bundled

    plan = load_plan(bundled("policies") / "fixtures" / "nvlink-domains.yaml").plan
    units = [
        (group, names)
        for site in plan.onprem
        for group in site.groups
        for slots in plan.racked[site.name].values()
        for names in slots.values()
        if names[0] in group.host_names
    ]
    assert [len(names) for _, names in units] == [group.product.hosts for group, _ in units]
    named = [name for _, names in units for name in names]
    assert sorted(named) == sorted(host.name for host in plan.hosts)
