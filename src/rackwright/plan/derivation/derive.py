"""From the short form of a document to the full one, in which nothing follows from anything."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from rackwright.catalog.loader import Catalogue
from rackwright.errors import SpecError, SpecErrors
from rackwright.model.fabric import Fabric
from rackwright.model.intents import BlueprintIntent, intents_of
from rackwright.model.power import SitePower
from rackwright.plan.base import Path
from rackwright.plan.derivation.draft import Derivation, Draft
from rackwright.plan.facts import with_stated
from rackwright.reading.loader import validate_part
from rackwright.reading.tree import Tree

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
    """Return the full form of a document; the document itself where nothing is said in the short form.

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
    from rackwright.plan.derivation.sites import derive_site  # not for a document in full

    sites = [said.get(index, {}) for index in range(len(tree.data["sites"]))]
    part = {key: tree.data[key] for key in ("derive", "facts") if key in tree.data}
    intent = validate_part(tree, BlueprintIntent, {**part, "sites": sites}, (), _full_keys)
    # A fact that cannot be used fills nothing here; the plan says why.
    catalogue, _ = with_stated(intent.facts, catalogue)
    draft = Draft(tree)
    for index, site in enumerate(intent.sites):
        if index in said:
            derive_site(draft, ("sites", index), site, catalogue)
    return Derived(draft.tree, draft.derivations)


def _full_keys(path: Path) -> Collection[str]:
    """Return the keys of the full form that the mapping at ``path`` may have as well."""
    match path:
        case ("sites", _, "fabric") | ("sites", _, "fabrics", _):
            return Fabric.model_fields.keys()
        case ("sites", _, "power"):
            return SitePower.model_fields.keys()
        case _:
            return ()


def is_short(tree: Tree) -> bool:
    """True if a document is in the short form, or is meant to be."""
    return isinstance(tree.data, dict) and ("derive" in tree.data or any(_said(tree.data)))


def named_rules(tree: Tree) -> Tree:
    """Return a document that names no set of rules with the newest one named."""
    draft = Draft(tree)
    draft.put(("derive",), VERSIONS[-1], "", "", draft.place(()))
    return draft.tree


def _said(data: Any) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the short form of each site, by the index of the site."""
    sites = data.get("sites") if isinstance(data, Mapping) else None
    for index, site in enumerate(sites if isinstance(sites, list) else ()):
        is_onprem = isinstance(site, Mapping) and site.get("provider") == "onprem"
        if is_onprem and (found := intents_of(site)):
            yield index, found


def _unnamed(tree: Tree, said: Mapping[int, Mapping[str, Any]]) -> SpecError | None:
    """Return the error about words of the short form in a document that names no set of rules.

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
    if isinstance(value, (int, float)):  # 1 and '1' look alike in a message
        return f"{value}: it is named by text"
    return f"'{value}'" if isinstance(value, str) else "of this kind"
