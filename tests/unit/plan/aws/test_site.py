from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from aws_factories import INSTANCES, a_file_system, a_group, a_plan, a_site
from known import known
from rackwright.plan.aws.nic import LayoutError, UnknownLayoutError
from rackwright.plan.aws.quotas import ADDRESSES, INTERFACES, VPCS, quota_uses
from rackwright.plan.aws.site import AwsPlanError, AwsSitePlan, plan_aws_site
from rackwright.plan.problems import PlanProblem

BLOCK = {
    "kind": "capacity-block",
    "id": "cr-0123456789abcdef0",
    "instances": 16,
    "ends": "2026-12-24T11:30:00Z",
}
RESERVATION = {"kind": "reservation", "id": "cr-0123456789abcdef1", "instances": 16}


def template(plan: AwsSitePlan, number: int = 0) -> dict[str, Any]:
    return plan.groups[number].launch_template("atlas-use1-gpu", {"team": "ml"})


def problems(*groups: dict[str, Any], **changes: Any) -> Sequence[PlanProblem]:
    with pytest.raises(AwsPlanError) as error:
        plan_aws_site(a_site(*groups, **changes), ("sites", 0), INSTANCES)
    return error.value.problems


def test_a_group_knows_its_interfaces_addresses_and_vcpus():
    plan = a_plan(a_group(count=16))

    assert plan.groups[0].efa_interfaces == 32
    assert plan.groups[0].addresses_per_node == 1
    assert plan.groups[0].vcpus == 3072
    assert plan.demand is not None
    assert (plan.demand.nodes, plan.demand.servers) == (16, 1)
    assert plan.cluster_subnet is not None
    assert plan.cluster_subnet.cidr == "10.20.0.0/17"


def test_the_launch_template_of_p5_has_the_documented_interfaces():
    interfaces = template(a_plan())["network_interfaces"]

    assert len(interfaces) == 33
    assert [
        (nic["network_card_index"], nic["device_index"])
        for nic in interfaces
        if nic["interface_type"] == "efa-only"
    ] == [(0, 1), *((card, 0) for card in range(1, 32))]
    assert interfaces[0]["interface_type"] == "interface"
    assert not any("associate_public_ip_address" in nic for nic in interfaces)


def test_the_launch_template_is_encrypted_and_imdsv2_only():
    built = template(a_plan())

    assert built["metadata_options"]["http_tokens"] == "required"
    assert built["block_device_mappings"][0]["ebs"]["encrypted"] == "true"
    assert built["block_device_mappings"][0]["ebs"]["volume_type"] == "gp3"
    assert {spec["resource_type"] for spec in built["tag_specifications"]} == {
        "instance",
        "volume",
        "network-interface",
    }


def test_on_demand_with_efa_shares_a_cluster_placement_group():
    built = template(a_plan())

    assert built["placement"] == {"group_name": "placement-group"}
    assert "capacity_reservation_specification" not in built
    assert "instance_market_options" not in built


def test_on_demand_without_efa_has_no_placement_group():
    assert "placement" not in template(a_plan(a_group(efa=False)))


def test_a_capacity_block_has_a_market_and_no_placement_group():
    built = template(a_plan(a_group(capacity=BLOCK)))

    assert built["instance_market_options"] == {"market_type": "capacity-block"}
    assert built["capacity_reservation_specification"] == {
        "capacity_reservation_target": {"capacity_reservation_id": "cr-0123456789abcdef0"}
    }
    assert "placement" not in built


def test_a_reservation_allows_its_own_placement_group_only():
    free = template(a_plan(a_group(capacity=RESERVATION)))
    bound = template(a_plan(a_group(capacity=RESERVATION | {"placement_group": "held"})))

    assert "placement" not in free
    assert bound["placement"] == {"group_name": "held"}
    assert "instance_market_options" not in bound


def test_an_unknown_layout_leaves_the_plan_open_and_the_template_refused():
    plan = a_plan(a_group(type="trn2.48xlarge"))

    assert plan.groups[0].nics is None
    assert isinstance(plan.groups[0].layout_error, UnknownLayoutError)
    assert plan.demand is None
    assert plan.subnets == ()
    with pytest.raises(LayoutError):
        template(plan)


def test_an_unknown_type_is_refused_with_a_suggestion():
    (problem,) = problems(a_group(type="p5.48xlage"))

    assert problem.path == ("sites", 0, "node_groups", 0, "type")
    assert problem.hint == (
        "did you mean 'p5.48xlarge'? A product of your own: "
        "'rackwright catalogue new instances/p5.48xlage'"
    )


def test_efa_on_a_type_without_is_refused():
    (problem,) = problems(a_group(type="m7i.4xlarge"))

    assert problem.path == ("sites", 0, "node_groups", 0, "efa")
    assert "has no EFA" in problem.message


def test_all_problems_come_at_once():
    found = problems(a_group(type="nope"), a_group(name="b", type="m7i.4xlarge"))

    assert len(found) == 2


def test_subnets_that_do_not_fit_are_a_problem_of_the_vpc():
    (problem,) = problems(network={"cidr": "10.20.0.0/24"}, node_groups=(a_group(count=1000),))

    assert problem.path == ("sites", 0, "network", "cidr")
    assert "2,048" in problem.message


def test_file_systems_and_private_login_nodes_take_addresses():
    plan = a_plan(
        file_systems=(a_file_system(),),
        login={
            "type": "m7i.4xlarge",
            "image": "ami-0123456789abcdef0",
            "count": 2,
            "root_volume": "100 GiB",
        },
    )

    assert plan.demand is not None
    assert (plan.demand.servers, plan.demand.file_systems) == (3, 34)


def test_own_tags_cannot_hide_those_of_the_cluster():
    plan = a_plan(tags={"rackwright:cluster": "other", "cost": "42"})

    assert plan.tags("atlas", "ops") == {
        "cost": "42",
        "rackwright:cluster": "atlas",
        "rackwright:site": "use1",
        "rackwright:owner": "ops",
    }


EXISTING = {"vpc": "vpc-0123456789abcdef0", "private_subnet": "subnet-0123456789abcdef0"}


def test_a_vpc_that_exists_is_not_cut_into_subnets():
    plan = a_plan(network={"existing": EXISTING, "cidr": "10.20.0.0/28"})

    assert plan.subnets == ()
    assert plan.cluster_subnet is None
    assert plan.demand is not None


def test_login_nodes_that_are_reached_from_outside_need_a_public_subnet():
    login = {"type": "m7i.4xlarge", "image": "ami-0123456789abcdef0", "root_volume": "100 GiB"}
    network = {"existing": EXISTING, "ssh_from": ["8.8.8.0/24"]}
    with pytest.raises(AwsPlanError) as caught:
        a_plan(login=login, network=network)
    (problem,) = caught.value.problems

    assert problem.path == ("sites", 0, "network", "existing")
    assert problem.hint == "name the 'public_subnet' of the VPC"


def test_existing_resources_use_no_quota():
    own = {use.quota.code: use.total for use in quota_uses([a_plan()])}
    existing = {
        use.quota.code: use.total for use in quota_uses([a_plan(network={"existing": EXISTING})])
    }

    assert own.keys() - existing.keys() == {VPCS.code, ADDRESSES.code}
    assert known(own[INTERFACES.code]) - known(existing[INTERFACES.code]) == 1
