"""The networks of a bare-metal site: switches in tiers, and what connects them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from rackwright.model.base import Model
from rackwright.model.names import HostList, Name
from rackwright.model.units import RackUnits


class SwitchTier(Model):
    """Equal switches of one tier, placed in racks."""

    name: Name
    type: str
    """Catalogue id."""
    count: Annotated[int, Field(gt=0)]
    racks: HostList
    per_rack: Annotated[int, Field(gt=0)]
    air_direction: Literal["front-to-back", "back-to-front"] | None = None
    """As ordered (P2C or C2P) and mounted."""
    start_unit: RackUnits | None = None


class Fabric(Model):
    """A network: its switches, tier by tier from the nodes upwards."""

    name: Name
    role: Literal["compute", "storage", "management"]
    tiers: tuple[SwitchTier, ...]
