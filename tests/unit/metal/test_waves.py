"""Waves by rack and feed."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from rackwright.metal.waves import PowerLimits, PowerPlace, admitted, waves

PLACES = st.builds(
    PowerPlace,
    st.sampled_from(["c01", "c02", "c03"]),
    st.sampled_from([("a", "b"), ("a",), ("b", "c"), ()]),
)
LIMITS = st.builds(
    PowerLimits, st.integers(1, 6), st.none() | st.integers(1, 3), st.none() | st.integers(1, 3)
)


def kept(places: list[PowerPlace], limits: PowerLimits) -> bool:
    racks = Counter(place.rack for place in places)
    feeds = Counter(feed for place in places for feed in place.feeds)
    return (
        len(places) <= limits.together
        and (limits.per_rack is None or max(racks.values(), default=0) <= limits.per_rack)
        and (limits.per_feed is None or max(feeds.values(), default=0) <= limits.per_feed)
    )


@given(st.lists(PLACES, max_size=25), LIMITS)
def test_each_host_is_in_one_wave_and_every_wave_keeps_the_limits(
    places: list[PowerPlace], limits: PowerLimits
) -> None:
    hosts = [(f"h{number}", place) for number, place in enumerate(places)]
    by_name = dict(hosts)
    found = waves(hosts, limits)
    assert sorted(host for wave in found for host in wave) == sorted(by_name)
    assert all(kept([by_name[host] for host in wave], limits) for wave in found)
    assert all(found)


@given(st.lists(PLACES, max_size=12), st.lists(PLACES, max_size=12), LIMITS)
def test_hosts_that_are_admitted_leave_no_room_for_one_that_waits(
    places: list[PowerPlace], others: list[PowerPlace], limits: PowerLimits
) -> None:
    busy: list[PowerPlace] = []
    for place in others:
        if kept([*busy, place], limits):
            busy.append(place)
    hosts = [(f"h{number}", place) for number, place in enumerate(places)]
    chosen = admitted(hosts, busy, limits)
    after = busy + [place for host, place in hosts if host in chosen]
    assert kept(after, limits)
    for host, place in hosts:
        assert host in chosen or not kept([*after, place], limits)
