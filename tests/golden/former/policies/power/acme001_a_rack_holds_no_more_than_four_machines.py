"""ACME-001: A rack holds no more than four machines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, ClassVar

from pydantic import Field

from rackwright.plan.model import Plan, Subject
from rackwright.policy.api import Finding, Measure, Policy, Profile, Severity


class RuleARackHoldsNoMoreThanFourMachines(Policy):
    """A rack holds no more than four machines."""

    id: ClassVar[str] = "ACME-001"
    title: ClassVar[str] = "A rack holds no more than four machines"
    severity: ClassVar[Severity] = Severity.MEDIUM
    since: ClassVar[str] = "1.0"
    family: ClassVar[str] = "power"
    profile: ClassVar[Profile] = Profile.PILOT

    highest_altitude: Annotated[float, Field(ge=0, le=9000)] = 900.0
    """Highest altitude of a site in metres."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """One measure for each bare-metal site; put your own rule here."""
        for site in plan.onprem:
            altitude = site.site.altitude
            yield Measure(
                Subject(site.site.name, (*site.path, "altitude")),
                value=altitude,
                limit=self.highest_altitude,
                unit="m",
                what="altitude of the site",
                fix=f"choose a site below {self.highest_altitude:g} m",
                missing=("the site's 'altitude'",) if altitude is None else (),
            )
