"""JSON Schemas of models, in the dialect that the YAML language server reads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, TypeAdapter

DIALECT = "http://json-schema.org/draft-07/schema#"

_MAPS_OF_SCHEMAS = frozenset({"properties", "patternProperties", "definitions"})
_DEFINITIONS = "#/$defs/"
_REFERENCE = "#/definitions/"


def export_schema(model: type[BaseModel], *, title: str, schema_id: str) -> dict[str, Any]:
    """Return the JSON Schema (draft-07) of a file that holds one ``model``.

    Descriptions are repeated as ``markdownDescription``, which editors show on hover. The result
    depends on the model alone, so two exports are equal.
    """
    return _export(model.model_json_schema(by_alias=True), title, schema_id)


def export_document(document: type[Any], *, title: str, schema_id: str) -> dict[str, Any]:
    """Return the JSON Schema (draft-07) of a ``document`` that is written: a ``TypedDict``."""
    return _export(TypeAdapter(document).json_schema(mode="serialization"), title, schema_id)


def _export(schema: Mapping[str, Any], title: str, schema_id: str) -> dict[str, Any]:
    head = {"$schema": DIALECT, "$id": schema_id, "title": title}
    converted = _convert(schema)
    definitions = converted.get("definitions", {})
    for owner in (converted, *definitions.values()):
        for name, field in owner.get("properties", {}).items():
            owner["properties"][name] = _with_description(field, definitions)
    return head | {key: value for key, value in converted.items() if key != "title"}


def _with_description(field: dict[str, Any], definitions: Mapping[str, Any]) -> dict[str, Any]:
    """Return ``field`` with a description: that of what it holds, where it has none of its own."""
    if "description" in field:
        return field
    held = [field, *field.get("anyOf", ()), *field.get("allOf", ())]
    held += [one["items"] for one in held if isinstance(one.get("items"), Mapping)]
    names = [one["$ref"].removeprefix(_REFERENCE) for one in held if "$ref" in one]
    texts = [text for name in names if (text := definitions[name].get("description"))]
    if not texts:
        return field
    field = {"allOf": [field]} if "$ref" in field else field
    return _described({**field, "description": texts[0]})


def _convert(schema: Any) -> Any:
    """``schema``, written for 2020-12, in draft-07."""
    if isinstance(schema, list):
        return [_convert(item) for item in schema]
    if not isinstance(schema, Mapping):
        return schema
    if isinstance(reference := schema.get("$ref"), str):
        return _reference(schema, reference)
    if "mapping" in schema.get("discriminator", {}) and "oneOf" in schema:
        return _chosen(schema)
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
        elif key != "discriminator":  # a keyword of OpenAPI
            found[key] = _convert(value)
    return _described(found)


def _chosen(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return a union that a word tells apart, as ``if`` and ``then``: a mistake is told where it is.

    With ``oneOf``, which says the same, an editor tells of the whole that it fits no member.
    """
    word = schema["discriminator"]["propertyName"]
    members = {
        value: reference.replace(_DEFINITIONS, _REFERENCE)
        for value, reference in sorted(schema["discriminator"]["mapping"].items())
    }
    rest = {key: value for key, value in schema.items() if key not in {"discriminator", "oneOf"}}
    return {
        **_convert(rest),
        "type": "object",
        "required": [word],
        "properties": {word: {"enum": list(members)}},
        "allOf": [
            {
                "if": {"properties": {word: {"const": value}}, "required": [word]},
                "then": {"$ref": reference},
            }
            for value, reference in members.items()
        ],
    }


def _reference(schema: Mapping[str, Any], reference: str) -> dict[str, Any]:
    """Return a reference; draft-07 ignores what stands beside one, so the rest goes around it."""
    target = {"$ref": reference.replace(_DEFINITIONS, _REFERENCE)}
    rest = _convert({key: value for key, value in schema.items() if key != "$ref"})
    return {"allOf": [target], **rest} if rest else target


def _described(schema: dict[str, Any]) -> dict[str, Any]:
    text = schema.get("description")
    if isinstance(text, str):
        schema["markdownDescription"] = text.replace("``", "`")
    return schema
