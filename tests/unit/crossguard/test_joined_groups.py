"""Rules of one security group in several resources are judged together."""

from __future__ import annotations

from typing import Any

import pytest
from google.protobuf.struct_pb2 import Struct
from pulumi.runtime.proto import analyzer_pb2

from rackwright.crossguard.decode import UNKNOWN_STRING
from rackwright.crossguard.server import Analyzer

INGRESS = "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule"
GROUP = "aws:ec2/securityGroup:SecurityGroup"
RULE = "aws:ec2/securityGroupRule:SecurityGroupRule"
DEFAULT_GROUP = "aws:ec2/defaultSecurityGroup:DefaultSecurityGroup"
NATIVE_GROUP = "aws-native:ec2:SecurityGroup"
NATIVE = "aws-native:ec2:SecurityGroupIngress"
TCP = {"fromPort": 22, "toPort": 22, "ipProtocol": "tcp", "protocol": "tcp", "type": "ingress"}


def _declared(
    kind: str, name: str, inputs: dict[str, Any], depends: dict[str, str] | None = None
) -> Any:
    """Return a resource; ``depends`` has the URNs that an input is made of, with blanks between them."""
    properties = Struct()
    properties.update(inputs)
    made: Any = analyzer_pb2.AnalyzerResource(type=kind, urn=name, name=name, properties=properties)
    for key, urns in (depends or {}).items():
        made.propertyDependencies[key].urns.extend(urns.split())
    return made


def _stack_findings(analyzer: Analyzer, *resources: Any) -> list[tuple[str, str, int]]:
    request: Any = analyzer_pb2.AnalyzeStackRequest(resources=resources)
    found = analyzer.AnalyzeStack(request, None).diagnostics
    return [(one.policyName, one.urn, one.enforcementLevel) for one in found]


@pytest.mark.parametrize(
    ("kind", "cidr", "group"),
    [
        (RULE, lambda net: {"cidrBlocks": [net]}, "securityGroupId"),
        (INGRESS, lambda net: {"cidrIpv4": net}, "securityGroupId"),
        (NATIVE, lambda net: {"cidrIp": net}, "groupId"),
    ],
)
def test_rules_in_separate_resources_are_joined_by_their_group(
    kind: str, cidr: Any, group: str
) -> None:
    """16 resources with a /8 each open a group to the Internet, and each of them passed."""

    def rule(at: int, **inputs: Any) -> Any:
        depends = {} if group in inputs else {group: "urn:sg"}
        inputs = {**TCP, **cidr(f"{20 + at}.0.0.0/8"), group: UNKNOWN_STRING, **inputs}
        return _declared(kind, f"r{at}", inputs, depends)

    sixteen = [rule(at) for at in range(16)]
    assert _stack_findings(Analyzer(), *sixteen) == [("RES-003", "r0", analyzer_pb2.MANDATORY)]
    assert _stack_findings(Analyzer(), *sixteen[:15]) == []
    by_id = [rule(at, **{group: "sg-1"}) for at in range(16)]
    assert _stack_findings(Analyzer(), *by_id) == [("RES-003", "r0", analyzer_pb2.MANDATORY)]
    two_groups = [rule(at, **{group: f"sg-{at % 2}"}) for at in range(16)]
    assert _stack_findings(Analyzer(), *two_groups) == []
    web = [rule(at, fromPort=443, toPort=443) for at in range(16)]
    assert _stack_findings(Analyzer(), *web) == [("RES-005", "r0", analyzer_pb2.ADVISORY)]


def test_rules_inside_a_group_are_joined_with_those_beside_it() -> None:
    inside = {"ingress": [{**TCP, "cidrBlocks": [f"{20 + at}.0.0.0/8" for at in range(8)]}]}
    group = _declared(GROUP, "urn:sg", inside)
    beside = [
        _declared(INGRESS, f"r{at}", {**TCP, "cidrIpv4": f"{40 + at}.0.0.0/8", "securityGroupId": "sg-1"},
                  {"securityGroupId": "urn:sg"})
        for at in range(8)
    ]  # fmt: skip
    assert _stack_findings(Analyzer(), group, *beside) == [
        ("RES-003", "urn:sg", analyzer_pb2.MANDATORY)
    ]
    assert _stack_findings(Analyzer(), group, *beside[:7]) == []


def test_rule_that_is_open_by_itself_is_told_once() -> None:
    open_rule: dict[str, Any] = {**TCP, "cidrIpv4": "0.0.0.0/0", "securityGroupId": "sg-1"}
    other = {**TCP, "cidrIpv4": "20.0.0.0/8", "securityGroupId": "sg-1"}
    analyzer = Analyzer()
    properties = Struct()
    properties.update(open_rule)
    request: Any = analyzer_pb2.AnalyzeRequest(type=INGRESS, urn="r0", properties=properties)
    assert len(analyzer.Analyze(request, None).diagnostics) == 1
    assert (
        _stack_findings(
            analyzer, _declared(INGRESS, "r0", open_rule), _declared(INGRESS, "r1", other)
        )
        == []
    )


WITHIN = [{**TCP, "cidrIp": f"{20 + at}.0.0.0/8"} for at in range(8)]
INLINE = [{**TCP, "cidrBlocks": [rule["cidrIp"]]} for rule in WITHIN]


def _eight(
    kind: str, depends: dict[str, str] | None = None, first: int = 40, **group: str
) -> list[Any]:
    """Return eight rules of 256 million addresses together, half of what is the Internet."""
    key = "cidrIp" if kind == NATIVE else "cidrIpv4"
    return [
        _declared(kind, f"r{first + at}", {**TCP, key: f"{first + at}.0.0.0/8", **group}, depends)
        for at in range(8)
    ]


