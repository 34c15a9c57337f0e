"""Files that editors read beside a blueprint: its JSON Schema, with the products of the catalogue."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

from rackwright.catalog.loader import FOLDERS
from rackwright.catalog.team import catalogue_for
from rackwright.errors import UsageError
from rackwright.files import write_changed
from rackwright.harmless import json_text
from rackwright.model.cluster import Blueprint
from rackwright.plan.derivation.schema import with_short_form
from rackwright.reading.loader import EXAMPLE, LAYERS
from rackwright.reading.schema import export_schema
from rackwright.templates.making import BLUEPRINT, MODELINE, SCHEMA

_LAYERS_SCHEMA: Final = {
    "type": "array",
    "items": {"type": "string"},
    "uniqueItems": True,
    "description": "Files over this one that belong to it, in their order, relative to its folder.",
    "markdownDescription": "Files over this one that belong to it, in their order, relative to its folder.",
}
_EXAMPLE_SCHEMA: Final = {
    "type": "boolean",
    "description": "Values of this file are examples. A report counts those that apply.",
    "markdownDescription": "Values of this file are examples. A report counts those that apply.",
}
PRODUCTS: Final[Mapping[str, Mapping[str, Iterable[str]]]] = {
    "AirSupply": {"type": ["air-handlers"]},
    "AwsNodeGroup": {"type": ["instances"]},
    "AwsHead": {"type": ["instances"]},
    "AwsLogin": {"type": ["instances"]},
    "Cables": {"cable": ["cables"], "upper_cable": ["cables"]},
    "CoolingLoop": {"cdu": ["cdus"]},
    "Fabric": {"switch": ["switches"]},
    "FirmwareBaseline": {"type": ["nodes"]},
    "FirmwareFile": {"type": ["nodes", "switches"]},
    "MechanicalPlant": {"product": ["chillers", "dry-coolers"]},
    "NodeGroup": {"type": ["nodes"]},
    "PowerSource": {"product": ["ups", "transformers", "generators"]},
    "ProductFact": {"product": FOLDERS},
    "RackCooling": {"rear_door": ["rear-doors"]},
    "RackFeed": {"pdu": ["pdus"]},
    "RackGroup": {"type": ["racks"]},
    "RackIntent": {"type": ["racks"], "pdu": ["pdus"]},
    "RackShelves": {"type": ["power-shelves"]},
    "RacksIntent": {"type": ["racks"], "pdu": ["pdus"]},
    "SitePower": {"pdu": ["pdus"]},
    "SwitchTier": {"type": ["switches"]},
}
"""Fields that hold an id, by their definitions, with the folders of the catalogue that it is from."""


def blueprint_schema(blueprint: Path) -> dict[str, Any]:
    """Return the JSON Schema of a blueprint in either form.

    Ids of the catalogue are examples, which an editor offers; others are as valid.

    Args:
        blueprint: the file that the catalogue holds for; it need not be there.

    Raises:
        SpecErrors: the team's configuration or catalogue is not valid.
    """
    catalogue = catalogue_for(blueprint)
    made = copy.deepcopy(_bare_schema())
    for name, fields in PRODUCTS.items():
        for field, folders in fields.items():
            ids = {one for folder in folders for one in catalogue.ids(FOLDERS[folder])}
            if ids:
                made["definitions"][name]["properties"][field]["examples"] = sorted(ids)
    return made


@cache
def _bare_schema() -> dict[str, Any]:
    full = export_schema(
        Blueprint, title="Rackwright blueprint", schema_id="urn:rackwright:blueprint:v1"
    )
    full["properties"] |= {LAYERS: _LAYERS_SCHEMA, EXAMPLE: _EXAMPLE_SCHEMA}
    return with_short_form(full)


def layer_schema(blueprint: Path) -> dict[str, Any]:
    """Return the JSON Schema of a layer: of a blueprint, with nothing required.

    Raises:
        SpecErrors: the team's configuration or catalogue is not valid.
    """
    made = blueprint_schema(blueprint)
    made |= {"$id": "urn:rackwright:layer:v1", "title": "Rackwright layer"}
    del made["properties"][LAYERS]
    for model in (made, *made["definitions"].values()):
        model.pop("required", None)
    return made


def write_schema(folder: Path) -> None:
    """Write the schema that the blueprint in ``folder`` names in its first line; else nothing.

    It is of the version that is installed, so git ignores it. A folder that is a link is left as it is:
    its owner cares for what it leads to.

    Raises:
        SpecErrors: the team's configuration or catalogue is not valid.
        UsageError: it cannot be written.
    """
    path, blueprint = folder / SCHEMA, folder / BLUEPRINT
    if path.parent.is_symlink() or not blueprint.is_file():
        return
    try:
        if not blueprint.read_text("utf-8").startswith(MODELINE):
            return
        path.parent.mkdir(exist_ok=True)
        write_changed(path.parent / ".gitignore", "*\n")
        schema = blueprint_schema(blueprint)
        write_changed(path, json_text(schema, sort_keys=True))
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise UsageError(f"'{error.filename}' cannot be written: {reason}") from None
