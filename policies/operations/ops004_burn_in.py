"""OPS-004: new nodes are burnt in before they take jobs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from pydantic import Field

from rackwright.api import (
    Finding,
    Measure,
    Missing,
    Plan,
    Policy,
    Profile,
    Severity,
    Subject,
    Suggestion,
    rule,
)
from rackwright.model.names import compress_hostlist, expand_hostlist
from rackwright.model.operations import BurnInResult
from rackwright.policy.helpers.attestation import declared


@rule(
    "OPS-004",
    "New nodes are burnt in before they take jobs",
    Severity.MEDIUM,
    since="0.2",
    stage="build",
    profile=Profile.PRODUCTION,
)
class BurnIn(Policy):
    """Bare-metal nodes with accelerators are burnt in, with the knowledge of the facility."""

    least_hours: Annotated[float, Field(gt=0, le=2000)] = 48.0
    """Shortest burn-in in hours."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield a measure and a finding for each bare-metal site with accelerators."""
        operations = plan.operations
        burn_in = operations.burn_in if operations else None
        duration = burn_in.duration if burn_in else None
        path = ("operations", "burn_in")
        for site in plan.onprem:
            if not site.totals.accelerators:
                continue
            at = Subject(f"{site.name} burn-in", path)
            yield Measure(
                at,
                value=None if duration is None else duration / 3600,
                limit=self.least_hours,
                unit="h",
                what="burn-in of new nodes",
                sense="at_least",
                fix=f"set 'duration: {self.least_hours:g} h' or more",
                suggest=Suggestion((*path, "duration"), f"{self.least_hours:g} h"),
                missing=(Missing("'duration' in 'operations.burn_in'", (*path, "duration")),)
                if duration is None
                else (),
            )
            yield declared(
                at,
                value=burn_in.facility_informed if burn_in else None,
                yes="the facility team is informed about burn-ins",
                no="the facility team is not informed about burn-ins",
                missing=Missing(
                    "'facility_informed' in 'operations.burn_in'", (*path, "facility_informed")
                ),
                fix="agree on dates and on the number of nodes at once, and set "
                "'facility_informed: true'",
            )
            for number, result in enumerate(burn_in.results if burn_in else ()):
                if result.site == site.name:
                    yield from self._of_result(plan, result, (*path, "results", number))

    def _of_result(
        self, plan: Plan, result: BurnInResult, path: tuple[str | int, ...]
    ) -> Iterator[Measure | Finding]:
        """Evaluate a burn-in that was run: its time, and the nodes of the group that passed."""
        at = Subject(f"{result.site} {result.group} burn-in", path)
        yield Measure(
            at,
            value=result.duration / 3600,
            limit=self.least_hours,
            unit="h",
            what="time under load in the recorded burn-in",
            sense="at_least",
            fix="run 'rackwright burn-in' for longer, and state its result",
        )
        group = [h.name for h in plan.hosts if (h.site, h.group) == (result.site, result.group)]
        passed = set(expand_hostlist(result.passed)) if result.passed else set()
        left = [name for name in group if name not in passed]
        what = f"all nodes of {result.group} passed their burn-in"
        if not group:
            message = f"the site has no node group '{result.group}'"
        else:
            message = (
                f"{len(left)} of {len(group)} nodes have not passed: {compress_hostlist(left[:20])}"
            )
        ok = bool(group) and not left
        fix = (
            ""
            if ok
            else "repair the nodes and run 'rackwright burn-in' again, or take them out of the group"
        )
        yield Finding(at, ok=ok, message=what if ok else message, fix=fix, what=what)
