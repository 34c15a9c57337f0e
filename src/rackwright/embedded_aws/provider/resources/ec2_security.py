# ruff: noqa: D102, S105 - Resource describes the methods; a token names a type
"""Security groups and their rules."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from botocore.exceptions import ClientError

from rackwright.embedded_aws.provider.aws import ACCOUNT, Aws, code_of
from rackwright.embedded_aws.provider.resource import changed, take
from rackwright.embedded_aws.provider.resources.ec2_base import Ec2Resource
from rackwright.embedded_aws.provider.wire import Props

_ANY = "-1"


def _permissions(rule: Mapping[str, Any], own: str) -> list[dict[str, Any]]:
    """Returns an inline rule as the API's permissions, one for every source."""
    protocol = str(rule["protocol"])
    base: dict[str, Any] = {"IpProtocol": protocol if protocol != "all" else _ANY}
    if base["IpProtocol"] != _ANY:
        base.update(FromPort=int(rule["fromPort"]), ToPort=int(rule["toPort"]))
    text = {"Description": rule["description"]} if rule.get("description") else {}
    groups = [*(rule.get("securityGroups") or []), *([own] if rule.get("self") else [])]
    return [
        *({**base, "IpRanges": [{"CidrIp": one, **text}]} for one in rule.get("cidrBlocks") or []),
        *(
            {**base, "Ipv6Ranges": [{"CidrIpv6": one, **text}]}
            for one in rule.get("ipv6CidrBlocks") or []
        ),
        *(
            {**base, "PrefixListIds": [{"PrefixListId": one, **text}]}
            for one in rule.get("prefixListIds") or []
        ),
        *({**base, "UserIdGroupPairs": [{"GroupId": one, **text}]} for one in groups),
    ]


def _flat(permissions: Iterable[Mapping[str, Any]]) -> dict[tuple[Any, ...], dict[str, Any]]:
    """Returns described permissions split so that each has one source, by what makes it one."""
    sources = {
        "IpRanges": "CidrIp",
        "Ipv6Ranges": "CidrIpv6",
        "PrefixListIds": "PrefixListId",
        "UserIdGroupPairs": "GroupId",
    }
    found = {}
    for permission in permissions:
        base = {
            key: permission[key]
            for key in ("IpProtocol", "FromPort", "ToPort")
            if key in permission
        }
        if base.get("IpProtocol") == _ANY:
            base = {"IpProtocol": _ANY}
        for name, source in sources.items():
            for entry in permission.get(name, []):
                kept = {key: entry[key] for key in (source, "Description") if entry.get(key)}
                identity = (*sorted(base.items()), source, *sorted(kept.items()))
                found[identity] = {**base, name: [kept]}
    return found


def _inline(permissions: Iterable[Mapping[str, Any]], own: str) -> list[dict[str, Any]]:
    rules = []
    for permission in permissions:
        rule: dict[str, Any] = {
            "protocol": permission["IpProtocol"],
            "fromPort": permission.get("FromPort", 0),
            "toPort": permission.get("ToPort", 0),
            "cidrBlocks": [one["CidrIp"] for one in permission.get("IpRanges", [])],
            "ipv6CidrBlocks": [one["CidrIpv6"] for one in permission.get("Ipv6Ranges", [])],
            "securityGroups": [
                one["GroupId"]
                for one in permission.get("UserIdGroupPairs", [])
                if one["GroupId"] != own
            ],
            "self": any(one["GroupId"] == own for one in permission.get("UserIdGroupPairs", [])),
        }
        rules.append(rule)
    return rules


