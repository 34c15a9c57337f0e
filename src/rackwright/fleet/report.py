"""Reports of a plan of power limits, as text and as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from rackwright.fleet.caps import CapPlan, LoadCheck
from rackwright.fleet.tokens import LimitedWorkload
from rackwright.harmless import counted, json_text
from rackwright.model.names import compress_hostlist
from rackwright.report.prediction import amount
from rackwright.report.wording import printable

SCHEMA = "rackwright.power/v1"
SHOWN = 5
"""Number of loads in the text, those closest to their limits first."""


def render_text(site: str, plan: CapPlan, limited: Iterable[LimitedWorkload] = ()) -> str:
    """Return the limits, and the tokens that they cost, as text that ends with a line break."""
    return "\n".join((*_lines(site, plan), *map(_tokens_text, limited))) + "\n"


def _tokens_text(one: LimitedWorkload) -> str:
    low, value, high = (1 - speed for speed in (one.speed.high, one.speed.value, one.speed.low))
    return (
        f"  {printable(one.workload)}: {amount(one.before.value)} → {amount(one.after.value)} tokens a day where it runs on "
        f"limited hosts, {value:.1%} less ({low:.1%} to {high:.1%})"
    )


def _lines(site: str, plan: CapPlan) -> Iterator[str]:
    if plan.refused:
        yield f"{site}: no limits are sent: {plan.refused}"
        yield from (f"  unknown: {one}" for one in plan.unknown[1:])
    elif not plan.caps:
        yield f"{site}: within its budget without limits"
    else:
        yield f"{site}: limits for {counted(plan.hosts, 'host')}, proven after the loss of any one source"
        for (job_class, group, limit, full), hosts in sorted(_merged(plan).items()):
            yield (
                f"  {job_class} on {group}: {limit:,} W of {full:,.0f} W for each accelerator of "
                f"{counted(len(hosts), 'host')}"
            )
    for check in sorted(plan.checks, key=_fullness, reverse=True)[:SHOWN]:
        yield f"  {_check_text(check)}"


def _merged(plan: CapPlan) -> Mapping[tuple[str, str, int, float], list[str]]:
    found: dict[tuple[str, str, int, float], list[str]] = {}
    for cap in plan.caps:
        key = (cap.job_class, cap.group, cap.limit_w, cap.full_w)
        found.setdefault(key, []).extend(cap.hosts)
    return found


def _fullness(check: LoadCheck) -> float:
    if check.after_w is None or not check.limit_w:
        return float("inf")
    return check.after_w / check.limit_w


def _check_text(check: LoadCheck) -> str:
    def kilowatts(watts: float | None) -> str:
        return "unknown" if watts is None else f"{watts / 1000:,.1f}"

    after = f" with '{check.lost}' lost" if check.lost else ""
    return (
        f"{check.kind} {check.name}: {kilowatts(check.before_w)} → {kilowatts(check.after_w)} of "
        f"{kilowatts(check.limit_w)} kW{after}"
    )


def render_json(site: str, plan: CapPlan, limited: Iterable[LimitedWorkload] = ()) -> str:
    """Return the limits, and the tokens that they cost, as JSON with ``schema`` ``SCHEMA``."""
    document: dict[str, Any] = {
        "schema": SCHEMA,
        "site": site,
        "refused": plan.refused or None,
        "unknown": list(plan.unknown),
        "caps": [
            {
                "class": job_class,
                "group": group,
                "limit_w": limit,
                "full_w": full,
                "hosts": compress_hostlist(hosts),
                "count": len(hosts),
            }
            for (job_class, group, limit, full), hosts in sorted(_merged(plan).items())
        ],
        "checks": [
            {
                "kind": check.kind,
                "name": check.name,
                "before_w": check.before_w,
                "after_w": check.after_w,
                "limit_w": check.limit_w,
                "lost": check.lost,
            }
            for check in plan.checks
        ],
        "workloads": [
            {
                "name": one.workload,
                "limit_w": one.limit_w,
                "tokens_a_day": {"before": one.before.value, "after": one.after.value},
                "speed": {"low": one.speed.low, "value": one.speed.value, "high": one.speed.high},
            }
            for one in limited
        ],
    }
    return json_text(document)
