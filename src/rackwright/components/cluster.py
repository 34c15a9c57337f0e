"""The root component of each stack: it carries the blueprint and holds the stack's components."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Literal, Protocol

import pulumi
import pulumi_aws as aws

from rackwright.components.balancer import LoginBalancer
from rackwright.components.iam import InstanceRole
from rackwright.components.network import Network
from rackwright.components.nodes import NodeGroup
from rackwright.components.servers import Servers
from rackwright.components.storage import Storage
from rackwright.components.tags import SiteArgs, child_options, member
from rackwright.plan.aws.access import auto_scaling_grant, parameter_path
from rackwright.plan.aws.launch_template import Wiring

StackKind = Literal["aws-network", "aws-storage", "aws-cluster"]


class Lookup(Protocol):
    """Finds an output of another stack of the site."""

    def __call__(self, kind: StackKind, name: str, /) -> pulumi.Output[Any]:
        """Return the output called ``name`` of the site's stack of ``kind``."""
        ...


class Cluster(pulumi.ComponentResource):
    """Resources that one stack adds to a site.

    Args:
        kind: which of the site's stacks this is.
        args: the planned site.
        spec: the complete blueprint as plain data; policies read it from the inputs.
        lookup: finds outputs of the site's other stacks.
        protect: storage, and the network that it stands in, is protected from deletion.
    """

    exports: dict[str, Any]
    """Outputs of the stack."""

    def __init__(
        self,
        kind: StackKind,
        args: SiteArgs,
        spec: Mapping[str, Any],
        lookup: Lookup,
        *,
        protect: bool = True,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        root = {"kind": kind, "site": args.plan.name}
        # The blueprint describes every site, and the readers of one site's state need not see the others.
        props = {**root, "spec": pulumi.Output.secret(dict(spec))}
        super().__init__("rackwright:cluster:Cluster", args.prefix, props, opts)
        self._args = args
        self._lookup = lookup
        if kind == "aws-network":
            self.exports = self._network(protect=protect)
        elif kind == "aws-storage":
            self.exports = self._storage(protect=protect)
        else:
            self.exports = self._nodes()
        self._parameter(kind.removeprefix("aws-"), self.exports)
        self.register_outputs({**root, **self.exports})

    def _network(self, *, protect: bool) -> dict[str, Any]:
        options = pulumi.ResourceOptions(parent=self)
        network = Network(self._args, protect=protect, opts=options)
        site = self._args.plan
        return {
            **network.outputs(),
            "cidr": site.network.cidr,
            "dns_zone": site.network.dns_zone,
        }

    def _storage(self, *, protect: bool) -> dict[str, Any]:
        storage = Storage(
            self._args,
            vpc_id=self._lookup("aws-network", "vpc_id"),
            subnet_id=self._subnet("private"),
            group_ids=self._lookup("aws-network", "security_group_ids"),
            protect=protect,
            opts=pulumi.ResourceOptions(parent=self),
        )
        return dict(storage.outputs())

    def _nodes(self) -> dict[str, Any]:
        args, plan = self._args, self._args.plan
        options = pulumi.ResourceOptions(parent=self)
        groups = self._lookup("aws-network", "security_group_ids")
        zone_id = self._lookup("aws-network", "dns_zone_id")
        account = aws.get_caller_identity_output(opts=pulumi.InvokeOptions(parent=self)).account_id
        access = plan.access
        roles = {
            role: InstanceRole(
                role, args, account, getattr(access.instance_profiles, role), opts=options
            )
            for role in plan.instance_roles
        }
        existing = plan.network.existing
        more = () if existing is None else existing.security_groups
        images = _Images(self)
        exports: dict[str, Any] = {"servers": {}, "node_groups": {}}
        for servers in plan.servers:
            group = "login" if servers.role == "login" else "cluster"
            declared = Servers(
                args,
                servers,
                self._subnet("public" if servers.public else "private"),
                zone_id,
                Wiring(
                    image=images.resolve(servers.server.image),
                    instance_profile=roles[servers.role].profile,
                    security_groups=(member(groups, group), *more),
                    encryption_key=access.encryption_key,
                    key_pair=access.key_pair,
                ),
                volumes=(
                    None
                    if servers.data_volume is None
                    else self._lookup("aws-storage", "data_volumes")
                ),
                opts=options,
            )
            if servers.role == "login" and plan.login_address == "load-balancer":
                declared.shared_ip = LoginBalancer(
                    args,
                    declared.instance_ids,
                    vpc_id=self._lookup("aws-network", "vpc_id"),
                    subnet_id=self._subnet("public"),
                    group_id=member(groups, "balancer"),
                    opts=options,
                ).address
            exports["servers"][servers.role] = declared.addresses()
        granted = self._key_grant(account)
        for nodes in plan.groups:
            arn = roles["node"].profile_arn
            wiring = Wiring(
                image=images.resolve(nodes.spec.image),
                instance_profile=roles["node"].profile if arn is None else arn,
                profile_by="name" if arn is None else "arn",
                security_groups=(member(groups, "cluster"), *more),
                encryption_key=access.encryption_key,
                user_data=plan.node_user_data,
                key_pair=access.key_pair,
            )
            fleet = NodeGroup(
                args,
                nodes,
                self._node_subnets(),
                wiring,
                opts=pulumi.ResourceOptions(parent=self, depends_on=granted),
            )
            accelerators = nodes.instance.accelerators
            exports["node_groups"][nodes.spec.name] = {
                "autoscaling_group": fleet.group_name,
                "launch_template": fleet.template_id,
                "count": nodes.spec.least,
                # Of the instances that it launches: one that runs may be of another type still.
                "launches": {
                    "type": nodes.spec.type,
                    "efa_interfaces": nodes.efa_interfaces,
                    "gres": None if accelerators is None else accelerators.gres,
                    "accelerators": None if accelerators is None else accelerators.count,
                },
            }
        if plan.file_systems:
            exports["file_systems"] = self._lookup("aws-storage", "file_systems")
        if plan.efs:
            exports["efs"] = self._lookup("aws-storage", "efs")
        return exports

    def _key_grant(self, account: pulumi.Output[str]) -> list[pulumi.Resource]:
        """Return the grant on the key of volumes that Auto Scaling needs before its first launch."""
        args, access = self._args, self._args.plan.access
        key = access.encryption_key
        if key is None or access.key_for_auto_scaling != "grant":
            return []
        name = args.name("auto-scaling")
        made = account.apply(lambda number: auto_scaling_grant(args.plan.region, number, key))
        return [
            aws.kms.Grant(
                name,
                name=name,
                key_id=key,
                grantee_principal=made["grantee_principal"],
                operations=made["operations"],
                opts=child_options(self, args, name),
            )
        ]

    def _node_subnets(self) -> list[pulumi.Output[str]]:
        """Return the ids of the subnets of node groups."""
        planned = self._args.plan.cluster_subnets
        if not planned:
            return [self._subnet("private")]
        ids = self._lookup("aws-network", "subnet_ids")
        return [member(ids, plan.name) for plan in planned]

    def _subnet(self, tier: str) -> pulumi.Output[str]:
        """Return the id of the tier's subnet in the zone that holds the cluster.

        Raises:
            ValueError: the existing network has no subnet of the tier, which the plan refuses
                before.
        """
        existing = self._args.plan.network.existing
        if existing is not None:
            named = existing.public_subnet if tier == "public" else existing.private_subnet
            if named is None:
                raise ValueError(f"'{existing.vpc}' has no {tier} subnet, which the plan refuses")
            return pulumi.Output.from_input(named)
        zone = self._args.plan.network.availability_zones[0]
        name = next(
            plan.name for plan in self._args.plan.subnets if (plan.tier, plan.zone) == (tier, zone)
        )
        ids = self._lookup("aws-network", "subnet_ids")
        return member(ids, name)

    def _parameter(self, what: str, value: Mapping[str, Any]) -> None:
        """Return the stack's outputs as a parameter, for the configuration step and the instances."""
        args = self._args
        name = args.name("parameter", what)
        aws.ssm.Parameter(
            name,
            name=f"{parameter_path(args.cluster, args.plan.name)}/{what}",
            type="String",
            tier="Intelligent-Tiering",
            description=f"{what} of {args.prefix}",
            value=pulumi.Output.from_input(dict(value)).apply(
                lambda known: json.dumps(known, sort_keys=True)
            ),
            tags=args.tags(name),
            opts=child_options(self, args, name),
        )


class _Images:
    """Finds images; a public parameter is read once however many groups use it."""

    def __init__(self, parent: pulumi.Resource) -> None:
        self._parent = parent
        self._found: dict[str, pulumi.Output[str]] = {}

    def resolve(self, image: str) -> pulumi.Input[str]:
        """Return the id of ``image``, which may be ``ssm:/path``."""
        if not image.startswith("ssm:"):
            return image
        if image not in self._found:
            found = aws.ssm.get_parameter_output(
                name=image.removeprefix("ssm:"), opts=pulumi.InvokeOptions(parent=self._parent)
            )
            self._found[image] = pulumi.Output.unsecret(found.value)
        return self._found[image]