class SecurityGroup(Ec2Resource):
    """A security group and the rules written in it."""

    token = "aws:ec2/securityGroup:SecurityGroup"
    kind, operation, ids = "security-group", "describe_security_groups", "GroupIds"
    items, key = "SecurityGroups", "GroupId"
    replace = frozenset({"description", "name", "namePrefix", "vpcId"})
    named: ClassVar[str | None] = "name"
    inputs = ("description", "egress", "ingress", "name", "vpcId")
    computed = ("arn", "egress", "ingress", "ownerId")
    unordered = frozenset({"egress", "ingress"})

    def defaults(self, aws: Aws, inputs: Props) -> Props:
        return {"description": "Managed by Pulumi", **inputs}

    def create(self, aws: Aws, inputs: Props, tags: Mapping[str, str]) -> str:
        made = aws.ec2.create_security_group(
            GroupName=inputs["name"],
            Description=inputs["description"],
            TagSpecifications=self.specifications(tags),
            **take(inputs, {"vpcId": "VpcId"}),
        )
        return str(made["GroupId"])

    def apply(self, aws: Aws, identity: str, olds: Props, news: Props) -> None:
        item = self.one(aws, identity) or {}
        for name, held_key, verb in (
            ("ingress", "IpPermissions", "ingress"),
            ("egress", "IpPermissionsEgress", "egress"),
        ):
            created = not olds
            if not created and not changed(olds, news, name):
                continue
            if created and name == "ingress" and name not in news:
                continue
            held = _flat(item.get(held_key, []))
            if created and name not in news:
                # The provider of AWS itself drops the open egress rule of a new group.
                wanted: dict[tuple[Any, ...], dict[str, Any]] = {}
            else:
                rules = news.get(name) or []
                wanted = _flat(one for rule in rules for one in _permissions(rule, identity))
            revoke = [held[key] for key in held.keys() - wanted.keys()]
            grant = [wanted[key] for key in wanted.keys() - held.keys()]
            if revoke:
                getattr(aws.ec2, f"revoke_security_group_{verb}")(
                    GroupId=identity, IpPermissions=revoke
                )
            if grant:
                getattr(aws.ec2, f"authorize_security_group_{verb}")(
                    GroupId=identity, IpPermissions=grant
                )

    def read(self, aws: Aws, identity: str, state: Props) -> Props | None:
        item = self.one(aws, identity)
        if item is None:
            return None
        live: Props = {
            "arn": self.arn(aws, identity),
            "name": item["GroupName"],
            "description": item["Description"],
            "vpcId": item.get("VpcId"),
            "ownerId": ACCOUNT,
            **self.tagged(item),
        }
        for name, key in (("ingress", "IpPermissions"), ("egress", "IpPermissionsEgress")):
            permissions = item.get(key, [])
            wanted = state.get(name)
            flat = _flat(permissions)
            if wanted is not None:
                same = _flat(one for rule in wanted for one in _permissions(rule, identity))
                live[name] = (
                    wanted if same.keys() == flat.keys() else _inline(permissions, identity)
                )
            else:
                live[name] = _inline(permissions, identity)
        return live

    def delete(self, aws: Aws, identity: str, state: Props) -> None:
        aws.ec2.delete_security_group(GroupId=identity)


class DefaultSecurityGroup(SecurityGroup):
    """The default security group of a VPC, taken over and never deleted."""

    token = "aws:ec2/defaultSecurityGroup:DefaultSecurityGroup"
    replace = frozenset({"vpcId"})
    named = None
    required = ("vpcId",)
    computed = ("arn", "description", "name", "ownerId")

    def defaults(self, aws: Aws, inputs: Props) -> Props:
        return {"ingress": [], "egress": [], **inputs}

    def create(self, aws: Aws, inputs: Props, tags: Mapping[str, str]) -> str:
        groups = self.describe(
            aws,
            Filters=[
                {"Name": "vpc-id", "Values": [inputs["vpcId"]]},
                {"Name": "group-name", "Values": ["default"]},
            ],
        )
        if not groups:
            raise LookupError(f"the VPC {inputs['vpcId']} has no default security group")
        identity = str(groups[0]["GroupId"])
        self.tag(aws, identity, dict(tags), [])
        return identity

    def delete(self, aws: Aws, identity: str, state: Props) -> None:
        """The default group goes with its VPC."""


_RULE = {
    "ipProtocol": "IpProtocol",
    "fromPort": "FromPort",
    "toPort": "ToPort",
    "cidrIpv4": "CidrIpv4",
    "cidrIpv6": "CidrIpv6",
    "description": "Description",
    "prefixListId": "PrefixListId",
}
_SOURCES = ("cidrIpv4", "cidrIpv6", "prefixListId", "referencedSecurityGroupId")


