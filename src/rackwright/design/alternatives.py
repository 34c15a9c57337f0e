"""Other facilities that follow from the one that is given: a feed more, or one way of cooling for all.

Nothing is made up: a feed more has sources like those of the last feed, and a position that is to be
cooled in another way gets what one of its hall has that is cooled so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import Any

from rackwright.design.document import Builder, Place
from rackwright.design.items import changed, entries, holding, made
from rackwright.design.model import DesignDocument
from rackwright.model.onprem import RackGroup
from rackwright.model.power import PowerSource
from rackwright.reading.loader import validate
from rackwright.reading.tree import Item, Path, Tree, to_data

_ORDINALS = {1: "second", 2: "third", 3: "fourth", 4: "fifth", 5: "sixth"}
_LAST = "Z"
"""The last name that a feed may have."""

Edit = tuple[Path, Callable[[Item], Item]]


@dataclass(frozen=True)
class OfferedFacility:
    """A facility beside the one that is given.

    Attributes:
        label: its name beside others.
        what: what it has, as the subject of a sentence.
        builder: of its blueprints.
    """

    label: str
    what: str
    builder: Builder


def offers(builder: Builder) -> Iterator[OfferedFacility]:
    """Yield the alternatives that follow from the facility of ``builder``.

    Raises:
        SpecErrors: one of them is no valid facility.
    """
    free = list(builder.free_groups())
    fed = [group for _, group in free if group.feeds]
    if fed and all(feed.name[0] < _LAST for group in fed for feed in group.feeds):
        counts = {len(group.feeds) for group in fed}
        more = _ORDINALS.get(max(counts)) if len(counts) == 1 else None
        what = f"a {more} feed" if more else "a feed more"
        yield OfferedFacility(what, what, _edited(builder, _with_feed(builder, free)))
    modes = tuple(dict.fromkeys(group.cooling.mode for _, group in free))
    for mode in modes if len(modes) > 1 else ():
        edits = _cooled(builder, free, mode)
        yield OfferedFacility(
            f"all {mode}", f"the cooling '{mode}' for all", _edited(builder, edits)
        )


def _with_feed(builder: Builder, free: Sequence[tuple[Place, RackGroup]]) -> Iterator[Edit]:
    """Yield a feed more for each position, from sources like those of its last one."""
    sources = {one.name: one for one in builder.document.facility.power.sources}
    twins: dict[str, str] = {}
    for _, group in free:
        for name in _lane(sources, group):
            twins.setdefault(name, _unused(name, {*sources, *twins.values()}))
    yield ("facility", "power", "sources"), lambda listed: _appended(listed, _twins(listed, twins))
    for place, group in free:
        path = _path(place)
        if group.feeds:
            last = max(feed.name[0] for feed in group.feeds)
            said = {"name": chr(ord(last) + 1), "source": twins[group.feeds[-1].source]}
            yield (*path, "feeds"), partial(_with_another, said=said)
        if group.shelves is not None and group.shelves.per_feed is not None:
            yield (*path, "shelves"), lambda one: _without(one, "per_feed")
    # What is said of feeds by their names leaves nothing for another one: it is spread again.
    for number, product in enumerate(builder.document.wanted.products):
        if product.psus_per_feed is not None:
            yield ("wanted", "products", number), lambda one: _without(one, "psus_per_feed")


def _lane(sources: Mapping[str, PowerSource], group: RackGroup) -> Sequence[str]:
    """Return the sources that carry the last feed of a rack and no other one; at least the one that it hangs on."""
    if not group.feeds:
        return ()
    *others, last = (_above(sources, feed.source) for feed in group.feeds)
    shared = {name for other in others for name in other}
    return [name for name in last if name not in shared] or list(last)[:1]


def _above(sources: Mapping[str, PowerSource], name: str) -> Sequence[str]:
    """Return a source and all that it hangs on."""
    found: dict[str, None] = {}
    waiting = [name]
    while waiting:
        one = waiting.pop(0)
        if one in sources and one not in found:
            found[one] = None
            waiting += sources[one].fed_by
    return tuple(found)


def _unused(name: str, names: set[str]) -> str:
    """Return a name for the twin of a source; names have 63 letters at most."""
    twins = (f"{name[:50].rstrip('-')}-twin{number or ''}" for number in count())
    return next(twin for twin in twins if twin not in names)


def _twins(listed: Item, twins: Mapping[str, str]) -> Iterator[Item]:
    for one in listed.value:
        fields = entries(one)
        name = str(to_data(fields["name"]))
        if name in twins:
            said: dict[str, Any] = {**fields, "name": twins[name]}
            if "fed_by" in fields:
                said["fed_by"] = [twins.get(up, up) for up in to_data(fields["fed_by"])]
            yield made(said, one.location)


def _with_another(feeds: Item, said: Mapping[str, Any]) -> Item:
    """Return ``feeds`` with one like the last of them, of which this is said."""
    last = feeds.value[-1]
    return _appended(feeds, [made({**entries(last), **said}, last.location)])


def _cooled(builder: Builder, free: Sequence[tuple[Place, RackGroup]], mode: str) -> Iterator[Edit]:
    """Yield the positions that are cooled in another way as the first of their hall that is cooled in this one."""
    like: dict[int, Item] = {}
    for place, group in free:
        found = builder.tree.find(_path(place))
        if group.cooling.mode == mode and found is not None:
            like.setdefault(place[0], found)
    for place, group in free:
        if group.cooling.mode != mode and place[0] in like:
            yield _path(place), partial(_like, other=like[place[0]])


def _like(own: Item, other: Item) -> Item:
    """Return the document of ``other`` with the racks and the sources of ``own``."""
    mine, theirs = entries(own), entries(other)
    place = {key: mine[key] for key in ("racks", "gap") if key in mine}
    fields: dict[str, Any] = {k: one for k, one in theirs.items() if k != "gap"} | place
    if "feeds" in mine and "feeds" in theirs:
        sources = [entries(feed)["source"] for feed in mine["feeds"].value]
        fields["feeds"] = [
            {**entries(feed), "source": sources[n % len(sources)]}
            for n, feed in enumerate(theirs["feeds"].value)
        ]
    return made(fields, own.location)


def _edited(builder: Builder, edits: Iterator[Edit]) -> Builder:
    root = builder.tree.root
    for path, change in edits:
        root = changed(root, path, change)
    loaded = validate(Tree(root, to_data(root), builder.tree.files), DesignDocument)
    return Builder(loaded.value, loaded.tree, builder.catalogue)


def _path(place: Place) -> Path:
    hall, row, group = place
    return ("facility", "halls", hall, "rows", row, "rack_groups", group)


def _appended(listed: Item, more: Iterator[Item] | Sequence[Item]) -> Item:
    return holding(listed, [*listed.value, *more])


def _without(item: Item, key: str) -> Item:
    return holding(item, {name: one for name, one in item.value.items() if name != key})
