"""PWR-015: tap-off boxes of busways carry their racks, also after a feed is lost."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from rackwright.api import (
    FieldPath,
    Finding,
    Measure,
    Missing,
    Plan,
    Policy,
    Profile,
    Severity,
    SitePlan,
    Subject,
    rule,
)
from rackwright.plan.racks.contributors import subject
from rackwright.plan.racks.feeds.power_shares import circuit_contributors
from rackwright.plan.records.power import TapOffLoad
from rackwright.policy.helpers.racks import excess, unknown_draw
from rackwright.policy.helpers.remediation import either, provide


@rule(
    "PWR-015",
    "Tap-off boxes of busways carry their racks",
    Severity.CRITICAL,
    since="0.3",
    stage="design",
    profile=Profile.LAB,
)
class TapOffBoxes(Policy):
    """Each box stays inside its rating after the loss of a feed, and so do the breakers in it."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield two measures for the box of each feed from a busway, of each class of racks."""
        for site in plan.onprem:
            boxes = {(row.rack, row.feed): row for row in site.power.tap_offs}
            sources = site.power.tree.sources
            for rack in site.racks:
                for feed, source, path in rack.feeds:
                    if sources[source].kind != "busway":
                        continue
                    row = boxes.get((rack, feed.feed))
                    if row is None:
                        yield _undeclared(subject(site, rack, f"feed {feed.feed}", path))
                        continue
                    yield _load(site, row)
                    yield _breaker(site, row)


def _undeclared(feed: Subject) -> Finding:
    what = "whether the tap-off box of the feed carries its racks"
    return Finding(feed, ok=None, message=what, missing=(_unsaid(feed.path, "tap_off"),))


def _unsaid(feed: FieldPath, name: str) -> Missing:
    return Missing(f"'{name}' of the feed", (*feed, name))


def _load(site: SitePlan, row: TapOffLoad) -> Measure:
    value, limit = row.worst_w, row.usable_w
    over = excess(value, limit)
    shares = circuit_contributors(row.rack, row.feed, row.worst_lost) if over else ()
    shares = tuple(replace(share, count=share.count * row.racks) for share in shares)
    missing = () if value is not None else unknown_draw(site, row.rack)
    if limit is None:
        missing += (_unsaid(row.path[:-1], "circuit"),)
    after = f" after losing {row.worst_lost}" if row.worst_lost else ""
    of_racks = f" of {row.racks} racks" if row.racks > 1 else ""
    fewer = f"connect fewer than {row.racks} racks to a box" if row.racks > 1 else None
    return Measure(
        subject(site, row.rack, f"feed {row.feed}", row.path),
        value=value,
        limit=limit,
        unit="W",
        what=f"load implied by the busiest line of the tap-off box{of_racks}{after}",
        contributors=shares,
        fix=either(fewer, provide(value, "W", "a tap-off box")) if over else None,
        missing=missing,
    )


def _breaker(site: SitePlan, row: TapOffLoad) -> Measure:
    return Measure(
        subject(site, row.rack, f"feed {row.feed}", row.path),
        value=row.breaker_a,
        limit=row.current_a,
        unit="A",
        what="rating of each breaker in the tap-off box",
        fix=f"use breakers of {row.current_a:g} A at most, or a larger box",
        missing=() if row.breaker_a is not None else (_unsaid(row.path[:-1], "circuit"),),
    )
