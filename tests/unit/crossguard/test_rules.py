"""Rules over declared resources: each passes, fails and admits that it does not know."""

from __future__ import annotations

from typing import Any

import pytest
from google.protobuf.struct_pb2 import Struct
from pulumi.runtime.proto import analyzer_pb2

from rackwright.crossguard.decode import UNKNOWN
from rackwright.crossguard.rules import RULES, DeclaredResource
from rackwright.crossguard.server import Analyzer

TEMPLATE = "aws:ec2/launchTemplate:LaunchTemplate"
INSTANCE = "aws:ec2/instance:Instance"
INGRESS = "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule"
GROUP = "aws:ec2/securityGroup:SecurityGroup"
ELASTIC = "aws:efs/fileSystem:FileSystem"
LUSTRE = "aws:fsx/lustreFileSystem:LustreFileSystem"


def outcomes(rule_id: str, token: str, *, protect: bool = False, **inputs: Any) -> list[str]:
    rule = next(rule for rule in RULES if rule.id == rule_id)
    assert token in rule.types
    return [v.outcome for v in rule.check(DeclaredResource(token, "urn", "name", inputs, protect))]


@pytest.mark.parametrize(
    ("rule", "token", "inputs", "expected"),
    [
        ("RES-001", TEMPLATE, {"metadataOptions": {"httpTokens": "required"}}, []),
        ("RES-001", TEMPLATE, {"metadataOptions": {"httpTokens": "optional"}}, ["fail"]),
        ("RES-001", TEMPLATE, {}, ["fail"]),
        ("RES-001", TEMPLATE, {"metadataOptions": UNKNOWN}, ["unknown"]),
        ("RES-002", TEMPLATE, {"blockDeviceMappings": [{"ebs": {"encrypted": "true"}}]}, []),
        ("RES-002", TEMPLATE, {"blockDeviceMappings": [{"ebs": {}}]}, ["fail"]),
        (
            "RES-002",
            TEMPLATE,
            {"blockDeviceMappings": [{"ebs": {"encrypted": UNKNOWN}}]},
            ["unknown"],
        ),
        ("RES-002", INSTANCE, {"rootBlockDevice": {"encrypted": True}}, []),
        ("RES-002", INSTANCE, {}, ["fail"]),
        ("RES-003", INGRESS, {"cidrIpv4": "10.0.0.0/8"}, []),
        ("RES-003", INGRESS, {"cidrIpv4": "0.0.0.0/0"}, ["fail"]),
        ("RES-003", INGRESS, {"cidrIpv6": "::/0"}, ["fail"]),
        ("RES-003", INGRESS, {"cidrIpv4": UNKNOWN}, ["unknown"]),
        ("RES-003", GROUP, {"ingress": [{"cidrBlocks": ["10.0.0.0/8", "0.0.0.0/0"]}]}, ["fail"]),
        ("RES-003", GROUP, {"ingress": UNKNOWN}, ["unknown"]),
    ],
)
def test_rule(rule: str, token: str, inputs: dict[str, Any], expected: list[str]) -> None:
    assert outcomes(rule, token, **inputs) == expected


def test_storage_is_protected() -> None:
    assert outcomes("RES-004", LUSTRE, protect=True) == []
    assert outcomes("RES-004", LUSTRE, protect=False) == ["fail"]
    assert outcomes("RES-004", ELASTIC, protect=False) == ["fail"]


def test_ids_are_unique() -> None:
    assert len({rule.id for rule in RULES}) == len(RULES)


RULE = "aws:ec2/securityGroupRule:SecurityGroupRule"
DEFAULT_GROUP = "aws:ec2/defaultSecurityGroup:DefaultSecurityGroup"
SSH = {"fromPort": 22, "toPort": 22, "protocol": "tcp"}


@pytest.mark.parametrize(
    ("token", "inputs"),
    [
        (RULE, {"type": "ingress", **SSH, "cidrBlocks": ["0.0.0.0/0"]}),
        (GROUP, {"ingress": [{**SSH, "cidrBlocks": ["0.0.0.0/1", "128.0.0.0/1"]}]}),
        (
            GROUP,
            {
                "ingress": [
                    {**SSH, "cidrBlocks": ["0.0.0.0/1"]},
                    {**SSH, "cidrBlocks": ["128.0.0.0/2"]},
                ]
            },
        ),
        (GROUP, {"ingress": [{**SSH, "ipv6CidrBlocks": ["0::/0"]}]}),
        (DEFAULT_GROUP, {"ingress": [{"protocol": -1, "cidrBlocks": ["0.0.0.0/0"]}]}),
        (INGRESS, {**SSH, "cidrIpv4": "64.0.0.0/2"}),
    ],
)
def test_internet_is_found_in_every_resource_and_form(token: str, inputs: dict[str, Any]) -> None:
    assert outcomes("RES-003", token, **inputs) == ["fail"]
    assert outcomes("RES-005", token, **inputs) == []


