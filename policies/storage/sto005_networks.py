"""STO-005: clients and servers of a file system reach each other over LNet."""

from __future__ import annotations

from collections.abc import Iterator

from rackwright.api import Finding, Measure, Plan, Policy, Severity, Subject, rule
from rackwright.plan.missing import below
from rackwright.plan.storage.lnet import judge_networks


@rule(
    "STO-005",
    "Clients and servers of a file system reach each other",
    Severity.HIGH,
    since="0.2",
    stage="design",
)
class Networks(Policy):
    """The NIDs of the MGS lie in declared networks, and all parts share one of them."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield findings for the NIDs of the MGS, and for each pair of parts that must be connected."""
        for system in plan.file_systems:
            if system.lustre is None:
                continue
            for claim in judge_networks(system.lustre, system.management_hosts):
                yield Finding(
                    Subject(system.name, (*system.path, *claim.path)),
                    ok=claim.ok,
                    message=claim.message,
                    fix=claim.fix,
                    missing=below(system.path, claim.missing),
                    what=claim.what,
                )
