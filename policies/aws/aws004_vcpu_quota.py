"""AWS-004: vCPU quotas cover the instances."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rackwright.api import (
    AwsSitePlan,
    Contributor,
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
from rackwright.plan.aws.site import STANDARD_QUOTA
from rackwright.plan.missing import of_product

_Row = tuple[str, str, int, int | None]
"""Name, instance type, count and vCPUs of all of them."""


@rule(
    "AWS-004",
    "vCPU quotas cover the instances",
    Severity.HIGH,
    since="0.1",
    stage="build",
    profile=Profile.LAB,
)
class VcpuQuota(Policy):
    """Instances that a quota counts stay inside it."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield a measure for each quota that a site draws on, of all sites in its region."""
        for site in plan.aws:
            near = [other for other in plan.aws if other.region == site.region]
            for code in sorted(_usage(site)):
                yield _measure(site, near, code)


def _usage(site: AwsSitePlan) -> dict[str, list[_Row]]:
    """Return the use of each quota; capacity blocks count against none of these."""
    usage: dict[str, list[_Row]] = {}
    for group in site.groups:
        if group.spec.capacity.kind != "capacity-block":
            code = group.quota or f"of {group.spec.type}"
            row = (group.spec.name, group.spec.type, group.spec.most, group.vcpus)
            usage.setdefault(code, []).append(row)
    for servers in site.servers:
        code = STANDARD_QUOTA
        if servers.instance is not None and servers.instance.quota is not None:
            code = servers.instance.quota
        row = (servers.role, servers.server.type, servers.server.count, servers.vcpus)
        usage.setdefault(code, []).append(row)
    return usage


def _measure(site: AwsSitePlan, near: Sequence[AwsSitePlan], code: str) -> Measure:
    """Return the measure of the sites ``near`` together: a quota is of the account in the region."""
    rows: list[_Row] = []
    for other in near:
        named = f"{other.name} " if len(near) > 1 else ""
        for name, kind, count, vcpus in _usage(other).get(code, []):
            rows.append((named + name, kind, count, vcpus))
    recorded = [other.limits.quotas.get(code) for other in near if other.limits]
    limit = min((value for value in recorded if value is not None), default=None)
    if site.limits is None or code not in site.limits.quotas:
        limit = None  # what another site says is no record of this one
    unknown = {kind: None for _, kind, _, vcpus in rows if vcpus is None}
    missing = [of_product(kind, "vcpus", "number of vCPUs") for kind in unknown]
    if limit is None:
        place = (*site.path, "limits", "quotas", code)
        missing.append(Missing(f"value of the quota {code}", place))
    known = [vcpus for *_, vcpus in rows if vcpus is not None]
    contributors = [
        Contributor(name, count, vcpus / count if count else 0)
        for name, _, count, vcpus in rows
        if vcpus is not None
    ]
    return Measure(
        Subject(f"{site.name} quota {code}", (*site.path, "limits")),
        value=sum(known) if len(known) == len(rows) else None,
        limit=limit,
        unit="vCPU",
        what="running vCPUs",
        contributors=tuple(sorted(contributors, key=lambda row: (-row.total, row.name))),
        fix=f"ask for a higher quota {code} in {site.region} and record it in 'limits'",
        missing=tuple(missing),
    )
