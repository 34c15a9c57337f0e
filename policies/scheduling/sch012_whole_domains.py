"""SCH-012: a base block of Slurm holds a whole NVLink domain."""

from __future__ import annotations

from collections.abc import Iterator

from rackwright.api import Finding, Measure, Missing, Plan, Policy, Severity, Subject, rule
from rackwright.plan.slurm.checks import blocked
from rackwright.plan.slurm.topology import TOPOLOGY, base_block


@rule(
    "SCH-012", "Base blocks hold whole NVLink domains", Severity.HIGH, since="0.4", stage="design"
)
class WholeDomains(Policy):
    """A unit holds one base block, so that no segment is split between two domains."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield one measure for each group that is scheduled by blocks and joins hosts by NVLink."""
        for slurm in plan.clusters:
            sets = blocked(slurm.scheduler, slurm.nodes)
            sizes = slurm.scheduler.topology.block_sizes or base_block(sets)
            for nodes in sets:
                at = Subject(f"{nodes.site} {nodes.group}", nodes.path)
                if nodes.unit_hosts is None or not sizes:
                    known = nodes.unit_hosts is not None
                    what = "one base size" if known else "hosts of one NVLink domain"
                    what += f" of {nodes.entry}"
                    place = (*TOPOLOGY, "block_sizes" if known else "plugin")
                    missing = (Missing(what, place),)
                    yield Finding(
                        at,
                        ok=None,
                        message="whether base blocks fit the NVLink domains",
                        missing=missing,
                    )
                elif nodes.unit_hosts > 1:
                    yield Measure(
                        at,
                        value=max(1, nodes.unit_hosts // sizes[0]),
                        limit=1,
                        unit="base blocks",
                        what="number of base blocks in an NVLink domain",
                        fix=f"use a base size of {nodes.unit_hosts}, the hosts of a unit",
                    )
