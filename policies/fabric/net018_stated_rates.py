"""NET-018: stated port rates do not exceed those of the product."""

from __future__ import annotations

from collections.abc import Iterator

from rackwright.api import Finding, Measure, Plan, Policy, Severity, rule
from rackwright.plan.fabric.layout import Hosts
from rackwright.policy.helpers.fabrics import FabricAt, fabrics_of, unattached


@rule(
    "NET-018",
    "Stated port rates do not exceed those of the product",
    Severity.HIGH,
    since="0.5",
    stage="design",
)
class StatedRates(Policy):
    """A rate that a blueprint states for interfaces is no higher than the catalogue's for such ports."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield a measure for each group whose rate is stated and listed."""
        for found in fabrics_of(plan):
            if found.layout is None:
                yield unattached(found, "at which rate the ports run")
                continue
            for index, hosts in enumerate(found.layout.hosts):
                if hosts.attachment.rate is not None and hosts.fastest_gbps is not None:
                    yield _judge(found, index, hosts)


def _judge(found: FabricAt, index: int, hosts: Hosts) -> Measure:
    return Measure(
        found.attached(index),
        value=hosts.attachment.rate,
        limit=hosts.fastest_gbps,
        unit="Gbps",
        what=f"rate of the interfaces of '{hosts.group.name}'",
        fix="leave out 'rate', or order a product with faster ports",
    )
