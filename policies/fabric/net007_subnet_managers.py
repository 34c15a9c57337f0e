"""NET-007: a subnet survives the loss of its subnet manager."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from pydantic import Field

from rackwright.api import Finding, Measure, Plan, Policy, Profile, Severity, rule
from rackwright.policy.helpers.fabrics import FabricAt, fabrics_of

_ROOTED = frozenset({"updn", "ar_updn"})
"""Engines that route up to the roots and down again."""


@rule(
    "NET-007",
    "Subnet managers are redundant and well placed",
    Severity.HIGH,
    since="0.2",
    stage="design",
    profile=Profile.PRODUCTION,
)
class SubnetManagers(Policy):
    """Enough subnet managers run, on hosts of the fabric and not on the roots of the tree."""

    managers: Annotated[int, Field(ge=1, le=8)] = 2
    """Fewest subnet managers of a subnet."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield a measure of managers for each InfiniBand fabric, and a finding for each place."""
        for found in fabrics_of(plan):
            if found.technology != "ethernet":
                yield self._count(found)
                yield from _places(found)

    def _count(self, found: FabricAt) -> Measure:
        declared = found.fabric.subnet_managers
        count = sum(managers.count for managers in declared)
        short = self.managers - count
        return Measure(
            found.at("subnet_managers"),
            value=count if declared else None,
            limit=self.managers,
            unit="subnet managers",
            what="number of subnet managers of each subnet",
            sense="at_least",
            fix=f"run {short} more on a host of its own" if declared and short > 0 else None,
            missing=() if declared else (found.lacks("subnet_managers"),),
        )


def _places(found: FabricAt) -> Iterator[Finding]:
    tiers = [tier.name for tier in found.fabric.tiers]
    attached = {attachment.group for attachment in found.fabric.attached}
    for index, managers in enumerate(found.fabric.subnet_managers):
        at = found.at("subnet_managers", index)
        top = len(tiers) > 1 and managers.at == tiers[-1]
        if managers.at not in tiers and managers.at not in attached:
            yield Finding(
                at,
                ok=False,
                message=f"subnet managers run on '{managers.at}', which is not on the fabric",
                fix=f"attach '{managers.at}' to the fabric '{found.fabric.name}'",
            )
        elif top and found.fabric.routing_engine is None:
            yield Finding(
                at,
                ok=None,
                message=f"whether subnet managers may run on the roots '{managers.at}'",
                missing=(found.lacks("routing_engine"),),
            )
        else:
            on_root = top and found.fabric.routing_engine in _ROOTED
            yield Finding(
                at,
                ok=not on_root,
                message=f"subnet managers run on '{managers.at}'"
                + (f", the roots of {found.fabric.routing_engine}" if on_root else ""),
                fix="run them on hosts, or on switches of a lower tier" if on_root else None,
            )
