"""AWS-007: no security group is open to the internet."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import ip_network
from typing import Annotated

from pydantic import Field

from rackwright.api import Finding, Measure, Plan, Policy, Profile, Severity, Subject, rule
from rackwright.plan.aws.security_groups import SecurityRule


@rule(
    "AWS-007",
    "No security group is open to the internet",
    Severity.CRITICAL,
    since="0.1",
    stage="design",
    profile=Profile.LAB,
)
class OpenPorts(Policy):
    """Few public addresses may reach any port of the site."""

    most_addresses: Annotated[int, Field(ge=0, le=2**24)] = 65536
    """Public addresses that one rule may admit."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield a measure for each planned ingress rule that names a network."""
        for site in plan.aws:
            sources = site.network.ssh_from
            for opening in (*site.network_rules, *site.storage_rules):
                if opening.direction != "ingress" or opening.peer_group is not None:
                    continue
                path: tuple[str | int, ...] = (*site.path, "network")
                if opening.peer in sources:
                    path = (*path, "ssh_from", sources.index(opening.peer))
                yield Measure(
                    Subject(f"{site.name} {opening.group} from {opening.peer}", path),
                    value=_public_addresses(opening),
                    limit=self.most_addresses,
                    unit="addresses",
                    what=f"public addresses admitted ({opening.why})",
                    fix="name the networks that need it, or use Session Manager",
                )


def _public_addresses(opening: SecurityRule) -> int:
    network = ip_network(opening.peer)
    return 0 if network.is_private else network.num_addresses
