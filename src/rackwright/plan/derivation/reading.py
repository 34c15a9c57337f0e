"""Parts of a draft as models, each mistake at its place; and the words by which a draft is refused."""

from __future__ import annotations

from typing import Any, TypeVar

from rackwright.catalog.loader import Catalogue, UnknownEntryError
from rackwright.errors import Location, SpecError, SpecErrors
from rackwright.model.base import Model
from rackwright.model.hardware import Node
from rackwright.model.onprem import MOST_NAMED, NodeGroup
from rackwright.plan.base import Path
from rackwright.plan.derivation.draft import Draft
from rackwright.reading.loader import validate_part

M = TypeVar("M", bound=Model)

TRIAL = "trial"
"""Name of the rack in which something stands while it is worked out where it will stand."""


def read(draft: Draft, model: type[M], data: Any, path: Path) -> M:
    """Return ``data``, which is what stands at ``path`` and what is not derived yet, as a model.

    Raises:
        SpecErrors: it is none.
    """
    return validate_part(draft.tree, model, data, path)


def read_groups(draft: Draft, site: Path, catalogue: Catalogue) -> tuple[NodeGroup, ...]:
    """Return the node groups of a site; those whose racks are not known yet stand in a trial one.

    Raises:
        SpecErrors: one of them is none or of no product, two have one name, or one has more units
            than a site has racks for.
    """  # noqa: DOC501 - refused() makes the SpecErrors
    listed = draft.data((*site, "node_groups"))
    found = []
    for index, data in enumerate(listed if isinstance(listed, list) else ()):
        whole = {"racks": TRIAL, "per_rack": 1, **data} if isinstance(data, dict) else data
        found.append(read(draft, NodeGroup, whole, (*site, "node_groups", index)))
        if found[-1].name in {group.name for group in found[:-1]}:
            path = (*site, "node_groups", index)
            raise refused(draft, path, f"the node group '{found[-1].name}' is named twice")
        if found[-1].count > MOST_NAMED:
            path = (*site, "node_groups", index, "count")
            hint = f"write at most {MOST_NAMED:,}"
            raise refused(draft, path, "more units than any site has racks for", hint)
        try:
            catalogue.get(Node, found[-1].type)
        except UnknownEntryError as error:
            path = (*site, "node_groups", index, "type")
            raise refused(draft, path, error.summary, error.hint) from None
    return tuple(found)


def refused(
    draft: Draft,
    path: Path,
    message: str,
    hint: str | None = None,
    place: Location | None = None,
) -> SpecErrors:
    """Return the error that nothing can be derived from the value at ``path``; ``place`` is where to look."""
    where = draft.tree.describe(path)
    text = f"{where}: {message}" if where else message
    return SpecErrors([SpecError(text, hint=hint, location=place or draft.place(path))])
