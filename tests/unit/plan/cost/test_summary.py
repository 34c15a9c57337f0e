"""What a plan costs, and the same accelerators rented."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import aws_factories
import factories
from examples import share
from known import known
from rackwright.catalog.prices import builtin_prices
from rackwright.model.cluster import Blueprint
from rackwright.model.prices import Offer, Prices
from rackwright.plan.cost.comparison import chip, compare, nearest_instance
from rackwright.plan.cost.lines import CostLine
from rackwright.plan.cost.summary import CostSummary, GroupCost, summarise
from rackwright.plan.expand import expand
from rackwright.plan.load import load_data, load_plan
from rackwright.plan.model import Plan
from rackwright.plan.problems import PlanError
from rackwright.policy.packs.loader import builtin_pack

COSTS: dict[str, dict[str, Any]] = {
    "owned": {
        "energy": "0.08 USD/kWh",
        "utilisation": "75 %",
        "amortisation_years": 5,
        "opex": "4 %",
    },
    "capex": {
        "dgx-h100": "300_000 USD",
        "rack-48u": "2_000 USD",
        "pdu-415v-60a-24c19": "3_000 USD",
        "crah-spec-100kw": "40_000 USD",
    },
}
IMAGE = "ami-0123456789abcdef0"


def an_aws_site(count: int = 16, **more: Any) -> dict[str, Any]:
    server = {"type": "m7i.4xlarge", "image": IMAGE, "root_volume": "200 GiB"}
    return {
        "provider": "aws",
        "name": "use1",
        "region": "us-east-1",
        "network": {
            "cidr": "10.20.0.0/16",
            "availability_zones": ["us-east-1a"],
            "nat": "single",
            "dns_zone": "atlas.internal",
        },
        "head": server,
        "node_groups": [aws_factories.a_group(count=count)],
        **more,
    }


def a_plan(*sites: dict[str, Any], costs: Mapping[str, Any] | None = COSTS) -> Plan:
    document = factories.a_blueprint(*sites, **({} if costs is None else {"costs": costs}))
    return expand(Blueprint.model_validate(document), factories.CATALOGUE)


def with_rates(**rates: Any) -> dict[str, Any]:
    costs = copy.deepcopy(COSTS)
    costs["owned"] |= rates
    return {**costs, "owned": {k: v for k, v in costs["owned"].items() if v is not None}}


def groups(summary: CostSummary, site: int = 0) -> dict[str, GroupCost]:
    return {group.name: group for group in summary.sites[site].groups}


def lines(summary: CostSummary, kind: str) -> list[CostLine]:
    return [line for line in summary.lines if line.kind == kind]


# Sites on AWS


def test_instances_volumes_storage_and_network_of_a_site_on_aws():
    site = an_aws_site(file_systems=[aws_factories.a_file_system(name="scratch")])
    summary = summarise(a_plan(site, costs=None))
    found = {name: group.amount.per_year for name, group in groups(summary).items()}
    assert found == {
        "gpu": Decimal("7717478.4"),  # 16 × (55.04 × 8760 + 200 × 0.08 × 12)
        "head": Decimal("7256.064"),  # 0.8064 × 8760 + 200 × 0.08 × 12
        "scratch": Decimal("96768"),  # 38400 × 0.21 × 12
        "network": Decimal("438"),  # (0.045 + 0.005) × 8760
    }
    assert summary.per_year == sum(known(amount) for amount in found.values())
    assert summary.per_hour == Decimal("892.915578")
    assert summary.missing == ()


def test_a_file_system_of_efs_costs_what_its_owner_says_of_the_data_that_is_expected():
    home = {"name": "home", "mount": "/home"}
    old = {"name": "old", "mount": "/old", "existing": {"id": "fs-0123456789abcdef0"}}
    unsized = summarise(a_plan(an_aws_site(efs=[home, old]), costs=None))
    assert unsized.per_year is None
    assert [str(one) for one in unsized.missing] == [
        "'data' of the file system 'home'",
        "price of 'efs-standard' in us-east-1",
    ]
    sized = an_aws_site(efs=[home | {"data": "1000 GiB"}, old])
    assert summarise(a_plan(sized, costs=None)).missing == ("price of 'efs-standard' in us-east-1",)
    priced = summarise(a_plan(sized, costs={"storage": {"efs-standard": "0.5 USD/GiB-month"}}))
    assert groups(priced)["home"].amount.per_year == Decimal(6000)
    assert "old" not in groups(priced)


def test_a_file_system_of_fsx_that_exists_is_paid_for_by_who_has_it():
    existing = {"id": "fs-0123456789abcdef0", "mount_name": "abcdefgh"}
    used = {"name": "scratch", "mount": "/fsx", "existing": existing}
    assert "scratch" not in groups(summarise(a_plan(an_aws_site(file_systems=[used]), costs=None)))


def test_zones_multiply_gateways_and_endpoints():
    network = an_aws_site()["network"] | {
        "availability_zones": ["us-east-1a", "us-east-1b"],
        "nat": "per-zone",
        "endpoints": ["s3", "ssm", "ec2"],
    }
    summary = summarise(a_plan(an_aws_site(network=network), costs=None))
    assert [line.what for line in summary.lines if line.group == "network"] == [
        "2 × NAT gateway",
        "2 × public address",
        "4 × interface endpoint in a zone",
    ]


def test_login_nodes_that_the_internet_reaches_have_paid_addresses():
    server = an_aws_site()["head"]
    network = an_aws_site()["network"] | {"nat": "none", "ssh_from": ["8.8.8.0/24"]}
    login = {**server, "count": 3}
    summary = summarise(a_plan(an_aws_site(network=network, login=login), costs=None))
    assert [line.what for line in summary.lines if line.group == "network"] == [
        "3 × public address"
    ]


def test_a_load_balancer_of_login_nodes_is_paid_for_instead_of_their_addresses():
    network = an_aws_site()["network"] | {"nat": "none", "ssh_from": ["8.8.8.0/24"]}
    login = {**an_aws_site()["head"], "count": 3, "address": "load-balancer"}
    summary = summarise(a_plan(an_aws_site(network=network, login=login), costs=None))
    lines = [line for line in summary.lines if line.group == "network"]
    assert [line.what for line in lines] == ["1 × public address", "1 × Network Load Balancer"]
    assert all(line.micros for line in lines)


def test_a_price_of_another_region_is_not_taken():
    network = an_aws_site()["network"] | {"availability_zones": ["eu-north-1a"]}
    plan = a_plan(an_aws_site(region="eu-north-1", network=network), costs=None)
    summary = summarise(plan)
    assert summary.per_year is None
    assert "price of 'p5.48xlarge' on demand in eu-north-1" in summary.missing
    assert summary.total.at_least_per_year == 0


def test_a_block_has_its_own_price_and_no_discount():
    block = {"kind": "capacity-block", "id": "cr-0123456789abcdef0", "ends": "2026-12-24T11:30:00Z"}
    site = an_aws_site(node_groups=[aws_factories.a_group(count=1, capacity=block)])
    summary = summarise(a_plan(site, costs={"discount": "50 %"}))
    block_line, head = lines(summary, "instances")
    assert known(block_line.price).amount == Decimal("39.33")
    assert known(known(block_line.price).listed).offer is Offer.CAPACITY_BLOCK
    assert known(head.price).amount == Decimal("0.4032")
    assert known(known(head.price).listed).amount == Decimal("0.8064")


BLOCK = {
    "kind": "capacity-block",
    "id": "cr-0123456789abcdef0",
    "instances": 16,
    "starts": "2026-12-01T11:30:00Z",
    "ends": "2026-12-29T11:30:00Z",
}


def test_capacity_block_is_charged_whole_and_once() -> None:
    groups = [
        aws_factories.a_group(name=name, count=count, capacity=BLOCK)
        for name, count in (("train", 4), ("more", 2))
    ]
    block, head = lines(summarise(a_plan(an_aws_site(node_groups=groups))), "instances")
    assert block.what == "16 × p5.48xlarge in a capacity block, 672 h paid up front"
    assert block.micros == 16 * 672 * 39_330_000
    assert head.group == "head"


@pytest.mark.parametrize("field", ["instances", "starts"])
def test_capacity_block_of_unknown_size_has_no_price(field: str) -> None:
    block = {name: value for name, value in BLOCK.items() if name != field}
    site = an_aws_site(node_groups=[aws_factories.a_group(count=4, capacity=block)])
    summary = summarise(a_plan(site))
    assert f"'{field}' of 'cr-0123456789abcdef0'" in summary.missing


def test_reservation_is_charged_for_what_is_not_launched() -> None:
    reservation = {"kind": "reservation", "id": "cr-0123456789abcdef0", "instances": 16}
    groups = [
        aws_factories.a_group(name=name, count=count, capacity=reservation)
        for name, count in (("train", 4), ("more", 2))
    ]
    first, unused, second, _ = lines(
        summarise(a_plan(an_aws_site(node_groups=groups))), "instances"
    )
    assert unused.what == "10 × p5.48xlarge reserved in 'cr-0123456789abcdef0' and not launched"
    assert [line.micros for line in (first, unused, second)] == [
        count * 8760 * 55_040_000 for count in (4, 10, 2)
    ]
    del reservation["instances"]
    site = an_aws_site(node_groups=[aws_factories.a_group(count=4, capacity=reservation)])
    assert "'instances' of 'cr-0123456789abcdef0'" in summarise(a_plan(site)).missing


def test_reserved_instances_have_their_own_price_and_a_negotiated_discount():
    group = aws_factories.a_group(count=2, type="p4d.24xlarge")
    costs = {"reserved": ["p4d.24xlarge"], "discount": "10 %"}
    summary = summarise(a_plan(an_aws_site(node_groups=[group]), costs=costs))
    line = lines(summary, "instances")[0]

    assert line.what == "2 × p4d.24xlarge reserved for a year"
    assert known(known(line.price).listed).offer is Offer.RESERVED
    assert known(line.price).amount == Decimal("13.921094") * Decimal("0.9")


def test_a_type_without_a_price_for_reserved_instances_is_unknown():
    group = aws_factories.a_group(count=2, type="p5.48xlarge")
    summary = summarise(
        a_plan(an_aws_site(node_groups=[group]), costs={"reserved": ["p5.48xlarge"]})
    )

    assert summary.per_year is None
    assert "price of 'p5.48xlarge' reserved for a year in us-east-1" in summary.missing


def test_the_owners_prices_win_and_are_labelled():
    costs = {
        "instances": {"p5.48xlarge": "30 USD/h"},
        "storage": {"ebs-gp3": "0.05 USD/GiB-month"},
        "network": {"nat-gateway": "0.01 USD/h"},
        "discount": "50 %",
    }
    summary = summarise(a_plan(an_aws_site(), costs=costs))
    prices = [known(line.price) for line in summary.lines]
    used = {price.item: price for price in prices}
    assert used["p5.48xlarge"].amount == 30
    assert used["ebs-gp3"].amount == Decimal("0.05")
    assert used["nat-gateway"].amount == Decimal("0.01")
    assert {item for item, price in used.items() if price.origin == "list"} == {
        "m7i.4xlarge",
        "public-address",
    }
    assert {price.item for price in summary.listed_prices} == {"m7i.4xlarge", "public-address"}


def test_a_group_of_no_instances_costs_nothing_even_without_a_price():
    site = an_aws_site(node_groups=[aws_factories.a_group(count=0, type="p5e.48xlarge")])
    summary = summarise(a_plan(site, costs=None))
    assert groups(summary)["gpu"].amount.per_year == 0


# Bare-metal sites


def test_energy_hardware_and_opex_of_a_bare_metal_site():
    plan = a_plan(factories.a_site(pue=1.25))
    summary = summarise(plan)
    dgx = groups(summary)["dgx"]
    # 4 × 10.2 kW × 75 % × 1.25 × 8,760 h × 0.08 USD + 1,200,000 USD × (1/5 + 4 %)
    assert dgx.amount.per_year == Decimal("26805.6") + 240_000 + 48_000
    assert dgx.count == 4
    assert groups(summary)["racks"].amount.per_year == (2_000 + 3 * 3_000) * Decimal("0.24")
    assert groups(summary)["cooling"].amount.per_year == 3 * 40_000 * Decimal("0.24")
    assert {known(line.price).origin for line in summary.lines} == {"owner"}


def test_switches_are_groups_of_their_own():
    fabric = {
        "name": "compute",
        "role": "compute",
        "tiers": [{"name": "leaf", "type": "qm9700", "count": 1, "racks": "c01", "per_rack": 1}],
    }
    nodes = factories.some_nodes(count=3, per_rack=3)
    costs = {**COSTS, "capex": {**COSTS["capex"], "qm9700": "30_000 USD"}}
    site = factories.a_site(fabrics=[fabric], node_groups=[nodes])
    summary = summarise(a_plan(site, costs=costs))
    leaf = groups(summary)["compute/leaf"]
    assert leaf.count == 1
    assert leaf.amount.per_year is not None
    energy, hardware, opex = (line for line in summary.lines if line.group == "compute/leaf")
    assert (hardware.micros, opex.micros) == (6_000_000_000, 1_200_000_000)
    assert energy.path == ("sites", 0, "fabrics", 0, "tiers", 0)


def test_energy_of_all_groups_is_that_of_the_sites_it_power():
    plan = a_plan(factories.a_site())
    power = known(plan.onprem[0].totals.it_power_w)
    energy = sum(known(line.micros) for line in lines(summarise(plan), "energy"))
    expected = power * 0.75 * 1.35 * 8.760 * 0.08 * 1e6
    assert energy == pytest.approx(expected, abs=1)


@pytest.mark.parametrize(
    ("rates", "missing"),
    [
        ({"energy": None}, "'energy' or 'energy_region' of the owned rates in 'costs'"),
        ({"utilisation": None}, "'utilisation' of the owned rates in 'costs'"),
        ({"amortisation_years": None}, "'amortisation_years' of the owned rates in 'costs'"),
        ({"opex": None}, "'opex' of the owned rates in 'costs'"),
    ],
)
def test_a_missing_rate_makes_the_total_unknown_with_a_lower_bound(rates, missing):
    whole = summarise(a_plan(factories.a_site()))
    summary = summarise(a_plan(factories.a_site(), costs=with_rates(**rates)))
    assert summary.per_year is None
    assert summary.per_hour is None
    assert summary.missing == (missing,)
    assert 0 < summary.total.at_least_per_year < known(whole.per_year)


def test_a_missing_pue_and_a_missing_power_are_named():
    catalogue = factories.CATALOGUE.patched({"dgx-h100": {"max_power": None, "heat": None}})
    document = factories.a_blueprint(factories.a_site(pue=None), costs=COSTS)
    summary = summarise(expand(Blueprint.model_validate(document), catalogue))
    assert summary.missing == ("dgx-h100: published power", "'pue' of site lab")


def test_without_costs_nothing_of_a_bare_metal_site_is_known():
    summary = summarise(a_plan(factories.a_site(), costs=None))
    assert summary.per_year is None
    assert summary.total.at_least_per_year == 0
    assert "purchase price of 'rack-48u' ('capex' of the costs)" in summary.missing


def test_the_fluid_of_a_tank_is_no_product_and_has_a_price_by_its_name():
    plan = load_plan(builtin_pack() / "fixtures" / "immersion.yaml").plan
    what = "purchase price of 'immersion fluid' ('capex' of the costs)"
    assert what in summarise(plan).missing
    document = plan.blueprint.model_dump(mode="json", exclude_none=True)
    costs = {**COSTS, "capex": {"immersion fluid": "5_000 USD"}}
    stated = load_data({**document, "costs": costs}).plan
    assert what not in summarise(stated).missing


def test_an_estimate_is_used_only_where_the_site_allows_them():
    costs = {**COSTS, "capex": {k: v for k, v in COSTS["capex"].items() if k != "dgx-h100"}}
    refused = summarise(a_plan(factories.a_site(), costs=costs))
    assert any("there is only an estimate" in text for text in refused.missing)
    allowed = summarise(a_plan(factories.a_site(allow_estimates=True), costs=costs))
    (price,) = allowed.listed_prices
    assert price.item == "dgx-h100"
    assert price.is_estimate
    assert allowed.per_year is not None


def test_energy_comes_from_the_list_of_a_region():
    costs = with_rates(energy=None, energy_region="US-OH")
    (line,) = lines(summarise(a_plan(factories.a_site(), costs=costs)), "energy")
    assert known(line.price).amount == Decimal("0.0790")
    nowhere = with_rates(energy=None, energy_region="US-XX")
    summary = summarise(a_plan(factories.a_site(), costs=nowhere))
    assert summary.missing == ("energy price in 'US-XX' ('energy' of the owned rates in 'costs')",)


def test_rates_of_a_site_win_field_by_field():
    costs = {**COSTS, "sites": {"lab": {"energy": "0.16 USD/kWh", "facility": "1000 USD/year"}}}
    common, own = (summarise(a_plan(factories.a_site(), costs=c)) for c in (COSTS, costs))
    energy = known(lines(common, "energy")[0].micros)
    assert lines(own, "energy")[0].micros == 2 * energy
    assert known(own.per_year) - known(common.per_year) == Decimal(energy).scaleb(-6) + 1000


def test_a_rack_scale_product_comes_with_its_rack():
    site = factories.a_site(
        halls=[
            factories.a_hall(
                rows=[
                    factories.a_row(
                        factories.a_rack_group(
                            type="rack-mgx-48u",
                            feeds=factories.some_feeds(pdu=None),
                            shelves={"type": "mgx-33kw", "count": 8},
                        )
                    )
                ]
            )
        ],
        node_groups=[factories.some_nodes(type="gb200-nvl72", count=1, per_rack=1)],
    )
    summary = summarise(a_plan(site, costs=with_rates()))
    assert "racks" not in groups(summary)
    assert not any("mgx" in text for text in summary.missing)


# Sums


def test_groups_add_up_to_sites_and_sites_to_the_total():
    summary = summarise(a_plan(an_aws_site(), factories.a_site()))
    for site in summary.sites:
        assert sum(group.amount.known for group in site.groups) == site.amount.known
    assert sum(site.amount.known for site in summary.sites) == summary.total.known
    assert [site.name for site in summary.sites] == ["use1", "lab"]


def test_sites_stand_in_the_order_of_the_blueprint():
    summary = summarise(a_plan(factories.a_site(), an_aws_site()))
    assert [site.name for site in summary.sites] == ["lab", "use1"]
    assert summary.lines[0].site == "lab"


@share(0.25)
@given(count=st.integers(min_value=1, max_value=39), more=st.integers(min_value=1, max_value=400))
def test_more_instances_never_cost_less(count, more):
    few, many = (summarise(a_plan(an_aws_site(n))) for n in (count, count + more))
    assert known(many.per_year) > known(few.per_year)
    assert known(many.per_hour) >= known(few.per_hour)


@share(0.15)
@given(
    counts=st.lists(st.integers(min_value=1, max_value=8), min_size=2, max_size=2, unique=True),
    years=st.integers(min_value=1, max_value=10),
)
def test_more_owned_nodes_never_cost_less(counts, years):
    few, many = (
        summarise(
            a_plan(
                factories.a_site(node_groups=[factories.some_nodes(count=n, per_rack=8)]),
                costs=with_rates(amortisation_years=years),
            )
        )
        for n in sorted(counts)
    )
    assert known(many.per_year) > known(few.per_year)


def test_no_price_at_all_is_unknown_not_free():
    summary = summarise(a_plan(an_aws_site(), costs=None), Prices())
    assert summary.per_year is None
    assert summary.total.at_least_per_year == 0
    assert len(summary.missing) == 5


# Owned against rented


def test_the_same_accelerators_on_aws():
    (comparison,) = compare(a_plan(an_aws_site(), factories.a_site()))
    assert comparison.site == "lab"
    assert comparison.region == "us-east-1"
    (match,) = comparison.matches
    assert str(match) == "32 × H100 of 'dgx' as 4 × p5.48xlarge"
    assert comparison.rented.per_year == 4 * Decimal("55.04") * 8760
    assert comparison.owned.per_year == summarise(a_plan(factories.a_site())).per_year
    ((offer, amount),) = comparison.otherwise
    assert offer is Offer.CAPACITY_BLOCK, "p5 is not sold as reserved instances"
    assert amount.per_year == 4 * Decimal("39.33") * 8760


def test_without_a_region_the_rented_side_is_unknown():
    (comparison,) = compare(a_plan(factories.a_site()))
    assert comparison.rented.per_year is None
    assert comparison.rented.missing == ("'rental_region' of the costs",)
    (given_one,) = compare(a_plan(factories.a_site()), region="us-east-1")
    assert given_one.rented.per_year is not None


def test_instances_are_rounded_up():
    nodes = factories.some_nodes(type="gb200-nvl72", count=1, per_rack=1)
    site = factories.a_site(node_groups=[nodes])
    (comparison,) = compare(a_plan(site), region="us-east-1")
    (match,) = comparison.matches
    assert (match.instance, match.instances) == ("p6e-gb200.36xlarge", 18)
    assert comparison.rented.missing == ("price of 'p6e-gb200.36xlarge' on demand in us-east-1",)


def test_a_chip_that_aws_does_not_rent():
    nodes = factories.some_nodes(type="mi300x-8x", count=1, per_rack=1)
    (comparison,) = compare(a_plan(factories.a_site(node_groups=[nodes])), region="us-east-1")
    assert comparison.rented.missing == ("EC2 type with 'MI300X'",)
    assert str(comparison.matches[0]) == "8 × MI300X of 'dgx': no EC2 type has them"


def test_nodes_without_accelerators_are_not_compared():
    nodes = factories.some_nodes(type="cpu-2u", count=1, per_rack=1)
    assert compare(a_plan(factories.a_site(node_groups=[nodes]))) == ()


@pytest.mark.parametrize(
    ("node", "instance"),
    [
        ("dgx-h100", "p5.48xlarge"),
        ("dgx-h200", "p5en.48xlarge"),  # p5e has no price
        ("dgx-b200", "p6-b200.48xlarge"),
        ("dgx-b300", "p6-b300.48xlarge"),
    ],
)
def test_the_nearest_type_by_chip(node, instance):
    from rackwright.model.hardware import Node

    wanted = known(factories.CATALOGUE.get(Node, node).accelerators)
    found = nearest_instance(wanted, factories.CATALOGUE, builtin_prices(), "us-east-1")
    assert known(found).instance_type == instance


def test_mounting_of_a_chip_does_not_change_the_price():
    assert chip("H100 SXM") == chip("h100") == "H100"
    assert chip("RTX PRO 6000") == "RTX PRO 6000"


# Names in the costs


@pytest.mark.parametrize(
    ("costs", "path", "message", "hint"),
    [
        (
            {"sites": {"labb": {"energy": "0.1 USD/kWh"}}},
            ("costs", "sites", "labb"),
            "there is no bare-metal site 'labb'",
            "did you mean 'lab'?",
        ),
        (
            {"capex": {"dgx-h10": "1 USD"}},
            ("costs", "capex", "dgx-h10"),
            "there is no hardware product 'dgx-h10'",
            "did you mean 'dgx-h100'?",
        ),
        (
            {"instances": {"p5.48xlrage": "1 USD/h"}},
            ("costs", "instances", "p5.48xlrage"),
            "there is no instance type 'p5.48xlrage'",
            "did you mean 'p5.48xlarge'?",
        ),
        (
            {"reserved": ["p4d.24xlarg"]},
            ("costs", "reserved", 0),
            "there is no instance type 'p4d.24xlarg'",
            "did you mean 'p4d.24xlarge'?",
        ),
        (
            {"capex": {"p5.48xlarge": "1 USD"}},
            ("costs", "capex", "p5.48xlarge"),
            "there is no hardware product 'p5.48xlarge'",
            None,
        ),
    ],
)
def test_names_that_lead_nowhere_are_refused(costs, path, message, hint):
    with pytest.raises(PlanError) as caught:
        a_plan(factories.a_site(), costs=costs)
    (problem,) = caught.value.problems
    assert (problem.path, problem.message) == (path, message)
    if hint is not None:
        assert problem.hint == hint


def test_rates_of_a_site_on_aws_mean_nothing():
    with pytest.raises(PlanError, match="bare-metal site 'use1'"):
        a_plan(an_aws_site(), costs={"sites": {"use1": {"opex": "1 %"}}})


# Tariffs

PERIODS = [
    {"name": "peak", "hours": 1_000, "price": "0.20 USD/kWh"},
    {"name": "rest", "hours": 7_760, "price": "0.06 USD/kWh"},
]


def energy_of(costs: Mapping[str, Any]) -> int:
    found = [line.micros for line in lines(summarise(a_plan(costs=costs)), "energy")]
    assert None not in found
    return sum(micros for micros in found if micros is not None)


def test_time_of_use_is_the_mean_price_of_its_hours():
    # (1,000 h × 0.20 + 7,760 h × 0.06) / 8,760 h = 0.0759817… USD/kWh
    by_time = energy_of(with_rates(energy=None, time_of_use=PERIODS))
    flat = energy_of(COSTS)
    assert by_time / flat == pytest.approx((1_000 * 0.20 + 7_760 * 0.06) / 8_760 / 0.08, rel=1e-9)


def test_tariff_of_a_site_replaces_that_of_all_sites():
    costs = with_rates(energy="0.50 USD/kWh")
    costs["sites"] = {factories.a_blueprint()["sites"][0]["name"]: {"time_of_use": PERIODS}}
    assert energy_of(costs) == energy_of(with_rates(energy=None, time_of_use=PERIODS))


@pytest.mark.parametrize(
    ("rates", "said"),
    [
        ({"time_of_use": PERIODS}, "leave out 'energy'"),
        ({"energy": None, "time_of_use": PERIODS[:1]}, "the periods have 1,000 hours"),
        ({"energy": None, "time_of_use": [*PERIODS[:1], *PERIODS[:1]]}, "peak"),
    ],
)
def test_tariff_that_is_no_year_is_refused(rates, said):
    with pytest.raises(ValueError, match=said):
        a_plan(costs=with_rates(**rates))


def test_demand_is_charged_on_the_highest_power_of_the_meter():
    without, charged = (
        summarise(a_plan(costs=with_rates(**more))) for more in ({}, {"demand": "15 USD/kW/month"})
    )
    assert lines(without, "demand") == []
    found = lines(charged, "demand")
    assert [line.group for line in found] == [line.group for line in lines(charged, "energy")]
    # Energy at 75 % and 0.08 USD/kWh is 0.75 × 8,760 × 0.08 a kW, demand 12 × 15.
    energy = lines(charged, "energy")
    for line, other in zip(found, energy, strict=True):
        assert line.micros is not None
        assert other.micros is not None
        assert line.micros is not None
        assert other.micros is not None
        assert line.micros / other.micros == pytest.approx(180 / (0.75 * 8_760 * 0.08), rel=1e-6)


def test_demand_without_pue_is_unknown():
    site = factories.a_blueprint()["sites"][0]
    site.pop("pue", None)
    found = lines(summarise(a_plan(site, costs=with_rates(demand="15 USD/kW/month"))), "demand")
    assert found
    assert all(line.micros is None and line.missing for line in found)
