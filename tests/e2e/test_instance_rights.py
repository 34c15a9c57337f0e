"""What head, login and compute nodes may do on AWS, by an evaluator of IAM that is not ours, and by their own calls.

The policies are those that the stacks declare. Every action of AWS is asked for, not only those that somebody
thought of.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import boto3
import pulumi
import pytest
from botocore.exceptions import ClientError

from aws_factories import a_group, a_plan, a_site
from npm_tools import NODE, NPM, ask
from rackwright.components.cluster import Cluster
from rackwright.components.tags import SiteArgs
from rackwright.plan.aws.access import InstanceRole, instance_policy
from rackwright.plan.aws.deployer import DeployerRole, deployer_policy
from rackwright.plan.load import load_plan
from stacks_support import record

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(1800)]
judged = pytest.mark.skipif(NPM is None or NODE is None, reason="npm is not installed")

ACCOUNT, OTHER_ACCOUNT = "123456789012", "999988887777"
IMAGE = "ami-0123456789abcdef0"
UBUNTU = "ssm:/aws/service/canonical/ubuntu/server/22.04/stable/current/amd64/hvm/ebs-gp2/ami-id"
SERVER = {"type": "m7i.4xlarge", "image": IMAGE, "root_volume": "100 GiB"}
OUTPUTS: dict[str, Any] = {
    "vpc_id": "vpc-1",
    "dns_zone_id": "Z1",
    "subnet_ids": {"private-a": "subnet-private", "public-a": "subnet-public"},
    "security_group_ids": {"cluster": "sg-cluster", "login": "sg-login"},
}
ROLES: tuple[InstanceRole, ...] = ("head", "login", "node")
PARTITIONS = [("us-east-1", "aws"), ("us-gov-west-1", "aws-us-gov"), ("cn-north-1", "aws-cn")]

CHANNELS = {
    "ssm:UpdateInstanceInformation",
    "ssmmessages:CreateControlChannel",
    "ssmmessages:CreateDataChannel",
    "ssmmessages:OpenControlChannel",
    "ssmmessages:OpenDataChannel",
}
READS = ("ssm:GetParameter", "ssm:GetParameters", "ssm:GetParametersByPath")
EVERYBODY = {"sts:GetCallerIdentity"}
"""What IAM lets everybody do, whatever policies say."""

OUTPUT_NAMES = ("network", "storage", "cluster")


@functools.cache
def policies(role: InstanceRole, cluster: str = "train", region: str = "us-east-1") -> list[Any]:
    """The policies that the program of the cluster's stack attaches to a role."""
    network = {"availability_zones": [f"{region}a"]}
    plan = a_plan(a_group(), region=region, network=network, login=SERVER)
    args = SiteArgs(plan=plan, cluster=cluster, owner="ops")

    def lookup(kind: str, name: str) -> pulumi.Output[Any]:
        return pulumi.Output.from_input(OUTPUTS[name])

    def program() -> None:
        Cluster("aws-cluster", args, {"name": cluster}, lookup)

    seen = record(program)
    assert not seen.of("RolePolicyAttachment")
    assert not seen.of("Policy")
    name = f"{cluster}-use1-{role}"
    attached = [one.inputs for one in seen.of("RolePolicy") if one.inputs["role"] == name]
    assert attached
    return [json.loads(inputs["policy"]) for inputs in attached]


def answers(
    asked: Sequence[tuple[str, str]], found: Sequence[Any], partition: str = "aws"
) -> list[str]:
    """What IAM says to each action on a resource."""
    told = ask("iam_simulate", "judge.cjs", question(found, partition) | {"asked": asked})
    assert len(told) == len(asked)
    return list(told)


def question(found: Sequence[Any], partition: str) -> dict[str, Any]:
    principal = f"arn:{partition}:sts::{ACCOUNT}:assumed-role/train/i-0123456789abcdef0"
    return {"account": ACCOUNT, "principal": principal, "policies": found}


def parameter(name: str, region: str = "us-east-1", partition: str = "aws") -> str:
    return f"arn:{partition}:ssm:{region}:{ACCOUNT}:parameter{name}"


