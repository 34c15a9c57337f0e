"""The short form of a blueprint: what a site says in place of what follows from it.

``rackwright.plan.derivation`` takes these keys out and puts what follows in. Everything beside them
is written as in the full form, and holds against what is derived.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, field_validator

from rackwright.model.addresses import InterfacePrefix
from rackwright.model.base import Model
from rackwright.model.cooling import RackCooling
from rackwright.model.fabric import Fabric, Role, Technology
from rackwright.model.facts import ProductFact
from rackwright.model.names import DISTINCT, Name, refuse_twins
from rackwright.model.onprem import Shipping
from rackwright.model.power import Circuit, Conductors, RackShelves, SourceKind
from rackwright.model.units import GigabitsPerSecond, Kilograms, Metres, Watts

Preset = Literal["rail-optimized", "fat-tree"]

FeedName = Annotated[str, Field(pattern=r"^[A-Z][A-Z0-9]?$")]


class FabricIntent(Model):
    """A fabric by its shape; its switches, links and counts follow."""

    preset: Preset
    """Pattern of the fabric. ``rail-optimized``: interface n of every host of a unit goes to leaf n of
    the unit, and leaves to spines. ``fat-tree``: hosts fill leaves in their order."""
    name: Name | None = None
    """Name of the fabric. Its role if omitted."""
    role: Role = "compute"
    """Traffic that the fabric carries."""
    groups: Annotated[tuple[Name, ...], DISTINCT] | None = None
    """Node groups on the fabric. All with the role ``compute`` if omitted."""
    switch: str | None = None
    """Catalogue id of the switches of all tiers. Chosen by technology and rate if omitted."""
    technology: Technology | None = None
    """Network technology. That of ``switch`` if omitted."""
    rate: GigabitsPerSecond | None = None
    """Data rate of every link of a node, in Gbps. That of ``switch`` if omitted."""
    network: InterfacePrefix | None = None
    """Addresses of which the hosts' interfaces get the first prefix that is large enough."""


class FeedElement(Model):
    """An element between the utility and the racks, of which each feed has its own."""

    # What else a source of its kind may say is judged with the sources that are made from it.
    model_config = ConfigDict(extra="allow")

    kind: SourceKind
    """Kind of source."""


class PowerIntent(Model):
    """The feeds of all racks, and what each of them consists of."""

    feeds: Annotated[tuple[FeedName, ...], Field(min_length=1, max_length=26)]
    """Feeds that every rack has, like ``[A, B]``."""
    utility: Watts | None = None
    """Capacity of the utility that all feeds begin at, in kW. ``sources`` has the utility if omitted."""
    feed_path: Annotated[tuple[FeedElement, ...], Field(min_length=1, max_length=10)]
    """Elements of each feed between the utility and its racks, like a UPS and then an RPP."""
    pdu: str | None = None
    """Catalogue id of the PDU at the end of a feed in a rack."""
    circuit: Circuit | None = None
    """The branch circuit of each PDU."""
    conductors: Conductors | None = None
    """Conductors of the branch circuit."""

    @field_validator("feeds")
    @classmethod
    def _feeds_differ(cls, feeds: tuple[str, ...]) -> tuple[str, ...]:
        """Refuse a feed that is named twice."""
        refuse_twins("feed", feeds)
        return feeds


class RackIntent(Model):
    """Racks in the short form, with the fields of a rack group."""

    type: str | None = None
    """Catalogue id of the rack. ``rack-48u`` if omitted."""
    power_limit: Watts | None = None
    """Most power that a rack may draw by the design of the hall, in kW."""
    cooling: RackCooling | None = None
    """Cooling of the racks. Air if omitted."""
    air_direction: Literal["front-to-back", "back-to-front"] | None = None
    """Direction in which air passes the racks."""
    blanking: bool | None = None
    """True if free units are closed by blanking panels. Unknown if omitted."""
    aisle_depth: Metres | None = None
    """Half of the aisles in front and behind that a rack's floor share includes."""
    cable_allowance: Metres | None = None
    """Space behind the devices for cable bends, in m."""
    cable_weight: Kilograms | None = None
    """Weight of the cables that hang in one rack, with their holders, in kg. Unknown if omitted."""
    shipping: Shipping | None = None
    shelves: RackShelves | None = None
    pdu: str | None = None
    """Catalogue id of the PDU at the end of a feed in these racks. That of ``power`` if omitted."""
    circuit: Circuit | None = None
    """Circuit of each PDU in these racks, or of the device that a feed ends in. That of ``power`` if
    omitted."""
    conductors: Conductors | None = None
    """Conductors of the branch circuit in these racks. Those of ``power`` if omitted."""


class RacksIntent(RackIntent):
    """The racks of a site, filled in order."""

    network: RackIntent | None = None
    """Differences of the racks of switches and of service nodes."""


class SiteIntent(Model):
    """Bare-metal site in the short form; an empty one states nothing."""

    fabric: FabricIntent | None = None
    """The only fabric, or the first one."""
    fabrics: tuple[FabricIntent | None, ...] = ()
    """Short forms by position; None for a fabric that is written in full."""
    power: PowerIntent | None = None
    racks: RacksIntent | Literal["auto"] | None = None


class BlueprintIntent(Model):
    """The part of a blueprint from which the rest is derived."""

    derive: Literal["1"]
    """Set of rules by which the short form is expanded."""
    sites: tuple[SiteIntent, ...]
    facts: tuple[ProductFact, ...] = ()


FABRIC_KEYS = frozenset({"preset", "groups", "switch", "network"})
"""Keys of a fabric that its full form does not have."""
POWER_KEYS = frozenset({"feeds", "utility", "feed_path", "pdu", "circuit", "conductors"})
"""The same of a site's power."""


def intents_of(site: Mapping[str, Any]) -> dict[str, Any]:
    """Return the part of a bare-metal site's document that is said in the short form; empty for none of it."""
    found = {key: site[key] for key in ("fabric", "racks") if key in site}
    if isinstance(found.get("fabric"), Mapping):
        found["fabric"] = _fabric_part(found["fabric"])
    fabrics = site.get("fabrics")
    if isinstance(fabrics, list) and any(_is_short(fabric) for fabric in fabrics):
        found["fabrics"] = [_fabric_part(one) if _is_short(one) else None for one in fabrics]
    power = site.get("power")
    if isinstance(power, Mapping) and not POWER_KEYS.isdisjoint(power):
        found["power"] = {key: value for key, value in power.items() if key in POWER_KEYS}
    return found


def _is_short(fabric: Any) -> bool:
    return isinstance(fabric, Mapping) and "preset" in fabric


def _fabric_part(fabric: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields that the full form does not know, so that the error for a misspelt one names the right one."""
    other = Fabric.model_fields.keys() - FabricIntent.model_fields.keys()
    return {key: value for key, value in fabric.items() if key not in other}
