"""AWS-013: resource names are within the length limits of AWS."""

from __future__ import annotations

from collections.abc import Iterator

from rackwright.api import (
    AwsSitePlan,
    Finding,
    Measure,
    Plan,
    Policy,
    Profile,
    Severity,
    Subject,
    rule,
)
from rackwright.plan.aws.names import AwsName, resource_names


@rule(
    "AWS-013",
    "Resource names are within the length limits of AWS",
    Severity.HIGH,
    since="0.3",
    stage="design",
    profile=Profile.LAB,
)
class NameLengths(Policy):
    """Names of roles, groups, templates, buckets and hosts stay inside the limits of their services."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield a measure for each name."""
        for site in plan.aws:
            for name in resource_names(site, plan.name):
                yield _measure(site, name)


def _measure(site: AwsSitePlan, name: AwsName) -> Measure:
    over = len(name.name) - name.longest
    parts = "the names of the blueprint and of the site"
    if name.of:
        if name.what in {"S3 bucket", "host name"}:
            parts = name.of
        elif name.what not in {"IAM role", "instance profile"}:
            parts = f"{parts}, or {name.of}"
    of = f" of {name.of}" if name.of else ""
    return Measure(
        Subject(f"{site.name} {name.what}{of}", name.path),
        value=len(name.name),
        limit=name.longest,
        unit="characters",
        what=f"length of '{name.name}'",
        fix=f"shorten {parts}, by {over} character{'s'[: over > 1]}" if over > 0 else None,
    )
