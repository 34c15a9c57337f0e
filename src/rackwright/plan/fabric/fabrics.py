"""The fabrics of a bare-metal site, each laid out once."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from rackwright.catalog.loader import Catalogue
from rackwright.model.fabric import Fabric
from rackwright.model.hardware import Switch
from rackwright.model.onprem import OnPremSite
from rackwright.plan.base import Path
from rackwright.plan.fabric.graph import FabricTopology, graph_of
from rackwright.plan.fabric.layout import Layout, lay_out
from rackwright.plan.hosts import switch_count
from rackwright.plan.problems import PlanProblem


@dataclass(frozen=True)
class FabricPlan:
    """A fabric of a bare-metal site.

    Attributes:
        site: name of the site.
        fabric: as the blueprint declares it.
        path: its place in the blueprint.
        switches: number of independent switches of each tier, in the order of the tiers.
        technologies: those of its switches, ``infiniband`` or ``ethernet``.
        layout: its switches with the hosts cabled; None while nothing is attached to it.
    """

    site: str
    fabric: Fabric
    path: Path
    switches: tuple[int, ...]
    technologies: frozenset[str]
    layout: Layout | None

    @property
    def name(self) -> str:
        """Its name, unique in the site."""
        return self.fabric.name

    @property
    def technology(self) -> str | None:
        """Declared technology, otherwise that of the switches; None if they differ."""
        if self.fabric.technology is not None or len(self.technologies) != 1:
            return self.fabric.technology
        (found,) = self.technologies
        return found

    @property
    def is_infiniband(self) -> bool:
        """It is declared to be InfiniBand, or nothing is declared and some of its switches are."""
        if self.fabric.technology is not None:
            return self.fabric.technology == "infiniband"
        return "infiniband" in self.technologies

    def attachment(self, group: str) -> Path:
        """Return the place of an attached node group in the blueprint.

        Raises:
            ValueError: the group is not attached.
        """
        return (*self.path, "attached", [one.group for one in self.fabric.attached].index(group))

    def wider_ports(self, group: str, product: Path) -> Path:
        """Return the field by which hosts of an attached node group get more bandwidth.

        The rate or the number of their interfaces where the product has more, else the type of the node group at ``product``.
        """
        for hosts in self.layout.hosts if self.layout else ():
            if hosts.group.name == group:
                stated, place = hosts.attachment, self.attachment(group)
                if stated.rate is not None and stated.rate < (hosts.fastest_gbps or math.inf):
                    return (*place, "rate")
                if (hosts.interfaces or 0) < (hosts.role_ports or 0) * stated.split:
                    return (*place, "interfaces")
        return (*product, "type")

    @cached_property
    def graph(self) -> FabricTopology | None:
        """Its switches as a graph; None where it is open where hosts or switches are cabled."""
        return None if self.layout is None else graph_of(self.layout)


def check_adaptive_routing(fabrics: Iterable[FabricPlan]) -> Iterator[PlanProblem]:
    """Yield the InfiniBand fabrics with the adaptive routing of Ethernet."""
    for planned in fabrics:
        if planned.is_infiniband and planned.fabric.adaptive_routing is not None:
            yield PlanProblem(
                (*planned.path, "adaptive_routing"),
                f"'adaptive_routing' is for Ethernet, and '{planned.name}' is InfiniBand",
                "set 'routing_engine' to 'ar_updn' or 'ar_ftree'",
            )


def plan_fabrics(site: OnPremSite, path: Path, catalogue: Catalogue) -> tuple[FabricPlan, ...]:
    """Return the fabrics of the site at ``path``, in the order of the blueprint.

    Raises:
        UnknownEntryError: a product is not in the catalogue.
    """
    return tuple(
        FabricPlan(
            site=site.name,
            fabric=fabric,
            path=(*path, "fabrics", index),
            switches=tuple(switch_count(tier, catalogue) for tier in fabric.tiers),
            technologies=frozenset(
                catalogue.get(Switch, tier.type).technology for tier in fabric.tiers
            ),
            layout=lay_out(site, fabric, catalogue),
        )
        for index, fabric in enumerate(site.fabrics)
    )
