"""The plan: what a blueprint expands to, and what is worked out of that once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from rackwright.plan.base import Contributor, Path, Subject
from rackwright.plan.expansion import Expansion, SitePlan

if TYPE_CHECKING:
    from rackwright.plan.cost.summary import CostSummary
    from rackwright.plan.records.names import NamePlan

__all__ = ["Contributor", "Path", "Plan", "SitePlan", "Subject"]


@dataclass(frozen=True)
class Plan(Expansion):
    """Everything that policies judge and that later stages build."""

    @cached_property
    def cost(self) -> CostSummary:
        """What the plan costs by the price lists and the owner's own prices."""
        from rackwright.plan.cost.summary import summarise

        return summarise(self)

    @cached_property
    def names(self) -> NamePlan:
        """The names and addresses of hosts and switches of the bare-metal sites that declare them."""
        from rackwright.plan.naming.names import plan_names

        return plan_names(self)