@judged
@pytest.mark.parametrize(
    ("role", "reads"), [("head", set(READS)), ("login", set[str]()), ("node", set(READS))]
)
def test_of_all_that_aws_has_an_instance_may_read_parameters_and_be_reached(
    role: InstanceRole, reads: set[str]
) -> None:
    found = ask("iam_simulate", "judge.cjs", question(policies(role), "aws"))
    assert found["count"] > 15_000
    assert found["other"] == []
    assert set(found["allowed"]) == CHANNELS | EVERYBODY | reads


@judged
@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize(("region", "partition"), PARTITIONS)
def test_a_role_reads_what_is_its_own(role: InstanceRole, region: str, partition: str) -> None:
    site = "/rackwright/train/use1"
    own = {
        "head": [site, *(f"{site}/{name}" for name in (*OUTPUT_NAMES, "head/key", "anything"))],
        "node": [f"{site}/{name}" for name in (*OUTPUT_NAMES, "node", "node/key")],
        "login": [],
    }[role]
    asked = [(action, parameter(name, region, partition)) for name in own for action in READS]
    asked += [(action, "*") for action in sorted(CHANNELS - {"ssm:UpdateInstanceInformation"})]
    told = answers(asked, policies(role, region=region), partition)
    assert dict(zip(asked, told, strict=True)) == dict.fromkeys(asked, "Allowed")


NOT_ITS_OWN = (
    "/rackwright/other/use1/cluster",
    "/rackwright/train-2/use1/cluster",
    "/rackwright/trai/use1/cluster",
    "/rackwright/train/use1-b/cluster",
    "/rackwright/train",
    "/rackwright/train/use2/cluster",
    "/rackwright",
    "/prod/database/password",
)


@judged
@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize(("region", "partition"), PARTITIONS)
def test_a_role_is_refused_parameters_of_others(
    role: InstanceRole, region: str, partition: str
) -> None:
    names = list(NOT_ITS_OWN)
    if role != "head":
        # A path that may be read gives all that is below it, whatever else is said of that.
        names += [
            f"/rackwright/train/use1{end}" for end in ("", "/head", "/head/key", "/login/key")
        ]
    if role == "login":
        names += [f"/rackwright/train/use1/{name}" for name in (*OUTPUT_NAMES, "node/key")]
    asked = [(action, parameter(name, region, partition)) for name in names for action in READS]
    own = parameter("/rackwright/train/use1/cluster", region, partition)
    asked += [
        ("ssm:GetParameter", own.replace(ACCOUNT, OTHER_ACCOUNT)),
        ("ssm:GetParameter", own.replace(region, "eu-west-1")),
        ("ssm:GetParameterHistory", own),
        ("ssm:PutParameter", own),
        ("ssm:DeleteParameter", own),
        ("ssm:DescribeParameters", "*"),
    ]
    told = answers(asked, policies(role, region=region), partition)
    assert dict(zip(asked, told, strict=True)) == dict.fromkeys(asked, "ImplicitlyDenied")


@judged
def test_a_cluster_whose_name_begins_alike_is_another_one() -> None:
    asked = [
        ("ssm:GetParameter", parameter("/rackwright/train/use1/cluster")),
        ("ssm:GetParameter", parameter("/rackwright/train-2/use1/cluster")),
    ]
    one, other = ["Allowed", "ImplicitlyDenied"], ["ImplicitlyDenied", "Allowed"]
    assert answers(asked, policies("node")) == one
    assert answers(asked, policies("node", "train-2")) == other


