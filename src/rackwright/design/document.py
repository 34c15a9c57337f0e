"""From a layout to its blueprint: the document of the facility, with the racks that stand there.

What the facility team wrote keeps its place, so that what is said of the blueprint names file, line
and column of what they wrote.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from rackwright.catalog.loader import Catalogue, UnknownEntryError
from rackwright.design.items import entries, holding, made, mapped
from rackwright.design.model import DesignDocument, DesignProduct
from rackwright.model.cooling import Machine
from rackwright.model.names import compress_hostlist, expand_hostlist
from rackwright.model.onprem import RackGroup
from rackwright.model.racks import RackType
from rackwright.policy.api import Stage
from rackwright.policy.policy_sets import RELEASED
from rackwright.reading.tree import Item, Tree, to_data

Place = tuple[int, int, int]
"""Hall, row and rack group of a position, by their numbers."""

_TRIAL_KEYS = ("costs", "facts", "policies", "policy_set", "profile", "reasons", "stage")
"""What of the other keys says how a rack is judged, or what it costs."""


@dataclass(frozen=True)
class PositionClass:
    """Positions that are equal in all that is worked out of a rack there.

    Attributes:
        hall: name of their hall.
        rows: names of their rows.
        positions: place and name of each, in the order of the halls.
    """

    hall: str
    rows: tuple[str, ...]
    positions: tuple[tuple[Place, str], ...]


Racks = Mapping[tuple[int, int], int]
"""Number of racks by the number of their class of positions and the units in each."""


@dataclass(frozen=True)
class RackLayout:
    """Equal products in racks.

    Attributes:
        product: what stands there.
        racks: how many racks with how many units, by class; none of them is 0.
    """

    product: DesignProduct
    racks: Racks

    @property
    def units(self) -> int:
        """Units of the product."""
        return sum(units * count for (_, units), count in self.racks.items())

    @property
    def count(self) -> int:
        """Number of racks."""
        return sum(self.racks.values())


class Builder:
    """Makes blueprints of layouts in one facility.

    Attributes:
        document: what was read.
        tree: the same with the places of its parts.
        catalogue: where racks are looked up.
    """

    def __init__(self, document: DesignDocument, tree: Tree, catalogue: Catalogue) -> None:
        self.document, self.tree, self.catalogue = document, tree, catalogue
        self._at = tree.locate(("wanted",), key=True)

    @cached_property
    def classes(self) -> tuple[PositionClass, ...]:
        """The positions that are free, by class; rows with a limit of their own are kept apart.

        Where cables are to be short, each position is a class of its own.
        """
        return tuple(one for one, _ in self._classes)

    def alike(self, number: int) -> int:
        """Return the number of the first class whose racks differ from those of a class in nothing but their place."""
        return self._classes[number][1]

    @cached_property
    def _classes(self) -> tuple[tuple[PositionClass, int], ...]:
        """The classes, each with the number of the first one that is like it."""
        taken = self._taken
        apart = self.document.wanted.aim == "shortest-cables"
        found: dict[Any, list[tuple[Place, str]]] = {}
        rows: dict[Any, dict[str, None]] = {}
        for place, row, group in self._groups():
            hall = self.document.facility.halls[place[0]]
            limited = hall.rows[place[1]].power_limit is not None
            like = (hall.name, row if limited else None, _equality(group))
            for name in expand_hostlist(group.racks):
                if name not in taken:
                    key = (like, name if apart else None)
                    found.setdefault(key, []).append((place, name))
                    rows.setdefault(key, {})[row] = None
        firsts: dict[Any, int] = {}
        return tuple(
            (
                PositionClass(like[0], tuple(rows[like, name]), tuple(positions)),
                firsts.setdefault(like, number),
            )
            for number, ((like, name), positions) in enumerate(found.items())
        )

    @property
    def positions(self) -> int:
        """Number of positions that are free."""
        return sum(len(one.positions) for one in self.classes)

    @property
    def has_fabrics(self) -> bool:
        """True if the facility has switches, whose number may follow from that of the hosts."""
        facility = self.document.facility
        return bool(facility.fabric or facility.fabrics)

    def free_groups(self) -> Iterator[tuple[Place, RackGroup]]:
        """Yield the rack groups of which positions are free, with their places."""
        for place, _, group in self._groups():
            if not self._taken.issuperset(expand_hostlist(group.racks)):
                yield place, group

    def trial(self, layout: RackLayout | None) -> Tree:
        """Return a blueprint of ``layout`` without fabrics and without what runs on the hosts.

        Args:
            layout: what stands there; None for nothing but what the facility names.
        """
        return self._tree(layout, whole=False)

    def blueprint(self, layout: RackLayout) -> Tree:
        """Return the whole blueprint of ``layout``, in the short form."""
        return self._tree(layout, whole=True)

    def standing_by_class(self, layout: RackLayout) -> Iterator[tuple[int, int, tuple[str, ...]]]:
        """Yield number of the class, units in each and names of equal racks of a row, or of several rows."""
        found: dict[Any, list[str]] = {}
        first: dict[Any, int] = {}
        for number, units, positions in self._filled(layout):
            key = self.alike(number), units, self.classes[number].rows
            first.setdefault(key, number)
            found.setdefault(key, []).extend(name for _, name in positions)
        for key, names in found.items():
            yield first[key], key[1], tuple(names)

    def _tree(self, layout: RackLayout | None, *, whole: bool) -> Tree:
        groups = [] if layout is None else list(self._node_groups(layout))
        site = self._site(layout, groups, whole=whole)
        other = self._part("blueprint")
        kept = {key: one for key, one in other.items() if whole or key in _TRIAL_KEYS}
        name = self.document.wanted.group
        others = [group["name"] for group in groups if group["name"] != name]
        kept = {key: _naming(one, name, others) for key, one in kept.items()}
        root = self._made(
            {
                "apiVersion": self.document.apiVersion,
                "name": self.document.name,
                "derive": "1",
                **({} if "policy_set" in kept else {"policy_set": RELEASED}),
                **({} if "stage" in kept else {"stage": Stage.CONCEPT.value}),
                "sites": [site],
                **kept,
            }
        )
        return Tree(root, to_data(root), self.tree.files)

    def _site(
        self, layout: RackLayout | None, groups: Sequence[Mapping[str, Any]], *, whole: bool
    ) -> dict[str, Any]:
        given = self._part("facility")
        site: dict[str, Any] = {"name": given["name"], "provider": "onprem"}
        site |= {key: one for key, one in given.items() if whole or key not in _CABLED}
        site["halls"] = self._halls(given["halls"], layout, whole=whole)
        if layout is not None and not whole:
            site["power"] = self._power(given["power"], layout)
        written = given.get("node_groups")
        site["node_groups"] = [*groups, *(written.value if written is not None else ())]
        name = self.document.wanted.group
        others = [group["name"] for group in groups if group["name"] != name]
        for key in ("fabric", "fabrics"):
            if isinstance(site.get(key), Item):
                site[key] = _cabling(site[key], name, others)
        return {
            key: _naming(one, name, others) if isinstance(one, Item) else one
            for key, one in site.items()
        }

    def _node_groups(self, layout: RackLayout) -> Iterator[dict[str, Any]]:
        """Yield a node group for each number of units in a rack, the largest first."""
        name = self.document.wanted.group
        number = self.document.wanted.products.index(layout.product)
        said = self.tree.find(("wanted", "products", number))
        product = {} if said is None else entries(said)
        product.pop("most_per_rack", None)
        by_units: dict[int, list[str]] = {}
        for _, rack, units in self._standing(layout):
            by_units.setdefault(units, []).append(rack)
        for place, units in enumerate(sorted(by_units, reverse=True)):
            racks = by_units[units]
            yield {
                "name": name if place == 0 else f"{name}-{units}",
                "role": "compute",
                **product,
                "count": units * len(racks),
                "racks": compress_hostlist(racks),
                "per_rack": units,
            }

    def _standing(self, layout: RackLayout) -> Iterator[tuple[Place, str, int]]:
        """Place, name and units of each rack."""
        for _, units, names in self._filled(layout):
            yield from ((place, name, units) for place, name in names)

    def _filled(self, layout: RackLayout) -> Iterator[tuple[int, int, Sequence[tuple[Place, str]]]]:
        """Return class, units and positions of equal racks: positions are filled in order, full racks first."""
        for number, one in enumerate(self.classes):
            mine = [(units, count) for (c, units), count in layout.racks.items() if c == number]
            first = 0
            for units, count in sorted(mine, reverse=True):
                yield number, units, one.positions[first : first + count]
                first += count

    def _halls(
        self, halls: Item, layout: RackLayout | None, *, whole: bool
    ) -> list[dict[str, Any]]:
        """Return the halls with those rack groups in which something stands, and those racks of them."""
        used: dict[Place, list[str]] = {}
        taken = self._taken if whole else self._housed
        for place, _, group in self._groups():
            kept = [name for name in expand_hostlist(group.racks) if name in taken]
            if kept:
                used.setdefault(place, []).extend(kept)
        if layout is not None:
            for place, name, _ in self._standing(layout):
                used.setdefault(place, []).append(name)
        found = []
        for h, hall in enumerate(halls.value):
            rows = []
            for r, row in enumerate(entries(hall)["rows"].value):
                if whole and "trays" in entries(hall):
                    made_row = self._spaced((h, r), row, used)
                else:
                    made_row = {**entries(row), "rack_groups": list(self._kept((h, r), row, used))}
                if made_row["rack_groups"]:
                    rows.append(made_row)
            found.append({**entries(hall), "rows": rows})
        return found

    def _kept(
        self, at: tuple[int, int], row: Item, used: Mapping[Place, Sequence[str]]
    ) -> Iterator[dict[str, Any]]:
        """Yield the rack groups of a row with those racks that stand there."""
        for g, group in enumerate(entries(row)["rack_groups"].value):
            if (*at, g) in used:
                names = self._in_order((*at, g), used[*at, g])
                yield {**entries(group), "racks": compress_hostlist(names)}

    def _spaced(
        self, at: tuple[int, int], row: Item, used: Mapping[Place, Sequence[str]]
    ) -> dict[str, Any]:
        """Return the same with the floor of positions that stay empty, since cables go along it."""
        said = self.document.facility.halls[at[0]].rows[at[1]]
        groups: list[dict[str, Any]] = []
        gap = end = 0.0
        for g, item in enumerate(entries(row)["rack_groups"].value):
            group, width = said.rack_groups[g], self._width(said.rack_groups[g])
            standing = set(used.get((*at, g), ()))
            gap, end = gap + (group.gap or 0.0), end + (group.gap or 0.0)
            run: list[str] = []
            for name in expand_hostlist(group.racks):
                end += width
                if name not in standing:
                    gap, run = gap + width, []
                    continue
                if not run:
                    fields = {key: one for key, one in entries(item).items() if key != "gap"}
                    groups.append(fields | ({"gap": _metres(gap)} if gap else {}))
                    gap = 0.0
                run.append(name)
                groups[-1]["racks"] = compress_hostlist(run)
        length = {"length": _metres(max(end, said.length or 0.0))} if gap else {}
        return {**entries(row), **length, "rack_groups": groups}

    def _width(self, group: RackGroup) -> float:
        """Return metres of a position; 0 of a rack that is not known, of which the plan tells."""
        try:
            return self.catalogue.get(RackType, group.type).width.value
        except UnknownEntryError:
            return 0.0

    def _power(self, power: Item, layout: RackLayout) -> Item:
        """Return the power of a site without the sources that neither a rack nor a machine can hang on.

        They carry nothing, and a facility has hundreds of them.
        """
        needed = {
            feed.source
            for place, _, _ in self._standing(layout)
            for feed in self._group_at(place).feeds
        }
        parents = {one.name: one.fed_by for one in self.document.facility.power.sources}
        kept: set[str] = set()
        waiting = [*needed, *self._always_fed]
        while waiting:
            name = waiting.pop()
            if name not in kept:
                kept.add(name)
                waiting += parents.get(name, ())

        def change(key: str, one: Item) -> Item:
            if key != "sources":
                return one
            return holding(one, [s for s in one.value if to_data(s).get("name") in kept])

        return mapped(power, change)

    @cached_property
    def _always_fed(self) -> frozenset[str]:
        """Sources that carry something without the accelerators."""
        facility = self.document.facility
        machines: list[Machine] = [*facility.loops, *(facility.plant or ())]
        machines += [hall.air for hall in facility.halls if hall.air is not None]
        found = {name for machine in machines for name in machine.fed_by}
        # What a transformer loses whatever it carries is there without a rack as well.
        found |= {one.name for one in facility.power.sources if one.kind == "transformer"}
        found |= {
            name for machine in machines for supply in machine.supplies for name in supply.fed_by
        }
        for _, _, group in self._groups():
            if not self._housed.isdisjoint(expand_hostlist(group.racks)):
                found |= {feed.source for feed in group.feeds}
        return frozenset(found)

    def _group_at(self, place: Place) -> RackGroup:
        h, r, g = place
        return self.document.facility.halls[h].rows[r].rack_groups[g]

    def _in_order(self, place: Place, names: Sequence[str]) -> Iterator[str]:
        wanted = set(names)
        return (name for name in expand_hostlist(self._group_at(place).racks) if name in wanted)

    @cached_property
    def _housed(self) -> frozenset[str]:
        """Positions of what stands there beside the accelerators."""
        groups = self.document.facility.node_groups
        return frozenset(name for group in groups for name in expand_hostlist(group.racks))

    @cached_property
    def _taken(self) -> frozenset[str]:
        """The same with those of switches."""
        facility = self.document.facility
        words = list(_texts([facility.fabric, *facility.fabrics], "racks"))
        switches: set[str] = set()
        for text in words:
            try:
                switches.update(expand_hostlist(text))
            except ValueError:
                continue  # the blueprint's own model says what is wrong with it
        return self._housed | switches

    def _groups(self) -> Iterator[tuple[Place, str, RackGroup]]:
        for h, hall in enumerate(self.document.facility.halls):
            for r, row in enumerate(hall.rows):
                for g, group in enumerate(row.rack_groups):
                    yield (h, r, g), row.name, group

    def _part(self, key: str) -> dict[str, Item]:
        item = self.tree.find((key,))
        return {} if item is None else entries(item)

    def _made(self, value: Any) -> Item:
        return made(value, self._at)


_CABLED = frozenset({"addresses", "fabric", "fabrics"})
"""Of a facility: what is of no concern to a rack by itself."""


def _equality(group: RackGroup) -> str:
    return group.model_copy(update={"racks": "", "gap": None}).model_dump_json()


def _metres(value: float) -> str:
    return f"{round(value, 6):g} m"


def _naming(item: Item, name: str, others: Sequence[str]) -> Item:
    """``item`` in which each list of ``groups`` that has ``name`` has the other groups too."""
    if isinstance(item.value, dict):
        return mapped(
            item,
            lambda key, one: (_with_all if key == "groups" else _naming)(one, name, others),
        )
    if isinstance(item.value, list):
        return holding(item, [_naming(one, name, others) for one in item.value])
    return item


def _with_all(item: Item, name: str, others: Sequence[str]) -> Item:
    value = item.value
    if not isinstance(value, list) or name not in [one.value for one in value]:
        return _naming(item, name, others)
    return holding(item, [*value, *(holding(item, other) for other in others)])


_CABLES_OF_HOSTS = "nodes"
"""Cables of the first node group in the short form; those of others have the group's name behind it."""


