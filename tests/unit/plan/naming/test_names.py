"""Names and addresses: who gets which, that they stay, and what is refused with which numbers."""

from __future__ import annotations

from ipaddress import ip_address, ip_network
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fabric_factories import a_fabric, a_tier
from factories import CATALOGUE, a_blueprint, a_hall, a_rack_group, a_row, a_site, some_nodes
from rackwright.model.cluster import Blueprint
from rackwright.plan.expand import expand
from rackwright.plan.model import Plan
from rackwright.plan.naming.names import find_name_problems
from rackwright.plan.naming.problems import usable
from rackwright.plan.problems import PlanError, PlanProblem

WHERE = ("sites", 0, "addresses", "networks", 0)


def a_network(*ranges: tuple[str, str], **more: Any) -> dict[str, Any]:
    made = {
        "name": "mgmt",
        "kind": "management",
        "prefix": "10.20.0.0/24",
        "ranges": [{"of": of, "first": first} for of, first in ranges or [("dgx", "10.20.0.16")]],
        **more,
    }
    return {key: value for key, value in made.items() if value is not None}


def some_addresses(*networks: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"domain": "lab.example.com", "networks": list(networks) or [a_network()], **more}


def a_site_with(addresses: dict[str, Any] | None, *, dgx: int = 4, **more: Any) -> dict[str, Any]:
    """DGX on a rail-optimised fabric, and two heads."""
    racks = [a_rack_group(f"c[01-{-(-dgx // 4):02d}]"), a_rack_group("n01")]
    head = some_nodes("head", count=2, racks="n01", per_rack=2, type="cpu-2u", role="head")
    last = f"c[01-{-(-dgx // 4):02d}]"
    made = a_site(
        halls=[a_hall(rows=[a_row(*racks)])],
        node_groups=[some_nodes(count=dgx, racks=last), head],
        fabrics=[a_fabric()],
        **more,
    )
    return made if addresses is None else {**made, "addresses": addresses}


def plan_of(addresses: dict[str, Any] | None, **more: Any) -> Plan:
    return plan_sites(a_site_with(addresses, **more))


def plan_sites(*sites: dict[str, Any]) -> Plan:
    return expand(Blueprint.model_validate(a_blueprint(*sites)), CATALOGUE)


def problems_of(addresses: dict[str, Any], **more: Any) -> tuple[PlanProblem, ...]:
    with pytest.raises(PlanError) as found:
        plan_of(addresses, **more)
    return found.value.problems


def table(plan: Plan) -> dict[str, str]:
    """Every name with its address."""
    return {one.name: str(one.address) for one in plan.names.addresses()}


def test_without_a_word_there_are_none() -> None:
    names = plan_of(None).names
    assert (names.networks, names.zones, list(names.addresses())) == ((), (), [])
    assert names.address_of("lab", "dgx-1") is None


def test_the_n_th_host_has_the_n_th_address() -> None:
    plan = plan_of(some_addresses(a_network(("head", "10.20.0.2"), ("dgx", "10.20.0.16"))))
    assert table(plan) == {
        "head-1.lab.example.com": "10.20.0.2",
        "head-2.lab.example.com": "10.20.0.3",
        "dgx-1.lab.example.com": "10.20.0.16",
        "dgx-2.lab.example.com": "10.20.0.17",
        "dgx-3.lab.example.com": "10.20.0.18",
        "dgx-4.lab.example.com": "10.20.0.19",
    }
    assert plan.names.address_of("lab", "dgx-4") == "10.20.0.19"
    for name in ("dgx-5", "dgx-04", "dgx-0", "dgx-", "dgx", "gpu-1", "dgx-1-bmc"):
        assert plan.names.address_of("lab", name) is None, name
    assert plan.names.address_of("other", "dgx-4") is None
    assert plan.names.address_of("lab", "dgx-4", 6) is None


