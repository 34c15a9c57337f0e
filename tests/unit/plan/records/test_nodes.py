"""Node groups with their products, and what one host of a product has."""

from __future__ import annotations

from factories import CATALOGUE, a_site_plan, some_nodes
from rackwright.model.hardware import Node
from rackwright.model.instances import Instance
from rackwright.plan.records.nodes import HostPorts, RatePorts, describe_host

PORT = {"count": 4, "rate": {"value": "400 Gbps", "source": "x"}, "technology": "infiniband"}


def a_node(**changes: object) -> Node:
    return CATALOGUE.patched({"dgx-h100": changes}).get(Node, "dgx-h100")


def test_a_group_counts_and_names_its_hosts() -> None:
    site = a_site_plan(node_groups=[some_nodes(count=12, per_rack=12)])
    (dgx,) = site.groups
    assert (dgx.name, dgx.hosts, dgx.path) == ("dgx", 12, ("sites", 0, "node_groups", 0))
    assert dgx.host_names[8:10] == ("dgx-09", "dgx-10")
    assert site.groups_by_name == {"dgx": dgx}
    (nvl,) = a_site_plan(node_groups=[some_nodes("nvl", type="gb200-nvl72", count=1)]).groups
    assert (nvl.hosts, nvl.host_names[-1]) == (18, "nvl-18")


def test_a_host_has_its_share_of_a_unit() -> None:
    nvl = describe_host(CATALOGUE.get(Node, "gb200-nvl72"))
    assert (nvl.unit_hosts, nvl.accelerators) == (18, 4)
    assert nvl.board is not None
    assert nvl.board.count == 72


def test_ports_of_one_technology_and_rate_are_added_up() -> None:
    found = describe_host(
        a_node(ports=[{"role": "compute", **PORT}, {"role": "storage", **PORT, "count": 2}])
    )
    assert found.ports == (
        HostPorts(role="compute", technology="infiniband", rate_gbps=400, count=4),
        HostPorts(role="storage", technology="infiniband", rate_gbps=400, count=2),
    )
    assert found.ports_by_rate == (RatePorts(technology="infiniband", rate_gbps=400, count=6),)


def test_the_port_of_a_bmc_is_none_that_a_host_sees() -> None:
    """Each DGX lacked "ports ethernet 1 Gbps": the catalogue has the BMC's, the host's kernel has not."""
    for entry_id in ("dgx-h100", "dgx-b200", "dgx-b300"):
        found = describe_host(CATALOGUE.get(Node, entry_id))
        assert {"management"} < {port.role for port in found.ports}
        assert min(port.rate_gbps for port in found.ports_by_rate) == max(
            port.rate_gbps for port in found.ports if port.role == "compute"
        )


def test_unequal_share_per_node_is_unknown() -> None:
    """Two groups of 3 ports of 2 hosts: neither gives a host a whole number, both together do."""
    found = describe_host(
        a_node(
            hosts=2,
            ports=[{"role": role, **PORT, "count": 3} for role in ("compute", "storage")],
            accelerators={"count": 7, "model": "x", "vendor": "nvidia", "gres": "x"},
        )
    )
    assert found.accelerators is None
    assert [port.count for port in found.ports] == [None, None]
    assert [port.count for port in found.ports_by_rate] == [3]


def test_missing_catalogue_fact_of_a_node_is_unknown() -> None:
    found = describe_host(a_node(cpus=None, host_memory=None, accelerators=None))
    assert (found.cpus, found.memory_gib, found.board, found.accelerators) == (None, None, None, 0)


def test_an_instance_has_no_ports_but_numbers_of_its_own() -> None:
    instance = CATALOGUE.get(Instance, "p5.48xlarge")
    found = describe_host(instance)
    assert (found.ports, found.ports_by_rate, found.accelerators) == ((), (), 8)
    assert instance.vcpus is not None
    assert found.cpus == instance.vcpus.value
