"""Sheets for those who build a hall: what stands in which unit, every cable with both ends, every circuit."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rackwright.harmless import visible
from rackwright.plan.expansion import SitePlan
from rackwright.plan.fabric.cables import Wire, routed_length, wires
from rackwright.plan.fabric.layout import Layout, find_host
from rackwright.plan.fabric.lengths import CableRoutes
from rackwright.plan.model import Plan
from rackwright.plan.records.circuits import CircuitAfterLoss
from rackwright.plan.records.racks import RackClass, RackDevice
from rackwright.policy.unknowns import OpenQuestion
from rackwright.render.todo import describe_field
from rackwright.report.overview.rack import StandingDevice, view_rack

Cell = str | int | float | None

_FORMULAS = tuple("=+-@＝＋－＠")
"""What a program for tables takes for the begin of a formula, also behind blanks."""


@dataclass(frozen=True, slots=True)
class Sheet:
    """A table of cells, made row by row.

    Attributes:
        name: of its file.
        columns: their heads; the unit of a number is the end of its name.
        rows: as many cells as there are columns.
    """

    name: str
    columns: Sequence[str]
    rows: Iterator[Sequence[Cell]]


def cell(value: Cell) -> str | int | float:
    """``value`` as no program for tables takes it for a formula; empty where it is not known."""
    if value is None:
        return ""
    if not isinstance(value, str):
        short = round(value, 2)
        return int(short) if short == int(short) else short
    shown = visible(value)
    return f"'{shown}" if shown.lstrip().startswith(_FORMULAS) else shown


def sheets(plan: Plan, site: str | None = None) -> list[Sheet]:
    """Yield the sheets of all bare-metal sites, or of one of them."""
    chosen = [one for one in plan.onprem if site in {None, one.name}]

    def of_each(
        rows: Callable[[Plan, SitePlan], Iterator[Sequence[Cell]]],
    ) -> Iterator[Sequence[Cell]]:
        for one in chosen:
            yield from rows(plan, one)

    return [
        Sheet("elevations.csv", ELEVATIONS, of_each(_elevations)),
        Sheet("cables.csv", CABLES, of_each(_cables)),
        Sheet("power.csv", POWER, of_each(_power)),
    ]


ELEVATIONS = (
    "site", "hall", "row", "place", "rack", "lowest_unit", "highest_unit", "kind", "product",
    "name", "group", "supplies", "power_w", "weight_kg", "face", "note",
)  # fmt: skip
CABLES = (
    "site", "fabric", "kind", "part", "length_m",
    "from_rack", "from_unit", "from_device", "from_port", "from_label",
    "to_rack", "to_unit", "to_device", "to_port", "to_label",
    "from_tia606", "to_tia606",
)  # fmt: skip
POWER = (
    "site", "hall", "row", "place", "rack", "feed", "circuit", "source", "product",
    "voltage_v", "current_a", "phases", "usable_w", "load_w", "after_loss_w", "lost",
)  # fmt: skip


QUESTIONS = (
    "who can answer", "field", "meaning", "value", "blocks", "needed by", "source", "date", "confidence",
    "answer",
)  # fmt: skip
"""Columns of open questions. Facts of products need all of the last four, other fields the answer."""


def question_rows(
    plan: Plan, asked: Iterable[OpenQuestion], written: Any = None
) -> Iterator[Sequence[Cell]]:
    """Yield the facts that rules of this stage lack, each with an empty cell for the answer.

    Args:
        plan: of the blueprint.
        asked: the questions of its report.
        written: the document of the blueprint as it is written.
    """
    for one in asked:
        if not one.later:
            blocks = "yes" if one.blocks else "no"
            meaning, value = (
                ("", "") if one.about is None else describe_field(plan, one.about, written)
            )
            rules = " ".join(one.rules)
            yield (
                one.owner.value,
                one.field,
                meaning or one.remedy,
                value,
                blocks,
                rules,
                "",
                "",
                "",
                "",
            )


def _elevations(plan: Plan, site: SitePlan) -> Iterator[Sequence[Cell]]:
    """Yield every rack, and behind it its devices from the top; what hangs beside the rails comes last."""
    for own, name, place in _by_name(site):
        view = view_rack(plan, site, own, name)
        unsaid = own.kind.weight_kg is None or own.kind.content_kg is None or own.kind.includes_rack
        weight = None if unsaid else (own.kind.weight_kg or 0) - (own.kind.content_kg or 0)
        nothing = (None, None, "rack", own.kind.type, "", "", "", None, weight, "", "")
        yield (*place, *nothing)
        for one in (*view.devices, *view.beside):
            yield (*place, *_standing(one, [feed.feed for feed in view.feeds]))


def _by_name(site: SitePlan) -> Iterator[tuple[RackClass, str, tuple[Cell, ...]]]:
    """Yield each rack of a site with its name and the cells that say where it is."""
    for own in site.racks:
        for name, position in zip(own.names, own.positions, strict=True):
            yield own, name, (site.name, own.hall, own.row, position + 1, name)


def _standing(one: StandingDevice, feeds: Sequence[str]) -> tuple[Cell, ...]:
    device = one.device
    note = "" if one.low is not None else "beside the rails" if device.fits else "WITHOUT A PLACE"
    supplies = (
        " ".join(
            f"{feed}:{count}" for feed, count in zip(feeds, device.psus, strict=False) if count
        )
        if device.psus
        else ""
    )
    top = None if one.low is None else one.low + max(one.height, 1) - 1
    return (
        one.low, top, device.kind, device.entry, one.label if one.names else "", device.group,
        supplies, device.power_w, device.weight_kg, device.share and f"{device.share} half", note,
    )  # fmt: skip


_End = tuple[str | None, Cell, str, Cell]
"""Rack, unit, device and port of one end of a cable."""


@dataclass(frozen=True, slots=True)
class Stand:
    """Position of a named device.

    Attributes:
        rack: name of its rack.
        unit: its lowest unit; None where it hangs beside the rails or does not fit.
        hall: name of the hall.
        top: its highest unit, the same.
    """

    rack: str
    unit: float | None
    hall: str = ""
    top: float | None = None


def stands(plan: Plan, site: SitePlan) -> Mapping[str, Stand]:
    """Return the position of each named device of a site."""
    own = {name: racks for racks in site.racks for name in racks.names}
    return {
        name: _stand(rack, own[rack].hall, own[rack].kind.devices[number])
        for rack, devices in plan.racked[site.name].items()
        for number, names in devices.items()
        for name in names
    }


def _stand(rack: str, hall: str, device: RackDevice) -> Stand:
    if not device.fits or device.unit_low is None:
        return Stand(rack, None, hall)
    height = 1 if device.height_u is None else math.ceil(device.height_u)
    return Stand(rack, device.unit_low, hall, device.unit_low + height - 1)


def _cables(plan: Plan, site: SitePlan) -> Iterator[Sequence[Cell]]:
    known = stands(plan, site)
    for planned in site.fabrics:
        if planned.layout is not None:
            routes = site.cable_routes(planned)
            for wire in wires(planned.layout):
                cable = _cable(planned.layout, wire, routes, known)
                yield (site.name, planned.name, *cable)


def _cable(
    layout: Layout, wire: Wire, routes: CableRoutes | None, stands: Mapping[str, Stand]
) -> Sequence[Cell]:
    link = next((one for one in layout.fabric.links if one.name == wire.kind), None)
    length = None if link is None else routed_length(link)
    if length is None and routes is not None:
        length = routes.of_wire(wire)
    lower, upper = _ends(layout, wire, stands)
    own, other = _label(lower), _label(upper)
    return (
        wire.kind, None if link is None else link.cable, length,
        *lower, f"{own} / {other}", *upper, f"{other} / {own}", *_tia606(lower, upper, stands),
    )  # fmt: skip


def _tia606(lower: _End, upper: _End, stands: Mapping[str, Stand]) -> tuple[str, str]:
    """Return the labels of a cable in the scheme of ANSI/TIA-606: space.cabinet-unit:port, the near end first.

    A device of several units has the highest one. Both labels are empty where a position is unknown.
    """
    ends = []
    for _, _, device, port in (lower, upper):
        stand = stands.get(device)
        if stand is None or stand.top is None:
            return "", ""
        shown = f"{port:02}" if isinstance(port, int) else str(port)
        ends.append(f"{stand.hall}.{stand.rack}-{stand.top:02g}:{shown}")
    near, far = ends
    return f"{near}/{far}", f"{far}/{near}"


def cable_labels(layout: Layout, wire: Wire, stands: Mapping[str, Stand]) -> tuple[str, str]:
    """Return the labels of a cable at its lower and its upper end, each with the other end behind a stroke."""
    own, other = (_label(end) for end in _ends(layout, wire, stands))
    return f"{own} / {other}", f"{other} / {own}"


def _ends(layout: Layout, wire: Wire, stands: Mapping[str, Stand]) -> tuple[_End, _End]:
    lower = _end(stands, wire.lower, port_name(layout, wire))
    return lower, _end(stands, wire.upper, wire.upper_port)


def _end(stands: Mapping[str, Stand], device: str, port: Cell) -> _End:
    stand = stands.get(device)
    return (None, None, device, port) if stand is None else (stand.rack, stand.unit, device, port)


def _label(end: _End) -> str:
    """Return the label of a cable at one end: rack, unit, device and port, as far as known."""
    rack, unit, device, port = end
    at = "" if rack is None else f"{rack} " if unit is None else f"{rack} U{unit:g} "
    return f"{at}{device} {port}"


def port_name(layout: Layout, wire: Wire) -> Cell:
    """Return the lower port of a cable as it is written on the device, where the catalogue says it."""
    index = wire.lower_port - 1
    if (host := find_host(layout, wire.lower)) is not None:
        hosts = layout.hosts[host[0]]
        index = hosts.port_of(index)
        if hosts.port is not None and index < len(hosts.port.names):
            return hosts.port.names[index]
    return wire.lower_port


def _power(plan: Plan, site: SitePlan) -> Iterator[Sequence[Cell]]:
    """Yield every circuit of every rack, with the most that it carries after another one is lost."""
    rows = {own: _circuits(own) for own in site.racks}
    for own, _, place in _by_name(site):
        for row in rows[own]:
            yield (*place, *row)


def _circuits(racks: RackClass) -> list[Sequence[Cell]]:
    """Return the circuits of one rack of a class."""
    feeds = {feed.feed: (feed, source) for feed, source, _ in racks.feeds}
    losses: dict[tuple[str, int], list[CircuitAfterLoss]] = {}
    for loss in racks.kind.losses:
        losses.setdefault((loss.feed, loss.pdu), []).append(loss)
    found: list[Sequence[Cell]] = []
    for one in racks.kind.circuits:
        feed, source = feeds[one.feed]
        worst, lost = _worst(losses.get((one.feed, one.pdu), ()))
        found.append((
            one.feed, one.pdu + 1, source, feed.pdu_entry,
            feed.voltage_v, feed.circuit_current_a or feed.current_a, feed.phases,
            one.usable_w, one.load_w, worst, lost,
        ))  # fmt: skip
    return found


def _worst(losses: Sequence[CircuitAfterLoss]) -> tuple[float | None, str | None]:
    known = [(one.load_w, one.lost) for one in losses if one.load_w is not None]
    return max(known) if known and len(known) == len(losses) else (None, None)
