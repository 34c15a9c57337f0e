"""JSON Schemas of models, in the dialect that the YAML language server reads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, TypeAdapter

DIALECT = "http://json-schema.org/draft-07/schema#"

_MAPS_OF_SCHEMAS = frozenset({"properties", "patternProperties", "definitions"})
_DEFINITIONS = "#/$defs/"


def export_schema(model: type[BaseModel], *, title: str, schema_id: str) -> dict[str, Any]:
    """The JSON Schema (draft-07) of a file that holds one ``model``.

    Descriptions are repeated as ``markdownDescription``, which editors show on hover. The result
    depends on the model alone, so two exports are equal.
    """
    return _export(model.model_json_schema(by_alias=True), title, schema_id)


def export_document(document: type[Any], *, title: str, schema_id: str) -> dict[str, Any]:
    """The JSON Schema (draft-07) of a ``document`` that is written: a ``TypedDict``."""
    return _export(TypeAdapter(document).json_schema(mode="serialization"), title, schema_id)


def _export(schema: Mapping[str, Any], title: str, schema_id: str) -> dict[str, Any]:
    head = {"$schema": DIALECT, "$id": schema_id, "title": title}
    return head | {key: value for key, value in _convert(schema).items() if key != "title"}


def _convert(schema: Any) -> Any:
    """``schema``, written for 2020-12, in draft-07."""
    if isinstance(schema, list):
        return [_convert(item) for item in schema]
    if not isinstance(schema, Mapping):
        return schema
    if isinstance(reference := schema.get("$ref"), str):
        return _reference(schema, reference)
    found: dict[str, Any] = {}
    for key, value in schema.items():
        if key in {"default", "const", "enum", "examples"}:
            found[key] = value
        elif key == "$defs":
            found["definitions"] = {name: _convert(item) for name, item in value.items()}
        elif key in _MAPS_OF_SCHEMAS:
            found[key] = {name: _convert(item) for name, item in value.items()}
        elif key == "prefixItems":
            found["items"] = _convert(value)
        elif key == "items" and "prefixItems" in schema:
            found["additionalItems"] = _convert(value)
        elif key != "discriminator":  # an OpenAPI keyword; ``oneOf`` beside it says the same
            found[key] = _convert(value)
    return _described(found)


def _reference(schema: Mapping[str, Any], reference: str) -> dict[str, Any]:
    """A reference; draft-07 ignores what stands beside one, so the rest goes around it."""
    target = {"$ref": reference.replace(_DEFINITIONS, "#/definitions/")}
    rest = _convert({key: value for key, value in schema.items() if key != "$ref"})
    return {"allOf": [target], **rest} if rest else target


def _described(schema: dict[str, Any]) -> dict[str, Any]:
    text = schema.get("description")
    if isinstance(text, str):
        schema["markdownDescription"] = text.replace("``", "`")
    return schema
