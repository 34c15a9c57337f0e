"""The VPC of a site: subnets, routes, endpoints, security groups and private DNS."""

from __future__ import annotations

import json

import pulumi
import pulumi_aws as aws

from rackwright.components.efa import declare_rules, security_group
from rackwright.components.tags import SiteArgs, child_options
from rackwright.model.aws import FlowLogs
from rackwright.model.aws_partitions import partition
from rackwright.model.aws_storage import DAY
from rackwright.plan.aws.access import flow_log_policy, flow_log_trust_policy
from rackwright.plan.aws.endpoints import endpoint_type
from rackwright.plan.aws.subnets import SubnetPlan, has_internet, nat_zones


class Network(pulumi.ComponentResource):
    """The VPC with everything that outlives nodes and file systems."""

    vpc_id: pulumi.Output[str]
    subnet_ids: dict[str, pulumi.Output[str]]
    """By subnet name, like ``private-a``."""
    security_group_ids: dict[str, pulumi.Output[str]]
    """By name: ``cluster``, and ``login``, ``balancer`` and ``endpoints`` where there are any."""
    dns_zone_id: pulumi.Output[str]

    def __init__(
        self,
        args: SiteArgs,
        *,
        protect: bool = True,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        name = args.name("network")
        super().__init__("rackwright:aws:Network", name, {"cidr": args.plan.network.cidr}, opts)
        self._args = args
        site = args.plan
        existing = site.network.existing
        # Retained file systems keep standing in the VPC, the cluster's subnet and its group.
        self._ground = protect and bool(site.made_file_systems)
        if existing is None:
            self.vpc_id = self._vpc()
            self.subnet_ids = {plan.name: self._subnet(plan) for plan in args.plan.subnets}
            tables = self._routes()
            self.security_group_ids = self._security_groups()
            self._endpoints(tables)
            if site.network.flow_logs is not None:
                self._flow_logs(site.network.flow_logs)
        else:
            self.vpc_id = pulumi.Output.from_input(existing.vpc)
            self.subnet_ids = {}
            self.security_group_ids = self._security_groups()
        zone_name = args.name("zone")
        zone = aws.route53.Zone(
            zone_name,
            name=site.network.dns_zone,
            comment=f"private zone of {args.prefix}",
            vpcs=[{"vpc_id": self.vpc_id}],
            # The names of instances are no resources of a stack; a zone that has some cannot go.
            force_destroy=True,
            tags=args.tags(zone_name),
            opts=child_options(self, args, zone_name),
        )
        self.dns_zone_id = zone.zone_id
        self.register_outputs(self.outputs())

    def outputs(self) -> dict[str, pulumi.Input[object]]:
        """Return the outputs that the other stacks of the site read."""
        return {
            "vpc_id": self.vpc_id,
            "subnet_ids": self.subnet_ids,
            "security_group_ids": self.security_group_ids,
            "dns_zone_id": self.dns_zone_id,
        }

    def _vpc(self) -> pulumi.Output[str]:
        """Return the VPC, whose default security group lets nothing through."""
        args = self._args
        name, default = args.name("vpc"), args.name("default")
        vpc = aws.ec2.Vpc(
            name,
            cidr_block=args.plan.network.cidr,
            enable_dns_hostnames=True,
            enable_dns_support=True,
            tags=args.tags(name),
            opts=child_options(self, args, name, protect=self._ground),
        )
        aws.ec2.DefaultSecurityGroup(
            default,
            vpc_id=vpc.id,
            ingress=[],
            egress=[],
            tags=args.tags(default),
            opts=child_options(self, args, default),
        )
        return vpc.id

    def _subnet(self, plan: SubnetPlan) -> pulumi.Output[str]:
        name = self._args.name(plan.name)
        subnet = aws.ec2.Subnet(
            name,
            vpc_id=self.vpc_id,
            cidr_block=plan.cidr,
            availability_zone=plan.zone,
            map_public_ip_on_launch=False,
            tags={**self._args.tags(name), "rackwright:tier": plan.tier},
            opts=child_options(
                self,
                self._args,
                name,
                protect=self._ground and plan in self._args.plan.cluster_subnets,
            ),
        )
        return subnet.id

    def _routes(self) -> list[pulumi.Output[str]]:
        """Route tables of the private and intra subnets; public and private ones get routes."""
        args, network = self._args, self._args.plan.network
        gateway: pulumi.Output[str] | None = None
        if has_internet(network):
            name = args.name("internet")
            gateway = aws.ec2.InternetGateway(
                name,
                vpc_id=self.vpc_id,
                tags=args.tags(name),
                opts=child_options(self, args, name),
            ).id
        nat: dict[str, pulumi.Output[str]] = {}
        inner: list[pulumi.Output[str]] = []
        for plan in sorted(args.plan.subnets, key=lambda plan: plan.tier != "public"):
            table = self._table(plan)
            if plan.tier == "public" and gateway is not None:
                self._route(plan, table, gateway_id=gateway)
                if plan.zone in nat_zones(network):
                    nat[plan.zone] = self._nat(plan, gateway)
                continue
            inner.append(table)
            if plan.tier == "private" and nat:
                way = nat.get(plan.zone) or next(iter(nat.values()))
                self._route(plan, table, nat_gateway_id=way)
        return inner

    def _table(self, plan: SubnetPlan) -> pulumi.Output[str]:
        args = self._args
        name = args.name(plan.name, "routes")
        table = aws.ec2.RouteTable(
            name,
            vpc_id=self.vpc_id,
            tags=args.tags(name),
            opts=child_options(self, args, name),
        )
        aws.ec2.RouteTableAssociation(
            name,
            route_table_id=table.id,
            subnet_id=self.subnet_ids[plan.name],
            opts=child_options(self, args, name),
        )
        return table.id

    def _route(
        self, plan: SubnetPlan, table: pulumi.Output[str], **target: pulumi.Output[str]
    ) -> None:
        name = self._args.name(plan.name, "default")
        aws.ec2.Route(
            name,
            route_table_id=table,
            destination_cidr_block="0.0.0.0/0",
            opts=child_options(self, self._args, name),
            **target,
        )

    def _nat(self, plan: SubnetPlan, gateway: pulumi.Output[str]) -> pulumi.Output[str]:
        args = self._args
        name = args.name(plan.name, "nat")
        address = aws.ec2.Eip(
            name, domain="vpc", tags=args.tags(name), opts=child_options(self, args, name)
        )
        # A NAT gateway without a way out fails to start: the internet gateway has to be first.
        tags = gateway.apply(lambda _: args.tags(name))
        return aws.ec2.NatGateway(
            name,
            subnet_id=self.subnet_ids[plan.name],
            allocation_id=address.id,
            tags=tags,
            opts=child_options(self, args, name),
        ).id

    def _security_groups(self) -> dict[str, pulumi.Output[str]]:
        args = self._args
        rules = args.plan.network_rules
        described = {
            "cluster": "All traffic among the nodes of the cluster, as EFA needs",
            "login": "SSH to the login nodes",
            "balancer": "SSH to the load balancer of the login nodes",
            "endpoints": "AWS services from inside the VPC",
        }
        wanted: set[str] = {rule.group for rule in rules}
        groups: dict[str, pulumi.Output[str]] = {
            group: security_group(
                self, args, group, self.vpc_id, text, protect=self._ground and group == "cluster"
            ).id
            for group, text in described.items()
            if group in wanted
        }
        declare_rules(self, args, rules, groups)
        return groups

    def _flow_logs(self, settings: FlowLogs) -> None:
        args = self._args
        name = args.name("flow-logs")
        options = child_options(self, args, name)
        group = aws.cloudwatch.LogGroup(
            name,
            name=name,
            retention_in_days=round(settings.keep / DAY),
            tags=args.tags(name),
            opts=options,
        )
        role = aws.iam.Role(
            name,
            name=name,
            assume_role_policy=json.dumps(flow_log_trust_policy()),
            permissions_boundary=args.plan.access.permissions_boundary,
            tags=args.tags(name),
            opts=options,
        )
        allowed = aws.iam.RolePolicy(
            name,
            name="flow-logs",
            role=role.name,
            policy=group.arn.apply(lambda arn: json.dumps(flow_log_policy(arn))),
            opts=options,
        )
        aws.ec2.FlowLog(
            name,
            vpc_id=self.vpc_id,
            traffic_type="ALL" if settings.traffic == "all" else "REJECT",
            log_destination=group.arn,
            iam_role_arn=role.arn,
            tags=args.tags(name),
            opts=child_options(self, args, name, depends_on=[allowed]),
        )

    def _endpoints(self, tables: list[pulumi.Output[str]]) -> None:
        args, site = self._args, self._args.plan
        inner = [self.subnet_ids[plan.name] for plan in args.plan.subnets if plan.tier == "intra"]
        for service in site.network.endpoints:
            name = args.name("endpoint", service.replace(".", "-"))
            kind = endpoint_type(service)
            gateway = kind == "Gateway"
            aws.ec2.VpcEndpoint(
                name,
                vpc_id=self.vpc_id,
                service_name=self._service_name(service, kind),
                vpc_endpoint_type=kind,
                route_table_ids=tables if gateway else None,
                subnet_ids=None if gateway else inner,
                security_group_ids=None if gateway else [self.security_group_ids["endpoints"]],
                private_dns_enabled=None if gateway else True,
                tags=args.tags(name),
                opts=child_options(self, args, name),
            )

    def _service_name(self, service: str, kind: str) -> pulumi.Input[str]:
        """Return the name of a service with endpoints, which AWS is asked for where names differ."""
        region = self._args.plan.region
        if partition(region) in {"aws", "aws-us-gov"}:
            return f"com.amazonaws.{region}.{service}"
        return aws.ec2.get_vpc_endpoint_service_output(
            service=service, service_type=kind, opts=pulumi.InvokeOptions(parent=self)
        ).service_name
