"""From the short form of a document to the full one, in which nothing follows from anything."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rackwright.catalog.loader import Catalogue
from rackwright.errors import Location, SpecError, SpecErrors
from rackwright.model.intents import (
    FABRIC_KEYS,
    POWER_KEYS,
    BlueprintIntent,
    FabricIntent,
    SiteIntent,
    intents_of,
)
from rackwright.plan.base import Path
from rackwright.plan.derivation.draft import Derivation, Draft
from rackwright.plan.derivation.fabrics import derive_fabric
from rackwright.plan.derivation.feeds import derive_sources, put_feeds
from rackwright.plan.derivation.racks import RackRules
from rackwright.plan.derivation.reading import read_groups, refused
from rackwright.plan.facts import with_stated
from rackwright.spec.layering import merge
from rackwright.spec.loader import validate_part
from rackwright.spec.tree import Item, KeyValue, Tree

VERSIONS = ("1",)
"""The sets of rules. One that is released gives the same for ever."""


@dataclass(frozen=True)
class Derived:
    """A document in its full form.

    Attributes:
        derivations: what is in it that is not written, in its order.
        unnamed: what to say where it is in the short form still, since no set of rules is named; the
            model refuses it then.
    """

    tree: Tree
    derivations: tuple[Derivation, ...] = ()
    unnamed: SpecError | None = None


def derive(tree: Tree, catalogue: Catalogue) -> Derived:
    """The full form of a document; the document itself where nothing is said in the short form.

    What is written holds against what follows, whatever it is, and what follows from that is
    derived from it. The full form of a full form is the same.

    Args:
        tree: a blueprint, or what is meant to be one: what is wrong with what is written in full is
            left for the model to say.
        catalogue: where products are looked up.

    Raises:
        SpecErrors: what is said in the short form is not valid, or is not enough.
    """
    said = dict(_said(tree.data))
    if not said:
        return Derived(tree)
    if "derive" not in tree.data:
        return Derived(tree, unnamed=_unnamed(tree, said))
    _check_version(tree)
    sites = [said.get(index, {}) for index in range(len(tree.data["sites"]))]
    part = {key: tree.data[key] for key in ("derive", "facts") if key in tree.data}
    intent = validate_part(tree, BlueprintIntent, {**part, "sites": sites}, ())
    # A fact that cannot be used fills nothing here; the plan says why.
    catalogue, _ = with_stated(intent.facts, catalogue)
    draft = Draft(tree)
    for index, site in enumerate(intent.sites):
        if index in said:
            _derive_site(draft, ("sites", index), site, catalogue)
    return Derived(draft.tree, draft.derivations)


def _said(data: Any) -> Iterator[tuple[int, dict[str, Any]]]:
    """What is said in the short form, by the index of its site."""
    sites = data.get("sites") if isinstance(data, Mapping) else None
    for index, site in enumerate(sites if isinstance(sites, list) else ()):
        is_onprem = isinstance(site, Mapping) and site.get("provider") == "onprem"
        if is_onprem and (found := intents_of(site)):
            yield index, found


def _unnamed(tree: Tree, said: Mapping[int, Mapping[str, Any]]) -> SpecError | None:
    """What to say of words of the short form in a document that names no set of rules.

    Nothing where they are misspelt words of the full form, which the model tells.
    """
    for index, words in said.items():
        for key, value in words.items():
            path: Path = ("sites", index, key)
            if key == "fabrics":
                number = next(n for n, one in enumerate(value) if one is not None)
                path = (*path, number, "preset")
            elif key == "power":
                path = (*path, next(iter(value)))
            elif not isinstance(value, Mapping) and value != "auto":
                continue
            return SpecError(
                f"{tree.describe(path[:2])}: the rest would follow from '{path[-1]}', and no set of "
                "rules by which it does is named",
                hint=f"write 'derive: \"{VERSIONS[-1]}\"' at the top, or the site in full",
                location=tree.locate(path, key=True),
            )
    return None


def _check_version(tree: Tree) -> None:
    """Refuse a document that names no set of rules that there is.

    Raises:
        SpecErrors: there is no set of that name.
    """
    named = tree.data["derive"]
    if named in VERSIONS:
        return
    known = ", ".join(f"'{one}'" for one in VERSIONS)
    raise SpecErrors(
        [
            SpecError(
                f"derive: there is no set of rules {_quoted(named)}",
                hint=f"write 'derive: \"{VERSIONS[-1]}\"'; there is {known}",
                location=tree.locate(("derive",)),
            )
        ]
    )


def _quoted(value: Any) -> str:
    return f"'{value}'" if isinstance(value, (str, int, float)) else "of this kind"


def _derive_site(draft: Draft, site: Path, intent: SiteIntent, catalogue: Catalogue) -> None:
    short = _fabrics(draft, site, intent)
    power = _power_words(draft, site) if intent.power is not None else None
    racks = draft.take((*site, "racks"))
    if intent.power is not None and power is not None:
        derive_sources(draft, site, intent.power, power)
    groups = read_groups(draft, site)
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
    """The fabrics that are said in the short form, without its words, in the list of all."""
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


def _by_name(draft: Draft, path: Path, name: str) -> int | None:
    """The index of the item of a list that is called ``name``."""
    listed = draft.data(path)
    for index, one in enumerate(listed if isinstance(listed, list) else ()):
        if isinstance(one, dict) and one.get("name") == name:
            return index
    return None


def _power_words(draft: Draft, site: Path) -> Item:
    """What is said of the power of a site in the short form, taken out of the document."""
    path = (*site, "power")
    place = draft.place(path)
    taken: dict[str, KeyValue] = {}
    for key in sorted(POWER_KEYS):
        if (item := draft.take((*path, key))) is not None and item.value is not None:
            taken[key] = KeyValue(item, item.line, item.column)
    return Item(taken, place.file, place.line, place.column)


def _rack_groups(draft: Draft, site: Path) -> Sequence[Path]:
    """The rack groups that are written."""
    found: list[Path] = []
    halls = draft.data((*site, "halls"))
    for h, hall in enumerate(halls if isinstance(halls, list) else ()):
        rows = hall.get("rows") if isinstance(hall, dict) else None
        for r, row in enumerate(rows if isinstance(rows, list) else ()):
            groups = row.get("rack_groups") if isinstance(row, dict) else None
            here: Path = (*site, "halls", h, "rows", r, "rack_groups")
            found += [(*here, g) for g in range(len(groups) if isinstance(groups, list) else 0)]
    return found
