"""Decoding of the engine's property values, once per resource.

The engine marks unknown values, secrets and assets with signatures inside plain protobuf
structures (``sdk/go/common/resource/properties.go`` in the Pulumi sources lists them).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

SIGNATURE_KEY: Final = "4dabf18193072939515e22adb298388d"
SECRET: Final = "1b47061264138c4ac30d75fd1eb44270"  # noqa: S105 - a marker, not a secret
ASSETS: Final = frozenset({"c44067f5952c0a294b673a41bacd8c17", "0def7320c3a5731c473e5ecbe6d01bc7"})
UNKNOWN_STRING: Final = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
UNKNOWNS: Final = frozenset(
    {
        UNKNOWN_STRING,
        "1c4a061d-8072-4f0a-a4cb-0ff528b18fe7",
        "3eeb2bf0-c639-47a8-9e75-3b44932eb421",
        "6a19a0b0-7e62-4c92-b797-7f8e31da9cc2",
        "030794c1-ac77-496b-92df-f27374a8bd58",
        "e48ece36-62e2-4504-bad9-02848725956a",
        "dd056dcd-154b-4c76-9bd3-c8f88648b5ff",
    }
)
"""Stand-ins for a string, boolean, number, array, asset, archive and object."""


class UnknownValue:
    """A value that will be known after the deployment only."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "unknown"

    def __bool__(self) -> bool:
        raise TypeError("an unknown value is neither true nor false")


UNKNOWN: Final = UnknownValue()


@dataclass(frozen=True, slots=True)
class Asset:
    """A file or an archive; its content is not looked at."""


def decode(struct: Any) -> dict[str, Any]:
    """Return the plain values of a protobuf ``Struct``: secrets unwrapped, unknowns as ``UNKNOWN``."""
    return {key: _decode(value) for key, value in struct.fields.items()}


def _decode(value: Any) -> Any:
    kind = value.WhichOneof("kind")
    if kind == "string_value":
        text = value.string_value
        return UNKNOWN if len(text) == 36 and text in UNKNOWNS else text
    if kind == "struct_value":
        fields = value.struct_value.fields
        if SIGNATURE_KEY in fields:
            return _decode_signed(fields)
        return {key: _decode(item) for key, item in fields.items()}
    if kind == "list_value":
        return [_decode(item) for item in value.list_value.values]
    if kind == "number_value":
        number = value.number_value
        return int(number) if number.is_integer() else number
    return value.bool_value if kind == "bool_value" else None


def _decode_signed(fields: Mapping[str, Any]) -> Any:
    signature = fields[SIGNATURE_KEY].string_value
    if signature == SECRET:
        return _decode(fields["value"]) if "value" in fields else UNKNOWN
    if signature in ASSETS:
        return Asset()
    return {key: _decode(item) for key, item in fields.items() if key != SIGNATURE_KEY}


def has_unknown(value: Any) -> bool:
    """Return True if ``value`` holds an unknown anywhere."""
    if value is UNKNOWN:
        return True
    if isinstance(value, dict):
        return any(has_unknown(item) for item in value.values())
    return isinstance(value, list) and any(has_unknown(item) for item in value)
