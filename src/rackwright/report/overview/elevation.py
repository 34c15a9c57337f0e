"""A rack as text, a small elevation with units and feeds, and as JSON, schema ``rackwright.rack/v1``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rackwright.harmless import json_text
from rackwright.model.quantities import format_quantity
from rackwright.plan.records.circuits import FeedLoad
from rackwright.report.escaping import shortened
from rackwright.report.overview.rack import RackView, StandingDevice
from rackwright.report.wording import printable, quantity_text

SCHEMA = "rackwright.rack/v1"
_WIDTH = 38
"""Characters between the rails."""
_LONGEST = 3
"""Most lines of one device."""


def render_rack(view: RackView) -> str:
    """Return the rack from its top to its floor, then its feeds."""
    lines = [*_head(view), "", *_elevation(view)]
    if view.beside:
        lines += ["", "beside the rails or without a place:"]
        lines += [f"  {line}" for line in _beside(view)]
    if view.feeds:
        lines += ["", "feeds:", *(f"  {line}" for line in _feeds(view))]
    if fates := _fates(view):
        lines += ["", "after the loss of a feed:", *(f"  {line}" for line in fates)]
    return "\n".join(lines) + "\n"


def _head(view: RackView) -> Iterator[str]:
    own, kind = view.racks, view.racks.kind
    alike = f", one of {own.count} equal racks {own.hostlist}" if own.count > 1 else ""
    yield printable(
        f"{view.name}: place {view.position + 1} of {own.row}, {own.hall}, {view.site}; "
        f"{kind.type}{alike}"
    )
    yield _against("power", kind.power_w, kind.power_limit_w, "W")
    yield f"heat {quantity_text(kind.heat_air_w, 'W')} to air, {quantity_text(kind.heat_liquid_w, 'W')} to liquid"
    yield _against("content", kind.content_kg, kind.static_rating_kg, "kg")
    yield _against("height", kind.used_u, kind.height_u, "U")


def _against(what: str, value: float | None, limit: float | None, unit: str) -> str:
    most = "" if limit is None else f" of {format_quantity(limit, unit)}"
    return f"{what} {quantity_text(value, unit)}{most}"


def _elevation(view: RackView) -> Iterator[str]:
    """Yield blocks from the top: a device has as many lines as units, but no more than a few."""
    top = int(view.racks.kind.height_u)
    yield f"     ┌{'─' * _WIDTH}┐"
    unit = top
    first = True
    for one in view.devices:
        low = int(one.low or 0)
        high = low + max(1, int(one.height)) - 1
        if high < unit:
            yield from _block(unit, high + 1, f"· {unit - high} U free", first=first)
            first = False
        words, after = _told(one), _drawn(one)
        if low > unit:  # it shares the units of the device before it
            yield f"{'':>4} │ {words:<{_WIDTH - 2}} │  {after}"
            continue
        yield from _block(high, low, words, first=first, after=after)
        first = False
        unit = min(unit, low - 1)
    if unit > 0:
        yield from _block(unit, 1, f"· {unit} U free", first=first)
    yield f"     └{'─' * _WIDTH}┘"


def _block(high: int, low: int, text: str, *, first: bool, after: str = "") -> Iterator[str]:
    if not first:
        yield f"     ├{'─' * _WIDTH}┤"
    height = high - low + 1
    lines = min(height, _LONGEST)
    for line in range(lines):
        unit = f"U{high}" if line == 0 else f"U{low}" if line == lines - 1 else ""
        words = text if line == 0 else ""
        behind = f"  {after}" if after and line == 0 else ""
        yield f"{unit:>4} │ {words:<{_WIDTH - 2}} │{behind}"


def _told(one: StandingDevice) -> str:
    name = shortened(printable(one.label), 20)
    entry = "" if one.label == one.device.entry else f"  {one.device.entry}"
    share = f", {one.device.share}" if one.device.share else ""
    return shortened(f"{name}{entry}  {one.height:g} U{share}", _WIDTH - 2)


def _drawn(one: StandingDevice) -> str:
    device = one.device
    return f"{quantity_text(device.power_w, 'W')}, {quantity_text(device.weight_kg, 'kg')}"


def _beside(view: RackView) -> Iterator[str]:
    counts: dict[str, int] = {}
    for one in view.beside:
        fits = "" if one.device.fits else ", no room"
        text = f"{one.device.entry} ({one.device.group}{fits})"
        counts[text] = counts.get(text, 0) + 1
    for text, count in counts.items():
        yield printable(f"{count} × {text}" if count > 1 else text)


def _feeds(view: RackView) -> Iterator[str]:
    for feed, source, _ in view.racks.feeds:
        supplies = f"; {count} power supplies" if (count := _supplies(view, feed)) else ""
        product = feed.pdu_entry or "no PDU"
        circuits = f"{feed.pdus} × {product}" if feed.pdus > 1 else product
        yield printable(
            f"{feed.feed} from {source}, {circuits}: "
            f"{quantity_text(feed.load_w, 'W')} of {_usable(feed)}{_after(view, feed)}{supplies}"
        )


def _usable(feed: FeedLoad) -> str:
    if feed.usable_w is None:
        return "unknown"
    each = format_quantity(feed.usable_w, "W")
    return each if feed.pdus == 1 else f"{feed.pdus} × {each}"


def _supplies(view: RackView, feed: FeedLoad) -> int:
    index = [one.feed for one in view.feeds].index(feed.feed)
    return sum(one.device.psus[index] for one in view.devices if one.device.psus)


def _after(view: RackView, feed: FeedLoad) -> str:
    """Return the circuit of the feed that carries most after another feed is lost."""
    found = [one for one in view.losses if one.feed == feed.feed]
    if not found:
        return ""
    if any(one.load_w is None for one in found):
        return "; after a loss unknown"
    worst = max(found, key=lambda one: one.load_w or 0.0)
    which = f" of PDU {worst.pdu + 1}" if feed.pdus > 1 else ""
    return f"; {quantity_text(worst.load_w, 'W')}{which} after losing {worst.lost}"


def _fates(view: RackView) -> list[str]:
    """Return the devices that do not keep running in full when a feed is lost."""
    feeds = {feed.feed for feed in view.feeds}
    found = [
        printable(
            f"{one.lost} lost: {one.devices} × {one.entry} ({one.group}) "
            + ("unknown" if one.state == "unknown" else f"{one.state}")
        )
        for one in view.fates
        if one.lost in feeds and one.state != "full"
    ]
    if found or not view.fates:
        return found
    return ["everything keeps running in full"]


def rack_json(view: RackView) -> str:
    """Return the rack as plain data; additions keep the version."""
    own, kind = view.racks, view.racks.kind
    document: dict[str, Any] = {
        "schema": SCHEMA,
        "rack": view.name,
        "site": view.site,
        "hall": own.hall,
        "row": own.row,
        "position": view.position + 1,
        "type": kind.type,
        "equal_racks": own.hostlist,
        "cooling": kind.mode,
        "height_u": kind.height_u,
        "used_u": kind.used_u,
        "power_w": kind.power_w,
        "power_limit_w": kind.power_limit_w,
        "heat_air_w": kind.heat_air_w,
        "heat_liquid_w": kind.heat_liquid_w,
        "weight_kg": kind.weight_kg,
        "content_kg": kind.content_kg,
        "static_rating_kg": kind.static_rating_kg,
        "devices": [_device(one) for one in (*view.devices, *view.beside)],
        "feeds": [
            {
                "feed": feed.feed,
                "source": source,
                "pdu": feed.pdu_entry,
                "pdus": feed.pdus,
                "load_w": feed.load_w,
                "usable_w": feed.usable_w,
                "after_loss": [
                    {"lost": one.lost, "pdu": one.pdu + 1, "load_w": one.load_w}
                    for one in view.losses
                    if one.feed == feed.feed
                ],
            }
            for feed, source, _ in view.racks.feeds
        ],
        "after_loss": [
            {
                "lost": one.lost,
                "group": one.group,
                "product": one.entry,
                "devices": one.devices,
                "state": one.state,
            }
            for one in view.fates
        ],
    }
    return json_text(document)


def _device(one: StandingDevice) -> dict[str, Any]:
    device = one.device
    return {
        "kind": device.kind,
        "product": device.entry,
        "group": device.group,
        "names": list(one.names),
        "unit_low": one.low,
        "share": device.share or None,
        "height_u": device.height_u,
        "fits": device.fits,
        "power_w": device.power_w,
        "weight_kg": device.weight_kg,
        "supplies": None if device.psus is None else list(device.psus),
    }
