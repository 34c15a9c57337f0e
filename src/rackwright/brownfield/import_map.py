"""Names of products and roles in a source, with the products and roles of the blueprint."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from rackwright.model.base import Model

_Text = Annotated[str, Field(min_length=1, max_length=200)]


class ImportMap(Model):
    """A file for ``init --from``."""

    products: dict[_Text, _Text] = {}
    """Ids of the catalogue by the names of products in the source, or ``leave out``."""
    roles: dict[_Text, _Text] = {}
    """Roles of nodes (compute, login, head, storage, management) or tiers of switches by the roles of the source,
    or ``leave out``."""
