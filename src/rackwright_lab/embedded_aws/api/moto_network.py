"""Corrections of moto's networks.

It forgets tags of DHCP options and routes of changed gateway endpoints, gives an interface without
a public address an association with nothing, which AWS's own provider takes for an address, has
each NAT gateway there at once, changes no rule of a security group that is for all protocols, which
has no ports, and forgets the description of a rule that is for a group or a prefix list.
"""

from __future__ import annotations

import datetime as dt
import inspect
from typing import Any

from moto.core.responses import ActionResult
from moto.ec2.models import EC2Backend
from moto.ec2.models.elastic_network_interfaces import NetworkInterface
from moto.ec2.models.nat_gateways import NatGateway
from moto.ec2.models.security_groups import SecurityGroupRule
from moto.ec2.responses import EC2Response

from rackwright_lab.embedded_aws.api.patching import first_time, put
from rackwright_lab.embedded_aws.pace import PACE


def install() -> None:
    """Fix moto's classes; a second call changes nothing."""
    if not first_time(__name__):
        return
    first_modify = EC2Backend.modify_vpc_endpoint
    first_rules = EC2Backend.modify_security_group_rules
    first_options = EC2Response.create_dhcp_options
    first_rule = SecurityGroupRule.__init__
    first_association: Any = vars(NetworkInterface)["association"]

    def modify_vpc_endpoint(self: Any, vpc_id: str, *args: Any, **kwargs: Any) -> None:
        endpoint = self.vpc_end_points.get(vpc_id)
        before = set(endpoint.route_table_ids or ()) if endpoint else set()
        first_modify(self, vpc_id, *args, **kwargs)
        if endpoint is None or not endpoint.destination_prefix_list_id:
            return
        after = set(endpoint.route_table_ids or ())
        prefixes = endpoint.destination_prefix_list_id
        for table in sorted(after - before):
            self.create_route(
                table, None, gateway_id=endpoint.id, destination_prefix_list_id=prefixes
            )
        for table in sorted(before - after):
            self.delete_route(table, None, None, prefixes)

    def modify_security_group_rules(
        self: Any, group_id: str, rules: dict[str, dict[str, Any]]
    ) -> None:
        bare = [
            one for one, new in rules.items() if new.get("IpProtocol") == "-1" and not _ports(new)
        ]
        filled = {one: {**rules[one], "FromPort": "-1", "ToPort": "-1"} for one in bare}
        first_rules(self, group_id, {**rules, **filled})
        group = self.get_security_group_by_name_or_id(group_id)
        for one in bare:
            rule = group.get_rule(one)
            rule.from_port = rule.to_port = None

    def create_dhcp_options(self: Any) -> ActionResult:
        made: ActionResult = first_options(self)
        held: Any = made.result
        tags = self._parse_tag_specification("dhcp-options").get("dhcp-options", {})
        held["DhcpOptions"].add_tags(tags)
        return made

    def association_if_any(self: Any) -> dict[str, Any] | None:
        return first_association.fget(self) or None

    def init_rule(self: Any, *args: Any, **kwargs: Any) -> None:
        first_rule(self, *args, **kwargs)
        given = signature.bind(self, *args, **kwargs).arguments
        for peer in (given.get("source_group"), given.get("prefix_list_id")):
            if peer and peer.get("Description"):
                # The place in which moto looks for it, and changes it.
                self.ip_range = {"Description": peer["Description"]}

    def state(self: Any) -> str:
        held = str(vars(self)["state"])
        made = self._created_at.replace(tzinfo=dt.UTC).timestamp()
        return "pending" if held == "available" and not PACE.is_ready(made) else held

    def set_state(self: Any, value: str) -> None:
        vars(self)["state"] = value

    signature = inspect.signature(first_rule)
    put(NatGateway, state=property(state, set_state))
    put(SecurityGroupRule, __init__=init_rule)
    put(NetworkInterface, association=property(association_if_any))
    put(EC2Backend, modify_vpc_endpoint=modify_vpc_endpoint)
    put(EC2Backend, modify_security_group_rules=modify_security_group_rules)
    put(EC2Response, create_dhcp_options=create_dhcp_options)


def _ports(rule: dict[str, Any]) -> bool:
    """Return True if a rule names ports."""
    return rule.get("FromPort") is not None or rule.get("ToPort") is not None
