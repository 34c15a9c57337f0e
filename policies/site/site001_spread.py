"""SITE-001: jobs across sites have a link, and the cluster survives the loss of a site."""

from __future__ import annotations

from collections.abc import Iterator

from rackwright.api import (
    Contributor,
    FieldPath,
    Finding,
    Measure,
    Missing,
    Plan,
    Policy,
    Severity,
    Subject,
    rule,
)
from rackwright.model.quantities import format_quantity
from rackwright.model.reliability import Reliability, WanNeed
from rackwright.plan.reliability.interconnect import (
    SiteLink,
    SpanningWork,
    compute_hosts,
    hosts_to_add,
    line_between,
    spans,
)


@rule(
    "SITE-001",
    "Jobs across sites have a link, and the cluster survives the loss of a site",
    Severity.HIGH,
    since="0.2",
    stage="concept",
)
class Spread(Policy):
    """Jobs and partitions over several sites have lines between them; a site may be lost."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield results for each job or partition and two of its sites, and one for the loss of a site."""
        for span in spans(plan):
            line = line_between(plan, *span.sites)
            yield from _judge_span(plan.name, span, line)
        yield from _judge_loss(plan)


def _judge_span(
    blueprint: str, span: SpanningWork, line: SiteLink | None
) -> Iterator[Measure | Finding]:
    one, other = span.sites
    at = Subject(f"{blueprint} {span.name} between {one} and {other}", span.path)
    if line is None:
        yield Finding(
            at,
            ok=False,
            message=f"the {span.name} runs on '{one}' and '{other}', but no link connects them",
            fix=f"declare it in 'interconnects'{_least(span.need)}, or keep to one site",
        )
    elif span.need is None:
        known = not line.missing
        names = ", ".join(line.names)
        verb = "is known" if known else "can carry it"
        text = f"the link between them ({names}) {verb}"
        message = text if known else f"whether {text}"
        yield Finding(at, ok=True if known else None, message=message, missing=line.missing)
    else:
        yield from _judge_need(at, line, span.need)


def _least(need: WanNeed | None) -> str:
    if need is None or need.bandwidth is None:
        return ""
    return f" with {format_quantity(need.bandwidth, 'Gbps')} at least"


def _judge_need(at: Subject, line: SiteLink, need: WanNeed) -> Iterator[Measure]:
    names = ", ".join(line.names)
    where = Subject(at.name, (*at.path, "between_sites"))
    asked = {
        name: ()
        if getattr(need, name) is not None
        else (Missing(f"'{name}' in 'between_sites' of the job", (*where.path, name)),)
        for name in ("bandwidth", "round_trip_time")
    }
    yield Measure(
        where,
        value=line.bandwidth,
        limit=need.bandwidth,
        unit="Gbps",
        what="bandwidth of the line",
        sense="at_least",
        fix=None
        if need.bandwidth is None
        else f"widen {names} to {format_quantity(need.bandwidth, 'Gbps')}",
        missing=(*(m for m in line.missing if "bandwidth" in m), *asked["bandwidth"]),
    )
    yield Measure(
        where,
        value=line.round_trip_time,
        limit=need.round_trip_time,
        unit="s",
        what="round-trip time of the line",
        fix="keep the job on one site, or let its parts wait for each other less often",
        missing=(*(m for m in line.missing if "round_trip" in m), *asked["round_trip_time"]),
    )


def _judge_loss(plan: Plan) -> Iterator[Measure]:
    """Check the work that is left after the loss of the site with most compute hosts."""
    wanted = (plan.reliability or Reliability()).least_after_site_loss
    hosts = compute_hosts(plan)
    total = sum(hosts.values())
    if not total or (wanted is None and len(hosts) < 2):
        return
    largest = max(hosts, key=lambda site: hosts[site])
    path: FieldPath = ("reliability", "least_after_site_loss") if wanted is not None else ()
    fix = None
    if wanted is not None:
        more = hosts_to_add(total, hosts[largest], wanted / 100)
        fix = (
            f"no cluster keeps {format_quantity(wanted, '%')} without '{largest}'; ask for less"
            if more is None
            else f"place {more:,} more hosts outside '{largest}'"
        )
    yield Measure(
        Subject(f"{plan.name} sites", path),
        value=100 * (total - hosts[largest]) / total,
        limit=wanted,
        unit="%",
        what="share of the compute hosts left after the loss of the largest site",
        sense="at_least",
        contributors=tuple(
            Contributor(f"hosts of {site}", count, 100 / total)
            for site, count in hosts.items()
            if site != largest and count
        ),
        fix=fix,
        missing=()
        if wanted is not None
        else (
            Missing(
                "'least_after_site_loss' in 'reliability'",
                ("reliability", "least_after_site_loss"),
            ),
        ),
    )
