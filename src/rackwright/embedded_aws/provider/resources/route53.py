# ruff: noqa: D102, S105 - Resource describes the methods; a token names a type
"""Hosted zones and records."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rackwright.embedded_aws.provider.aws import Aws, client_token
from rackwright.embedded_aws.provider.resource import Resource, changed, public_tags, tag_list, take
from rackwright.embedded_aws.provider.wire import Props


class Zone(Resource):
    """A hosted zone, public or private."""

    token = "aws:route53/zone:Zone"
    replace = frozenset({"name", "delegationSetId"})
    named = "name"
    inputs = ("comment", "forceDestroy", "name", "vpcs")
    computed = ("arn", "nameServers", "primaryNameServer", "zoneId")
    unordered = frozenset({"vpcs"})

    def defaults(self, aws: Aws, inputs: Props) -> Props:
        return {"comment": "Managed by Pulumi", **inputs}

    @staticmethod
    def _networks(aws: Aws, inputs: Props) -> dict[str, dict[str, str]]:
        return {
            one["vpcId"]: {"VPCId": one["vpcId"], "VPCRegion": one.get("vpcRegion") or aws.region}
            for one in inputs.get("vpcs") or []
        }

    def create(self, aws: Aws, inputs: Props, tags: Mapping[str, str]) -> str:
        client = aws.client("route53")
        networks = list(self._networks(aws, inputs).values())
        arguments: dict[str, Any] = {
            "Name": inputs["name"],
            "CallerReference": client_token(),
            "HostedZoneConfig": {
                "Comment": inputs.get("comment", ""),
                "PrivateZone": bool(networks),
            },
        }
        if networks:
            arguments["VPC"] = networks[0]
        made = client.create_hosted_zone(**arguments)
        identity = str(made["HostedZone"]["Id"].rsplit("/", 1)[-1])
        if tags:
            self.tag(aws, identity, dict(tags), [])
        return identity

    def apply(self, aws: Aws, identity: str, olds: Props, news: Props) -> None:
        client = aws.client("route53")
        wanted = self._networks(aws, news)
        if wanted or olds.get("vpcs"):
            held = client.get_hosted_zone(Id=identity).get("VPCs", [])
            known = {one["VPCId"]: one for one in held}
            for key in wanted.keys() - known.keys():
                client.associate_vpc_with_hosted_zone(HostedZoneId=identity, VPC=wanted[key])
            for key in known.keys() - wanted.keys():
                client.disassociate_vpc_from_hosted_zone(HostedZoneId=identity, VPC=known[key])
        if olds and changed(olds, news, "comment"):
            client.update_hosted_zone_comment(Id=identity, Comment=news.get("comment", ""))

    def tag(self, aws: Aws, identity: str, put: dict[str, str], drop: list[str]) -> None:
        arguments: dict[str, Any] = {"ResourceType": "hostedzone", "ResourceId": identity}
        if put:
            arguments["AddTags"] = tag_list(put)
        if drop:
            arguments["RemoveTagKeys"] = drop
        aws.client("route53").change_tags_for_resource(**arguments)

    def read(self, aws: Aws, identity: str, state: Props) -> Props | None:
        client = aws.client("route53")
        reply = client.get_hosted_zone(Id=identity)
        tags = client.list_tags_for_resource(ResourceType="hostedzone", ResourceId=identity)
        servers = reply.get("DelegationSet", {}).get("NameServers", [])
        networks = [
            {"vpcId": one["VPCId"], "vpcRegion": one.get("VPCRegion")}
            for one in reply.get("VPCs", [])
        ]
        return {
            "arn": f"arn:{aws.partition}:route53:::hostedzone/{identity}",
            "zoneId": identity,
            "name": reply["HostedZone"]["Name"].rstrip("."),
            "comment": reply["HostedZone"]["Config"].get("Comment"),
            "nameServers": servers,
            "primaryNameServer": servers[0] if servers else "",
            "vpcs": networks or None,
            "tagsAll": public_tags(tags["ResourceTagSet"]["Tags"]),
        }

    def delete(self, aws: Aws, identity: str, state: Props) -> None:
        client = aws.client("route53")
        if state.get("forceDestroy"):
            for page in client.get_paginator("list_resource_record_sets").paginate(
                HostedZoneId=identity
            ):
                for one in page["ResourceRecordSets"]:
                    if one["Type"] not in ("NS", "SOA"):
                        change = {"Action": "DELETE", "ResourceRecordSet": one}
                        client.change_resource_record_sets(
                            HostedZoneId=identity, ChangeBatch={"Changes": [change]}
                        )
        client.delete_hosted_zone(Id=identity)


class Record(Resource):
    """A record set of a hosted zone."""

    token = "aws:route53/record:Record"
    replace = frozenset({"name", "setIdentifier", "type", "zoneId"})
    required = ("name", "type", "zoneId")
    inputs = ("aliases", "name", "records", "setIdentifier", "ttl", "type", "zoneId")
    computed = ("fqdn",)
    unordered = frozenset({"records"})
    taggable = False

    @staticmethod
    def _name(aws: Aws, state: Props) -> str:
        zone = aws.client("route53").get_hosted_zone(Id=state["zoneId"])["HostedZone"]["Name"]
        zone, name = zone.rstrip("."), str(state["name"]).rstrip(".").lower()
        if not name:
            return str(zone)
        return name if name == zone or name.endswith(f".{zone}") else f"{name}.{zone}"

    def _set(self, aws: Aws, inputs: Props) -> dict[str, Any]:
        record: dict[str, Any] = {"Name": self._name(aws, inputs), "Type": inputs["type"]}
        record.update(take(inputs, {"setIdentifier": "SetIdentifier"}))
        aliases = inputs.get("aliases") or []
        if aliases:
            record["AliasTarget"] = {
                "DNSName": aliases[0]["name"],
                "HostedZoneId": aliases[0]["zoneId"],
                "EvaluateTargetHealth": bool(aliases[0].get("evaluateTargetHealth")),
            }
        else:
            record["TTL"] = int(inputs.get("ttl") or 300)
            quoted = inputs["type"] in ("TXT", "SPF")
            record["ResourceRecords"] = [
                {"Value": f'"{one}"' if quoted and not one.startswith('"') else one}
                for one in inputs.get("records") or []
            ]
        return record

    def _change(self, aws: Aws, zone: str, action: str, record: dict[str, Any]) -> None:
        aws.client("route53").change_resource_record_sets(
            HostedZoneId=zone,
            ChangeBatch={"Changes": [{"Action": action, "ResourceRecordSet": record}]},
        )

    def _held(self, aws: Aws, state: Props) -> dict[str, Any] | None:
        name = self._name(aws, state)
        pages = (
            aws.client("route53")
            .get_paginator("list_resource_record_sets")
            .paginate(HostedZoneId=state["zoneId"])
        )
        for page in pages:
            for one in page["ResourceRecordSets"]:
                same = one["Name"].rstrip(".") == name and one["Type"] == state["type"]
                if same and one.get("SetIdentifier") == state.get("setIdentifier"):
                    return dict(one)
        return None

    @staticmethod
    def _identity(inputs: Props) -> str:
        name = str(inputs["name"]).rstrip(".").lower()
        parts = [inputs["zoneId"], name, inputs["type"]]
        return "_".join([*parts, *filter(None, [inputs.get("setIdentifier")])])

    def create(self, aws: Aws, inputs: Props, tags: Mapping[str, str]) -> str:
        action = "UPSERT" if inputs.get("allowOverwrite") else "CREATE"
        self._change(aws, inputs["zoneId"], action, self._set(aws, inputs))
        return self._identity(inputs)

    def apply(self, aws: Aws, identity: str, olds: Props, news: Props) -> None:
        if olds:
            self._change(aws, news["zoneId"], "UPSERT", self._set(aws, news))

    def read(self, aws: Aws, identity: str, state: Props) -> Props | None:
        held = self._held(aws, state)
        if held is None:
            return None
        records = [one["Value"] for one in held.get("ResourceRecords", [])]
        if held["Type"] in ("TXT", "SPF"):
            records = [one.strip('"') for one in records]
        return {
            "fqdn": held["Name"].rstrip("."),
            "ttl": held.get("TTL"),
            "records": records or None,
        }

    def delete(self, aws: Aws, identity: str, state: Props) -> None:
        held = self._held(aws, state)
        if held is not None:
            self._change(aws, state["zoneId"], "DELETE", held)
