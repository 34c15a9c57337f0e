"""The parameters of a policy, for documentation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import Enum
from typing import Any

from pydantic import BaseModel

from rackwright.policy.api import Policy

_BOUNDS = {"minimum": "at least", "maximum": "at most", "exclusiveMinimum": "above",
           "exclusiveMaximum": "below"}  # fmt: skip


def describe_parameters(policy: type[Policy]) -> Iterator[str]:
    """Yield one line for each parameter: name, default, bounds and meaning."""
    properties: dict[str, Any] = policy.model_json_schema().get("properties", {})
    for name, schema in properties.items():
        field = policy.model_fields[name]
        default = "required" if field.is_required() else f"default {_written(field.default)}"
        bounds = [f"{word} {schema[key]:g}" for key, word in _BOUNDS.items() if key in schema]
        text = " ".join(schema.get("description", "").split())
        yield f"Parameter {name}: {', '.join([default, *bounds])}. {text}".rstrip()


def _written(value: object) -> str:
    """Return a default as it is written in a blueprint, in the flow form of YAML."""
    if isinstance(value, BaseModel):
        return _written(dict(value))
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{key}: {_written(one)}' for key, one in value.items())}}}"
    if isinstance(value, (tuple, list, set, frozenset)):
        return f"[{', '.join(map(_written, value))}]"
    if isinstance(value, Enum):
        return str(value.value)
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "none"}[value]
    if isinstance(value, float):
        return f"{value:g}"
    return f"'{value}'" if isinstance(value, str) and not value.isidentifier() else str(value)
