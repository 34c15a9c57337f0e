"""Property values as the Pulumi engine sends them, and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from google.protobuf import struct_pb2

from rackwright.crossguard.decode import SECRET, SIGNATURE_KEY, UNKNOWN_STRING, UNKNOWNS

Props = dict[str, Any]

_OUTPUT = "d0e6a833031e9bbcd3f4e8bde6ca49a4"


class Unknown:
    """A value that is not known before the resources it comes from are made."""

    def __reduce__(self) -> str:
        return "UNKNOWN"

    def __repr__(self) -> str:
        return "UNKNOWN"


UNKNOWN: Final = Unknown()


def has_unknown(value: Any) -> bool:
    """Returns whether a value, or anything in it, is not known yet."""
    if isinstance(value, Unknown):
        return True
    if isinstance(value, Mapping):
        return any(has_unknown(one) for one in value.values())
    if isinstance(value, Sequence) and not isinstance(value, (str, bytes)):
        return any(has_unknown(one) for one in value)
    return False


def decode(struct: struct_pb2.Struct) -> Props:
    """Returns the properties of a message, secrets laid open and unknowns as ``UNKNOWN``."""
    return {key: _decode(value) for key, value in struct.fields.items()}


def _decode(value: struct_pb2.Value) -> Any:
    kind = value.WhichOneof("kind")
    if kind == "struct_value":
        fields = value.struct_value.fields
        signature = fields[SIGNATURE_KEY].string_value if SIGNATURE_KEY in fields else ""
        if signature == SECRET:
            return _decode(fields["value"])
        if signature == _OUTPUT:
            return _decode(fields["value"]) if "value" in fields else UNKNOWN
        return {key: _decode(one) for key, one in fields.items()}
    if kind == "list_value":
        return [_decode(one) for one in value.list_value.values]
    if kind == "number_value":
        number = value.number_value
        return int(number) if number.is_integer() else number
    if kind == "string_value":
        return UNKNOWN if value.string_value in UNKNOWNS else value.string_value
    if kind == "bool_value":
        return value.bool_value
    return None


def encode(props: Mapping[str, Any]) -> struct_pb2.Struct:
    """Returns the message for some properties; those that are None are left out."""
    struct = struct_pb2.Struct()
    for key, value in props.items():
        if value is not None:
            struct.fields[key].CopyFrom(_encode(value))
    return struct


def _encode(value: Any) -> struct_pb2.Value:
    if isinstance(value, Unknown):
        return struct_pb2.Value(string_value=UNKNOWN_STRING)
    if isinstance(value, bool):
        return struct_pb2.Value(bool_value=value)
    if isinstance(value, (int, float)):
        return struct_pb2.Value(number_value=value)
    if isinstance(value, str):
        return struct_pb2.Value(string_value=value)
    if isinstance(value, datetime):
        return struct_pb2.Value(string_value=value.strftime("%Y-%m-%dT%H:%M:%SZ"))
    if isinstance(value, Mapping):
        return struct_pb2.Value(struct_value=encode(value))
    if isinstance(value, Sequence):
        items = [_encode(one) for one in value]
        return struct_pb2.Value(list_value=struct_pb2.ListValue(values=items))
    if value is None:
        return struct_pb2.Value(null_value=struct_pb2.NULL_VALUE)
    raise TypeError(f"a property cannot hold a {type(value).__name__}")