def test_each_network_has_names_of_its_own() -> None:
    plan = plan_of(
        some_addresses(
            a_network(),
            a_network(("dgx", "10.21.0.1"), name="oob", kind="bmc", prefix="10.21.0.0/24"),
            a_network(
                ("dgx", "fd00::10"),
                name="ib",
                kind="fabric",
                fabric="compute",
                prefix="fd00::/64",
            ),
            a_network(
                ("dgx", "10.30.0.1"),
                name="rail8",
                kind="fabric",
                fabric="compute",
                interface=8,
                prefix="10.30.0.0/24",
            ),
        )
    )
    found = table(plan)
    assert found["dgx-2.lab.example.com"] == "10.20.0.17"
    assert found["dgx-2-bmc.lab.example.com"] == "10.21.0.2"
    assert found["dgx-2-ib-1.lab.example.com"] == "fd00::18", "after the 8 of the first host"
    assert found["dgx-2-ib-8.lab.example.com"] == "fd00::1f"
    assert found["dgx-2-rail8.lab.example.com"] == "10.30.0.2"
    assert len(found) == 4 * (1 + 1 + 8 + 1)


def test_switches_have_addresses_in_a_network_of_management() -> None:
    ranges = [("compute-leaf", "10.20.0.1"), ("compute-spine", "10.20.0.9")]
    found = table(plan_of(some_addresses(a_network(*ranges))))
    assert list(found.items())[7:9] == [
        ("compute-leaf-8.lab.example.com", "10.20.0.8"),
        ("compute-spine-1.lab.example.com", "10.20.0.9"),
    ]
    in_bmc = table(plan_of(some_addresses(a_network(*ranges, kind="bmc"))))
    assert in_bmc == found, "a switch has one name"


def test_a_rack_scale_system_has_an_address_for_each_of_its_hosts() -> None:
    nvl = some_nodes("nvl", count=1, type="gb200-nvl72", per_rack=1)
    made = a_site(node_groups=[nvl], addresses=some_addresses(a_network(("nvl", "10.20.0.1"))))
    assert list(table(plan_sites(made)).items())[-1] == ("nvl-18.lab.example.com", "10.20.0.18")


def test_the_prefix_may_be_that_of_a_segment() -> None:
    segment = {"name": "jobs", "prefix": "10.30.0.0/24", "groups": ["dgx"]}
    fabrics = [a_fabric(segments=[segment])]
    network = a_network(
        ("dgx", "10.30.0.8"),
        name="jobs",
        kind="fabric",
        fabric="compute",
        segment="jobs",
        prefix=None,
    )
    made = {**a_site_with(some_addresses(network)), "fabrics": fabrics}
    assert table(plan_sites(made))["dgx-1-jobs-1.lab.example.com"] == "10.30.0.8"


def test_added_host_changes_no_other_address() -> None:
    two = [("head", "10.20.0.2"), ("dgx", "10.20.0.16")]
    before = plan_of(some_addresses(a_network(*two)), dgx=10)
    more = [("head", "10.20.0.2"), ("compute-leaf", "10.20.0.100"), ("dgx", "10.20.0.16")]
    after = plan_of(some_addresses(a_network(*more)), dgx=20)
    kept = table(before).items()
    assert kept <= table(after).items()
    assert len(kept) == 12


@given(
    head=st.integers(0, 40),
    dgx=st.integers(0, 40),
    gateway=st.integers(0, 40),
    hosts=st.integers(1, 8),
)
@settings(max_examples=60, deadline=None)
def test_an_address_is_never_given_twice_nor_outside_and_else_nothing_is_refused(
    head: int, dgx: int, gateway: int, hosts: int
) -> None:
    network = a_network(
        ("head", f"10.20.0.{head}"),
        ("dgx", f"10.20.0.{dgx}"),
        prefix="10.20.0.0/27",
        gateway=f"10.20.0.{gateway}",
    )
    numbers = [*range(head, head + 2), *range(dgx, dgx + hosts), gateway]
    good = len(set(numbers)) == len(numbers) and 1 <= min(numbers) <= max(numbers) <= 30
    try:
        plan = plan_of(some_addresses(network), dgx=hosts)
    except PlanError:
        assert not good
        return
    assert good
    given_out = [one.address for one in plan.names.addresses()]
    assert [int(address) & 31 for address in given_out] == numbers[:-1]