@pytest.mark.parametrize(
    ("token", "inputs"),
    [
        (RULE, {"type": "egress", **SSH, "cidrBlocks": ["0.0.0.0/0"]}),
        (GROUP, {"ingress": [{**SSH, "cidrBlocks": ["10.0.0.0/8", "198.51.100.0/24"]}]}),
        (GROUP, {"ingress": [{**SSH, "ipv6CidrBlocks": ["fc00::/7"]}]}),
    ],
)
def test_networks_of_ones_own_are_not_the_internet(token: str, inputs: dict[str, Any]) -> None:
    assert outcomes("RES-003", token, **inputs) == []


def test_open_web_ports_are_advice() -> None:
    web = {"fromPort": 443, "toPort": 443, "protocol": "tcp", "cidrBlocks": ["0.0.0.0/0"]}
    assert outcomes("RES-003", GROUP, ingress=[web]) == []
    assert outcomes("RES-005", GROUP, ingress=[web]) == ["fail"]
    assert not next(rule for rule in RULES if rule.id == "RES-005").mandatory


def test_instance_takes_what_it_leaves_out_from_its_launch_template() -> None:
    from_template: dict[str, Any] = {"launchTemplate": {"id": "lt-1"}}
    for rule in RULES[:2]:
        beside = DeclaredResource(INSTANCE, "u", "n", from_template, has_templates=True)
        assert list(rule.check(beside)) == []
        (told,) = rule.check(DeclaredResource(INSTANCE, "u", "n", from_template))
        assert (told.outcome, told.advice) == ("unknown", True)
    open_options: dict[str, Any] = {"metadataOptions": {"httpTokens": "optional"}}
    assert outcomes("RES-001", INSTANCE, **from_template, **open_options) == ["fail"]


@pytest.mark.parametrize(
    "token",
    [
        "aws:ec2/launchConfiguration:LaunchConfiguration",
        "aws:ec2/spotInstanceRequest:SpotInstanceRequest",
    ],
)
def test_hosts_of_other_resources_are_judged_alike(token: str) -> None:
    assert outcomes("RES-001", token) == ["fail"]
    assert outcomes("RES-002", token) == ["fail"]


def test_volumes_and_databases_are_encrypted() -> None:
    assert outcomes("RES-002", "aws:ebs/volume:Volume", encrypted=False) == ["fail"]
    assert outcomes("RES-002", "aws:ebs/volume:Volume", encrypted=True) == []
    assert outcomes("RES-002", "aws:rds/instance:Instance", storageEncrypted=False) == ["fail"]
    assert outcomes("RES-002", "aws:rds/cluster:Cluster", storageEncrypted=True) == []


@pytest.mark.parametrize(
    "token",
    [
        "aws:s3/bucketV2:BucketV2",
        "aws:fsx/openZfsFileSystem:OpenZfsFileSystem",
        "aws:rds/instance:Instance",
    ],
)
def test_every_kind_of_storage_is_protected(token: str) -> None:
    assert outcomes("RES-004", token) == ["fail"]
    assert outcomes("RES-004", token, protect=True) == []


def test_bucket_without_protection_is_advice() -> None:
    """S3 deletes no bucket that has objects, and buckets of websites and tests are no records."""
    rule = next(rule for rule in RULES if rule.id == "RES-004")
    kinds = ("aws:s3/bucketV2:BucketV2", "aws:s3/bucket:Bucket", "aws-native:s3:Bucket", ELASTIC)
    told = [next(rule.check(DeclaredResource(kind, "u", "n", {}))).advice for kind in kinds]
    assert told == [True, True, True, False]


def test_bucket_whose_content_may_go_needs_no_protection() -> None:
    assert outcomes("RES-004", "aws:s3/bucketV2:BucketV2", forceDestroy=True) == []


