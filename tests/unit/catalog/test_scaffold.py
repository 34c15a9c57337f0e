"""What 'catalogue new' begins: every field, and no value that could be taken for one that was read."""

from __future__ import annotations

import re
from datetime import date

import pytest

from rackwright.catalog.loader import FOLDERS
from rackwright.catalog.scaffold import BLANK, EMPTY, OR, scaffold
from rackwright.errors import SpecErrors
from rackwright.reading.loader import load_text

DAY = date(2026, 11, 23)
FIELD = re.compile(r"# +(- )?\w+:|# *\w+:")


def uncommented(folder: str) -> str:
    """All that is begun, as somebody would have it who takes every '#' away."""
    lines = []
    for line in scaffold(folder, "acme", DAY).replace("vendor: ''", "vendor: Acme").splitlines():
        text = line.removeprefix("# ") if FIELD.match(line) else line
        lines.append(text)
    made = "\n".join(lines).replace("name: ''", "name: Acme One")
    return made.replace("sources: {}", "", 1)


def filled(text: str) -> str:
    """The same with the first word of each choice, and ones for the rest."""
    text = re.sub(rf"{re.escape(BLANK)} (?=\S)", "1 ", text)
    text = re.sub(r"([\w.+-]+)(?: \| [\w.+-]+)+", r"\1", text)
    text = re.sub(rf"confidence: {BLANK}", "confidence: official", text)
    text = text.replace(EMPTY, "text")
    return text.replace(BLANK, "1")


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_field_is_begun_and_can_be_filled_in(folder: str) -> None:
    entry = load_text(filled(uncommented(folder)), FOLDERS[folder]).value
    unset = set(type(entry).model_fields) - entry.model_fields_set
    assert unset - {"part"} == {"description", "notes"}
    assert entry.id == "acme"


@pytest.mark.parametrize("folder", FOLDERS)
def test_what_is_not_filled_in_is_no_value(folder: str) -> None:
    """Who takes every '#' away and writes nothing is told of each line."""
    text = uncommented(folder)
    with pytest.raises(SpecErrors) as caught:
        load_text(text, FOLDERS[folder])
    lines = enumerate(text.splitlines(), 1)
    open_lines = {n for n, line in lines if any(mark in line for mark in (BLANK, OR, EMPTY))}
    refused = {one.location.line for one in caught.value.errors if one.location}
    assert open_lines
    assert open_lines <= refused
