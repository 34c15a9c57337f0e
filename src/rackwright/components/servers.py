"""Head and login nodes."""

from __future__ import annotations

from dataclasses import replace

import pulumi
import pulumi_aws as aws

from rackwright.components.tags import SiteArgs, child_options, member
from rackwright.model.aws_instances import DataVolume
from rackwright.plan.aws.data_volume import DEVICE
from rackwright.plan.aws.launch_template import Wiring, server_args, settled_properties
from rackwright.plan.aws.site import ServerPlan


class Servers(pulumi.ComponentResource):
    """The head or login nodes, each with a name in the private zone."""

    shared_ip: pulumi.Output[str] | None = None
    """Public address that all of them have in common; None without."""

    private_ips: dict[str, pulumi.Output[str]]
    """By host name, like ``head-1``."""
    public_ips: dict[str, pulumi.Output[str]]
    """The same, of nodes that have a public address."""
    instance_ids: dict[str, pulumi.Output[str]]
    data_volumes: dict[str, pulumi.Output[str]]
    """The volume of each node that has one apart from its root."""

    def __init__(
        self,
        args: SiteArgs,
        servers: ServerPlan,
        subnet_id: pulumi.Input[str],
        dns_zone_id: pulumi.Input[str],
        wiring: Wiring,
        volumes: pulumi.Output[dict[str, str]] | None = None,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__(
            "rackwright:aws:Servers",
            args.name(servers.role),
            {"type": servers.server.type, "count": servers.server.count},
            opts,
        )
        self.private_ips = {}
        self.public_ips = {}
        self.instance_ids = {}
        self.data_volumes = {}
        settled = settled_properties(servers.server, kept=servers.kept)
        zone = args.plan.network.dns_zone
        for host in servers.names:
            name = args.name(host)
            instance = aws.ec2.Instance(
                name,
                **server_args(
                    servers.server,
                    name=name,
                    tags=args.common_tags() | {"rackwright:role": servers.role},
                    wiring=replace(wiring, user_data=args.plan.server_user_data(host)),
                    public=servers.public,
                    protected=servers.protected,
                ),
                subnet_id=subnet_id,
                opts=child_options(self, args, name, ignore_changes=settled),
            )
            aws.route53.Record(
                name,
                zone_id=dns_zone_id,
                name=f"{host}.{zone}",
                type="A",
                ttl=60,
                records=[instance.private_ip],
                opts=child_options(self, args, name),
            )
            if servers.data_volume is not None and volumes is not None:
                volume = member(volumes, host)
                self._attach(args, host, instance, volume, servers.data_volume)
                self.data_volumes[host] = volume
            self.private_ips[host] = instance.private_ip
            self.instance_ids[host] = instance.id
            if servers.public:
                address = instance.public_ip
                if servers.role == "login" and args.plan.login_address == "elastic":
                    address = self._stays(args, host, instance)
                self.public_ips[host] = address
        self.register_outputs(self.addresses())

    def _stays(self, args: SiteArgs, host: str, instance: aws.ec2.Instance) -> pulumi.Output[str]:
        """Return an address that stays when the instance is stopped, or replaced by another one."""
        name = args.name(host)
        return aws.ec2.Eip(
            name,
            domain="vpc",
            instance=instance.id,
            tags=args.tags(name),
            opts=child_options(self, args, name),
        ).public_ip

    def _attach(
        self,
        args: SiteArgs,
        host: str,
        instance: aws.ec2.Instance,
        volume_id: pulumi.Output[str],
        volume: DataVolume,
    ) -> None:
        """Attach a data volume; before it leaves a node, the node is stopped, so that nothing writes to it."""
        name = args.name(host, "data")
        attached = aws.ec2.VolumeAttachment(
            name,
            device_name=DEVICE,
            instance_id=instance.id,
            volume_id=volume_id,
            stop_instance_before_detaching=True,
            opts=child_options(self, args, name),
        )
        # The node that was stopped for another volume starts again: each origin has a resource of its own.
        running = args.name(host, "running", volume.snapshot or "blank")
        aws.ec2transitgateway.InstanceState(
            running,
            instance_id=instance.id,
            state="running",
            opts=child_options(self, args, running, depends_on=[attached]),
        )

    def addresses(self) -> dict[str, dict[str, pulumi.Output[str]] | pulumi.Output[str]]:
        """Return the addresses of the servers, for the configuration step."""
        volumes = {"data_volumes": self.data_volumes} if self.data_volumes else {}
        shared = {} if self.shared_ip is None else {"shared_ip": self.shared_ip}
        return {
            **shared,
            "private_ips": self.private_ips,
            "public_ips": self.public_ips,
            "instance_ids": self.instance_ids,
            **volumes,
        }
