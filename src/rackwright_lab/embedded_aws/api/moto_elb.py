"""Network Load Balancers: moto forgets the addresses of their zones, and asks for two zones of one that may have one."""

from __future__ import annotations

from typing import Any

from moto.elbv2.models import AvailabilityZone, ELBv2Backend, FakeLoadBalancer

from rackwright_lab.embedded_aws.api.patching import first_time, put


def install() -> None:
    """Put the additions into moto's classes of load balancers; a second call changes nothing."""
    if not first_time(__name__):
        return
    first_create, first_set = ELBv2Backend.create_load_balancer, ELBv2Backend.set_subnets

    def create_load_balancer(self: Any, *args: Any, **given: Any) -> FakeLoadBalancer:
        """Return the balancer, which knows the addresses of its mappings."""
        made = first_create(self, *args, **given)
        _keep(made, given.get("subnet_mappings"))
        return made

    def set_subnets(
        self: Any, arn: str, subnets: list[str], subnet_mappings: list[dict[str, Any]]
    ) -> list[AvailabilityZone]:
        """Return the zones of a balancer after the change."""
        balancer = self.load_balancers.get(arn)
        if balancer is None or balancer.type != "network":
            return first_set(self, arn, subnets, subnet_mappings)
        named = [*subnets, *(one["SubnetId"] for one in subnet_mappings)]
        balancer.subnets = [self.ec2_backend.get_subnet(one) for one in named]
        _keep(balancer, subnet_mappings)
        zones: list[AvailabilityZone] = balancer.availability_zones
        return zones

    put(ELBv2Backend, create_load_balancer=create_load_balancer, set_subnets=set_subnets)
    put(FakeLoadBalancer, availability_zones=property(availability_zones))


def _keep(balancer: Any, mappings: list[dict[str, Any]] | None) -> None:
    balancer._addresses = {
        one["SubnetId"]: one["AllocationId"] for one in mappings or () if "AllocationId" in one
    }


def availability_zones(self: Any) -> list[AvailabilityZone]:
    """Return the zones of a balancer, each with the address that it was given there."""
    zones: list[Any] = [AvailabilityZone(subnet) for subnet in self.subnets]
    for zone in zones:
        allocation = getattr(self, "_addresses", {}).get(zone.subnet_id)
        if allocation is not None:
            zone.load_balancer_addresses = [{"AllocationId": allocation}]
    return zones
