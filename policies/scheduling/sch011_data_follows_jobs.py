"""SCH-011: data reaches a site in time for its jobs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from pydantic import Field

from rackwright.api import Finding, Measure, Plan, Policy, Severity, Subject, rule
from rackwright.plan.federation.wan import Copy, copies, lines, missing_of


@rule(
    "SCH-011",
    "Data reaches a site in time for its jobs",
    Severity.MEDIUM,
    since="0.4",
    stage="design",
)
class DataFollowsJobs(Policy):
    """Copying a data set to a site without it takes less time than a job should wait."""

    longest_copy: Annotated[float, Field(gt=0, le=720)] = 8.0
    """Maximum time of a copy, in h."""
    longest_round_trip: Annotated[float, Field(gt=0, le=5000)] = 300.0
    """Maximum round trip between controllers, in ms. Judgement: each message to another cluster waits for one."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield a measure for each line, and for each data set that a site lacks."""
        for line in lines(plan):
            one, other = line.sites
            time = None if line.link is None else line.link.round_trip_time
            missing = missing_of(line)
            yield Measure(
                Subject(f"{plan.name} line between {one} and {other}", ("interconnects",)),
                value=None if time is None else time * 1000,
                limit=self.longest_round_trip,
                unit="ms",
                what="round trip between controllers",
                fix=None
                if time is None or time * 1000 <= self.longest_round_trip
                else "use another route between the sites, or separate federations",
                missing=missing if time is None else (),
            )
        for copy in copies(plan):
            yield self._judge(plan.name, copy)

    def _judge(self, name: str, copy: Copy) -> Measure | Finding:
        at = Subject(f"{name} {copy.data} at {copy.site}", copy.path)
        hours = None if copy.seconds is None else copy.seconds / 3600
        burst = copy.path[0] == "burst"
        over = hours is not None and hours > self.longest_copy
        fix = None
        if over:
            what = "the burst is pointless: " if burst else ""
            fix = (
                f"{what}keep '{copy.data}' at '{copy.site}' ('at'), or let its jobs ask for "
                f"--cluster-constraint=data-{copy.data}"
            )
        return Measure(
            at,
            value=hours,
            limit=self.longest_copy,
            unit="h",
            what=f"time to copy it from '{copy.source}'" if copy.source else "time to copy it",
            fix=fix,
            missing=copy.missing,
        )
