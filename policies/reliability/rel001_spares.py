"""REL-001: spare hosts replace hosts under repair."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from pydantic import Field

from rackwright.api import (
    Enforcement,
    Finding,
    Measure,
    Missing,
    Plan,
    Policy,
    Profile,
    Severity,
    Subject,
    rule,
)
from rackwright.model.reliability import Reliability
from rackwright.model.units import Percent
from rackwright.plan.reliability.failures import DAY, GroupHosts, daily_rate, spares_needed


@rule(
    "REL-001",
    "Spare hosts replace hosts under repair",
    Severity.MEDIUM,
    since="0.2",
    stage="run",
    enforcement=Enforcement.ADVISORY,
    profile=Profile.PRODUCTION,
)
class Spares(Policy):
    """The spares of each compute group cover the hosts that are down at once, nearly always."""

    quantile: Annotated[Percent, Field(ge=50, lt=100)] = 99.0
    """Share of the time in which the spares must suffice."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield a measure for each compute group on bare metal; AWS replaces instances."""
        reliability = plan.reliability or Reliability()
        for group in plan.groups:
            if group.compute and group.onprem:
                yield self._judge(group, reliability)

    def _judge(self, group: GroupHosts, reliability: Reliability) -> Measure:
        known = reliability.of_group(group.site, group.group)
        rate, repair = known.node_failures_per_1000_days, known.repair_time
        missing = [
            Missing(f"'{name}' in 'reliability'", ("reliability", name))
            for name, value in (
                ("node_failures_per_1000_days", rate),
                ("repair_time", repair),
            )
            if value is None
        ]
        if known.spares is None:
            named = [(one.site, one.group) for one in reliability.groups]
            here = (group.site, group.group)
            index = named.index(here) if here in named else len(named)
            words = f"'spares' of '{group.group}' in the groups of 'reliability'"
            missing.append(Missing(words, ("reliability", "groups", index, "spares")))
        needed, fix = None, None
        if rate is not None and repair is not None:
            mean = group.hosts * daily_rate(rate) * repair / DAY
            needed = spares_needed(mean, self.quantile / 100)
            if needed is None:
                words = "a failure rate and repair time that a site can have"
                names = ("node_failures_per_1000_days", "repair_time")
                missing.append(Missing(words, *(("reliability", name) for name in names)))
            else:
                fix = (
                    f"keep {needed:,} hosts free or on the shelf, or repair sooner: "
                    f"{mean:,.3g} of {group.hosts:,} are down on average"
                )
        return Measure(
            Subject(f"{group.site} {group.group}", group.path),
            value=known.spares,
            limit=needed,
            unit="hosts",
            what="number of spare hosts",
            sense="at_least",
            fix=fix,
            missing=tuple(missing),
        )