@judged
@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize(("region", "partition"), PARTITIONS)
def test_a_role_changes_nothing_and_reads_no_data_of_others(
    role: InstanceRole, region: str, partition: str
) -> None:
    here = f"{region}:{ACCOUNT}"
    instance = f"arn:{partition}:ec2:{here}:instance/i-0123456789abcdef0"
    group = f"arn:{partition}:logs:{here}:log-group"
    key = f"arn:{partition}:kms:{here}:key/1234abcd-12ab-34cd-56ef-1234567890ab"
    own_role = f"arn:{partition}:iam::{ACCOUNT}:role/train-use1-{role}"
    asked = [
        ("iam:PassRole", own_role),
        ("iam:PutRolePolicy", own_role),
        ("iam:CreateUser", f"arn:{partition}:iam::{ACCOUNT}:user/somebody"),
        ("iam:ListRoles", "*"),
        ("sts:AssumeRole", f"arn:{partition}:iam::{ACCOUNT}:role/admin"),
        ("ec2:DescribeInstances", "*"),
        ("ec2:TerminateInstances", instance),
        ("ec2:ModifyInstanceMetadataOptions", instance),
        ("ec2:CreateTags", instance),
        ("s3:GetObject", f"arn:{partition}:s3:::other-bucket/data"),
        ("s3:ListAllMyBuckets", "*"),
        ("kms:Decrypt", key),
        ("secretsmanager:GetSecretValue", f"arn:{partition}:secretsmanager:{here}:secret:a-AbCdEf"),
        ("logs:CreateLogGroup", f"{group}:/rackwright/train/use1:*"),
        ("logs:PutLogEvents", f"{group}:/rackwright/train/use1:log-stream:own"),
        ("logs:GetLogEvents", f"{group}:/rackwright/other/use1:log-stream:any"),
        ("ssm:StartSession", instance),
        ("ssm:SendCommand", instance),
    ]
    told = answers(asked, policies(role, region=region), partition)
    assert dict(zip(asked, told, strict=True)) == dict.fromkeys(asked, "ImplicitlyDenied")


ELASTIC = {"rackwright:cluster": "train", "rackwright:site": "use1"}


@judged
@pytest.mark.parametrize(("region", "partition"), PARTITIONS)
def test_the_head_of_elastic_groups_launches_and_ends_its_own_nodes_alone(
    region: str, partition: str
) -> None:
    network = {"availability_zones": [f"{region}a"]}
    site = a_site(a_group(count={"min": 0, "max": 4}), region=region, network=network)
    found = [instance_policy("train", site, ACCOUNT, "head")]
    ec2 = f"arn:{partition}:ec2:{region}:{ACCOUNT}"
    template = f"{ec2}:launch-template/lt-0123456789abcdef0"
    request = {f"aws:RequestTag/{key}": value for key, value in ELASTIC.items()}
    request |= {"aws:RequestTag/rackwright:elastic": "true", "ec2:LaunchTemplate": template}
    resource = {f"aws:ResourceTag/{key}": value for key, value in ELASTIC.items()}
    own = {**resource, "aws:ResourceTag/rackwright:elastic": "true"}
    other = {**own, "aws:ResourceTag/rackwright:cluster": "train-2"}
    instance, role = f"{ec2}:instance/i-0123456789abcdef0", f"arn:{partition}:iam::{ACCOUNT}:role"
    zone = f"arn:{partition}:route53:::hostedzone/Z1"
    suffix = "amazonaws.com.cn" if partition == "aws-cn" else "amazonaws.com"
    passed = {"iam:PassedToService": f"ec2.{suffix}"}
    names = "route53:ChangeResourceRecordSetsNormalizedRecordNames"
    kind = {"route53:ChangeResourceRecordSetsRecordTypes": ["A"]}
    allowed: list[tuple[str, str, dict[str, Any]]] = [
        ("ec2:RunInstances", template, resource),
        ("ec2:RunInstances", f"{ec2}:instance/*", request),
        ("ec2:RunInstances", f"{ec2}:subnet/subnet-0123456789abcdef0", request),
        ("ec2:RunInstances", f"{ec2}:network-interface/*", request),
        ("ec2:RunInstances", f"{ec2}:volume/*", request),
        ("ec2:RunInstances", f"{ec2}:security-group/sg-0123456789abcdef0", request),
        ("ec2:RunInstances", f"{ec2}:placement-group/train-use1-gpu", request),
        ("ec2:RunInstances", f"arn:{partition}:ec2:{region}::image/{IMAGE}", request),
        ("ec2:CreateTags", instance, {"ec2:CreateAction": "RunInstances"}),
        ("ec2:TerminateInstances", instance, own),
        ("ec2:DescribeInstances", "*", {}),
        ("ec2:DescribeInstanceStatus", "*", {}),
        ("ec2:DescribeLaunchTemplateVersions", "*", {}),
        ("iam:PassRole", f"{role}/train-use1-node", passed),
        ("route53:ChangeResourceRecordSets", zone, {names: ["gpu-01.atlas.internal"], **kind}),
    ]
    refused: list[tuple[str, str, dict[str, Any]]] = [
        ("ec2:RunInstances", template, {**resource, "aws:ResourceTag/rackwright:site": "use2"}),
        ("ec2:RunInstances", f"{ec2}:instance/*", {"ec2:LaunchTemplate": template}),
        ("ec2:RunInstances", f"{ec2}:subnet/subnet-0123456789abcdef0", {}),
        ("ec2:CreateTags", instance, {}),
        ("ec2:TerminateInstances", instance, resource),
        ("ec2:TerminateInstances", instance, other),
        ("ec2:StopInstances", instance, own),
        ("ec2:ModifyInstanceAttribute", instance, own),
        ("ec2:CreateLaunchTemplateVersion", template, resource),
        ("iam:PassRole", f"{role}/train-use1-head", passed),
        (
            "iam:PassRole",
            f"{role}/train-use1-node",
            {"iam:PassedToService": "lambda.amazonaws.com"},
        ),
        ("route53:ChangeResourceRecordSets", zone, {names: ["head-1.atlas.internal"], **kind}),
    ]
    told = {
        expected: [
            ask(
                "iam_simulate",
                "judge.cjs",
                question(found, partition) | {"asked": [(action, where)], "context": context},
            )
            for action, where, context in asked
        ]
        for expected, asked in (("Allowed", allowed), ("ImplicitlyDenied", refused))
    }
    assert told["Allowed"] == [["Allowed"]] * len(allowed)
    assert told["ImplicitlyDenied"] == [["ImplicitlyDenied"]] * len(refused)


