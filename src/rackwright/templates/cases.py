"""Test cases of a template: answers in its ``template-test.yaml``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field

from rackwright.model.base import Model
from rackwright.reading.loader import tree_of, validate
from rackwright.reading.yaml_reader import read_bytes
from rackwright.templates.questions import Answer
from rackwright.templates.rendering import TEST_FILE
from rackwright.templates.source import Template

DEFAULTS = "defaults"
"""Name of the only case of a template without ``template-test.yaml``."""


class CaseFile(Model):
    """Content of ``template-test.yaml``."""

    cases: Annotated[Mapping[str, Mapping[str, Answer]], Field(min_length=1, max_length=50)]
    """Answers by the name of the case; other questions have their defaults."""


def read_cases(template: Template) -> Mapping[str, Mapping[str, Answer]]:
    """Return the answers by the name of the case; without the file, one case of defaults.

    Raises:
        SpecErrors: the file is not valid.
    """
    if TEST_FILE not in template.files:
        return {DEFAULTS: {}}
    name = f"{template.name}/{TEST_FILE}"
    tree = tree_of([read_bytes(template.files[TEST_FILE], name)])
    return validate(tree, CaseFile).value.cases
