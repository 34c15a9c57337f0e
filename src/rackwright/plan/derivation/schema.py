"""The JSON Schema of a blueprint that may be in the short form, for editors."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any, Final

from rackwright.model.intents import FABRIC_KEYS, POWER_KEYS, BlueprintIntent
from rackwright.reading.schema import export_schema

FOLLOWS: Final[Mapping[str, frozenset[str]]] = {
    "OnPremSite": frozenset({"halls"}),
    "Hall": frozenset({"rows"}),
    "RackGroup": frozenset({"feeds"}),
    "RackFeed": frozenset({"source"}),
    "SitePower": frozenset({"sources"}),
    "PowerSource": frozenset({"kind"}),
    "NodeGroup": frozenset({"racks", "per_rack"}),
    "Fabric": frozenset({"name", "role", "tiers"}),
    "SwitchTier": frozenset({"type", "count", "racks", "per_rack"}),
    "Cables": frozenset({"lower", "upper"}),
}
"""Fields that the full form needs and that may follow from the rest, by their models."""


def with_short_form(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of a blueprint, with the words of the short form.

    An editor does not know whether a field follows from the rest, so none that may is required.

    Args:
        schema: of the full form, as ``export_schema`` writes it.
    """
    made = copy.deepcopy(dict(schema))
    words = export_schema(BlueprintIntent, title="", schema_id="")["definitions"]
    known = made["definitions"]
    for name, fields in FOLLOWS.items():
        known[name]["required"] = [key for key in known[name]["required"] if key not in fields]
    said, fabric = words.pop("SiteIntent")["properties"], words.pop("FabricIntent")["properties"]
    power = words.pop("PowerIntent")["properties"]
    known["Fabric"]["properties"].update({key: fabric[key] for key in sorted(FABRIC_KEYS)})
    known["SitePower"]["properties"].update({key: power[key] for key in sorted(POWER_KEYS)})
    known["OnPremSite"]["properties"]["racks"] = said["racks"]
    known["OnPremSite"]["properties"]["fabric"] = {
        "allOf": [{"$ref": "#/definitions/Fabric"}],
        "description": said["fabric"]["description"],
        "markdownDescription": said["fabric"]["markdownDescription"],
    }
    for name, definition in words.items():
        known.setdefault(name, definition)
    return made
