from __future__ import annotations

from collections.abc import Iterable

import pytest

from aws_factories import a_file_system, a_site
from rackwright.plan.aws.security_groups import (
    LUSTRE_PORTS,
    SLURM_PORTS,
    SecurityRule,
    network_rules,
    storage_rules,
)


def peers(
    rules: Iterable[SecurityRule], group: str, direction: str
) -> set[tuple[str, tuple[int, int] | None]]:
    return {(r.peer, r.ports) for r in rules if (r.group, r.direction) == (group, direction)}


def test_the_cluster_group_reaches_itself_both_ways():
    rules = network_rules(a_site())

    assert peers(rules, "cluster", "ingress") == {("sg:cluster", None)}
    assert ("sg:cluster", None) in peers(rules, "cluster", "egress")


def test_nothing_outside_comes_in_unless_named():
    assert {r.peer for r in network_rules(a_site()) if r.direction == "ingress"} == {"sg:cluster"}


def test_endpoints_answer_inside_the_vpc_only():
    rules = network_rules(a_site(network={"endpoints": ["s3", "ssm"]}))

    assert peers(rules, "endpoints", "ingress") == {("10.20.0.0/16", (443, 443))}
    assert not peers(network_rules(a_site()), "endpoints", "ingress")


@pytest.mark.parametrize("direction", ["ingress", "egress"])
def test_lustre_ports_are_open_between_clients_and_servers(direction):
    rules = storage_rules(a_site(file_systems=(a_file_system(efa=False),)))

    assert peers(rules, "lustre", direction) == {
        (peer, ports) for peer in ("sg:lustre", "sg:cluster") for ports in LUSTRE_PORTS
    }


def test_servers_of_lustre_without_efa_call_clients_back():
    """As the guide of FSx asks of the group of clients; one with EFA is in the clients' group itself."""
    plain, fast = a_file_system(name="plain", efa=False, mount="/plain"), a_file_system()

    back = {("sg:lustre", ports) for ports in LUSTRE_PORTS}
    for made in ((plain,), (plain, fast)):
        assert back <= peers(storage_rules(a_site(file_systems=made)), "cluster", "ingress")
    assert peers(storage_rules(a_site(file_systems=(fast,))), "cluster", "ingress") == set()


@pytest.mark.parametrize("direction", ["ingress", "egress"])
def test_lustre_over_efa_adds_all_traffic_among_servers_and_clients(direction):
    """As FSx asks of the groups of a file system with EFA and of its clients, by their ids."""
    site = a_site(file_systems=(a_file_system(),))

    rules = (*network_rules(site), *storage_rules(site))
    for group, peer in (
        ("lustre", "lustre"),
        ("lustre", "cluster"),
        ("cluster", "cluster"),  # which the file system is in as well
    ):
        assert (f"sg:{peer}", None) in peers(rules, group, direction)


def test_without_file_systems_there_are_no_rules():
    assert storage_rules(a_site()) == ()


def test_rule_names_are_unique():
    site = a_site(
        file_systems=(a_file_system(),),
        network={
            "endpoints": ["ssm"],
            "ssh_from": ["10.0.0.0/8", "10.0.0.0/16"],
            "on_premises": ["10.0.0.0/8", "10.0.0.0/16"],
        },
    )
    names = [rule.name for rule in (*network_rules(site), *storage_rules(site))]

    assert len(set(names)) == len(names)


def test_other_sites_reach_hosts_by_ssh_and_slurm_only():
    rules = network_rules(a_site(network={"on_premises": ["10.128.0.0/16"]}))

    assert peers(rules, "cluster", "ingress") == {
        ("sg:cluster", None),
        ("10.128.0.0/16", (22, 22)),
        ("10.128.0.0/16", SLURM_PORTS),
    }


LOGIN = {"type": "m7i.4xlarge", "image": "ami-0123456789abcdef0", "root_volume": "100 GiB"}


def test_a_shell_on_a_login_node_reaches_few_ports_of_the_cluster():
    """S4: login nodes were members of the cluster's group."""
    rules = network_rules(a_site(login=LOGIN, network={"ssh_from": ["130.59.0.0/16"]}))

    opened = {ports for peer, ports in peers(rules, "cluster", "ingress") if peer == "sg:login"}
    assert opened == {(22, 22), SLURM_PORTS, (2049, 2049)}
    assert peers(rules, "login", "ingress") == {
        ("130.59.0.0/16", (22, 22)),
        ("sg:cluster", None),
        ("sg:login", (22, 22)),
    }


def test_no_two_rules_of_a_site_have_one_name():
    same = {"ssh_from": ["10.9.0.0/16"], "on_premises": ["10.9.0.0/16"]}
    for address in (None, "elastic", "load-balancer"):
        site = a_site(login={**LOGIN, "address": address}, network=same)
        names = [rule.name for rule in (*network_rules(site), *storage_rules(site))]
        assert len(names) == len(set(names))
