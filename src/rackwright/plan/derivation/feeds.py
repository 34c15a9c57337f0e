"""Power sources and rack feeds that follow from the feeds of a site."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rackwright.model.intents import PowerIntent
from rackwright.plan.base import Path
from rackwright.plan.derivation import rules
from rackwright.plan.derivation.draft import Draft
from rackwright.plan.derivation.reading import refused
from rackwright.reading.tree import Item, KeyValue, to_data

UTILITY = "utility"
"""Name of the utility whose capacity is written."""
_ENDS = ("pdu", "circuit", "conductors")
"""What is said of the end of each feed, at a rack."""


def derive_sources(draft: Draft, site: Path, intent: PowerIntent, said: Item) -> None:
    """Put the elements of each feed's path among the sources.

    Args:
        draft: the document.
        site: where the site is.
        intent: what is said of its power.
        said: the same as it is written; its places are those of what follows.

    Raises:
        SpecErrors: a path begins nowhere, or has two elements of one kind.
    """  # noqa: DOC501 - refused() makes the SpecErrors
    power, sources = (*site, "power"), (*site, "power", "sources")
    kinds = [element.kind for element in intent.feed_path]
    if len(set(kinds)) < len(kinds):
        twice = next(kind for n, kind in enumerate(kinds) if kind in kinds[:n])
        raise refused(
            draft,
            power,
            f"'feed_path' has two elements of the kind '{twice}', which would have one name",
            "write the sources in full: 'sources'",
        )
    first = _utility(draft, sources, intent)
    if first is None and kinds[0] != "utility":
        raise refused(
            draft,
            power,
            f"nothing feeds the {kinds[0]} that 'feed_path' begins with",
            "write the capacity of the 'utility', or the utility among the 'sources'",
        )
    wanted = [UTILITY] if intent.utility is not None else []
    wanted += [_name(kind, feed) for kind in kinds for feed in intent.feeds]
    path_item = said.value["feed_path"].item
    why = "every feed has elements of its own"
    places = [path_item.location] if intent.utility is not None else []
    places += [element.location for element in path_item.value for _ in intent.feeds]
    indexes = draft.named(sources, wanted, rules.SOURCES, why, path_item.location, places)
    if not indexes:
        return  # what is written there is told by the model
    if intent.utility is not None:
        here, item = (*sources, indexes[UTILITY]), said.value["utility"].item
        draft.put((*here, "kind"), "utility", rules.UTILITY, "a utility", item.location)
        why = f"the utility has {to_data(item)}"
        draft.put((*here, "capacity"), to_data(item), rules.UTILITY, why, item.location)
    for feed in intent.feeds:
        parent = first
        for kind, element in zip(kinds, path_item.value, strict=True):
            here = (*sources, indexes[_name(kind, feed)])
            for key, entry in element.value.items():
                why = f"each feed has a {kind} of its own; this is feed {feed}'s"
                place = entry.item.location
                draft.put((*here, key), to_data(entry.item), rules.SOURCES, why, place)
            if parent is not None:
                why = f"the element of feed {feed} before it"
                place = element.location
                draft.put((*here, "fed_by"), [parent], rules.SOURCES, why, place)
            parent = _name(kind, feed)


def rack_feeds(
    intent: PowerIntent, said: Item, racks: Mapping[str, KeyValue]
) -> list[dict[str, Any]]:
    """Return the feeds of a rack, as a rack group has them.

    Args:
        intent: what is said of the power of the site.
        said: the same as it is written.
        racks: what is said of these racks, which holds against what the site says.
    """
    last = intent.feed_path[-1].kind
    ends = {key: to_data(item) for key, item in _ends(said, racks).items()}
    return [{"name": feed, "source": _name(last, feed), **ends} for feed in intent.feeds]


def put_feeds(
    draft: Draft,
    group: Path,
    intent: PowerIntent,
    said: Item,
    racks: Mapping[str, KeyValue] | None = None,
) -> None:
    """Put the feeds of a rack group that names none, as ``rack_feeds``."""
    around = draft.data(group)
    if not isinstance(around, dict) or "feeds" in around:
        return
    ends = _ends(said, racks or {})
    made = rack_feeds(intent, said, racks or {})
    place = said.value["feeds"].item.location
    names = [one["name"] for one in made]
    indexes = draft.named((*group, "feeds"), names, rules.FEEDS, "the feeds of the site", place)
    for one in made:
        here = (*group, "feeds", indexes[one["name"]])
        why = f"feed {one['name']} ends in {one['source']}"
        draft.put((*here, "source"), one["source"], rules.FEEDS, why, place)
        for key, item in ends.items():
            why = f"every feed of a rack has {'these' if key == 'conductors' else 'this'} {key}"
            draft.put((*here, key), one[key], rules.FEEDS, why, item.location)


def _ends(said: Item, racks: Mapping[str, KeyValue]) -> dict[str, Item]:
    """Return the end of each feed: as the racks state, otherwise as the site does; ``null`` leaves it out."""
    entries = {key: racks.get(key) or said.value.get(key) for key in _ENDS}
    return {
        key: entry.item
        for key, entry in entries.items()
        if entry is not None and entry.item.value is not None
    }


def _utility(draft: Draft, sources: Path, intent: PowerIntent) -> str | None:
    """Return the name of the source that the paths of all feeds begin at."""
    if intent.utility is not None:
        return UTILITY
    listed = draft.data(sources)
    named = [
        one.get("name")
        for one in (listed if isinstance(listed, list) else ())
        if isinstance(one, dict) and one.get("kind") == "utility"
    ]
    return named[0] if len(named) == 1 and isinstance(named[0], str) else None


def _name(kind: str, feed: str) -> str:
    return f"{kind}-{feed.lower()}"
