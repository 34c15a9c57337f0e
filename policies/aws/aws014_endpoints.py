"""AWS-014: nodes reach the AWS services that they need."""

from __future__ import annotations

import difflib
from collections.abc import Iterator

from rackwright.api import (
    AwsSitePlan,
    FieldPath,
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
from rackwright.plan.aws.endpoints import NEEDED, SERVICES, endpoint_type, is_known, unreachable


@rule(
    "AWS-014",
    "Nodes reach the AWS services that they need",
    Severity.HIGH,
    since="0.3",
    stage="design",
    profile=Profile.LAB,
)
class Endpoints(Policy):
    """Endpoints exist, and a site without a way to the internet has those that its nodes need."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield a finding for each endpoint, and one for the services that nodes need."""
        for site in plan.aws:
            where = (*site.path, "network", "endpoints")
            for index, service in enumerate(site.network.endpoints):
                yield _endpoint(site, service, (*where, index))
            yield _reach(site, where)


def _endpoint(site: AwsSitePlan, service: str, path: FieldPath) -> Finding:
    at = Subject(f"{site.name} endpoint {service}", path)
    what = "endpoint"
    if is_known(service):
        kind = endpoint_type(service).lower()
        return Finding(
            at, ok=True, message=f"'{service}' is reached by a {kind} endpoint", what=what
        )
    if near := difflib.get_close_matches(service, sorted(SERVICES), n=1, cutoff=0.8):
        message = f"AWS has no endpoint for '{service}'"
        return Finding(at, ok=False, message=message, fix=f"write '{near[0]}'", what=what)
    missing = Missing(
        f"whether {site.region} has an endpoint of '{service}', as "
        "'aws ec2 describe-vpc-endpoint-services' lists them",
        path,
    )
    message = f"'{service}' is not a known service"
    return Finding(at, ok=None, message=message, missing=(missing,), advisory=True, what=what)


def _reach(site: AwsSitePlan, path: FieldPath) -> Finding:
    at = Subject(f"{site.name} services", path)
    lacking = unreachable(site.network)
    what = "services that nodes need"
    if not lacking:
        return Finding(at, ok=True, message="nodes reach the services that they need", what=what)
    named = "; ".join(f"'{name}': {NEEDED[name]}" for name in lacking)
    return Finding(
        at,
        ok=False,
        message=f"without a NAT gateway and an endpoint nodes do not reach {named}",
        fix=f"add {', '.join(lacking)} to 'endpoints', or add a NAT gateway",
        what=what,
    )
