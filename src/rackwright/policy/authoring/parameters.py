"""The parameters of a policy, for documentation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rackwright.policy.api import Policy

_BOUNDS = {"minimum": "at least", "maximum": "at most", "exclusiveMinimum": "above",
           "exclusiveMaximum": "below"}  # fmt: skip


def describe_parameters(policy: type[Policy]) -> Iterator[str]:
    """Yield one line for each parameter: name, default, bounds and meaning."""
    properties: dict[str, Any] = policy.model_json_schema().get("properties", {})
    for name, schema in properties.items():
        field = policy.model_fields[name]
        default = "required" if field.is_required() else f"default {field.default!r}"
        bounds = [f"{word} {schema[key]:g}" for key, word in _BOUNDS.items() if key in schema]
        text = " ".join(schema.get("description", "").split())
        yield f"Parameter {name}: {', '.join([default, *bounds])}. {text}".rstrip()