@judged
def test_the_evaluator_would_have_found_the_policy_that_was_attached_before() -> None:
    """AWS's own policy for Session Manager reads every parameter of the account."""
    former = {
        "Version": "2012-10-17",
        "Statement": [{"Effect": "Allow", "Action": list(READS), "Resource": "*"}],
    }
    asked = [("ssm:GetParameter", parameter("/prod/database/password"))]
    assert answers(asked, [former]) == ["Allowed"]
    assert answers([("ssm:GetParametr", "*")], [former]) not in (["Allowed"], ["ImplicitlyDenied"])


@dataclass(frozen=True)
class Node:
    """Clients with the credentials that an instance of the role has in its metadata."""

    session: boto3.Session
    endpoint: str

    def client(self, service: str) -> Any:
        return self.session.client(service, endpoint_url=self.endpoint)

    def refused(self, service: str, operation: str, **arguments: Any) -> str:
        """The code with which a call is refused, which must be refused."""
        with pytest.raises(ClientError) as told:
            getattr(self.client(service), operation)(**arguments)
        return str(told.value.response["Error"]["Code"])


DENIED = {"AccessDenied", "AccessDeniedException", "UnauthorizedOperation"}


@pytest.fixture(scope="module")
def deployed(lab: Any) -> Any:
    """A cluster that ``up`` has made, with a login node and parameters that others have written."""
    blueprint = lab.blueprint(
        "train", **{"    node_groups:": "    login: *server\n    node_groups:"}
    )
    lab.stacks("up", blueprint, "--yes")
    ssm = lab.client("ssm")
    for name in ("train/cloud/head/key", "train/cloud/node/key", "train-2/cloud/cluster"):
        ssm.put_parameter(Name=f"/rackwright/{name}", Value=name, Type="String")
    return lab


@pytest.fixture(scope="module")
def node_of(deployed: Any) -> Callable[[str], Node]:
    """An instance of a role, by the profile that EC2 has for one that runs."""

    def node(role: str) -> Node:
        iam = deployed.client("iam")
        profile = iam.get_instance_profile(InstanceProfileName=profile_of(deployed, role))
        (found,) = profile["InstanceProfile"]["Roles"]
        assumed = deployed.client("sts").assume_role(
            RoleArn=found["Arn"], RoleSessionName="i-0123456789abcdef0"
        )["Credentials"]
        session = boto3.Session(
            aws_access_key_id=assumed["AccessKeyId"],
            aws_secret_access_key=assumed["SecretAccessKey"],
            aws_session_token=assumed["SessionToken"],
            region_name="us-east-1",
        )
        return Node(session, deployed.endpoint)

    return node