def _cabling(item: Item, name: str, others: Sequence[str]) -> Item:
    """Return a fabric, or several, in which the other groups are attached and cabled like ``name``."""
    if isinstance(item.value, list):
        return holding(item, [_cabling(one, name, others) for one in item.value])
    if not isinstance(item.value, dict):
        return item

    def change(key: str, one: Item) -> Item:
        if key not in {"attached", "links"} or not isinstance(one.value, list):
            return one
        field = "group" if key == "attached" else "lower"
        found: list[Item] = []
        for part in one.value:
            found.append(part)
            said = to_data(part)
            if isinstance(said, dict) and (
                said.get(field) == name or said.get("name") == _CABLES_OF_HOSTS
            ):
                found += [_for_group(part, field, other) for other in others]
        return holding(one, found)

    return mapped(item, change)


def _for_group(part: Item, field: str, other: str) -> Item:
    """Return the attachments or cables of another group."""

    def change(key: str, one: Item) -> Item:
        if key == field:
            return holding(one, other)
        return holding(one, f"{one.value}-{other}") if key == "name" else one

    return mapped(part, change)


def _texts(value: Any, key: str) -> Iterator[str]:
    """Yield the texts at ``key`` anywhere in plain data, and those of a list there."""
    if isinstance(value, Mapping):
        for name, one in value.items():
            if name == key:
                yield from (
                    text
                    for text in (one if isinstance(one, list) else [one])
                    if isinstance(text, str)
                )
            else:
                yield from _texts(one, key)
    elif isinstance(value, (list, tuple)):
        for one in value:
            yield from _texts(one, key)
