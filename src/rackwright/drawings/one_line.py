"""One-line diagram of a site: power sources from the utility to the racks, with their loads.

It shows the normal state or the state after the loss of a source. Equal sources of a large site share a box.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from rackwright.drawings.style import FEED_COLOURS, feed_class
from rackwright.drawings.svg import Drawing, box, fitted, group, label, line
from rackwright.model.quantities import format_quantity
from rackwright.plan.expansion import SitePlan
from rackwright.plan.records.power import SourceLoad
from rackwright.report.wording import quantity_of, quantity_text

MOST_SINGLE = 48
"""Maximum number of sources that are drawn one by one; above it, equal ones share a box."""
_WIDE, _HIGH, _APART, _LEVEL, _TOP = 142.0, 64.0, 20.0, 122.0, 78.0
TRACK = 122.0
"""Width of a full bar, in pixels."""


@dataclass
class Box:
    """Box of the diagram: one source, equal sources, racks, or consumers other than racks.

    Attributes:
        key: unique key in the drawing, the name of the first source.
        title: name in the drawing.
        kind: kind of the source or consumer, in words.
        members: names of the sources in the box; empty for consumers.
        load_w: normal load of one source, in W.
        capacity_w: capacity of one source, in W.
        worst_w: highest load of one source after the loss of another source, in W.
        worst_lost: name of that lost source.
        fed_by: key of each box above, number of the feed for racks (or None), and True if it carries the load
            normally.
        level: number of boxes above it.
        place: position from the left, in boxes.
    """

    key: str
    title: str
    kind: str
    members: tuple[str, ...]
    load_w: float | None
    capacity_w: float | None
    worst_w: float | None = None
    worst_lost: str | None = None
    fed_by: list[tuple[str, int | None, bool]] = field(default_factory=list)
    level: int = 0
    place: float = 0.0


def boxes_of(site: SitePlan) -> list[Box]:
    """Return the boxes of a site by level, from left to right."""
    sources = {source.source: source for source in site.power.sources}
    whole = len(sources) <= MOST_SINGLE
    keys = _keys(site, sources, whole=whole)
    members: dict[str, list[str]] = {}
    for name in sources:
        members.setdefault(keys[name], []).append(name)
    made = [_source_box(site, sources[key], tuple(names), keys) for key, names in members.items()]
    made += _rack_boxes(site, keys)
    made += _machine_boxes(site, keys)
    _arrange(made)
    return made


def _keys(site: SitePlan, sources: Mapping[str, SourceLoad], *, whole: bool) -> Mapping[str, str]:
    """Return the box of each source, by the name of the first source in it."""
    found: dict[str, str] = {}
    first: dict[object, str] = {}
    for name in reversed(site.power.tree.order):  # parents first
        source = sources.get(name)
        if source is None:
            continue
        parents = tuple(found[parent] for parent in site.power.tree.parents[name])
        like: object = (
            name
            if whole
            else (
                source.kind,
                site.power.tree.sources[name].product,
                source.capacity_w,
                _rounded(source.facility_w),
                _rounded(source.facility_worst_w),
                parents,
            )
        )
        found[name] = first.setdefault(like, name)
    return found


def _rounded(watts: float | None) -> float | None:
    return None if watts is None else round(watts)


def _source_box(
    site: SitePlan, source: SourceLoad, members: tuple[str, ...], keys: Mapping[str, str]
) -> Box:
    parents = site.power.tree.parents[source.source]
    title = source.source if len(members) == 1 else f"{len(members)} like {source.source}"
    product = site.power.tree.sources[source.source].product
    kind = source.kind if product is None else f"{source.kind}, {product}"
    made = Box(source.source, title, kind, members, source.facility_w, source.capacity_w)
    made.worst_w, made.worst_lost = source.facility_worst_w, source.facility_lost
    above = dict.fromkeys(keys[parent] for parent in parents)
    made.fed_by = [(parent, None, number == 0) for number, parent in enumerate(above)]
    return made


def _rack_boxes(site: SitePlan, keys: Mapping[str, str]) -> list[Box]:
    """Return a box for all racks with equal numbers and sources, regardless of their row."""
    found: dict[object, list[int]] = {}
    for number, own in enumerate(site.racks):
        if own.sources:
            feeds = tuple(
                (one.feed, keys[source], one.load_w, one.usable_w, one.pdus)
                for one, source, _ in own.feeds
            )
            found.setdefault((feeds, own.kind.type, own.power_w), []).append(number)
    made = []
    for numbers in found.values():
        own = site.racks[numbers[0]]
        count = sum(site.racks[number].count for number in numbers)
        name = own.hostlist if len(numbers) == 1 else f"{own.names[0]} and others"
        power = None if own.power_w is None else own.power_w * count
        racks = Box(f"racks {numbers[0]}", f"{count} × {name}", "racks", (), power, None)
        racks.fed_by = [(keys[source], n, True) for n, source in enumerate(own.sources)]
        made.append(racks)
    return made


def _machine_boxes(site: SitePlan, keys: Mapping[str, str]) -> list[Box]:
    """Return the boxes of consumers other than racks, one for those with the same sources."""
    found: dict[tuple[str, ...], list[tuple[str, float | None]]] = {}
    for one in site.power.overhead.consumers:
        above = tuple(dict.fromkeys(keys[name] for name in one.fed_by if name in keys))
        if above:
            found.setdefault(above, []).append((one.machine, one.power))
    made = []
    for number, (above, machines) in enumerate(found.items()):
        title = machines[0][0] if len(machines) == 1 else f"{len(machines)} groups of machines"
        power = sum(watts for _, watts in machines if watts is not None)
        known = all(watts is not None for _, watts in machines)
        load = power if known else None
        machine = Box(f"machines {number}", title, "cooling", (), load, None)
        machine.fed_by = [(key, None, place == 0) for place, key in enumerate(above)]
        made.append(machine)
    return made


def _arrange(made: Sequence[Box]) -> None:
    """Return the levels from the top, and positions that keep connected boxes close to each other."""
    by_key = {one.key: one for one in made}
    below: dict[str, list[Box]] = {}
    for one in made:  # sources are listed parents first or not: levels are found by walking up
        for parent, _, _ in one.fed_by:
            below.setdefault(parent, []).append(one)

    levels: dict[str, int] = {}

    def level(one: Box) -> int:
        if one.key not in levels:
            levels[one.key] = 1 + max((level(by_key[key]) for key, _, _ in one.fed_by), default=-1)
        return levels[one.key]

    for one in made:
        one.level = level(one)
    # Racks share the lowest level, although their sources have different depths.
    deepest = max((one.level for one in made), default=0)
    for one in made:
        if not one.members and one.kind == "racks":
            one.level = deepest
    rows: dict[int, list[Box]] = {}
    for one in made:
        rows.setdefault(one.level, []).append(one)
    for number in sorted(rows):
        row = rows[number]
        if number:
            row.sort(key=lambda one: _above(one, by_key))
        # Sorted by the mean position of the boxes above, which avoids most crossings of lines.
        for place, one in enumerate(row):
            one.place = place - (len(row) - 1) / 2


def _above(one: Box, by_key: Mapping[str, Box]) -> float:
    places = [by_key[key].place for key, _, _ in one.fed_by]
    return sum(places) / len(places) if places else 0.0


def draw_one_line(site: SitePlan, lost: str | None = None) -> Drawing:
    """Return the one-line diagram, in the normal state or after the loss of a source.

    Args:
        site: plan of the site.
        lost: name of the lost source; None for the normal state.
    """
    made = boxes_of(site)
    dead: Collection[str] = () if lost is None else site.power.tree.outages.dead[lost]
    loads = site.power.after_loss.without(lost) if lost is not None else {}
    most = max((sum(1 for b in made if b.level == n) for n in range(99)), default=1)
    width = max(560.0, most * (_WIDE + _APART) + 24)
    levels = 1 + max((one.level for one in made), default=0)
    centre = width / 2
    at = {
        one.key: (centre + one.place * (_WIDE + _APART) - _WIDE / 2, _TOP + one.level * _LEVEL)
        for one in made
    }
    state = "nothing lost" if lost is None else f"after the loss of {lost}"
    parts = [
        label(12, 22, f"{site.name} power, {state}", class_="head", data_state=""),
        label(
            12,
            40,
            "What each source carries, with cooling and losses, of what it may carry.",
            class_="soft",
        ),
        label(
            12,
            54,
            "Tick: the worst loss of another. Dashed: takes over after a loss.",
            class_="soft",
        ),
    ]
    parts += _wires(made, at)
    parts += [_draw(one, *at[one.key], lost, dead, loads) for one in made]
    return Drawing(
        f"one-line of {site.name}, {state}", width, _TOP + levels * _LEVEL - 34, "".join(parts)
    )


def _wires(made: Iterable[Box], at: Mapping[str, tuple[float, float]]) -> list[str]:
    drawn = []
    for one in made:
        x, y = at[one.key]
        count = len(one.fed_by)
        for number, (key, feed, first) in enumerate(one.fed_by):
            above_x, above_y = at[key]
            start = above_x + _WIDE / 2, above_y + _HIGH
            end = x + _WIDE * (number + 1) / (count + 1), y
            bend = end[1] - 12 - 5 * (number % 5)
            name = "wire" if feed is None else f"wire {feed_class(feed, 'l')}"
            points = [start, (start[0], bend), (end[0], bend), end]
            drawn.append(line(points, class_=name if first else f"{name} dash"))
    return drawn


@dataclass(frozen=True, slots=True)
class BoxState:
    """Content of the box of a source.

    Attributes:
        words: load and capacity, or the state of a source without supply.
        share: load divided by capacity; None if unknown.
        gone: ``lost``, ``dead`` for a source without supply, or empty.
    """

    words: str
    share: float | None
    gone: str = ""

    @property
    def over(self) -> bool:
        """True if the source carries more than its limit."""
        return self.share is not None and self.share > 1 + 1e-9


def box_state(
    one: Box,
    lost: str | None = None,
    dead: Collection[str] = (),
    loads: Mapping[str, float | None] | None = None,
) -> BoxState:
    """Return the state of a box; of several sources, that of the one with the highest load.

    Args:
        one: box of the sources.
        lost: name of the lost source.
        dead: names of the sources without supply after the loss, the lost one included.
        loads: loads that change with the loss, in W, by source.
    """
    living = [name for name in one.members if name not in dead]
    load = one.load_w
    if changed := [loads[name] for name in living if name in loads] if loads else []:
        known = [watts for watts in changed if watts is not None]
        load = max(known) if len(known) == len(changed) else None
    if not living:
        return BoxState("lost" if lost in one.members else "dead", 0.0, "dead")
    told = quantity_of(load, one.capacity_w, "W")
    share = None if load is None or not one.capacity_w else load / one.capacity_w
    return BoxState(told, share, "lost" if lost in one.members else "")


def states_after_loss(site: SitePlan, boxes: Sequence[Box]) -> Mapping[str, Mapping[str, BoxState]]:
    """Return the boxes that change after the loss of the first source of a box, by the key of that box."""
    sources = [one for one in boxes if one.members]
    normal = {one.key: box_state(one) for one in sources}
    found = {}
    for gone in sources:
        dead = site.power.tree.outages.dead[gone.key]
        loads = site.power.after_loss.without(gone.key)
        after = {one.key: box_state(one, gone.key, dead, loads) for one in sources}
        found[gone.key] = {key: state for key, state in after.items() if state != normal[key]}
    return found


def _draw(
    one: Box,
    x: float,
    y: float,
    lost: str | None,
    dead: Collection[str],
    loads: Mapping[str, float | None],
) -> str:
    if one.members:
        state = box_state(one, lost, dead, loads)
        name = "source"
        if lost in one.members:
            name += " lost"
        if state.gone == "dead":
            name += " dead"
        parts = _source_parts(one, x, y, state)
        return group(parts, None, class_=name, data_s=one.key, tabindex=0, role="button")
    power = quantity_text(one.load_w, "W")
    parts = [
        box(x, y, _WIDE, _HIGH - 14, rx=4, class_=f"panel {one.kind}"),
        label(x + 8, y + 18, fitted(one.title, _WIDE - 14), class_="sub"),
        label(x + 8, y + 36, power, class_="soft"),
    ]
    if one.kind == "racks":
        parts += [
            box(x + 8 + 14 * n, y + _HIGH - 22, 12, 4, class_=feed_class(feed))
            for n, (_, feed, _) in enumerate(one.fed_by[: len(FEED_COLOURS)])
            if feed is not None
        ]
    return group(parts, one.title)


def _source_parts(one: Box, x: float, y: float, state: BoxState) -> list[str]:
    filled = 0.0 if state.share is None else TRACK * min(1.0, state.share)
    bad = state.over or state.gone == "dead"
    return [
        box(x, y, _WIDE, _HIGH, rx=4, class_="panel"),
        label(x + 10, y + 17, fitted(one.title, _WIDE - 18), class_="sub"),
        label(x + 10, y + 31, fitted(one.kind, _WIDE - 18, sign=5.3), class_="small soft"),
        box(x + 10, y + 37, TRACK, 7, class_="track"),
        box(
            x + 10,
            y + 37,
            filled,
            7,
            class_="over" if state.over else "used",
            data_bar="",
        ),
        *_tick(one, x, y),
        label(x + 10, y + 57, state.words, class_="bad" if bad else None, data_load=""),
    ]


def _tick(one: Box, x: float, y: float) -> list[str]:
    """Return the mark at the end of the worst-case bar."""
    if one.worst_w is None or not one.capacity_w or one.worst_lost is None:
        return []
    here = x + 10 + TRACK * min(1.0, one.worst_w / one.capacity_w)
    told = f"{format_quantity(one.worst_w, 'W')} after the loss of {one.worst_lost}"
    return [group([line([(here, y + 34), (here, y + 47)], class_="mark")], told)]
