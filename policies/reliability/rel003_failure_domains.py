"""REL-003: no single loss takes out a large share of a node group."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Annotated

from pydantic import Field

from rackwright.api import (
    Contributor,
    Finding,
    Measure,
    Plan,
    Policy,
    Profile,
    Severity,
    SitePlan,
    Subject,
    rule,
)
from rackwright.model.power import SourceKind
from rackwright.model.units import Percent
from rackwright.plan.reliability.failure_domains import FailureDomains, Loss, metadata_groups
from rackwright.plan.slurm.domains import TrayLoss, tray_losses

CONTROL = ("head", "management")
"""Roles whose nodes stand in for each other."""


@rule(
    "REL-003",
    "No single loss takes out a large share of a node group",
    Severity.MEDIUM,
    since="0.2",
    stage="design",
    profile=Profile.PRODUCTION,
)
class SpreadDomains(Policy):
    """Groups are spread over racks, power sources, leaf switches and CDUs."""

    most_lost: Annotated[Percent, Field(ge=0, le=100)] = 25.0
    """Most of a compute group that the loss of one rack, source, leaf or CDU may take."""
    ignored_sources: frozenset[SourceKind] = frozenset({"utility"})
    """Kinds of power sources whose loss takes the whole site by nature."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield measures for each compute group, each role of controllers and each metadata service."""
        for site in plan.onprem:
            domains = FailureDomains(site, self.ignored_sources)
            for index, group in enumerate(site.groups):
                if group.spec.role == "compute":
                    at = Subject(f"{site.name} {group.name}", group.path)
                    few = self._is_small(domains.racks_of([index]))
                    for loss in domains.losses(index):
                        yield self._judge(at, loss, few=few)
            yield from _controllers(plan, site, domains)
        nodes = tuple(nodes for slurm in plan.clusters for nodes in slurm.nodes)
        for tray in tray_losses(plan, nodes):
            yield self._judge_tray(tray)

    def _is_small(self, racks: int) -> bool:
        """Return True if even an equal share of the group in each rack would be too much."""
        return racks * self.most_lost < 100

    def _judge(self, at: Subject, loss: Loss, *, few: bool) -> Measure:
        noun = "ports of the group" if loss.kind == "leaf" else "the group"
        shares: tuple[Contributor, ...] = ()
        if loss.taken:
            unit = "ports on one" if loss.kind == "leaf" else "units with one"
            shares = (Contributor(f"{unit} {loss.name}", round(loss.taken), 100 / loss.of),)
        return Measure(
            at,
            value=loss.share,
            limit=self.most_lost,
            unit="%",
            what=f"share of {noun} lost with one {loss.group}",
            contributors=shares,
            fix=_fix(loss, self.most_lost),
            missing=loss.missing,
            advisory=few and loss.kind in {"rack", "leaf", "pump"},
        )

    def _judge_tray(self, tray: TrayLoss) -> Measure:
        taken, trays = tray.taken, tray.domains.trays
        what = "hosts with a compute tray"
        if tray.block is not None:
            what = f"hosts of a block of {tray.block} with one tray of {trays}"
        return Measure(
            Subject(f"{tray.site} {tray.domains.group}", tray.domains.path),
            value=None if taken is None else 100 * taken / tray.of,
            limit=self.most_lost,
            unit="%",
            what="share of the group lost with one compute tray",
            contributors=(Contributor(what, taken, 100 / tray.of),) if taken else (),
            fix="use more trays"
            if tray.block is None
            else f"use blocks of {trays - 1}, which leave a spare tray",
            missing=tray.missing,
            advisory=self._is_small(tray.domains.racks),
        )


def _fix(loss: Loss, limit: float) -> str:
    needed = math.ceil(100 / limit) if limit else None
    match loss.kind:
        case "rack":
            most = math.floor(loss.of * limit / 100 + 1e-9)
            if most:
                return f"place at most {most:,} in a rack, over {math.ceil(loss.of / most):,} racks"
            return f"use {needed:,} units or more" if needed else "allow some loss"
        case "leaf":
            return f"spread the group over {needed:,} leaves or more" if needed else "allow a loss"
        case "power source":
            return "feed the racks from more sources that do not die together"
        case "pump":
            return "choose CDUs whose other pumps carry a rack"
        case "CDU":
            return f"add a CDU beside the {loss.count}, so that the others carry the loop"


def _controllers(plan: Plan, site: SitePlan, domains: FailureDomains) -> Iterator[Measure]:
    """Yield the racks of each role of which there are several nodes."""
    groups = list(enumerate(site.groups))
    for role in CONTROL:
        found = [index for index, group in groups if group.spec.role == role]
        yield from _spread(site, domains, found, f"{role} nodes")
    for system in plan.file_systems:
        if system.site == site.name and system.lustre is not None:
            found = metadata_groups(site, system.lustre)
            yield from _spread(site, domains, found, f"metadata servers of {system.system}")


def _spread(
    site: SitePlan, domains: FailureDomains, groups: list[int], noun: str
) -> Iterator[Measure]:
    nodes = sum(site.groups[index].spec.count for index in groups)
    if nodes > 1:
        yield Measure(
            Subject(f"{site.name} {noun}", site.groups[groups[0]].path),
            value=domains.racks_of(groups),
            limit=2,
            unit="racks",
            what=f"number of racks that hold the {noun}",
            sense="at_least",
            fix=f"place at most {math.ceil(nodes / 2):,} of the {nodes:,} in one rack",
        )
