"""A site in the short form: which rules its words call for, and in which order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rackwright.catalog.loader import Catalogue
from rackwright.errors import Location
from rackwright.model.intents import FABRIC_KEYS, POWER_KEYS, FabricIntent, SiteIntent
from rackwright.plan.base import Path
from rackwright.plan.derivation.draft import Draft
from rackwright.plan.derivation.fabrics import derive_fabric
from rackwright.plan.derivation.feeds import derive_sources, put_feeds
from rackwright.plan.derivation.racks import RackRules
from rackwright.plan.derivation.reading import read_groups, refused
from rackwright.reading.layering import merge
from rackwright.reading.tree import Item, KeyValue


def derive_site(draft: Draft, site: Path, intent: SiteIntent, catalogue: Catalogue) -> None:
    """Put what follows from the short form of a site beside what is written.

    Args:
        draft: the document, from which the words of the short form are taken.
        site: its place.
        intent: what is said in the short form.
        catalogue: where products are looked up.

    Raises:
        SpecErrors: what is said is not enough.
    """  # noqa: DOC501 - what ``refused`` makes
    short = _fabrics(draft, site, intent)
    power = _power_words(draft, site) if intent.power is not None else None
    racks = draft.take((*site, "racks"))
    if intent.power is not None and power is not None:
        derive_sources(draft, site, intent.power, power)
    groups = read_groups(draft, site, catalogue)
    for path, fabric, places in short:
        derive_fabric(draft, path, fabric, places, groups, catalogue)
    if intent.racks is not None and racks is not None:
        if intent.power is None or power is None:
            raise refused(
                draft,
                (*site, "racks"),
                "what feeds the racks is not written",
                "write 'feeds' and 'feed_path' of 'power', or 'halls' with their racks in full",
                racks.location,
            )
        RackRules(draft, site, racks, (intent.power, power), catalogue).put(groups)
    elif intent.power is not None and power is not None:
        for group in _rack_groups(draft, site):
            put_feeds(draft, group, intent.power, power)


def _fabrics(
    draft: Draft, site: Path, intent: SiteIntent
) -> list[tuple[Path, FabricIntent, Mapping[str, Location]]]:
    """Return the fabrics that are said in the short form, without its words, in the list of all."""
    fabrics = (*site, "fabrics")
    found: list[FabricIntent | None] = list(intent.fabrics)
    alone = draft.take((*site, "fabric"))
    if alone is not None and intent.fabric is not None:
        if not found:
            listed = draft.data(fabrics)
            found = [None] * len(listed if isinstance(listed, list) else ())
        name = intent.fabric.name or intent.fabric.role
        if (over := _by_name(draft, fabrics, name)) is not None and found[over] is None:
            # A layer has words on the fabric by the name that it is going to have.
            _sized_in_one_place(draft, (*fabrics, over))
            alone = merge(alone, draft.pop(fabrics, over))
            del found[over]
        draft.move_first(alone, fabrics)
        found.insert(0, intent.fabric)
    short: list[tuple[Path, FabricIntent, Mapping[str, Location]]] = []
    for index, fabric in enumerate(found):
        if fabric is not None:
            path = (*fabrics, index)
            places: dict[str, Location] = {}
            for key in sorted(FABRIC_KEYS):
                if (item := draft.take((*path, key))) is not None:
                    places[key] = item.location
            short.append((path, fabric, places))
    return short


def _sized_in_one_place(draft: Draft, path: Path) -> None:
    """Refuse words by which a fabric is derived where they have no effect: beside ``fabric``.

    Raises:
        SpecErrors: there is one.
    """  # noqa: DOC501 - what ``refused`` makes
    for key in draft.data(path):
        if key in FabricIntent.model_fields and key not in {"name", "role"}:
            where = draft.tree.describe((*path[:-2], "fabric", key))
            message = "switches and cables follow from 'fabric', not from here"
            raise refused(draft, (*path, key), message, f"write '{where}' instead")


def _by_name(draft: Draft, path: Path, name: str) -> int | None:
    """Return the index of the item of a list that is called ``name``."""
    listed = draft.data(path)
    for index, one in enumerate(listed if isinstance(listed, list) else ()):
        if isinstance(one, dict) and one.get("name") == name:
            return index
    return None


def _power_words(draft: Draft, site: Path) -> Item:
    """Return the short form of the power of a site, taken out of the document."""
    path = (*site, "power")
    place = draft.place(path)
    taken: dict[str, KeyValue] = {}
    for key in sorted(POWER_KEYS):
        if (item := draft.take((*path, key))) is not None and item.value is not None:
            taken[key] = KeyValue(item, item.line, item.column)
    return Item(taken, place.file, place.line, place.column)


def _rack_groups(draft: Draft, site: Path) -> Sequence[Path]:
    """Return the rack groups that are written."""
    found: list[Path] = []
    halls = draft.data((*site, "halls"))
    for h, hall in enumerate(halls if isinstance(halls, list) else ()):
        rows = hall.get("rows") if isinstance(hall, dict) else None
        for r, row in enumerate(rows if isinstance(rows, list) else ()):
            groups = row.get("rack_groups") if isinstance(row, dict) else None
            here: Path = (*site, "halls", h, "rows", r, "rack_groups")
            found += [(*here, g) for g in range(len(groups) if isinstance(groups, list) else 0)]
    return found
