"""Drawing of the fronts of all racks of a row, side by side."""

from __future__ import annotations

from collections.abc import Iterator

from rackwright.drawings.svg import Drawing, box, fitted, group, label
from rackwright.harmless import counted
from rackwright.plan.expansion import SitePlan
from rackwright.plan.records.racks import RackClass
from rackwright.report.wording import quantity_text

MOST_RACKS = 24
"""Maximum number of racks of a row that are drawn; of a longer row, the last rack is only named."""
_UNIT, _WIDTH, _APART, _TOP = 7.0, 92.0, 10.0, 60.0


def rows_of(site: SitePlan) -> list[tuple[str, str]]:
    """Return hall and name of each row of a site, in the order of the blueprint."""
    return list(dict.fromkeys((racks.hall, racks.row) for racks in site.racks))


def draw_row(site: SitePlan, hall: str, row: str) -> Drawing:
    """Return the drawing of the racks of a row, in the order of their positions."""
    own = sorted(
        (
            (position, name, racks)
            for racks in site.racks
            if (racks.hall, racks.row) == (hall, row)
            for name, position in zip(racks.names, racks.positions, strict=True)
        ),
        key=lambda one: one[:2],
    )
    shown = own[:MOST_RACKS]
    tallest = max((racks.kind.height_u for _, _, racks in shown), default=0.0)
    floor = _TOP + tallest * _UNIT
    title = f"{hall} {row}: {counted(len(own), 'rack')}"
    if len(own) > len(shown):
        title += f", of which {shown[0][1]} to {shown[-1][1]} are drawn"
    parts = [label(12, 22, title, class_="head")]
    for place, (_, name, racks) in enumerate(shown):
        x = 12 + place * (_WIDTH + _APART)
        parts.append(group(_rack(name, racks, x, floor), None, class_="front"))
    width = max(24 + len(shown) * (_WIDTH + _APART), 420.0)
    return Drawing(f"fronts of {row} in {hall}", width, floor + 28, "".join(parts))


def _rack(name: str, racks: RackClass, x: float, floor: float) -> Iterator[str]:
    """Yield the frame of a rack, its devices from the bottom up, its name above and its power below."""
    kind = racks.kind
    top = floor - kind.height_u * _UNIT
    yield label(x + _WIDTH / 2, top - 8, fitted(name, _WIDTH), class_="sub mid")
    yield box(x, top, _WIDTH, floor - top, class_="slot")
    for device in kind.devices:
        if device.unit_low is None or not device.fits or not device.height_u:
            continue
        high = device.height_u * _UNIT
        y = floor - (device.unit_low - 1) * _UNIT - high
        yield box(x + 2, y + 0.5, _WIDTH - 4, high - 1, class_=f"device {device.kind}")
        if high >= 2 * _UNIT:
            text = fitted(device.entry, _WIDTH - 10, sign=5.0)
            yield label(x + _WIDTH / 2, y + high / 2 + 3, text, class_="small mid")
    yield box(x, top, _WIDTH, floor - top, class_="frame")
    power = quantity_text(kind.power_w, "W")
    yield label(x + _WIDTH / 2, floor + 16, fitted(power, _WIDTH), class_="soft mid")