def profile_of(lab: Any, role: str) -> str:
    """The instance profile of an instance that runs."""
    key, value = ("rackwright:node-group", "train") if role == "node" else ("rackwright:role", role)
    filters = [
        {"Name": f"tag:{key}", "Values": [value]},
        {"Name": "instance-state-name", "Values": ["running"]},
    ]
    found = lab.client("ec2").describe_instances(Filters=filters)["Reservations"]
    profiles = {
        one["IamInstanceProfile"]["Arn"].rsplit("/", 1)[-1]
        for reservation in found
        for one in reservation["Instances"]
    }
    assert len(profiles) == 1, profiles
    return str(profiles.pop())


def test_a_compute_node_reads_its_own_parameters_and_nothing_else(
    node_of: Callable[[str], Node],
) -> None:
    node = node_of("node")
    ssm = node.client("ssm")
    for name in ("network", "storage", "cluster", "node/key"):
        assert ssm.get_parameter(Name=f"/rackwright/train/cloud/{name}")["Parameter"]["Value"]
    for name in ("train/cloud/head/key", "train-2/cloud/cluster", "other/cloud/cluster"):
        told = node.refused("ssm", "get_parameter", Name=f"/rackwright/{name}")
        assert told in DENIED, name
    for path in ("/rackwright/train/cloud", "/rackwright/train", "/"):
        told = node.refused("ssm", "get_parameters_by_path", Path=path, Recursive=True)
        assert told in DENIED, path
    both = ["/rackwright/train/cloud/cluster", "/rackwright/train-2/cloud/cluster"]
    assert node.refused("ssm", "get_parameters", Names=both) in DENIED


@pytest.mark.parametrize("role", ROLES)
def test_calls_of_an_instance_that_are_none_of_its_own_are_refused(
    role: InstanceRole, node_of: Callable[[str], Node]
) -> None:
    node = node_of(role)
    assert (
        node.client("sts")
        .get_caller_identity()["Arn"]
        .endswith(f"assumed-role/train-cloud-{role}/i-0123456789abcdef0")
    )
    own = "/rackwright/train/cloud/cluster"
    for service, operation, arguments in (
        ("ssm", "put_parameter", {"Name": own, "Value": "x", "Type": "String", "Overwrite": True}),
        ("ssm", "describe_parameters", {}),
        ("iam", "list_roles", {}),
        ("iam", "create_user", {"UserName": "somebody"}),
        ("ec2", "describe_instances", {}),
        ("ec2", "terminate_instances", {"InstanceIds": ["i-0123456789abcdef0"]}),
        ("autoscaling", "describe_auto_scaling_groups", {}),
        ("s3", "list_buckets", {}),
        ("s3", "get_object", {"Bucket": "other-bucket", "Key": "data"}),
        ("kms", "list_keys", {}),
        ("kms", "decrypt", {"CiphertextBlob": b"x"}),
        ("logs", "describe_log_groups", {}),
        ("logs", "create_log_group", {"logGroupName": "/rackwright/train"}),
        ("fsx", "describe_file_systems", {}),
    ):
        assert node.refused(service, operation, **arguments) in DENIED, operation


def test_the_head_reads_what_is_the_heads_alone_and_login_nodes_read_nothing(
    node_of: Callable[[str], Node],
) -> None:
    head, login = node_of("head").client("ssm"), node_of("login")
    assert head.get_parameter(Name="/rackwright/train/cloud/head/key")["Parameter"]["Value"]
    below = head.get_parameters_by_path(Path="/rackwright/train/cloud", Recursive=True)
    assert len(below["Parameters"]) == 5
    for name in ("cluster", "head/key", "node/key"):
        told = login.refused("ssm", "get_parameter", Name=f"/rackwright/train/cloud/{name}")
        assert told in DENIED
    told = node_of("head").refused("ssm", "get_parameter", Name="/rackwright/train-2/cloud/cluster")
    assert told in DENIED


