"""Elevations of a rack, front and rear: devices by unit, and feeds with their loads."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby

from rackwright.drawings.style import feed_class, letter_class
from rackwright.drawings.svg import Drawing, box, element, fitted, group, label, line, words
from rackwright.model.quantities import format_quantity
from rackwright.plan.expansion import SitePlan
from rackwright.plan.records.circuits import FeedLoad
from rackwright.plan.records.racks import RackDevice
from rackwright.report.overview.rack import RackView, StandingDevice
from rackwright.report.wording import quantity_of, quantity_text

_UNIT, _WIDTH, _TOP = 12.0, 232.0, 104.0
_FRONT, _REAR = 44.0, 372.0
_STRIP = 12.0
_FEED_LINE = 36.0
_PLUG = 5.0


def draw_rack(view: RackView, cables: Mapping[str, str] | None = None) -> Drawing:
    """Return the front and rear of a rack with its units, and the loads of its feeds below.

    Texts that are specific to this rack have an attribute ``data-t``, so the page can replace them for racks with equal
    content.

    Args:
        view: rack to draw.
        cables: network cables of each device of a node group, in words, by the name of the group.
    """
    own, kind = view.racks, view.racks.kind
    height = kind.height_u * _UNIT
    names = view.name if own.count == 1 else f"{view.name} ({own.count} alike: {own.hostlist})"
    beside = _beside(view)
    parts = [
        label(12, 22, fitted(names, 660, sign=7.8), class_="head", data_t="name"),
        label(
            12,
            40,
            f"{kind.type}, {own.hall} {own.row}, place {view.position + 1}",
            class_="soft",
            data_t="place",
        ),
        label(12, 56, _words(view), class_="soft"),
        *([label(12, 72, fitted(beside, 690), class_="soft")] if beside else []),
        label(_FRONT + _WIDTH / 2, _TOP - 10, "front", class_="sub mid"),
        label(_REAR + _WIDTH / 2, _TOP - 10, "rear", class_="sub mid"),
        *_frame(kind.height_u, _FRONT, numbers=True),
        *_frame(kind.height_u, _REAR, numbers=False),
    ]
    for one in view.devices:
        if one.device.share != "rear":
            parts.append(_front(one, kind.height_u))
        if one.device.share != "front":
            parts.append(_rear(view, one, cables or {}))
    parts += _strips(view, height)
    y = _TOP + height + 30
    for number, feed in enumerate(view.feeds):
        parts.append(_feed(view, feed, number, y))
        y += _FEED_LINE
    return Drawing(f"elevation of rack {view.name}", 720.0, y + 4, "".join(parts))


def cables_of(site: SitePlan) -> Mapping[str, str]:
    """Return the network cables of each device of a node group, in words, by the name of the group."""
    found: dict[str, list[str]] = {}
    for planned in site.fabrics:
        for hosts in planned.layout.hosts if planned.layout else ():
            if hosts.interfaces is not None and hosts.group.count:
                count = hosts.interfaces * (hosts.count // hosts.group.count)
                found.setdefault(hosts.group.name, []).append(f"{count} × {planned.name}")
    return {group: ", ".join(words) for group, words in found.items()}


def _words(view: RackView) -> str:
    kind = view.racks.kind
    return (
        f"power {quantity_of(kind.power_w, kind.power_limit_w, 'W')}; "
        f"content {quantity_of(kind.content_kg, kind.static_rating_kg, 'kg')}; "
        f"{quantity_of(kind.used_u, kind.height_u, 'U')}; cooling {kind.mode}"
    )


def _beside(view: RackView) -> str:
    """Return the devices without a unit, except PDUs, which the rear shows."""
    found = [one.device for one in view.beside if one.device.kind != "pdu" or not one.device.fits]
    words = [
        f"{len(list(same))} × {entry}{'' if fits else ' WITHOUT A PLACE'}"
        for (entry, fits), same in groupby(found, key=lambda one: (one.entry, one.fits))
    ]
    return f"beside the rails: {', '.join(words)}" if words else ""


def _frame(units: float, x: float, *, numbers: bool) -> list[str]:
    made = [box(x, _TOP, _WIDTH, units * _UNIT, class_="slot")]
    for unit in range(1, int(units) + 1):
        y = _TOP + (units - unit) * _UNIT
        if numbers:
            made.append(label(x - 6, y + _UNIT - 3, unit, class_="small soft end"))
        made.append(line([(x, y), (x + _WIDTH, y)], class_="thin"))
    made.append(box(x, _TOP, _WIDTH, units * _UNIT, class_="frame"))
    return made


def _box_of(one: StandingDevice, units: float, x: float) -> tuple[float, float, float, float]:
    low, height = one.low or 1.0, max(one.height, 0.5)
    share = one.device.share
    if share in {"left", "right"}:  # of the front: the rear shows them the other way round
        near = (share == "left") == (x == _FRONT)
        x += 0 if near else _WIDTH / 2
    wide = _WIDTH / 2 if share in {"left", "right"} else _WIDTH
    return x + 2, _TOP + (units - (low - 1) - height) * _UNIT + 1, wide - 4, height * _UNIT - 2


def _front(one: StandingDevice, units: float) -> str:
    x, y, width, height = _box_of(one, units, _FRONT)
    device = one.device
    big = height > 2 * _UNIT
    narrow = width < _WIDTH / 2
    name = fitted(one.label, width - (14 if big or narrow else 92))
    own = f"d{one.number}" if one.names else None
    low = y + (18 if big else height / 2 + 4)
    text = [label(x + 6, low, name, class_="sub" if big else None, data_t=own)]
    if one.names:
        power = "" if device.power_w is None else f", {format_quantity(device.power_w, 'W')}"
        detail = f"{device.entry}{power}" if big else device.entry
        if big:
            text.append(label(x + 6, y + 33, fitted(detail, width - 12), class_="soft"))
        elif not narrow:
            shown = fitted(detail, 84, sign=5.2)
            text.append(label(x + width - 5, y + height / 2 + 3.5, shown, class_="small soft end"))
    shape = box(x, y, width, height, rx=2, class_=f"device {device.kind}")
    return group([_tip(one), shape, *text], class_="dev")


def _tip(one: StandingDevice) -> str:
    """Return the tooltip of a device, with its names at the end because they differ between racks."""
    device = one.device
    power = quantity_text(device.power_w, "W")
    weight = quantity_text(device.weight_kg, "kg")
    told = f"{device.entry}, {one.units}, {power}, {weight}"
    if not one.names:
        return element("title", words(told))
    return element("title", words(f"{told}: {one.label}"), data_t=f"t{one.number}")


def _rear(view: RackView, one: StandingDevice, cables: Mapping[str, str]) -> str:
    x, y, width, height = _box_of(one, view.racks.kind.height_u, _REAR)
    device = one.device
    made = [box(x, y, width, height, rx=2, class_=f"device {device.kind}")]
    tall = height > 2 * _UNIT
    middle = y + height - 20 if tall else y + height / 2
    plugs = _plugs(device)
    at = x + 10.0
    for feed, supply in plugs:
        made.append(_cord(feed, at, middle, tall=tall))
        made.append(_plug(view, feed, at, middle))
        at += 2 * _PLUG + 3
        if at > x + width / 2:
            made.append(label(at, middle + 3, f"+{len(plugs) - supply - 1}", class_="small"))
            break
    if text := cables.get(device.group):
        room = width - 16 if tall else x + width - at - 12
        line_y = y + 16 if tall else middle + 3.5
        shown = fitted(text, room, sign=5.4)
        made.append(label(x + width - 6, line_y, shown, class_="small soft end"))
    return group([_tip(one), *made], class_="dev")


def _plugs(device: RackDevice) -> list[tuple[int, int]]:
    """Feed and number of each power supply, in the order of the feeds."""
    feeds = [n for n, count in enumerate(device.psus or ()) for _ in range(count)]
    return [(feed, number) for number, feed in enumerate(feeds)]


def _plug(view: RackView, feed: int, x: float, y: float) -> str:
    dot = element("circle", cx=x, cy=y, r=_PLUG, class_=f"plug {feed_class(feed)}")
    name = view.feeds[feed].feed if feed < len(view.feeds) else "?"
    return dot + label(x, y + 3, fitted(name, 8, sign=5), class_=letter_class(feed))


def _cord(feed: int, x: float, y: float, *, tall: bool) -> str:
    """Return the cord from a power supply to the PDU of its feed, left or right of the rails."""
    strip = _strip_x(feed)
    side = strip + _STRIP if strip < x else strip
    low = y + _PLUG + 1 + 2.2 * (feed % 4) if tall else y + 2 + 1.2 * (feed % 3)
    return line([(x, y), (x, low), (side, low)], class_=f"cord {feed_class(feed, 'l')}")


def _strip_x(feed: int) -> float:
    """Return the positions of the feeds: alternately left and right of the rails, each pair further outside."""
    out = (feed // 2) * (_STRIP + 4) + 4
    return _REAR - out - _STRIP if feed % 2 == 0 else _REAR + _WIDTH + out


def _strips(view: RackView, height: float) -> list[str]:
    made = []
    for number, feed in enumerate(view.feeds):
        x = _strip_x(number)
        title = f"feed {feed.feed}: {feed.pdus} × {feed.pdu_entry or 'circuit'}"
        made.append(
            group(
                [
                    box(x, _TOP, _STRIP, height, rx=2, class_=feed_class(number)),
                    label(
                        x + _STRIP / 2,
                        _TOP + 12,
                        fitted(feed.feed, 12, sign=5),
                        class_=letter_class(number),
                    ),
                ],
                title,
            )
        )
    return made


def _feed(view: RackView, feed: FeedLoad, number: int, y: float) -> str:
    """Return the bar of a feed: its load, the highest load of a circuit after a loss, and its limit."""
    left, wide = 330.0, 250.0
    made = [
        box(12, y - 2, 16, 16, rx=3, class_=feed_class(number)),
        label(20, y + 9, fitted(feed.feed, 14, sign=5), class_=letter_class(number)),
        label(36, y + 5, fitted(f"from {view.racks.sources[number]}", 280), data_t=f"s{number}"),
        label(
            36,
            y + 18,
            fitted(f"{feed.pdus} × {feed.pdu_entry or 'circuit'}", 280),
            class_="small soft",
        ),
        box(left, y, wide, 12, class_="track"),
    ]
    usable = None if feed.usable_w is None else feed.usable_w * feed.pdus
    after = [one.load_w for one in view.losses if one.feed == feed.feed]
    known = [watts for watts in after if watts is not None]
    worst = max(known) if known and len(known) == len(after) else None
    if usable and worst is not None and feed.pdus == 1:
        made.append(box(left, y, wide * min(1.0, worst / usable), 12, class_="more"))
    if usable and feed.load_w is not None:
        made.append(box(left, y, wide * min(1.0, feed.load_w / usable), 12, class_="used"))
    made.append(label(left, y + 25, _feed_words(feed, worst), class_="small soft"))
    return "".join(made)


def _feed_words(feed: FeedLoad, worst: float | None) -> str:
    load = quantity_text(feed.load_w, "W")
    each = "" if feed.pdus == 1 else f"{feed.pdus} × "
    usable = "unknown" if feed.usable_w is None else f"{each}{format_quantity(feed.usable_w, 'W')}"
    after = "" if worst is None else f"; a circuit {format_quantity(worst, 'W')} after a loss"
    return f"carries {load} of {usable}{after}"
