"""Mistakes that people make in a blueprint: each with its place, its cause and, where one is near, its cure."""

from __future__ import annotations

import os
import re
from pathlib import Path

from cli_support import run_here
from wrong_inputs import BASE, CASES

TABLE = Path(__file__).parents[2] / "golden/wrong-inputs.txt"
FOREIGN = re.compile(
    r"\^\[|\\[dwsb]|\]\{\d|did not find|could not find|found un|Traceback|ValidationError|NoneType"
    r"|\bNone\b|\bTrue\b|\bFalse\b|should be|valid \w+ or|<class|type=|input_|pulumi|does not match"
)
"""Words of expressions, parsers, pydantic, Python and Pulumi that no user has to know."""
LISTS = re.compile(r"(known are|the catalogue has): .*")
"""Hints that list what there is, which grows."""
PLACE = re.compile(r"^b\.yaml:\d+:\d+: ", re.MULTILINE)


def told(folder: Path, old: str, new: str) -> str:
    assert old in BASE
    (folder / "b.yaml").write_text(BASE.replace(old, new, 1), encoding="utf-8")
    ended = run_here(folder, "check", "b.yaml")
    assert ended.code == 2, (old, new, ended.out)
    return ended.err


def test_the_blueprint_itself_has_no_mistake(tmp_path: Path) -> None:
    (tmp_path / "b.yaml").write_text(BASE, encoding="utf-8")
    assert run_here(tmp_path, "check", "b.yaml").err == ""


def test_every_mistake_is_told_as_the_table_has_it(tmp_path: Path) -> None:
    entries = []
    for old, new in CASES:
        text = told(tmp_path, old, new)
        shown = "everything" if old == BASE else ascii(old)
        kept = LISTS.sub(r"\1: …", text)
        entries.append(f"{shown} -> {new!a}\n{kept}")
        assert PLACE.match(text), (new, text)
        assert not FOREIGN.search(text), (new, text)
    table = "\n".join(entries)
    if os.environ.get("UPDATE_GOLDEN"):
        TABLE.write_text(table, encoding="utf-8")
    assert table == TABLE.read_text(encoding="utf-8")


def test_there_are_two_hundred_mistakes_and_most_have_a_cure() -> None:
    assert len(CASES) >= 186
    entries = TABLE.read_text(encoding="utf-8").split("\n\n")
    cures = [
        entry for entry in entries if "hint:" in entry or "; " in entry or "is not one of" in entry
    ]
    assert len(cures) > len(entries) * 0.6
