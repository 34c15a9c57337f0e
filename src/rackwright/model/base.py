"""The base of every model: immutable, and strict about unknown keys."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

_NO_SCHEMAS = frozenset({"metadata", "serialization", "default"})
"""What a schema of pydantic holds beside the schemas of its parts."""


TEXT = r"^\S([\s\S]*\S)?$"
"""A text with no blanks around it; so is each that has neither a pattern nor a type of its own."""

PROSE = r"^\S([\s\S]*\S)?\n?$"
"""The same, with a line break at the end, as blocks of text in YAML have."""

Prose = Annotated[str, Field(min_length=1, pattern=PROSE)]
"""Sentences for people to read."""

EMPTY_OR_TEXT = r"^(\S([\s\S]*\S)?)?$"
"""The same as ``TEXT``, or nothing."""

MaybeEmpty = Annotated[str, Field(min_length=0, pattern=EMPTY_OR_TEXT)]
"""A text that has a meaning when it is empty; a test lists the fields, with the meaning."""


class Model(BaseModel):
    """A frozen model that refuses unknown keys, non-finite numbers and blank texts.

    The text below a field describes it in JSON Schemas. Pydantic's own ``use_attribute_docstrings``
    reads every source file at every start; here they are read when a schema is asked for.
    """

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        allow_inf_nan=False,
        defer_build=True,
        hide_input_in_errors=True,
    )

    @classmethod
    def __get_pydantic_core_schema__(
        cls, source: type[BaseModel], handler: GetCoreSchemaHandler, /
    ) -> CoreSchema:
        """Return the schema, in which ``true`` and ``"4"`` are no numbers, and ``""`` is no text."""
        made = handler(source)
        _be_strict(made)
        return made

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler, /
    ) -> JsonSchemaValue:
        """Return the JSON Schema with a description of each documented field."""
        made = handler(core_schema)
        properties = handler.resolve_ref_schema(made).get("properties", {})
        for name, text in describe_fields(cls).items():
            if (key := cls.model_fields[name].alias or name) in properties:
                properties[key].setdefault("description", text)
        return made


def _be_strict(schema: Any) -> None:
    """Let numbers in ``schema`` be given as numbers and texts not be blank.

    Texts in lists and keys of mappings are among them. Inner models have seen to theirs.
    """
    parts: Iterable[Any] = ()
    if isinstance(schema, list):
        parts = schema
    elif isinstance(schema, dict) and isinstance(schema.get("type"), str):
        if schema["type"] in {"int", "float"}:
            schema["strict"] = True
        elif schema["type"] == "str" and "pattern" not in schema:
            schema.setdefault("min_length", 1)  # for words of its own when a text is empty
            schema["pattern"] = TEXT
        parts = (part for key, part in schema.items() if key not in _NO_SCHEMAS)
    elif isinstance(schema, dict):  # schemas by name, like those of fields
        parts = schema.values()
    for part in parts:
        _be_strict(part)


def describe_fields(model: type[Model]) -> Mapping[str, str]:
    """Return the text below each field of ``model``, of a field that is inherited as well."""
    found: dict[str, str] = {}
    for cls in reversed(model.__mro__):
        if issubclass(cls, Model) and cls is not Model:
            found |= _texts(cls.__pydantic_generic_metadata__["origin"] or cls)
    return {name: text for name, text in found.items() if name in model.model_fields}


def _texts(cls: type[BaseModel]) -> dict[str, str]:
    (definition,) = ast.parse(textwrap.dedent(inspect.getsource(cls))).body
    assert isinstance(definition, ast.ClassDef)  # noqa: S101 - the source of a class
    found = {}
    for field, below in pairwise(definition.body):
        match field, below:
            case (
                ast.AnnAssign(target=ast.Name(id=name)),
                ast.Expr(value=ast.Constant(value=str(text))),
            ):
                found[name] = inspect.cleandoc(text)
            case _:
                continue
    return found