def one_problem(addresses: dict[str, Any], **more: Any) -> tuple[tuple[str | int, ...], str, str]:
    (found,) = problems_of(addresses, **more)
    return found.path, found.message, found.hint or ""


def test_a_prefix_that_is_too_small_is_refused_with_its_numbers() -> None:
    network = a_network(("dgx", "10.20.0.12"), prefix="10.20.0.0/28")
    fitting = {**network, "ranges": [{"of": "dgx", "first": "10.20.0.11"}]}
    assert len(table(plan_of(some_addresses(fitting)))) == 4
    assert one_problem(some_addresses(network)) == (
        (*WHERE, "ranges", 0, "first"),
        "the 4 hosts of 'dgx' need 4 addresses from 10.20.0.12 on; 10.20.0.0/28 has 3 of them",
        "begin lower, or make the network 10.20.0.0/27",
    )


def test_interfaces_are_counted_where_a_prefix_is_too_small() -> None:
    network = a_network(
        ("dgx", "10.255.255.230"),
        name="ib",
        kind="fabric",
        fabric="compute",
        prefix="10.255.255.0/24",
    )
    path, message, hint = one_problem(some_addresses(network))
    assert message == (
        "the 4 hosts of 'dgx', with 8 addresses each, need 32 addresses from 10.255.255.230 on; "
        "10.255.255.0/24 has 25 of them"
    )
    assert hint == "begin lower, or use a larger network", "no more are behind it in 10.0.0.0/8"
    assert path == (*WHERE, "ranges", 0, "first")


def test_ranges_that_meet_are_refused_with_the_next_free_address() -> None:
    network = a_network(("dgx", "10.20.0.16"), ("head", "10.20.0.19"))
    assert one_problem(some_addresses(network)) == (
        (*WHERE, "ranges", 1, "first"),
        (
            "the 2 hosts of 'head' would have 10.20.0.19 to 10.20.0.20, and the 4 hosts of 'dgx' "
            "10.20.0.16 to 10.20.0.19"
        ),
        "let them begin at 10.20.0.21",
    )
    beside = a_network(("dgx", "10.20.0.16"), ("head", "10.20.0.20"))
    assert len(table(plan_of(some_addresses(beside)))) == 6


def test_prefixes_that_overlap_are_refused() -> None:
    other = a_network(("dgx", "10.20.0.130"), name="bmc", kind="bmc", prefix="10.20.0.128/25")
    assert one_problem(some_addresses(a_network(), other)) == (
        ("sites", 0, "addresses", "networks", 1),
        (
            "10.20.0.0/24 of the network 'mgmt' of 'lab' and 10.20.0.128/25 of the network 'bmc' "
            "of 'lab' overlap"
        ),
        "give one of them another prefix, or name the segment",
    )


def test_prefixes_of_other_sites_and_of_segments_count() -> None:
    one = a_site_with(some_addresses())
    other = {**one, "name": "far", "addresses": some_addresses(domain="far.example.com")}
    with pytest.raises(PlanError, match="of the network 'mgmt' of 'lab' overlap"):
        plan_sites(one, other)
    segments = [{"name": "jobs", "prefix": "10.20.0.0/16"}]
    with pytest.raises(
        PlanError, match=r"10\.20\.0\.0/16 of the segment 'jobs' of the fabric 'compute'"
    ):
        plan_sites({**one, "fabrics": [a_fabric(segments=segments)]})


