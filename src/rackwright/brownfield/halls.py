"""Halls, rows and racks in which devices stand, and the names that a blueprint gives them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from rackwright.brownfield.names import as_host, as_place, label_of
from rackwright.brownfield.records import FoundDevice, SourceNotice, refused
from rackwright.errors import SpecError, SpecErrors
from rackwright.model.hardware import Entry, Node, Pdu, PowerShelf, fact_value
from rackwright.model.racks import RackType
from rackwright.model.standing import UnitShare

SITE, HALL, ROW = "site-1", "hall-1", "row-1"
"""Names where sources have none."""
_DIGITS = re.compile(r"(\d+)")

Known = tuple[FoundDevice, Entry]
"""A device with its product."""


@dataclass
class FoundRack:
    """A rack with what stands in it.

    Attributes:
        position: in its row; None if unknown.
        devices: nodes and switches.
        type: product of the rack itself; None if unknown.
        pdus: product and number of PDUs of each feed; the feed is empty if unknown.
        shelves: product and number of power shelves.
    """

    name: str
    site: str
    hall: str
    row: str
    first: FoundDevice
    position: int | None = None
    devices: list[Known] = field(default_factory=list)
    type: str | None = None
    pdus: dict[tuple[str, str], int] = field(default_factory=dict)
    shelves: dict[str, int] = field(default_factory=dict)

    @property
    def feeds(self) -> tuple[str, ...]:
        """The feeds that have a name, sorted."""
        named = {feed for feed, _ in self.pdus if feed}
        named.update(feed for device, _ in self.devices for feed in device.supplies)
        return tuple(sorted(named))

    @property
    def alike(self) -> tuple[object, ...]:
        """Properties that racks of one group share."""
        nodes = [entry for _, entry in self.devices if isinstance(entry, Node)]
        media = frozenset(node.medium for node in nodes)
        return (
            any(node.accelerators is not None for node in nodes),
            media,
            self.type,
            self.feeds,
            tuple(sorted(self.pdus.items())),
            tuple(sorted(self.shelves.items())),
        )


Halls = Mapping[str, Mapping[str, Sequence[FoundRack]]]
"""Racks by hall and row, in their order."""


class _Labels:
    """Names of sources made names of a blueprint, each by one of the two."""

    def __init__(self, what: str, make: Callable[[str], str | None] = label_of) -> None:
        self._what = what
        self._make = make
        self._made: dict[tuple[str, str], str] = {}
        self._changed: dict[str, str] = {}

    def of(self, scope: str, text: str, default: str, device: FoundDevice) -> str:
        """Return the name for ``text`` among those of a scope.

        Raises:
            SpecErrors: two names would become one, or nothing is left of this one.
        """  # noqa: DOC501 - refused() makes the SpecErrors
        if not text:
            return default
        label = self._make(text)
        if label is None:
            message = f"'{text}' cannot be the name of a {self._what}"
            raise refused(message, device.at, "write one with letters or digits")
        former = self._made.setdefault((scope, label), text)
        if former != text:
            message = f"the {self._what}s '{former}' and '{text}' would both be called '{label}'"
            raise refused(message, device.at, "rename one of the two in the file")
        if label != text:
            self._changed.setdefault(text, label)
        return label

    def notices(self) -> list[SourceNotice]:
        """Return the names that were changed."""
        if not self._changed:
            return []
        first = next(iter(self._changed.items()))
        more = len(self._changed) - 1
        rest = f", and {more:,} more in the same way" if more else ""
        return [SourceNotice(f"the {self._what} '{first[0]}' is called '{first[1]}'{rest}")]


def racks_of(known: Sequence[Known], notices: list[SourceNotice]) -> list[FoundRack]:
    """Return the racks, in the order in which they are named.

    Args:
        known: devices in racks.
        notices: what is called otherwise is added.

    Raises:
        SpecErrors: a rack is in two places, two devices are in one unit, or a name cannot be used.
    """
    sites = _Labels("site")
    halls, rows = (_Labels(what, as_place) for what in ("hall", "row"))
    names = _Labels("rack", as_host)
    found: dict[tuple[str, str], FoundRack] = {}
    errors: list[SpecError] = []
    for device, entry in known:
        try:
            _put(device, entry, found, (sites, halls, rows, names))
        except SpecErrors as error:
            errors += error.errors
    for rack in found.values():
        try:
            _share_units(rack, notices)
        except SpecErrors as error:
            errors += error.errors
    if errors:
        raise SpecErrors(errors)
    for labels in (sites, halls, rows, names):
        notices += labels.notices()
    places = [device.place for device, _ in known if device.place is not None]
    for what, default, unnamed in (
        ("site", SITE, any(not place.site for place in places)),
        ("hall", HALL, any(not place.hall for place in places)),
        ("row", ROW, any(not place.row for place in places)),
    ):
        if unnamed:
            notices.append(SourceNotice(f"where no file names a {what}, it is called '{default}'"))
    return list(found.values())


def _put(
    device: FoundDevice,
    entry: Entry,
    found: dict[tuple[str, str], FoundRack],
    labels: tuple[_Labels, _Labels, _Labels, _Labels],
) -> None:
    place = device.place
    assert place is not None  # noqa: S101 - only what is in a rack is put into one
    sites, halls, rows, names = labels
    site = sites.of("", place.site, SITE, device)
    hall = halls.of(site, place.hall, HALL, device)
    row = rows.of(f"{site}/{hall}", place.row, ROW, device)
    name = names.of(site, place.rack, "", device)
    rack = found.setdefault((site, name), FoundRack(name, site, hall, row, device, place.position))
    if (rack.hall, rack.row, rack.position) != (hall, row, place.position):
        other = rack.first
        message = (
            f"the rack '{name}' is in {hall}, {row}, place {place.position or '?'} here, and in {rack.hall}, "
            f"{rack.row}, place {rack.position or '?'} at {other.at}"
        )
        raise refused(message, device.at, "racks of one site have different names: rename one")
    if isinstance(entry, RackType):
        rack.type = entry.id
    elif isinstance(entry, Pdu):
        key = (device.group if len(device.group) <= 2 else "", entry.id)
        rack.pdus[key] = rack.pdus.get(key, 0) + 1
    elif isinstance(entry, PowerShelf):
        rack.shelves[entry.id] = rack.shelves.get(entry.id, 0) + 1
    else:
        rack.devices.append((device, entry))


def _share_units(rack: FoundRack, notices: list[SourceNotice]) -> None:
    """Refuse two devices in one unit, unless they are back to back, or two of one product side by side.

    Raises:
        SpecErrors: a unit has two devices that cannot share it.
    """  # noqa: DOC501 - refused() makes the SpecErrors
    standing = sorted(
        (index for index, (device, _) in enumerate(rack.devices) if device.low),
        key=lambda index: rack.devices[index][0].low or 0.0,
    )
    around: list[int] = []
    for index in standing:
        device, _ = rack.devices[index]
        around = [other for other in around if _top(rack.devices[other]) > (device.low or 0.0)]
        for other in around:
            below = rack.devices[other]
            shares = _shares(below, rack.devices[index]) if len(around) == 1 else ()
            if not shares or below[0].share not in {None, shares[0]}:
                message = (
                    f"U{device.low:g} of the rack '{rack.name}' is taken: '{below[0].product[-1]}' stands there "
                    f"up to U{_top(below) - 1:g} ({below[0].at})"
                )
                raise refused(message, device.at, _TWO)
            if device.face not in _SIDES and shares[0] == "half-width":
                text = (
                    f"'{below[0].names[0] if below[0].names else below[0].product[-1]}' and "
                    f"'{device.names[0] if device.names else device.product[-1]}' are both in U{device.low:g} of the "
                    f"rack '{rack.name}': they are taken for two of half width, side by side"
                )
                notices.append(SourceNotice(text, device.at))
            for which, share in zip((other, index), shares, strict=True):
                found, entry = rack.devices[which]
                rack.devices[which] = replace(found, share=share), entry
        around.append(index)


def _top(known: Known) -> float:
    return (known[0].low or 0.0) + height_of(known[1])


_SIDES = {"left", "right"}
_TWO = (
    "correct the unit of one, or its product; the faces 'front' and 'rear' tell two devices of half depth, "
    "'left' and 'right' two of half width"
)


def _shares(below: Known, above: Known) -> tuple[UnitShare, ...]:
    """Return the parts of common units that two devices take; empty where they cannot have any in common."""
    (one, entry), (other, second) = below, above
    faces = {one.face, other.face}
    if faces == {"front", "rear"}:
        deep = getattr(entry, "full_depth", None) or getattr(second, "full_depth", None)
        return () if deep else (one.face, other.face)  # type: ignore[return-value]
    alike = one.product == other.product and one.names != other.names and len(faces) == 1
    if one.low == other.low and (faces == {"left", "right"} or (alike and not faces & _SIDES)):
        return "half-width", "half-width"
    return ()


def height_of(entry: Entry) -> float:
    """Return the rack units of a product; 1 if its height is not published."""
    height = fact_value(getattr(entry, "height", None))
    return 1.0 if height is None else float(height)


def in_rows(racks: Iterable[FoundRack], unordered: list[str]) -> Halls:
    """Return the racks of a site in the order in which they stand.

    Args:
        racks: of one site.
        unordered: rows of several racks without a known order are added.
    """
    found: dict[str, dict[str, list[FoundRack]]] = {}
    for rack in racks:
        found.setdefault(rack.hall, {}).setdefault(rack.row, []).append(rack)
    for hall, rows in found.items():
        for row, these in rows.items():
            if all(rack.position is not None for rack in these):
                these.sort(key=lambda rack: rack.position or 0)
            elif len(these) > 1:
                unordered.append(f"{these[0].site}/{hall}/{row}")
                these.sort(key=lambda rack: natural(rack.name))
    return found


def order_notice(unordered: Sequence[str]) -> Iterator[SourceNotice]:
    """Yield a notice about rows whose racks are sorted by name."""
    if unordered:
        shown = ", ".join(unordered[:5]) + (", …" if len(unordered) > 5 else "")
        text = f"the order of the racks is unknown, so they are sorted by name: {shown}"
        yield SourceNotice(text)


def natural(name: str) -> tuple[tuple[str, int], ...]:
    """Return a key that sorts ``c2`` before ``c10``."""
    parts = _DIGITS.split(name)
    numbers = [int(part) if part else 0 for part in parts[1::2]]
    return tuple(zip(parts[::2], [*numbers, -1], strict=True))
