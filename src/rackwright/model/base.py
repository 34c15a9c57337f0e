"""The base of every model: immutable, and strict about unknown keys."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Model(BaseModel):
    """A frozen model that refuses unknown keys and non-finite numbers."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        use_attribute_docstrings=True,
        allow_inf_nan=False,
        hide_input_in_errors=True,
    )
