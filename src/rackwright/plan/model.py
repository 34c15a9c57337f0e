"""The plan: what a blueprint expands to, and what is worked out of that once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from rackwright.plan.base import Contributor, Path, Subject
from rackwright.plan.expansion import Expansion, SitePlan

if TYPE_CHECKING:
    from rackwright.plan.cost.summary import CostSummary
    from rackwright.plan.fabric.layout import Layout
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
    def layouts(self) -> Mapping[Path, Layout]:
        """The fabrics that nodes are attached to, cabled, by their places in the blueprint."""
        from rackwright.plan.fabric.layout import lay_out

        made = {
            (*site.path, "fabrics", index): lay_out(site.site, fabric, self.catalogue)
            for site in self.onprem
            for index, fabric in enumerate(site.site.fabrics)
        }
        return {path: layout for path, layout in made.items() if layout is not None}

    @cached_property
    def names(self) -> NamePlan:
        """The names and addresses of hosts and switches of the bare-metal sites that declare them."""
        from rackwright.plan.naming.names import plan_names

        return plan_names(self)