class _Rule(Ec2Resource):
    kind, operation = "security-group-rule", "describe_security_group_rules"
    ids, items, key = "SecurityGroupRuleIds", "SecurityGroupRules", "SecurityGroupRuleId"
    replace = frozenset({"securityGroupId"})
    required = ("ipProtocol", "securityGroupId")
    inputs = ("securityGroupId", "referencedSecurityGroupId", *_RULE)
    computed = ("arn", "securityGroupRuleId")
    egress: ClassVar[bool] = False

    def check(self, inputs: Props) -> list[tuple[str, str]]:
        if sum(inputs.get(name) is not None for name in _SOURCES) == 1:
            return []
        return [("cidrIpv4", f"a rule has exactly one of {', '.join(_SOURCES)}")]

    def _permission(self, inputs: Props) -> dict[str, Any]:
        protocol = str(inputs["ipProtocol"])
        permission: dict[str, Any] = {"IpProtocol": protocol}
        if protocol != _ANY:
            permission.update(take(inputs, {"fromPort": "FromPort", "toPort": "ToPort"}))
        text = take(inputs, {"description": "Description"})
        for name, group, key in (
            ("cidrIpv4", "IpRanges", "CidrIp"),
            ("cidrIpv6", "Ipv6Ranges", "CidrIpv6"),
            ("prefixListId", "PrefixListIds", "PrefixListId"),
            ("referencedSecurityGroupId", "UserIdGroupPairs", "GroupId"),
        ):
            if inputs.get(name) is not None:
                value = inputs[name]
                if key == "GroupId":
                    value = value.rsplit("/", 1)[-1]
                permission[group] = [{key: value, **text}]
        return permission

    def create(self, aws: Aws, inputs: Props, tags: Mapping[str, str]) -> str:
        verb = "egress" if self.egress else "ingress"
        made = getattr(aws.ec2, f"authorize_security_group_{verb}")(
            GroupId=inputs["securityGroupId"],
            IpPermissions=[self._permission(inputs)],
            TagSpecifications=self.specifications(tags),
        )
        return str(made["SecurityGroupRules"][0]["SecurityGroupRuleId"])

    def apply(self, aws: Aws, identity: str, olds: Props, news: Props) -> None:
        if not olds or not changed(olds, news, *_RULE, "referencedSecurityGroupId"):
            return
        rule = take(news, _RULE)
        if news.get("referencedSecurityGroupId"):
            rule["ReferencedGroupId"] = news["referencedSecurityGroupId"]
        aws.ec2.modify_security_group_rules(
            GroupId=news["securityGroupId"],
            SecurityGroupRules=[{"SecurityGroupRuleId": identity, "SecurityGroupRule": rule}],
        )

    def read(self, aws: Aws, identity: str, state: Props) -> Props | None:
        item = self.one(aws, identity)
        if item is None or item["IsEgress"] != self.egress:
            return None
        live = {name: item.get(api) for name, api in _RULE.items() if name in state}
        if str(item.get("IpProtocol")) == _ANY:
            live.pop("fromPort", None)
            live.pop("toPort", None)
        reference = item.get("ReferencedGroupInfo", {}).get("GroupId")
        return {
            **live,
            "arn": self.arn(aws, identity),
            "securityGroupRuleId": identity,
            "securityGroupId": item["GroupId"],
            "referencedSecurityGroupId": reference,
            **self.tagged(item),
        }

    def delete(self, aws: Aws, identity: str, state: Props) -> None:
        verb = "egress" if self.egress else "ingress"
        try:
            getattr(aws.ec2, f"revoke_security_group_{verb}")(
                GroupId=state["securityGroupId"], SecurityGroupRuleIds=[identity]
            )
        except ClientError as error:
            if code_of(error) != "InvalidSecurityGroupRuleId.NotFound":
                raise


class IngressRule(_Rule):
    """One inbound rule of a security group."""

    token = "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule"


class EgressRule(_Rule):
    """One outbound rule of a security group."""

    token = "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule"
    egress = True
