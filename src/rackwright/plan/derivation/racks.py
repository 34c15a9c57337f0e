"""Derivation of racks, and of the racks in which nodes and switches stand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

from rackwright.catalog.loader import Catalogue
from rackwright.errors import Location
from rackwright.harmless import counted
from rackwright.model.hardware import Node, Switch
from rackwright.model.intents import PowerIntent
from rackwright.model.names import compress_hostlist, expand_hostlist, hostlist_size
from rackwright.model.onprem import Hall, NodeGroup
from rackwright.plan.base import Path
from rackwright.plan.derivation import rules
from rackwright.plan.derivation.draft import Draft
from rackwright.plan.derivation.feeds import put_feeds, rack_feeds
from rackwright.plan.derivation.reading import read, refused
from rackwright.plan.derivation.room import RackRoom, Room
from rackwright.plan.fabric.sizing import ceil_div
from rackwright.reading.tree import Item, KeyValue, to_data

RACK = "rack-48u"
"""The rack where no other is written: the one of the templates."""

_OF_NODES = ("compute", "storage")
"""Roles of nodes that fill racks of their own; the others stand with the switches."""
_GROUP_KEYS = (
    "type",
    "air_direction",
    "blanking",
    "aisle_depth",
    "cable_allowance",
    "cable_weight",
    "shipping",
    "shelves",
)


@dataclass(frozen=True, slots=True)
class Placing:
    """A node group or a tier that is to stand in racks.

    Attributes:
        data: its fields as they are known.
        racks: those that are written; None where they follow.
        per_rack: the same.
    """

    path: Path
    data: Mapping[str, Any]
    count: int
    racks: str | None
    per_rack: int | None
    is_switch: bool


@dataclass(frozen=True)
class Kind:
    """The racks of nodes, or those of the network.

    Attributes:
        fields: of the rack group, without the names of its racks and its feeds.
        places: where each field is written; the others follow from nothing.
        words: all that is said of them.
    """

    fields: Mapping[str, Any]
    places: Mapping[str, Location]
    words: Mapping[str, KeyValue]
    default: Location


class RackRules:
    """Puts the racks of one site."""

    def __init__(
        self,
        draft: Draft,
        site: Path,
        said: Item,
        power: tuple[PowerIntent, Item],
        catalogue: Catalogue,
    ) -> None:
        """Return the racks of ``site``.

        Args:
            draft: the document, with the power sources and the counts of its switches.
            site: where the site is.
            said: what is written of its racks.
            power: what is said of its feeds, and the same as it is written.
            catalogue: where products are looked up.
        """
        self._draft, self._site, self._said = draft, site, said
        self._power, self._catalogue = power, catalogue
        self._place = said.location

    def put(self, groups: Sequence[NodeGroup]) -> None:
        """Put racks for the node groups and tiers that name none, and the groups that they are in.

        Raises:
            SpecErrors: the site is not valid.
        """
        hall = self._hall()
        placings = [*self._nodes(groups), *self._tiers()]
        nodes = [one for one in placings if one.data.get("role") in _OF_NODES and not one.is_switch]
        others = [one for one in placings if one not in nodes]
        kinds = _kinds(self._said)
        named = []
        for letter, kind, these in zip("cn", kinds, (nodes, others), strict=True):
            room = RackRoom(
                self._draft,
                self._site,
                hall or (*self._site, "halls", 0),
                {**kind.fields, "feeds": rack_feeds(*self._power, kind.words)},
                self._catalogue,
            )
            if letter == "c":
                self._fill(these, room)
            else:
                self._spread(these, room)
            racks = [str(self._draft.data((*one.path, "racks"))) for one in these]
            named.append(_together(self._draft, these, racks))
        if hall is not None:
            self._put_groups(hall, [(n, k) for n, k in zip(named, kinds, strict=True) if n])

    def _hall(self) -> Path | None:
        """Return the hall that the racks stand in; None where each one has its racks written.

        Raises:
            SpecErrors: there is no hall, or the hall is not valid.
        """  # noqa: DOC501 - refused() makes the SpecErrors
        halls = (*self._site, "halls")
        if "halls" not in self._draft.data(self._site):
            why = "no hall is written"
            self._draft.named(halls, ["hall-1"], rules.HALL, why, self._place)
        if not isinstance(self._draft.data(halls), list) or not self._draft.data(halls):
            hint = "write one, or leave out 'halls'"
            raise refused(self._draft, halls, "there is no hall for the racks", hint)
        for index, hall in enumerate(_mappings(self._draft.data(halls))):
            if not any(row.get("rack_groups") for row in _mappings(hall.get("rows"))):
                path = (*halls, index)
                said = self._draft.data(path)
                whole = {**said, "rows": []} if isinstance(said, dict) else said
                read(self._draft, Hall, whole, path)
                return path
        return None

    def _nodes(self, groups: Sequence[NodeGroup]) -> list[Placing]:
        found = []
        for index, group in enumerate(groups):
            path = (*self._site, "node_groups", index)
            data = self._draft.data(path)
            racks = group.racks if data.get("racks") is not None else None
            each = group.per_rack if data.get("per_rack") is not None else None
            found.append(Placing(path, data, group.count, racks, each, is_switch=False))
        return found

    def _tiers(self) -> list[Placing]:
        """Return the tiers of all fabrics whose switches are counted."""
        found = []
        for f, fabric in enumerate(_mappings(self._draft.data((*self._site, "fabrics")))):
            for t, tier in enumerate(_mappings(fabric.get("tiers"))):
                path = (*self._site, "fabrics", f, "tiers", t)
                count, each = tier.get("count"), tier.get("per_rack")
                if not _is_count(count) or not isinstance(tier.get("type"), str):
                    continue  # the model says so
                racks = tier.get("racks")
                if racks is not None and _size(racks) is None:
                    continue
                known = each if _is_count(each) else None
                found.append(Placing(path, tier, count, racks, known, is_switch=True))
        return found

    def _fill(self, nodes: Sequence[Placing], room: RackRoom) -> None:
        """Let each node group fill racks of its own, one after the other."""
        each: list[tuple[int, str]] = []
        for one in nodes:
            if one.per_rack is not None:
                each.append((one.per_rack, ""))
            elif one.racks is not None:
                each.append(_divided(one))
            else:
                each.append(room.most(one.data))
        needed = [
            ceil_div(one.count, per) if one.racks is None else 0
            for one, (per, _) in zip(nodes, each, strict=True)
        ]
        taken = _last_number("c", nodes)
        width, first = max(2, len(str(taken + sum(needed)))), taken + 1
        for one, (per, why), racks in zip(nodes, each, needed, strict=True):
            self._draft.put((*one.path, "per_rack"), per, rules.PER_RACK, why, self._place)
            if racks:
                name = _range("c", first, first + racks - 1, width)
                filled, at = f"{counted(one.count, 'unit')}, {per} in a rack", (*one.path, "racks")
                self._draft.put(at, name, rules.NODE_RACKS, filled, self._place)
                first += racks

    def _spread(self, loads: Sequence[Placing], room: RackRoom) -> None:
        """Spread switches, and nodes that serve, evenly over the fewest racks."""
        free = [one for one in loads if one.racks is None]
        if not free:
            racks, why = 0, ""
        else:
            racks, why = self._fewest(free, room)
        taken = _last_number("n", loads)
        width = max(2, len(str(taken + racks)))
        for one in loads:
            per, reason = _divided(one) if one.racks is not None else (_each(one, racks), why)
            self._draft.put((*one.path, "per_rack"), per, rules.PER_RACK, reason, self._place)
            if one.racks is None:
                each = one.per_rack or per
                name = _range("n", taken + 1, taken + ceil_div(one.count, each), width)
                why_here = f"{counted(one.count, 'unit')}, {each} in a rack"
                at = (*one.path, "racks")
                self._draft.put(at, name, rules.NETWORK_RACKS, why_here, self._place)

    def _fewest(self, loads: Sequence[Placing], room: RackRoom) -> tuple[int, str]:
        """Return the fewest racks over which the loads can be spread, and why."""
        most = max(one.count for one in loads)
        tall = sum(
            one.count * room.height_of(one.data, Switch if one.is_switch else Node) for one in loads
        )
        low = min(most, max(2, ceil(tall / room.height)))
        high, beyond = most, ""
        found = self._held(loads, low, room)
        if not found.fits:
            beyond = f"; over {low}, {found.why}"
            while high - low > 1:
                racks = (low + high) // 2
                tried = self._held(loads, racks, room)
                if tried.fits:
                    high = racks
                else:
                    low, beyond = racks, f"; over {racks}, {tried.why}"
            low, found = high, self._held(loads, high, room)
        return low, f"spread over {low} racks: {found.why}{beyond}"

    @staticmethod
    def _held(loads: Sequence[Placing], racks: int, room: RackRoom) -> Room:
        """Return the fit of the loads into so many racks, each with its part."""
        parts = [(one.data, _each(one, racks)) for one in loads]
        return room.holds(
            [part for part, one in zip(parts, loads, strict=True) if not one.is_switch],
            [part for part, one in zip(parts, loads, strict=True) if one.is_switch],
        )

    def _put_groups(self, hall: Path, named: Sequence[tuple[str, Kind]]) -> None:
        """Put one row with a rack group of each kind."""
        draft, rows = self._draft, (*hall, "rows")
        written = [one.get("name") for one in _mappings(draft.data(rows))]
        first = written[0] if written and isinstance(written[0], str) else "row-1"
        row = draft.named(rows, [first], rules.HALL, "no row has racks written", self._place)
        if not row:
            return  # what is written there is told by the model
        groups = (*rows, row[first], "rack_groups")
        draft.listed(groups, len(named), self._place)
        for index, (racks, kind) in enumerate(named):
            here = (*groups, index)
            why = "all that something stands in"
            draft.put((*here, "racks"), racks, rules.RACK_GROUPS, why, self._place)
            for key, value in kind.fields.items():
                place = kind.places.get(key)
                why = "as the site says of its racks" if place else "nothing else is said"
                at = place or kind.default
                if not isinstance(value, Mapping):
                    draft.put((*here, key), value, rules.RACK_GROUPS, why, at)
                elif draft.mapping((*here, key), at):
                    for inner, part in value.items():
                        draft.put((*here, key, inner), part, rules.RACK_GROUPS, why, at)
            put_feeds(draft, here, *self._power, kind.words)


def _kinds(said: Item) -> tuple[Kind, Kind]:
    """Return the words about the racks of nodes, and those about the racks of the network."""
    words = said.value if isinstance(said.value, dict) else {}
    network = words["network"].item.value if "network" in words else None
    layers = [words, {**words, **(network if isinstance(network, dict) else {})}]
    found = []
    for layer in layers:
        fields: dict[str, Any] = {"type": RACK}
        places: dict[str, Location] = {}
        for key in _GROUP_KEYS:
            if key in layer and layer[key].item.value is not None:
                fields[key] = to_data(layer[key].item)
                places[key] = layer[key].item.location
        cooling = dict(to_data(layer["cooling"].item) or {}) if "cooling" in layer else {}
        if "cooling" in layer:
            places["cooling"] = layer["cooling"].item.location
        cooling = {"mode": "air", **cooling}
        if "power_limit" in layer and layer["power_limit"].item.value is not None:
            cooling["power_limit"] = to_data(layer["power_limit"].item)
            places["cooling"] = layer["power_limit"].item.location
        fields["cooling"] = cooling
        found.append(Kind(fields, places, layer, said.location))
    return found[0], found[1]


def _together(draft: Draft, placings: Sequence[Placing], racks: Sequence[str]) -> str:
    """Return all racks that something stands in, as one host list; empty where nothing does.

    Raises:
        SpecErrors: what is written as the racks of something is no host list.
    """  # noqa: DOC501 - refused() makes the SpecErrors
    names: dict[str, None] = {}
    for one, text in zip(placings, racks, strict=True):
        if _size(text) is None:
            raise refused(draft, (*one.path, "racks"), f"'{text}' is not a host list")
        names.update(dict.fromkeys(expand_hostlist(text)))
    return compress_hostlist(names)


def _divided(one: Placing) -> tuple[int, str]:
    """Return the units in each of the racks that are written."""
    racks = _size(one.racks or "") or 1
    return ceil_div(one.count, racks), f"{counted(one.count, 'unit')} in {counted(racks, 'rack')}"


def _each(one: Placing, racks: int) -> int:
    return one.per_rack or ceil_div(one.count, max(1, racks))


def _size(text: Any) -> int | None:
    """Return the names that a host list stands for; None of what is none."""
    try:
        return hostlist_size(text) if isinstance(text, str) else None
    except ValueError:
        return None


def _last_number(letter: str, placings: Sequence[Placing]) -> int:
    """Return the highest number of a rack with this letter that is written; 0 where none is."""
    numbers = [0]
    for one in placings:
        if one.racks is not None:
            for name in expand_hostlist(one.racks):
                digits = name.removeprefix(letter)
                if digits != name and digits.isdecimal():
                    numbers.append(int(digits))
    return max(numbers)


def _range(letter: str, first: int, last: int, width: int) -> str:
    low, high = f"{first:0{width}d}", f"{last:0{width}d}"
    return f"{letter}{low}" if first == last else f"{letter}[{low}-{high}]"


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def _mappings(value: Any) -> list[Any]:
    return (
        [one if isinstance(one, dict) else {} for one in value] if isinstance(value, list) else []
    )
