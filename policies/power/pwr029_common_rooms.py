"""PWR-029: no room or route takes two feeds of a rack with it."""

from __future__ import annotations

from collections.abc import Iterator

from rackwright.api import (
    Finding,
    Measure,
    Missing,
    Plan,
    Policy,
    Profile,
    RackClass,
    Severity,
    SitePlan,
    rule,
)
from rackwright.plan.racks.contributors import subject


@rule(
    "PWR-029",
    "The feeds of a rack share no room and no route",
    Severity.HIGH,
    since="0.4",
    stage="design",
    profile=Profile.PRODUCTION,
)
class CommonRooms(Policy):
    """No fire or flood in one room, or along one route, kills two feeds of a rack."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield a measure for each class of racks with several feeds, of sites whose sources name rooms."""
        for site in plan.onprem:
            tree = site.power.tree
            if not any(source.room for source in tree.sources.values()):
                continue
            every = sorted({place for places in tree.places.values() for place in places})
            dead = {place: tree.without_place(place) for place in every}
            for rack in site.racks:
                if len(rack.sources) > 1:
                    shared = {
                        place: feeds
                        for place in every
                        if len(
                            feeds := [f.feed for f, name, _ in rack.feeds if name in dead[place]]
                        )
                        > 1
                    }
                    yield _measure(site, rack, shared)


def _measure(site: SitePlan, rack: RackClass, shared: dict[str, list[str]]) -> Measure:
    """Return the measure of one class of racks, with the feeds that each shared place takes."""
    tree = site.power.tree
    above = sorted({up for name in rack.sources for up in tree.ancestors(name)})
    missing = tuple(
        Missing(f"'room' of '{name}'", tree.place(name, "room"))
        for name in above
        if tree.sources[name].room is None and tree.sources[name].kind != "utility"
    )
    what, fix = "number of rooms and routes shared by two feeds", None
    if shared:
        place, feeds = min(shared.items())
        what = f"{what} (feeds {' and '.join(feeds)} go down with '{place}')"
        fix = f"move one of the paths out of '{place}'"
    return Measure(
        subject(site, rack),
        value=None if missing and not shared else len(shared),
        limit=0,
        unit="shared rooms",
        what=what,
        fix=fix,
        missing=() if shared else missing,
    )