def _joined(*resources: Any) -> bool:
    """Return True if resources are refused together, and are not without the last of them."""
    assert _stack_findings(Analyzer(), *resources[:-1]) == []
    return [rule for rule, _, _ in _stack_findings(Analyzer(), *resources)] == ["RES-003"]


def test_rules_by_reference_and_by_literal_id_are_joined() -> None:
    existing = _declared(GROUP, "urn:sg", {"id": "sg-1"})
    by_urn = _eight(INGRESS, {"securityGroupId": "urn:sg"}, securityGroupId="sg-1")
    by_id = _eight(INGRESS, first=60, securityGroupId="sg-1")
    assert _joined(existing, *by_urn, *by_id)


def test_rules_inside_a_group_and_by_literal_id_are_joined() -> None:
    existing = _declared(GROUP, "urn:sg", {"id": "sg-1", "ingress": INLINE})
    assert _joined(existing, *_eight(INGRESS, securityGroupId="sg-1"))


@pytest.mark.parametrize("depends", [None, {"groupName": "urn:sg"}])
def test_rules_by_the_name_of_a_group_are_joined(depends: dict[str, str] | None) -> None:
    named = {"groupName": "ssh", "groupId": "sg-1", "securityGroupIngress": WITHIN}
    assert _joined(
        _declared(NATIVE_GROUP, "urn:sg", named), *_eight(NATIVE, depends, groupName="ssh")
    )


def test_rules_by_the_name_of_a_group_elsewhere_are_joined() -> None:
    assert _joined(*_eight(NATIVE, groupName="ssh"), *_eight(NATIVE, first=60, groupName="ssh"))


def test_name_that_two_groups_have_joins_neither() -> None:
    groups = [
        _declared(NATIVE_GROUP, f"urn:{at}", {"groupName": "ssh", "securityGroupIngress": WITHIN})
        for at in "ab"
    ]
    assert _stack_findings(Analyzer(), *groups, *_eight(NATIVE, groupName="ssh")) == []


def test_native_group_with_an_id_is_joined_with_its_rules() -> None:
    """It was taken for a rule of the group that its output ``groupId`` names."""
    native = _declared(NATIVE_GROUP, "urn:sg", {"groupId": "sg-1", "securityGroupIngress": WITHIN})
    assert _joined(native, *_eight(NATIVE, {"groupId": "urn:sg"}, groupId="sg-1"))


@pytest.mark.parametrize("value", ["sg-1", UNKNOWN_STRING])
def test_id_that_depends_on_a_group_and_another_resource_is_of_the_group(value: str) -> None:
    outputs = {"id": value, "ingress": INLINE}
    both = _eight(INGRESS, {"securityGroupId": "urn:sg urn:vpc"}, securityGroupId=value)
    assert _joined(_declared(GROUP, "urn:sg", outputs), *both)


@pytest.mark.parametrize("value", ["sg-1", UNKNOWN_STRING])
def test_default_group_of_a_vpc_is_joined_with_its_rules(value: str) -> None:
    outputs = {"id": UNKNOWN_STRING, "ingress": INLINE}
    default = _declared(DEFAULT_GROUP, "urn:default", outputs, {"vpcId": "urn:vpc"})
    by_vpc = _eight(INGRESS, {"securityGroupId": "urn:vpc"}, securityGroupId=value)
    assert _joined(default, *by_vpc)
    other = _declared(GROUP, "urn:sg", {"id": UNKNOWN_STRING, "ingress": INLINE})
    both = _eight(INGRESS, {"securityGroupId": "urn:sg urn:vpc"}, securityGroupId=UNKNOWN_STRING)
    assert _joined(other, default, *both)


def test_narrowed_rule_is_not_joined_with_what_aws_had_before() -> None:
    """After a refresh the outputs of a group have the rules of other resources: the change was blocked for ever."""
    analyzer = Analyzer()
    narrow = {**TCP, "cidrIpv4": "10.0.0.0/8", "securityGroupId": "sg-1"}
    declared: list[tuple[str, str, dict[str, Any]]] = [
        (GROUP, "urn:sg", {"name": "ssh"}),
        (INGRESS, "r0", narrow),
    ]
    for kind, urn, inputs in declared:
        properties = Struct()
        properties.update(inputs)
        request: Any = analyzer_pb2.AnalyzeRequest(type=kind, urn=urn, properties=properties)
        assert not analyzer.Analyze(request, None).diagnostics
    refreshed = {"id": "sg-1", "ingress": [{**TCP, "cidrBlocks": ["0.0.0.0/0"]}]}
    resources = [
        _declared(GROUP, "urn:sg", refreshed),
        _declared(INGRESS, "r0", narrow, {"securityGroupId": "urn:sg"}),
    ]
    assert _stack_findings(analyzer, *resources) == []


@pytest.mark.parametrize("declared", [{}, {"id": "sg-3", "ingress": INLINE}])
def test_two_groups_of_one_source_are_not_joined(declared: dict[str, Any]) -> None:
    """Two ids of one stack reference, or of one cluster, were taken for one group."""
    source = {"securityGroupId": "urn:reference urn:sg" if declared else "urn:reference"}
    group = [_declared(GROUP, "urn:sg", declared)] if declared else []
    first = _eight(INGRESS, source, securityGroupId="sg-1")
    second = _eight(INGRESS, source, first=60, securityGroupId="sg-2")
    assert _stack_findings(Analyzer(), *group, *first, *second) == []
    same = _eight(INGRESS, source, first=60, securityGroupId="sg-1")
    assert _joined(*group, *first, *same)