def test_launch_template_of_the_program_answers_for_its_instances() -> None:
    def told(analyzer: Analyzer, kind: str, **inputs: Any) -> list[tuple[str, int]]:
        properties = Struct()
        properties.update(inputs)
        request: Any = analyzer_pb2.AnalyzeRequest(type=kind, urn="u", properties=properties)
        found = analyzer.Analyze(request, None).diagnostics
        return [(one.policyName, one.enforcementLevel) for one in found]

    alone, together = Analyzer(), Analyzer()
    hardened = {
        "metadataOptions": {"httpTokens": "required"},
        "blockDeviceMappings": [{"deviceName": "/dev/xvda", "ebs": {"encrypted": "true"}}],
    }
    assert told(together, TEMPLATE, **hardened) == []
    assert told(together, INSTANCE, launchTemplate={"id": "lt-1"}) == []
    assert told(alone, INSTANCE, launchTemplate={"id": "lt-1"}) == [
        ("RES-001", analyzer_pb2.ADVISORY),
        ("RES-002", analyzer_pb2.ADVISORY),
    ]


EVERYWHERE = {"ipProtocol": "tcp", "fromPort": 22, "toPort": 22, "cidrIp": "0.0.0.0/0"}


@pytest.mark.parametrize(
    ("rule", "token", "inputs", "expected"),
    [
        ("RES-003", "aws-native:ec2:SecurityGroup", {"securityGroupIngress": [EVERYWHERE]}, ["fail"]),
        ("RES-003", "aws-native:ec2:SecurityGroupIngress", EVERYWHERE, ["fail"]),
        ("RES-003", "aws-native:ec2:SecurityGroupIngress", {**EVERYWHERE, "cidrIp": "10.0.0.0/8"}, []),
        ("RES-001", "aws-native:ec2:LaunchTemplate", {"launchTemplateData": {}}, ["fail"]),
        ("RES-001", "aws-native:ec2:LaunchTemplate",
         {"launchTemplateData": {"metadataOptions": {"httpTokens": "required"}}}, []),
        ("RES-002", "aws-native:ec2:LaunchTemplate",
         {"launchTemplateData": {"blockDeviceMappings": [{"ebs": {"encrypted": False}}]}}, ["fail"]),
        ("RES-002", "aws-native:ec2:Instance", {}, ["fail"]),
        ("RES-002", "aws-native:ec2:Instance", {"blockDeviceMappings": [{"ebs": {"encrypted": True}}]}, []),
        ("RES-002", "aws-native:ec2:Volume", {"encrypted": UNKNOWN}, ["unknown"]),
        ("RES-002", "aws-native:rds:DbInstance", {"storageEncrypted": False}, ["fail"]),
        ("RES-002", ELASTIC, {}, ["fail"]),
        ("RES-002", ELASTIC, {"encrypted": True}, []),
        ("RES-002", "aws:docdb/cluster:Cluster", {}, ["fail"]),
        ("RES-004", "aws-native:s3:Bucket", {}, ["fail"]),
        ("RES-004", "aws:redshift/cluster:Cluster", {}, ["fail"]),
    ],
)  # fmt: skip
def test_resources_of_one_meaning_are_judged_alike(
    rule: str, token: str, inputs: dict[str, Any], expected: list[str]
) -> None:
    assert outcomes(rule, token, **inputs) == expected


@pytest.mark.parametrize(
    ("ports", "expected"),
    [
        ([(22 - at, 22 + at) for at in range(16)], ["fail"]),
        ([(22 + at, 60) for at in range(16)], ["fail"]),
        ([(0, 65535) if at % 2 else (22, 22) for at in range(16)], ["fail"]),
        ([(1000 + at, 1000 + at) for at in range(16)], []),
        ([(22, 22)] * 15 + [(23, 23)], []),
    ],
)
def test_networks_are_joined_at_the_ports_that_their_rules_share(
    ports: list[tuple[int, int]], expected: list[str]
) -> None:
    """Rules were joined where both of their ports were equal, so that 16 ranges around port 22 passed."""
    rules = [
        {"protocol": "tcp", "fromPort": low, "toPort": high, "cidrBlocks": [f"{20 + at}.0.0.0/8"]}
        for at, (low, high) in enumerate(ports)
    ]
    assert outcomes("RES-003", GROUP, ingress=rules) == expected
    assert outcomes("RES-003", GROUP, ingress=rules[::-1]) == expected


def test_rule_of_every_protocol_is_joined_with_those_of_one() -> None:
    rules = [
        {"protocol": "-1", "fromPort": 0, "toPort": 0, "cidrBlocks": [f"{20 + at}.0.0.0/8" for at in range(8)]},
        {"protocol": "tcp", "fromPort": 22, "toPort": 22, "cidrBlocks": [f"{40 + at}.0.0.0/8" for at in range(8)]},
    ]  # fmt: skip
    assert outcomes("RES-003", GROUP, ingress=rules) == ["fail"]
    assert outcomes("RES-003", GROUP, ingress=rules[:1]) == []