@judged
@pytest.mark.parametrize("role", ROLES)
def test_what_is_attached_on_aws_is_what_was_judged(role: InstanceRole, deployed: Any) -> None:
    iam, name = deployed.client("iam"), f"train-cloud-{role}"
    assert iam.list_attached_role_policies(RoleName=name)["AttachedPolicies"] == []
    inline = iam.list_role_policies(RoleName=name)["PolicyNames"]
    found = [iam.get_role_policy(RoleName=name, PolicyName=one)["PolicyDocument"] for one in inline]
    told = json.dumps(found).replace("/train/cloud", "/train/use1")
    assert json.loads(told) == policies(role)


S3_ACTIONS = {
    "DeleteBucketLifecycle": "PutLifecycleConfiguration",
    "GetBucketAccelerateConfiguration": "GetAccelerateConfiguration",
    "GetBucketCors": "GetBucketCORS",
    "GetBucketEncryption": "GetEncryptionConfiguration",
    "GetBucketLifecycle": "GetLifecycleConfiguration",
    "GetBucketReplication": "GetReplicationConfiguration",
    "GetObject": "ListTagsForResource",  # S3 Control, whose path looks like that of an object
    "GetObjectLockConfiguration": "GetBucketObjectLockConfiguration",
    "GetPublicAccessBlock": "GetBucketPublicAccessBlock",
    "HeadBucket": "ListBucket",
    "PutBucketEncryption": "PutEncryptionConfiguration",
    "PutBucketLifecycle": "PutLifecycleConfiguration",
    "PutPublicAccessBlock": "PutBucketPublicAccessBlock",
}
"""Actions of IAM that are not called as the operation is (Service Authorization Reference, Amazon S3)."""


@dataclass(frozen=True)
class Life:
    """A cluster that came, grew, was replaced and went, with the calls that AWS saw of it."""

    blueprint: Any
    calls: tuple[str, ...]

    def policy(self, *roles: DeployerRole) -> list[Any]:
        plan = load_plan(self.blueprint).plan
        return [deployer_policy(plan.aws[0], plan.name, role) for role in roles]

    def ask(self, policies: Sequence[Any], actions: Sequence[str], cluster: str = "life") -> Any:
        start = f"arn:aws:iam::{ACCOUNT}:"
        balancing = f"arn:aws:elasticloadbalancing:us-east-1:{ACCOUNT}"
        tags = {"rackwright:cluster": cluster, "rackwright:site": "cloud"}
        names = {
            "iam:role": f"{start}role/{cluster}-cloud-node",
            "iam:instance-profile": f"{start}instance-profile/{cluster}-cloud-node",
            "autoscaling:autoScalingGroup": f"arn:aws:autoscaling:us-east-1:{ACCOUNT}:"
            f"autoScalingGroup:x:autoScalingGroupName/{cluster}-cloud-train",
            "route53:hostedzone": "arn:aws:route53:::hostedzone/Z0123456789",
            "s3:bucket": f"arn:aws:s3:::{cluster}-data",
            "ssm:parameter": parameter(f"/rackwright/{cluster}/cloud/network"),
            "elasticloadbalancing:loadbalancer/net/": f"{balancing}:loadbalancer/net/{cluster}-cloud-login/1",
            "elasticloadbalancing:loadbalancer": f"{balancing}:loadbalancer/net/{cluster}-cloud-login/1",
            "elasticloadbalancing:listener/net": f"{balancing}:listener/net/{cluster}-cloud-login/1/2",
            "elasticloadbalancing:targetgroup": f"{balancing}:targetgroup/{cluster}-cloud-login/3",
            "logs:log-group": f"arn:aws:logs:us-east-1:{ACCOUNT}:log-group:{cluster}-cloud-flow-logs",
            "kms:alias": f"arn:aws:kms:us-east-1:{ACCOUNT}:alias/{cluster}-cloud-storage",
        }
        context = {
            **{f"aws:ResourceTag/{key}": value for key, value in tags.items()},
            **{f"aws:RequestTag/{key}": value for key, value in tags.items()},
            "aws:RequestedRegion": "us-east-1",
            "ec2:CreateAction": "CreateVpc",
            "iam:PassedToService": "ec2.amazonaws.com",
            "route53:ChangeResourceRecordSetsNormalizedRecordNames": [f"a.{cluster}.internal"],
        }
        asked = question(policies, "aws") | {
            "keyPolicy": {
                "Version": "2012-10-17",
                "Statement": [{"Effect": "Allow", "Principal": {"AWS": f"arn:aws:iam::{ACCOUNT}:root"}, "Action": "kms:*", "Resource": "*"}],
            },
            "partition": "aws", "region": "us-east-1", "names": names, "context": context, "needed": list(actions),
        }  # fmt: skip
        return dict(zip(actions, ask("iam_simulate", "judge.cjs", asked), strict=True))


