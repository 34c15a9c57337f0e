"""The declarations of each stack, as the engine receives them."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pulumi
import pytest

from aws_factories import a_file_system, a_group, a_plan
from rackwright.components import tags
from rackwright.components.cluster import Cluster, StackKind
from rackwright.components.tags import SiteArgs
from rackwright.plan.aws.site import AwsSitePlan
from stacks_support import Recording

LOGIN = {"type": "m7i.4xlarge", "image": "ami-0123456789abcdef0", "root_volume": "100 GiB"}
NETWORK_OUTPUTS = {
    "vpc_id": "vpc-1",
    "dns_zone_id": "Z1",
    "subnet_ids": {"private-a": "subnet-private", "public-a": "subnet-public"},
    "security_group_ids": {"cluster": "sg-cluster", "login": "sg-login"},
}
STORAGE_OUTPUTS = {
    "file_systems": {"scratch": {"id": "fs-1"}},
    "data_volumes": {"head-1": "vol-0123456789abcdef0"},
}
HEAD = LOGIN | {"data_volume": {"size": "200 GiB"}}

Record = Callable[..., Recording]


def lookup(kind: str, name: str) -> pulumi.Output[Any]:
    outputs = NETWORK_OUTPUTS if kind == "aws-network" else STORAGE_OUTPUTS
    return pulumi.Output.from_input(outputs[name])


@pytest.fixture
def declare(recorded: Record) -> Record:
    def run(
        kind: StackKind,
        plan: AwsSitePlan,
        *,
        protect: bool = True,
        adopted: dict[str, str] | None = None,
    ) -> Recording:
        args = SiteArgs(plan=plan, cluster="atlas", owner="ops", adopted=adopted or {})

        def program() -> None:
            Cluster(kind, args, {"name": "atlas"}, lookup, protect=protect)

        return recorded(program)

    return run


def a_repository(number: int = 0, **changes: Any) -> dict[str, Any]:
    return {"bucket": "atlas-data", "prefix": f"set{number}", "path": f"/data{number}"} | changes


def test_slow_resources_are_awaited(declare: Record) -> None:
    repository = {"data_repositories": [a_repository()]}
    plan = a_plan(file_systems=[a_file_system(**repository)], node_groups=[a_group()])
    slow = {
        made.type.rsplit(":", 1)[-1]
        for kind in ("aws-network", "aws-storage", "aws-cluster")
        for made in declare(kind, plan).resources
        if set(made.timeouts) <= {"2h", ""} and made.timeouts[1] == "2h"
    }
    assert slow == {"LustreFileSystem", "DataRepositoryAssociation", "Group"}


def test_the_root_component_carries_the_blueprint(declare: Record) -> None:
    root = declare("aws-network", a_plan()).one("Cluster")

    assert root.type == "rackwright:cluster:Cluster"
    assert not root.custom
    assert root.inputs["spec"] == {"name": "atlas"}
    assert (root.inputs["kind"], root.inputs["site"]) == ("aws-network", "use1")


def test_the_state_of_one_site_showed_the_plan_of_all(declare: Record) -> None:
    """S7: it is encrypted in a state, which more people read than the blueprint."""
    assert declare("aws-network", a_plan()).one("Cluster").secrets == ("spec",)


def test_every_resource_has_a_parent_and_the_clusters_tags(declare: Record) -> None:
    seen = declare("aws-network", a_plan()).resources
    seen += declare("aws-storage", a_plan(file_systems=(a_file_system(),))).resources
    seen += declare("aws-cluster", a_plan(login=LOGIN)).resources

    assert [r.name for r in seen if not r.parent and r.type != "rackwright:cluster:Cluster"] == []
    tagged = [r for r in seen if isinstance(r.inputs.get("tags"), dict)]
    assert len(tagged) > 20
    assert {r.inputs["tags"]["rackwright:cluster"] for r in tagged} == {"atlas"}


# --- network


def test_the_network_is_a_vpc_with_planned_subnets(declare: Record) -> None:
    seen = declare("aws-network", a_plan())

    assert seen.one("Vpc").inputs["cidrBlock"] == "10.20.0.0/16"
    assert {r.name: r.inputs["cidrBlock"] for r in seen.of("Subnet")} == {
        "atlas-use1-private-a": "10.20.0.0/17",
        "atlas-use1-intra-a": "10.20.255.192/26",
        "atlas-use1-public-a": "10.20.255.128/26",
    }
    assert not any(r.inputs["mapPublicIpOnLaunch"] for r in seen.of("Subnet"))


def test_the_efa_group_allows_all_traffic_to_and_from_itself(declare: Record) -> None:
    seen = declare("aws-network", a_plan())

    for token in ("SecurityGroupIngressRule", "SecurityGroupEgressRule"):
        own = [
            r.inputs
            for r in seen.of(token)
            if r.inputs.get("referencedSecurityGroupId") == "atlas-use1-cluster-id"
        ]
        assert len(own) == 1
        assert own[0]["securityGroupId"] == "atlas-use1-cluster-id"
        assert own[0]["ipProtocol"] == "-1"


def test_security_groups_hold_no_rules_of_their_own(declare: Record) -> None:
    groups = declare("aws-network", a_plan()).of("SecurityGroup")
    assert groups
    for group in groups:
        assert "ingress" not in group.inputs
        assert "egress" not in group.inputs


def test_the_default_security_group_is_emptied(declare: Record) -> None:
    group = declare("aws-network", a_plan()).one("DefaultSecurityGroup")

    assert group.inputs["ingress"] == []
    assert group.inputs["egress"] == []


def test_only_named_networks_reach_ssh(declare: Record) -> None:
    seen = declare("aws-network", a_plan(network={"ssh_from": ["10.9.0.0/16"]}, login=LOGIN))
    rules = [r.inputs for r in seen.of("SecurityGroupIngressRule")]
    ssh = [rule for rule in rules if rule.get("fromPort") == 22 and "cidrIpv4" in rule]

    assert [(rule["cidrIpv4"], rule["securityGroupId"]) for rule in ssh] == [
        ("10.9.0.0/16", "atlas-use1-login-id")
    ]


@pytest.mark.parametrize(("nat", "count"), [("single", 1), ("per-zone", 2), ("none", 0)])
def test_nat_gateways(declare: Record, nat: str, count: int) -> None:
    plan = a_plan(network={"nat": nat, "availability_zones": ["us-east-1a", "us-east-1b"]})
    seen = declare("aws-network", plan)

    assert len(seen.of("NatGateway")) == count
    assert len(seen.of("InternetGateway")) == (1 if count else 0)
    through_nat = [r for r in seen.of("Route") if "natGatewayId" in r.inputs]
    assert len(through_nat) == (2 if count else 0)


def test_intra_subnets_route_nowhere(declare: Record) -> None:
    names = [r.name for r in declare("aws-network", a_plan()).of("Route")]

    assert sorted(names) == ["atlas-use1-private-a-default", "atlas-use1-public-a-default"]


def test_endpoints(declare: Record) -> None:
    seen = declare("aws-network", a_plan(network={"endpoints": ["s3", "ssm"]}))
    gateway = seen.one("VpcEndpoint", "atlas-use1-endpoint-s3").inputs
    interface = seen.one("VpcEndpoint", "atlas-use1-endpoint-ssm").inputs

    assert gateway["vpcEndpointType"] == "Gateway"
    assert sorted(gateway["routeTableIds"]) == [
        "atlas-use1-intra-a-routes-id",
        "atlas-use1-private-a-routes-id",
    ]
    assert interface["subnetIds"] == ["atlas-use1-intra-a-id"]
    assert interface["securityGroupIds"] == ["atlas-use1-endpoints-id"]


EXISTING = {
    "vpc": "vpc-0123456789abcdef0",
    "private_subnet": "subnet-0123456789abcdef0",
    "public_subnet": "subnet-0fedcba9876543210",
    "security_groups": ["sg-0123456789abcdef0"],
}


def test_in_a_vpc_that_exists_only_groups_and_names_are_made(declare: Record) -> None:
    network = {"existing": EXISTING, "endpoints": ["s3", "ssm"], "ssh_from": ["8.8.8.0/24"]}
    seen = declare("aws-network", a_plan(login=LOGIN, network=network))

    for token in ("Vpc", "Subnet", "RouteTable", "NatGateway", "InternetGateway", "VpcEndpoint"):
        assert seen.of(token) == [], token
    assert seen.of("DefaultSecurityGroup") == []
    assert {r.name: r.inputs["vpcId"] for r in seen.of("SecurityGroup")} == {
        "atlas-use1-cluster": EXISTING["vpc"],
        "atlas-use1-login": EXISTING["vpc"],
    }
    assert seen.one("Zone").inputs["vpcs"] == [{"vpcId": EXISTING["vpc"]}]


def test_hosts_stand_in_the_subnets_and_groups_that_exist(declare: Record) -> None:
    network = {"existing": EXISTING, "ssh_from": ["8.8.8.0/24"]}
    plan = a_plan(login=LOGIN, network=network, file_systems=(a_file_system(),))
    seen, storage = declare("aws-cluster", plan), declare("aws-storage", plan)
    mine = EXISTING["security_groups"]

    private, public = EXISTING["private_subnet"], EXISTING["public_subnet"]
    assert seen.one("Group").inputs["vpcZoneIdentifiers"] == [private]
    assert seen.one("Instance", "atlas-use1-head-1").inputs["subnetId"] == private
    login = seen.one("Instance", "atlas-use1-login-1").inputs
    assert (login["subnetId"], login["associatePublicIpAddress"]) == (public, True)
    assert login["vpcSecurityGroupIds"] == ["sg-login", *mine]
    interfaces = seen.one("LaunchTemplate").inputs["networkInterfaces"]
    assert {tuple(one["securityGroups"]) for one in interfaces} == {("sg-cluster", *mine)}
    assert storage.one("LustreFileSystem").inputs["subnetIds"] == private


def test_names_of_endpoints_are_asked_for_in_partitions_that_have_others(declare: Record) -> None:
    network = {"endpoints": ["s3", "ssm"], "availability_zones": ["cn-north-1a"]}
    seen = declare("aws-network", a_plan(region="cn-north-1", network=network))

    assert {r.inputs["serviceName"] for r in seen.of("VpcEndpoint")} == {
        "Gateway of s3",
        "Interface of ssm",
    }


def test_the_zone_is_private(declare: Record) -> None:
    zone = declare("aws-network", a_plan()).one("Zone")

    assert zone.inputs["vpcs"] == [{"vpcId": "atlas-use1-vpc-id"}]


def test_the_ground_of_file_systems_is_protected_with_them(declare: Record) -> None:
    with_storage = a_plan(file_systems=(a_file_system(),), login=LOGIN)

    def protected(plan: AwsSitePlan, **options: bool) -> set[str]:
        return {r.name for r in declare("aws-network", plan, **options).resources if r.protect}

    assert protected(with_storage) == {
        "atlas-use1-vpc",
        "atlas-use1-private-a",
        "atlas-use1-cluster",
    }
    assert protected(with_storage, protect=False) == set()
    assert protected(a_plan()) == set()


# --- cluster


def test_one_fleet_of_fixed_size_per_node_group(declare: Record) -> None:
    seen = declare("aws-cluster", a_plan(a_group(count=16), a_group(name="spare", count=2)))

    assert {
        r.name: (r.inputs["minSize"], r.inputs["maxSize"], r.inputs["desiredCapacity"])
        for r in seen.of("Group")
    } == {"atlas-use1-gpu": (16, 16, 16), "atlas-use1-spare": (2, 2, 2)}
    assert {tuple(r.inputs["vpcZoneIdentifiers"]) for r in seen.of("Group")} == {
        ("subnet-private",)
    }


def test_no_group_chooses_which_of_its_nodes_goes(declare: Record) -> None:
    group = declare("aws-cluster", a_plan()).one("Group").inputs
    assert group["protectFromScaleIn"] is True
    assert set(group["suspendedProcesses"]) == {"AZRebalance", "ReplaceUnhealthy"}


def test_the_deployed_template_is_the_planned_one(declare: Record) -> None:
    template = declare("aws-cluster", a_plan()).one("LaunchTemplate").inputs
    efa = [nic for nic in template["networkInterfaces"] if nic["interfaceType"] == "efa-only"]

    assert [(nic["networkCardIndex"], nic["deviceIndex"]) for nic in efa] == [
        (0, 1),
        *((card, 0) for card in range(1, 32)),
    ]
    assert template["metadataOptions"]["httpTokens"] == "required"
    assert template["blockDeviceMappings"][0]["ebs"]["encrypted"] == "true"
    assert template["placement"] == {"groupName": "atlas-use1-gpu"}


def test_a_capacity_block_declares_no_placement_group(declare: Record) -> None:
    capacity = {
        "kind": "capacity-block",
        "id": "cr-0123456789abcdef0",
        "instances": 16,
        "ends": "2026-12-24T11:30:00Z",
    }
    seen = declare("aws-cluster", a_plan(a_group(capacity=capacity)))

    assert seen.of("PlacementGroup") == []
    template = seen.one("LaunchTemplate").inputs
    assert template["instanceMarketOptions"] == {"marketType": "capacity-block"}
    assert "placementGroup" not in seen.one("Group").inputs


def test_a_public_parameter_names_the_image(declare: Record) -> None:
    image = "ssm:/aws/service/deeplearning/ami/x86_64/base/latest/ami-id"
    seen = declare("aws-cluster", a_plan(a_group(image=image)))

    assert seen.one("LaunchTemplate").inputs["imageId"] == "ami-00000000000000001"


def test_login_nodes_stand_in_public_only_when_reached_from_outside(declare: Record) -> None:
    outside = a_plan(network={"ssh_from": ["203.0.112.0/24"]}, login=LOGIN)
    inside = a_plan(network={"ssh_from": ["10.0.0.0/8"]}, login=LOGIN)

    def of_login(plan: AwsSitePlan) -> tuple[str, bool]:
        inputs = declare("aws-cluster", plan).one("Instance", "atlas-use1-login-1").inputs
        return inputs["subnetId"], inputs["associatePublicIpAddress"]

    assert of_login(outside) == ("subnet-public", True)
    assert of_login(inside) == ("subnet-private", False)


def test_the_head_node_has_a_private_name_and_no_ssh_group(declare: Record) -> None:
    seen = declare("aws-cluster", a_plan(login=LOGIN))
    head = seen.one("Instance", "atlas-use1-head-1").inputs

    assert head["vpcSecurityGroupIds"] == ["sg-cluster"]
    assert head["rootBlockDevice"]["encrypted"] is True
    assert seen.one("Record", "atlas-use1-head-1").inputs["name"] == "head-1.atlas.internal"


def test_head_nodes_are_protected_from_termination_and_login_nodes_are_not(declare: Record) -> None:
    seen = declare("aws-cluster", a_plan(login=LOGIN))
    head = seen.one("Instance", "atlas-use1-head-1").inputs
    login = seen.one("Instance", "atlas-use1-login-1").inputs

    assert head["disableApiTermination"] is True
    assert "disableApiTermination" not in login


def test_the_state_of_a_head_node_lies_on_a_volume_that_outlives_it(declare: Record) -> None:
    seen = declare("aws-storage", a_plan(head=HEAD))
    volume = seen.one("Volume", "atlas-use1-head-1-data")

    assert (volume.protect, volume.retain_on_delete) == (True, True)
    assert (volume.inputs["type"], volume.inputs["size"]) == ("gp3", 200)
    assert (volume.inputs["iops"], volume.inputs["throughput"]) == (3000, 125)
    assert volume.inputs["encrypted"] is True
    assert volume.inputs["availabilityZone"] == "us-east-1a"
    assert not {"kmsKeyId", "snapshotId"} & volume.inputs.keys()

    policy = seen.one("LifecyclePolicy").inputs["policyDetails"]
    (key, value) = next(iter(policy["targetTags"].items()))
    assert volume.inputs["tags"][key] == value
    (schedule,) = policy["schedules"]
    assert schedule["createRule"] == {"interval": 24, "intervalUnit": "HOURS", "times": "03:30"}
    assert schedule["retainRule"] == {"count": 14}


def test_a_volume_has_the_snapshot_and_the_key_that_it_is_given(declare: Record) -> None:
    key = "arn:aws:kms:us-east-1:111122223333:key/one"
    data = {"snapshot": "snap-0123456789abcdef0", "encryption_key": key, "snapshots": None}
    other = {"access": {"encryption_key": key.replace("one", "other")}}
    seen = declare("aws-storage", a_plan(head=HEAD | {"data_volume": data}, **other))
    volume = seen.one("Volume")

    assert (volume.inputs["snapshotId"], volume.inputs["kmsKeyId"]) == (data["snapshot"], key)
    assert "rackwright:snapshots" not in volume.inputs["tags"]
    assert seen.of("LifecyclePolicy") + seen.of("Role") == []
    of_site = declare("aws-storage", a_plan(head=HEAD, **other)).one("Volume")
    assert of_site.inputs["kmsKeyId"].endswith("/other")


def test_a_head_node_is_stopped_before_its_volume_leaves_it(declare: Record) -> None:
    seen = declare("aws-cluster", a_plan(head=HEAD))
    attached = seen.one("VolumeAttachment", "atlas-use1-head-1-data").inputs

    assert attached["volumeId"] == "vol-0123456789abcdef0"
    assert attached["instanceId"] == "atlas-use1-head-1-id"
    assert attached["stopInstanceBeforeDetaching"] is True
    assert seen.one("Instance", "atlas-use1-head-1").inputs["disableApiTermination"] is True
    assert seen.one("InstanceState", "atlas-use1-head-1-running-blank").inputs["state"] == "running"
    assert declare("aws-cluster", a_plan()).of("VolumeAttachment") == []


def test_another_image_is_for_head_nodes_that_have_a_volume_of_their_own(declare: Record) -> None:
    """Nothing else says what an instance keeps whatever the blueprint says later."""

    def ignored(**head: Any) -> set[str]:
        plan = a_plan(head=LOGIN | head)
        return set(declare("aws-cluster", plan).one("Instance").ignore_changes)

    volume: dict[str, Any] = {"data_volume": {}}
    assert ignored() == {"userData", "ami", "keyName"}
    assert ignored(**volume) == {"userData"}
    assert ignored(**volume, image="ssm:/aws/service/image") == {"userData", "ami"}


def test_imported_resources_stay_unchanged(declare: Record) -> None:
    system = a_file_system(efa=False, data_repositories=(a_repository(),))
    plan = a_plan(head=HEAD, file_systems=(system,))
    every = {
        "Key atlas-use1-storage": "key-1",
        "Alias atlas-use1-storage": "alias/atlas-use1-storage",
        "LustreFileSystem atlas-use1-scratch": "fs-1",
        "DataRepositoryAssociation atlas-use1-scratch-data0": "dra-1",
        "Bucket atlas-use1-atlas-data": "atlas-data",
        "Volume atlas-use1-head-1-data": "vol-1",
    }
    seen = declare("aws-storage", plan, adopted=every).resources
    taken = {f"{r.type.rsplit(':', 1)[-1]} {r.name}": r for r in seen if r.import_id}
    assert {name: r.import_id for name, r in taken.items()} == every
    assert all((r.ignore_changes, r.protect) == (("*",), True) for r in taken.values())

    one = {"Bucket atlas-use1-atlas-data": "atlas-data"}
    seen = declare("aws-storage", plan, adopted=one).resources
    assert [r.name for r in seen if r.import_id or "*" in r.ignore_changes] == [
        "atlas-use1-atlas-data"
    ]


def test_instances_may_read_their_own_parameters_only(declare: Record) -> None:
    """A policy of AWS, which lets them read every parameter of the account, was attached."""
    seen = declare("aws-cluster", a_plan())
    policy = seen.one("RolePolicy", "atlas-use1-node-parameters").inputs["policy"]
    _, statement = json.loads(policy)["Statement"]

    assert all(action.startswith("ssm:Get") for action in statement["Action"])
    path = "arn:aws:ssm:us-east-1:123456789012:parameter/rackwright/atlas/use1"
    assert set(statement["Resource"]) == {
        *(f"{path}/{name}" for name in ("network", "storage", "cluster", "node", "node/*")),
    }
    assert seen.of("RolePolicyAttachment") == []


def test_head_login_and_compute_nodes_have_roles_apart(declare: Record) -> None:
    seen = declare("aws-cluster", a_plan(login=LOGIN))

    assert {r.inputs["name"] for r in seen.of("Role")} == {
        "atlas-use1-head",
        "atlas-use1-login",
        "atlas-use1-node",
    }
    for host in ("head", "login"):
        instance = seen.one("Instance", f"atlas-use1-{host}-1").inputs
        assert instance["iamInstanceProfile"] == f"atlas-use1-{host}"
    template = seen.one("LaunchTemplate").inputs
    assert template["iamInstanceProfile"] == {"arn": "arn:aws:mock:::atlas-use1-node-profile"}


def test_a_boundary_holds_for_every_role_that_is_made(declare: Record) -> None:
    boundary = "arn:aws:iam::123456789012:policy/boundary"
    access = {"permissions_boundary": boundary, "instance_profiles": {"node": "corp-node"}}
    seen = declare("aws-cluster", a_plan(login=LOGIN, access=access))

    assert {r.name: r.inputs["permissionsBoundary"] for r in seen.of("Role")} == {
        "atlas-use1-head": boundary,
        "atlas-use1-login": boundary,
    }
    template = seen.one("LaunchTemplate").inputs
    assert template["iamInstanceProfile"] == {"name": "corp-node"}


def test_one_key_of_the_owner_encrypts_volumes_file_systems_and_buckets(declare: Record) -> None:
    key = "arn:aws:kms:us-east-1:123456789012:key/1234"
    system = a_file_system(data_repositories=(a_repository(),))
    plan = a_plan(login=LOGIN, file_systems=(system,), access={"encryption_key": key})
    nodes, storage = declare("aws-cluster", plan), declare("aws-storage", plan)

    (device,) = nodes.one("LaunchTemplate").inputs["blockDeviceMappings"]
    assert device["ebs"]["kmsKeyId"] == key
    for instance in nodes.of("Instance"):
        assert instance.inputs["rootBlockDevice"]["kmsKeyId"] == key
    assert storage.one("LustreFileSystem").inputs["kmsKeyId"] == key
    assert storage.of("Key") == []
    (rule,) = storage.one("BucketServerSideEncryptionConfiguration").inputs["rules"]
    assert rule["applyServerSideEncryptionByDefault"] == {
        "sseAlgorithm": "aws:kms",
        "kmsMasterKeyId": key,
    }


def test_a_bucket_has_account_and_region_in_its_name_where_asked(declare: Record) -> None:
    repository = a_repository(bucket="data-{account}-{region}")
    seen = declare(
        "aws-storage", a_plan(file_systems=(a_file_system(data_repositories=(repository,)),))
    )
    name = "data-123456789012-us-east-1"

    assert seen.one("Bucket").inputs["bucket"] == name
    (statement,) = json.loads(seen.one("BucketPolicy").inputs["policy"])["Statement"]
    assert statement["Resource"] == [f"arn:aws:s3:::{name}", f"arn:aws:s3:::{name}/*"]
    association = seen.one("DataRepositoryAssociation").inputs
    assert association["dataRepositoryPath"] == f"s3://{name}/set0"
    assert "{" not in "".join(seen.names)


def test_the_parameter_tells_the_configuration_step_what_there_is(declare: Record) -> None:
    plan = a_plan(file_systems=(a_file_system(),))
    parameter = declare("aws-cluster", plan).one("Parameter").inputs
    value = json.loads(parameter["value"])

    assert parameter["name"] == "/rackwright/atlas/use1/cluster"
    assert value["node_groups"]["gpu"]["launches"]["efa_interfaces"] == 32
    assert "type" not in value["node_groups"]["gpu"], "what runs may be of another type still"
    assert value["servers"]["head"]["private_ips"] == {"head-1": "10.20.0.9"}
    assert value["file_systems"] == {"scratch": {"id": "fs-1"}}


# --- storage


def test_the_file_system_is_efa_enabled_with_metadata_and_encryption(declare: Record) -> None:
    seen = declare("aws-storage", a_plan(file_systems=(a_file_system(),)))
    system = seen.one("LustreFileSystem").inputs

    assert system["deploymentType"] == "PERSISTENT_2"
    assert system["efaEnabled"] is True
    assert system["metadataConfiguration"] == {"mode": "AUTOMATIC"}
    assert (system["storageCapacity"], system["perUnitStorageThroughput"]) == (38400, 250)
    assert system["kmsKeyId"] == "arn:aws:mock:::atlas-use1-storage"
    assert system["securityGroupIds"] == ["atlas-use1-lustre-id", "sg-cluster"]


def test_without_efa_the_file_system_keeps_to_the_lustre_ports(declare: Record) -> None:
    seen = declare("aws-storage", a_plan(file_systems=(a_file_system(efa=False),)))
    ingress = [r.inputs for r in seen.of("SecurityGroupIngressRule")]

    assert seen.one("LustreFileSystem").inputs["securityGroupIds"] == ["atlas-use1-lustre-id"]
    assert sorted({(rule["fromPort"], rule["toPort"]) for rule in ingress}) == [
        (988, 988),
        (1018, 1023),
    ]


def test_resources_with_data_are_protected_and_retained(declare: Record) -> None:
    plan = a_plan(file_systems=(a_file_system(data_repositories=(a_repository(),)),))
    seen = declare("aws-storage", plan)
    precious = [
        seen.one(token)
        for token in ("LustreFileSystem", "Bucket", "Key", "DataRepositoryAssociation")
    ]

    assert all(r.protect and r.retain_on_delete for r in precious)
    lifted = declare("aws-storage", plan, protect=False).one("LustreFileSystem")
    assert (lifted.protect, lifted.retain_on_delete) == (False, True)


def test_two_prefixes_share_one_closed_bucket(declare: Record) -> None:
    repositories = (a_repository(1), a_repository(2))
    plan = a_plan(file_systems=(a_file_system(data_repositories=repositories),))
    seen = declare("aws-storage", plan)

    assert seen.one("Bucket").inputs["bucket"] == "atlas-data"
    assert {r.inputs["dataRepositoryPath"] for r in seen.of("DataRepositoryAssociation")} == {
        "s3://atlas-data/set1",
        "s3://atlas-data/set2",
    }
    assert seen.one("BucketVersioning").inputs["versioningConfiguration"] == {"status": "Enabled"}
    assert all(
        seen.one("BucketPublicAccessBlock").inputs[key]
        for key in ("blockPublicAcls", "blockPublicPolicy", "ignorePublicAcls")
    )
    (statement,) = json.loads(seen.one("BucketPolicy").inputs["policy"])["Statement"]
    assert statement["Effect"] == "Deny"
    assert statement["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}


def test_old_versions_of_a_bucket_are_removed_after_the_longest_time_of_its_links(
    declare: Record,
) -> None:
    repositories = (
        a_repository(1, keep_versions="7 d"),
        a_repository(2, keep_versions="30 d"),
    )
    plan = a_plan(file_systems=(a_file_system(data_repositories=repositories),))
    lifecycle = declare("aws-storage", plan).one("BucketLifecycleConfiguration")
    (rule,) = lifecycle.inputs["rules"]
    assert rule["noncurrentVersionExpiration"] == {"noncurrentDays": 30}
    assert (lifecycle.protect, lifecycle.retain_on_delete) == (False, False)


@pytest.mark.parametrize("kept", [{}, {"keep_versions": "forever"}])
def test_a_bucket_that_keeps_all_versions_has_no_lifecycle(
    kept: dict[str, str], declare: Record
) -> None:
    repositories = (a_repository(1, keep_versions="7 d"), a_repository(2, **kept))
    plan = a_plan(file_systems=(a_file_system(data_repositories=repositories),))
    assert declare("aws-storage", plan).of("BucketLifecycleConfiguration") == []


@pytest.mark.parametrize(("how", "grants"), [("grant", 1), ("key-policy", 0), (None, 0)])
def test_auto_scaling_may_use_the_key_of_volumes_before_the_first_launch(
    how: str | None, grants: int, declare: Record
) -> None:
    key = "arn:aws:kms:us-east-1:123456789012:key/one"
    access = {"encryption_key": key} | ({} if how is None else {"key_for_auto_scaling": how})
    seen = declare("aws-cluster", a_plan(access=access))
    made = seen.of("Grant")
    assert len(made) == grants
    for one in made:
        assert one.inputs["keyId"] == key
        assert one.inputs["granteePrincipal"].endswith(
            ":role/aws-service-role/autoscaling.amazonaws.com/AWSServiceRoleForAutoScaling"
        )
        assert {"CreateGrant", "Decrypt", "GenerateDataKeyWithoutPlaintext"} <= set(
            one.inputs["operations"]
        )


def test_an_existing_bucket_is_left_alone(declare: Record) -> None:
    repository = a_repository(create_bucket=False)
    plan = a_plan(file_systems=(a_file_system(data_repositories=(repository,)),))
    seen = declare("aws-storage", plan)

    assert seen.of("Bucket") == []
    assert len(seen.of("DataRepositoryAssociation")) == 1


def test_a_site_without_file_systems_has_no_storage_resources(declare: Record) -> None:
    assert declare("aws-storage", a_plan()).of("Key") == []


# --- stability


def test_names_do_not_depend_on_order(declare: Record) -> None:
    first, second = a_group(name="a"), a_group(name="b", count=2)

    assert (
        declare("aws-cluster", a_plan(first, second)).names
        == declare("aws-cluster", a_plan(second, first)).names
    )


def test_a_renamed_resource_keeps_its_former_name_as_alias(
    declare: Record, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tags, "FORMER_NAMES", {"vpc": ("main",)})
    seen = declare("aws-network", a_plan())

    assert seen.one("Vpc").aliases == ("atlas-use1-main",)
    assert seen.one("Zone").aliases == ()


# --- the harness itself


def test_a_failure_in_an_output_is_never_lost(recorded: Record) -> None:
    def fails() -> None:
        def refuse(value: str) -> str:
            raise AssertionError(f"'{value}' is wrong")

        pulumi.export("x", pulumi.Output.from_input("value").apply(refuse))

    with pytest.raises(AssertionError, match="is wrong"):
        recorded(fails)


def test_a_missing_lookup_fails_the_program(recorded: Record) -> None:
    def broken(kind: str, name: str) -> pulumi.Output[Any]:
        empty: dict[str, Any] = {}
        return pulumi.Output.from_input(empty).apply(lambda outputs: outputs[name])

    args = SiteArgs(plan=a_plan(), cluster="atlas")

    def program() -> None:
        Cluster("aws-cluster", args, {}, broken)

    with pytest.raises(KeyError):
        recorded(program)
