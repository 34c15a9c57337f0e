"""Decoding of property values, unknowns and secrets included."""

from __future__ import annotations

from typing import Any

import pytest
from google.protobuf.struct_pb2 import Struct
from hypothesis import given
from hypothesis import strategies as st

from rackwright.crossguard.decode import (
    SECRET,
    SIGNATURE_KEY,
    UNKNOWN,
    UNKNOWNS,
    Asset,
    decode,
    has_unknown,
)


def struct(value: dict[str, Any]) -> Struct:
    made = Struct()
    made.update(value)
    return made


def test_plain_values_come_back() -> None:
    value = {"a": 1, "b": [True, None, "x", {"c": 0.5}]}
    assert decode(struct(value)) == value


@pytest.mark.parametrize("sentinel", sorted(UNKNOWNS))
def test_every_sentinel_is_unknown_and_never_a_truth_value(sentinel: str) -> None:
    value = decode(struct({"a": [sentinel]}))["a"][0]
    assert value is UNKNOWN
    assert has_unknown([{"x": value}])
    with pytest.raises(TypeError):
        bool(value)


def test_a_secret_is_unwrapped_and_an_asset_is_opaque() -> None:
    secret = {SIGNATURE_KEY: SECRET, "value": {"x": "y"}}
    asset = {SIGNATURE_KEY: "c44067f5952c0a294b673a41bacd8c17", "text": "content"}
    assert decode(struct({"s": secret, "a": asset})) == {"s": {"x": "y"}, "a": Asset()}


values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=10),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=20,
)


@given(st.dictionaries(st.text(max_size=5), values, max_size=4))
def test_decode_inverts_encoding(value: dict[str, Any]) -> None:
    assert decode(struct(value)) == value
    assert not has_unknown(value)
