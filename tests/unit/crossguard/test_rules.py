"""Rules over declared resources: each passes, fails and admits that it does not know."""

from __future__ import annotations

from typing import Any

import pytest

from rackwright.crossguard.decode import UNKNOWN
from rackwright.crossguard.rules import RULES, DeclaredResource

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