@pytest.fixture(scope="module")
def life(lab: Any) -> Life:
    """A cluster with all that a site on AWS can have, from its first preview to its end."""
    before = len(lab._log())
    server = f"type: m7i.4xlarge, image: '{UBUNTU}', root_volume: 100 GiB, address: load-balancer"
    full = {
        "    head: &server\n": f"    login: {{{server}}}\n    head: &server\n"
        "      data_volume: {size: 100 GiB}\n",
        "  - name: cloud\n": "  - name: cloud\n    efs: [{name: home, mount: /home}]\n",
        "endpoints: [s3]": "endpoints: [s3, ssm]\n      ssh_from: [130.59.0.0/16]\n"
        "      flow_logs: {keep: 30 d}",
        "mount: /scratch": "mount: /scratch\n        data_repositories: "
        "[{bucket: life-data, path: /data, keep_versions: 30 d}]",
    }
    target = ("--target", "local", "--yes")
    made = lab.blueprint("life", **full)
    lab.run("preview", made, "--target", "local")
    lab.run("up", made, *target)
    other = lab.blueprint("life", **full, **{"p5.48xlarge": "p5en.48xlarge"})
    lab.run("up", other, *target, expect=8)
    lab.run("replace", other, "--outdated", *target)
    lab.run("down", other, *target)
    calls = {
        f"{one['service']}:{S3_ACTIONS.get(one['operation'], one['operation']) if one['service'] == 's3' else one['operation']}"
        for one in lab._log()[before:]
        if one["status"] < 400
    }
    return Life(other, tuple(sorted(calls)))


@judged
def test_the_role_that_applies_may_do_all_that_a_cluster_needs(life: Life) -> None:
    assert len(life.calls) > 120
    told = life.ask(life.policy("preview", "apply"), life.calls)
    assert {action: why for action, why in told.items() if why != "Allowed"} == {}


@judged
def test_every_action_of_the_policies_exists_and_is_allowed_on_what_is_the_clusters(
    life: Life,
) -> None:
    policies = life.policy("preview", "apply")
    actions = sorted({one for p in policies for part in p["Statement"] for one in part["Action"]})
    told = life.ask(policies, actions)
    assert "no such action" not in told.values()


@judged
def test_the_role_that_applies_changes_nothing_of_another_cluster(life: Life) -> None:
    policies = life.policy("preview", "apply")
    changes = [
        action
        for action in life.calls
        if action.split(":")[1].startswith(
            ("Delete", "Terminate", "Stop", "Modify", "Detach", "Update")
        )
    ]
    assert len(changes) > 20
    told = life.ask(policies, changes, cluster="other")
    allowed = {action for action, why in told.items() if why == "Allowed"}
    # AWS binds a zone neither to a name nor to tags.
    assert allowed <= {"route53:DeleteHostedZone"}


@judged
def test_the_role_that_previews_changes_nothing(life: Life) -> None:
    found = ask("iam_simulate", "judge.cjs", question(life.policy("preview"), "aws"))
    names = {one.split(":")[1] for one in found["allowed"]} - {"GetCallerIdentity"}
    assert [one for one in names if not one.startswith(("Describe", "Get", "List"))] == []