def test_segments_that_overlap_among_themselves_are_for_the_policy() -> None:
    segments = [{"name": name, "prefix": "10.99.0.0/16"} for name in ("a", "b")]
    made = {**a_site_with(some_addresses()), "fabrics": [a_fabric(segments=segments)]}
    assert find_name_problems(plan_sites(made)) == []


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "a gateway elsewhere": (
        some_addresses(a_network(gateway="10.21.0.1")),
        "the gateway 10.21.0.1 is not in 10.20.0.0/24",
    ),
    "a gateway that a host has": (
        some_addresses(a_network(gateway="10.20.0.17")),
        "the 4 hosts of 'dgx' would have 10.20.0.16 to 10.20.0.19, and the gateway 10.20.0.17",
    ),
    "a reserved address that a host has": (
        some_addresses(a_network(reserved=["10.20.0.1-10.20.0.16"])),
        "and what is reserved, 10.20.0.1-10.20.0.16",
    ),
    "a name server with the address of a host": (
        some_addresses(name_servers=[{"host": "ns", "address": "10.20.0.18"}]),
        "and the name server 'ns' 10.20.0.18",
    ),
    "the address of the network": (
        some_addresses(a_network(("dgx", "10.20.0.0"))),
        "would begin at 10.20.0.0, which is no address of 10.20.0.0/24",
    ),
    "the other version of IP": (
        some_addresses(a_network(("dgx", "fd00::1"))),
        "would begin at fd00::1, which is no address of 10.20.0.0/24",
    ),
    "a reserved address of the other version": (
        some_addresses(a_network(reserved=["fd00::1"])),
        "what is reserved, fd00::1 is not in 10.20.0.0/24",
    ),
    "a group that is not there": (
        some_addresses(a_network(("dgy", "10.20.0.16"))),
        "there is neither a node group nor a tier of switches 'dgy'",
    ),
    "a fabric that is not there": (
        some_addresses(a_network(name="ib", kind="fabric", fabric="computer")),
        "there is no fabric 'computer'",
    ),
    "a segment that is not there": (
        some_addresses(
            a_network(name="ib", kind="fabric", fabric="compute", segment="jobs", prefix=None)
        ),
        "the fabric 'compute' has no segment 'jobs'",
    ),
    "a group that is not on the fabric": (
        some_addresses(
            a_network(("head", "10.20.0.16"), name="ib", kind="fabric", fabric="compute")
        ),
        "'head' is no node group that is attached to the fabric 'compute'",
    ),
    "a switch on a fabric": (
        some_addresses(
            a_network(("compute-leaf", "10.20.0.16"), name="ib", kind="fabric", fabric="compute")
        ),
        "'compute-leaf' is no node group that is attached to the fabric 'compute'",
    ),
    "an interface that no host has": (
        some_addresses(a_network(name="ib", kind="fabric", fabric="compute", interface=9)),
        "'dgx' has 8 interfaces on the fabric 'compute'",
    ),
    "a group in two networks of management": (
        some_addresses(
            a_network(), a_network(("dgx", "10.22.0.1"), name="other", prefix="10.22.0.0/24")
        ),
        "'dgx' has its addresses in the network 'mgmt' already",
    ),
    "a name server without an address": (
        some_addresses(name_servers=[{"host": "head-1"}]),
        "nothing in this site has the name 'head-1' and an address",
    ),
    "a name server with the name of a host": (
        some_addresses(name_servers=[{"host": "head-1", "address": "10.20.0.2"}]),
        "'head-1' is a name of this site, whose address follows from it",
    ),
    "an Ethernet address of nobody": (
        some_addresses(a_network(macs={"dgx-9": "02:00:00:00:00:01"})),
        "nothing in the network 'mgmt' is called 'dgx-9'",
    ),
    "an Ethernet address on InfiniBand": (
        some_addresses(
            a_network(
                name="ib",
                kind="fabric",
                fabric="compute",
                interface=1,
                macs={"dgx-1-ib": "02:00:00:00:00:01"},
            )
        ),
        "the fabric 'compute' is InfiniBand, which has no such addresses",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_impossible_address_is_refused_at_its_place(case: str) -> None:
    addresses, message = BAD[case]
    (found,) = problems_of(addresses)
    assert message in found.message
    assert found.hint
    assert found.path[:3] == ("sites", 0, "addresses")


def test_every_reason_is_told() -> None:
    network = a_network(("dgx", "10.20.0.16"), ("dgy", "10.20.0.32"), gateway="10.20.0.17")
    found = problems_of(some_addresses(network, name_servers=[{"host": "ns"}]))
    assert [one.path[3:] for one in found] == [
        ("networks", 0, "ranges", 1, "of"),
        ("networks", 0, "ranges", 0, "first"),
        ("name_servers", 0, "host"),
    ]


def a_lustre(**nids: list[str]) -> dict[str, Any]:
    """A file system whose servers are the heads."""
    parts = {part: {"servers": "head", "nids": texts} for part, texts in nids.items()}
    return {"name": "scratch", "kind": "lustre", "mount": "/scratch", **parts}


@pytest.mark.parametrize(
    ("nids", "message"),
    [
        ({"objects": ["10.20.0.2@tcp", "10.20.0.3@tcp"]}, None),
        ({"management": ["10.20.0.3@tcp", "10.20.0.2@tcp"]}, None),
        ({"objects": ["10.20.0.200@tcp", "10.99.0.3@tcp"]}, None),
        (
            {"objects": ["10.20.0.3@tcp", "10.20.0.200@tcp"]},
            "10.20.0.3 of server 1 of 'head' is that of 'head-2' in the network 'mgmt'",
        ),
        (
            {"metadata": ["10.20.0.2@tcp", "10.20.0.16@tcp"]},
            "10.20.0.16 of server 2 of 'head' is that of 'dgx-1' in the network 'mgmt'",
        ),
        (
            {"management": ["10.20.0.2@tcp,10.20.0.19@tcp1"]},
            "10.20.0.19 of server 1 of 'head' is that of 'dgx-4' in the network 'mgmt'",
        ),
    ],
)
def test_a_nid_is_no_address_of_another_host(
    nids: dict[str, list[str]], message: str | None
) -> None:
    network = a_network(("head", "10.20.0.2"), ("dgx", "10.20.0.16"))
    systems = {"file_systems": [a_lustre(**nids)]}
    if message is None:
        assert len(table(plan_of(some_addresses(network), **systems))) == 6
    else:
        (found,) = problems_of(some_addresses(network), **systems)
        assert (found.message, found.path[:4]) == (message, ("sites", 0, "file_systems", 0))


def test_two_sites_have_domains_of_their_own() -> None:
    one = a_site_with(some_addresses())
    other = {**one, "name": "far"}
    with pytest.raises(PlanError, match="the sites 'lab' and 'far' have the same domain"):
        plan_sites(one, other)


def test_names_that_may_be_taken_for_others_are_refused() -> None:
    groups = [
        some_nodes("dgx", count=1, per_rack=1),
        some_nodes("dgx-1-bmc", count=1, per_rack=1),
        some_nodes("dgx-2", count=1, per_rack=1),
        some_nodes("compute-leaf", count=1, per_rack=1),
    ]
    made = a_site(
        node_groups=groups,
        fabrics=[a_fabric(tiers=[{**a_tier("leaf", 1), "racks": "c01"}], links=[], attached=[])],
        addresses=some_addresses(),
    )
    with pytest.raises(PlanError) as found:
        plan_sites(made)
    assert [(one.path[2:], one.message) for one in found.value.problems] == [
        (("node_groups", 1, "name"), "names of 'dgx-1-bmc' may be taken for those of 'dgx'"),
        (
            ("fabrics", 0, "tiers", 0, "name"),
            "names of 'compute-leaf' may be taken for those of 'compute-leaf'",
        ),
    ]


def test_a_name_is_no_longer_than_the_dns_takes() -> None:
    for length, fits in ((57, True), (58, False)):
        name = "x" * length
        made = a_site(
            node_groups=[some_nodes(name)],
            addresses=some_addresses(a_network((name, "10.20.0.16"), name="bmc", kind="bmc")),
        )
        if fits:
            assert len(max(table(plan_sites(made)), key=len).partition(".")[0]) == 63
        else:
            with pytest.raises(PlanError, match="has 64 characters, and at most 63 are possible"):
                plan_sites(made)


@pytest.mark.parametrize(
    ("prefix", "first", "last"),
    [
        ("10.0.0.0/30", "10.0.0.1", "10.0.0.2"),
        ("10.0.0.0/31", "10.0.0.0", "10.0.0.1"),
        ("10.0.0.1/32", "10.0.0.1", "10.0.0.1"),
        ("fd00::/126", "fd00::", "fd00::3"),
    ],
)
def test_allowed_names_of_hosts(prefix: str, first: str, last: str) -> None:
    assert usable(ip_network(prefix)) == (int(ip_address(first)), int(ip_address(last)))
