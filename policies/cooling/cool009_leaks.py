"""COOL-009: racks with liquid detect leaks and shut off."""

from __future__ import annotations

from collections.abc import Iterator

from rackwright.api import Finding, Measure, Missing, Plan, Policy, Profile, Severity, Subject, rule
from rackwright.plan.racks.contributors import subject


@rule(
    "COOL-009",
    "Racks with liquid detect leaks and shut off",
    Severity.HIGH,
    since="0.1",
    stage="design",
    profile=Profile.LAB,
)
class Leaks(Policy):
    """Every rack with liquid has leak detection and isolation."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield two findings for each class of racks with liquid."""
        for site in plan.onprem:
            for rack in site.racks:
                if rack.kind.has_liquid:
                    at = subject(site, rack)
                    yield _judge(at, "leak_detection", _DETECTION, present=rack.kind.leak_detection)
                    yield _judge(at, "isolation", _ISOLATION, present=rack.kind.isolation)


_DETECTION = "leak detection"
_ISOLATION = "valves that shut the rack off when it leaks"


def _judge(at: Subject, option: str, noun: str, *, present: bool | None) -> Finding:
    where = Subject(at.name, (*at.path, "cooling"))
    if present is None:
        message = f"whether the rack has {noun}"
        missing = (Missing(f"'{option}' in the cooling", (*where.path, option)),)
        return Finding(where, ok=None, message=message, missing=missing, what=noun)
    if present:
        return Finding(where, ok=True, message=f"the rack has {noun}", what=noun)
    return Finding(
        where,
        ok=False,
        message=f"the rack has liquid and no {noun}",
        fix=f"install {noun} and set '{option}: true'",
        what=noun,
    )
