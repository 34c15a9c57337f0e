"""Limits on hosts that are powered on together, because their inrush currents add up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PowerPlace:
    """Place of a host in the power distribution.

    Attributes:
        rack: rack of the host.
        feeds: power sources of that rack.
    """

    rack: str
    feeds: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PowerLimits:
    """Maximum numbers of hosts that are powered on at the same time.

    Attributes:
        together: maximum for the site.
        per_rack: maximum for one rack; None for no limit.
        per_feed: maximum for one power source; None for no limit.
    """

    together: int
    per_rack: int | None = None
    per_feed: int | None = None


def admitted(
    waiting: Iterable[tuple[str, PowerPlace]],
    switching: Iterable[PowerPlace],
    limits: PowerLimits,
) -> tuple[str, ...]:
    """Return the hosts that may be powered on now, in the order of ``waiting``.

    Args:
        waiting: hosts to power on, with their places.
        switching: places of the hosts that are being powered on.
        limits: limits on both together.
    """
    busy = tuple(switching)
    total = len(busy)
    racks = Counter(place.rack for place in busy)
    feeds = Counter(feed for place in busy for feed in place.feeds)
    chosen: list[str] = []
    for host, place in waiting:
        if total >= limits.together:
            break
        # A host that must wait does not hold up hosts of other racks and feeds.
        if limits.per_rack is not None and racks[place.rack] >= limits.per_rack:
            continue
        if limits.per_feed is not None and any(
            feeds[feed] >= limits.per_feed for feed in place.feeds
        ):
            continue
        chosen.append(host)
        total += 1
        racks[place.rack] += 1
        feeds.update(place.feeds)
    return tuple(chosen)


def waves(
    hosts: Sequence[tuple[str, PowerPlace]], limits: PowerLimits
) -> tuple[tuple[str, ...], ...]:
    """Return the hosts in waves that keep the limits, each host once; waves must not overlap in time."""
    left = list(hosts)
    made = []
    while left:
        wave = admitted(left, (), limits)
        taken = set(wave)
        made.append(wave)
        left = [one for one in left if one[0] not in taken]
    return tuple(made)
