"""Mistakes that people make in a blueprint: each with its place, its cause and, where one is near, its cure."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from cli_support import run_here
from wrong_aws_inputs import AWS_BASE, AWS_CASES
from wrong_files import wrong_files
from wrong_inputs import BASE, CASES

TABLE = Path(__file__).parents[2] / "golden/wrong-inputs.txt"
FILE_TABLE = TABLE.with_name("wrong-files.txt")
FOREIGN = re.compile(
    r"\^\[|\\[dwsb]|\]\{\d|did not find|could not find|found un|Traceback|ValidationError|NoneType"
    r"|\bNone\b|\bTrue\b|\bFalse\b|should be|valid \w+ or|<class|type=|input_|pulumi|does not match"
)
"""Words of expressions, parsers, pydantic, Python and Pulumi that no user has to know."""
LISTS = re.compile(r"(known are|the catalogue has): .*")
"""Hints that list what there is, which grows."""
PLACE = re.compile(r"^b\.yaml:\d+:\d+: ", re.MULTILINE)


def told(folder: Path, base: str, old: str, new: str) -> str:
    assert old in base
    (folder / "b.yaml").write_text(base.replace(old, new, 1), encoding="utf-8")
    ended = run_here(folder, "check", "b.yaml")
    assert ended.code == 2, (old, new, ended.out)
    return ended.err


@pytest.mark.parametrize("base", [BASE, AWS_BASE])
def test_the_blueprint_itself_has_no_mistake(tmp_path: Path, base: str) -> None:
    (tmp_path / "b.yaml").write_text(base, encoding="utf-8")
    assert run_here(tmp_path, "check", "b.yaml").err == ""


@pytest.mark.parametrize(
    ("base", "cases", "place"),
    [(BASE, CASES, TABLE), (AWS_BASE, AWS_CASES, TABLE.with_name("wrong-aws-inputs.txt"))],
)
def test_every_mistake_is_told_as_the_table_has_it(
    tmp_path: Path, base: str, cases: tuple[tuple[str, str], ...], place: Path
) -> None:
    entries = []
    for old, new in cases:
        text = told(tmp_path, base, old, new)
        shown = "everything" if old == base else ascii(old)
        kept = LISTS.sub(r"\1: …", text)
        entries.append(f"{shown} -> {new!a}\n{kept}")
        assert PLACE.match(text), (new, text)
        assert not FOREIGN.search(text), (new, text)
    table = "\n".join(entries)
    if os.environ.get("UPDATE_GOLDEN"):
        place.write_text(table, encoding="utf-8")
    assert table == place.read_text(encoding="utf-8")


def test_there_are_three_hundred_mistakes_and_most_have_a_cure() -> None:
    assert len(CASES) >= 340
    entries = TABLE.read_text(encoding="utf-8").split("\n\n")
    cures = [
        entry for entry in entries if "hint:" in entry or "; " in entry or "is not one of" in entry
    ]
    assert len(cures) > len(entries) * 0.8


def test_every_mistake_beside_the_blueprint_is_told_as_the_table_has_it(tmp_path: Path) -> None:
    """Thousands with a comma were 'decimals', and a fact without a source was to begin with a name."""
    entries = []
    for number, case in enumerate(wrong_files()):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "blueprint.yaml").write_text(BASE, encoding="utf-8")
        for name, text in case.files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text, encoding="utf-8")
        ended = run_here(folder, *case.command)
        ended.refused()
        told = LISTS.sub(r"\1: …", ended.err.replace(f"{folder}/", ""))
        (name, text), *_ = case.files.items()
        assert name in told or told.startswith("error: "), (text, told)
        assert not FOREIGN.search(told), (text, told)
        entries.append(f"{name} {text!a}\n{told}")
    table = "\n".join(entries)
    if os.environ.get("UPDATE_GOLDEN"):
        FILE_TABLE.write_text(table, encoding="utf-8")
    assert table == FILE_TABLE.read_text(encoding="utf-8")
    assert len(entries) >= 80


FILES: tuple[tuple[str, bytes, str], ...] = (
    ("u16.yaml", BASE.encode("utf-16"), "u16.yaml:1:1: the file is UTF-16, not text in UTF-8"),
    ("latin.yaml", BASE.encode("latin-1"), "latin.yaml:25:70: the file is not UTF-8"),
    ("empty.yaml", b"", "empty.yaml:1:1: 'empty.yaml' is empty"),
    ("tabs.yaml", BASE.replace("  ", "\t").encode(), "tabs.yaml:8:1: a tab is not an indentation"),
    ("x.csv", b"a,b\n1,2\n", "x.csv:1:1: this is not a document of Rackwright"),
    (
        "x.xlsx",
        b"PK\x03\x04\x14\0",
        "x.xlsx:1:1: the file is an archive or a document of an office",
    ),
    ("x.png", b"\x89PNG\r\n\x1a\n", "x.png:1:1: the file is a picture"),
    ("x.tf", b'resource "a" "b" {\n', "x.tf:1:1: this is not a document of Rackwright"),
)
"""Files that are no blueprint, and what is said of them."""


@pytest.mark.parametrize(("name", "content", "said"), FILES)
def test_file_of_another_kind_is_named_as_such(
    tmp_path: Path, name: str, content: bytes, said: str
) -> None:
    (tmp_path / name).write_bytes(content)
    ended = run_here(tmp_path, "check", name)
    assert (ended.code, ended.err.splitlines()[0][: len(said)]) == (2, said)
    assert "hint: " in ended.err
    assert not FOREIGN.search(ended.err)


@pytest.mark.parametrize(
    ("files", "named", "hint"),
    [
        ((), "", "'rackwright init FOLDER' writes a blueprint"),
        (("hall/site.yaml",), "hall", "did you mean 'hall/site.yaml'?"),
        (("hall/blueprint.yml", "hall/x.yaml"), "hall", "did you mean 'hall/blueprint.yml'?"),
        (("hall/x.yaml", "hall/y.yaml"), "hall", "the folder has x.yaml, y.yaml"),
        (("facilty.yaml",), "facility.yaml", "did you mean 'facilty.yaml'?"),
        ((), "nowhere/b.yaml", "there is no folder 'nowhere'"),
    ],
)
def test_missing_file_names_the_one_beside_it(
    tmp_path: Path, files: tuple[str, ...], named: str, hint: str
) -> None:
    for file in files:
        (tmp_path / file).parent.mkdir(exist_ok=True)
        (tmp_path / file).write_text(BASE, encoding="utf-8")
    run_here(tmp_path, "check", *([named] if named else [])).refused("cannot be read", hint)


@pytest.mark.parametrize(
    ("layer", "hint"),
    [
        ("sites:\n  - altitude: 3 m\n", "a layer names the item that it changes"),
        (
            "sites:\n  sjc1: {altitude: 3 m}\n",
            "begin each item with '- name:', as in '- name: sjc1'",
        ),
        ("sites.sjc1.altitude: 3 m\n", "a layer is nested as the blueprint is"),
        ("sites:\n  - name: sjc2\n    altitude: 3 m\n", "did you mean 'sjc1'?"),
        (
            "sites:\n  - name: sjc1\n    altitude: TODO\n",
            "leave the key out while the value is not",
        ),
        ("sites:\n  - name: sjc1\n    altitude: ?\n", "leave the key out while the value is not"),
        (
            "sites: [{name: sjc1, altitude: 1,200 m}]\n",
            "a comma cuts a number: write '1200 m' for 1,200 m",
        ),
    ],
)
def test_layer_that_is_filled_in_wrongly_has_a_cure(tmp_path: Path, layer: str, hint: str) -> None:
    (tmp_path / "b.yaml").write_text(BASE, encoding="utf-8")
    (tmp_path / "layer.yaml").write_text(layer, encoding="utf-8")
    run_here(tmp_path, "check", "b.yaml", "--layer", "layer.yaml").refused("layer.yaml:", hint)


@pytest.mark.parametrize("name", ["todo.html", "todo.xlsx", "todo"])
def test_sheet_of_questions_has_a_known_ending(tmp_path: Path, name: str) -> None:
    (tmp_path / "b.yaml").write_text(BASE, encoding="utf-8")
    ended = run_here(tmp_path, "check", "b.yaml", "--todo", name)
    ended.refused(
        f"cannot write to '{name}': unknown file type", "name a file that ends in .yaml, .yml, .csv"
    )
    assert not (tmp_path / name).exists()


@pytest.mark.parametrize(
    ("words", "said", "hint"),
    [
        (
            "check b.yaml c.yaml",
            "'c.yaml' is one argument too many",
            "'--layer c.yaml' puts a file",
        ),
        ("check --jsn", "there is no option '--jsn'", "did you mean '--json'?"),
        (
            "check --stage desgin",
            "--stage: 'desgin' is not one of concept",
            "did you mean 'design'?",
        ),
        ("check --only", "--only needs a value", "--help"),
        ("catalogue shw", "'shw' is not one of list, show", "did you mean 'show'?"),
        ("diff", "BASE..HEAD is missing", "--help"),
    ],
)
def test_wrong_argument_is_told_in_words_of_the_command(
    tmp_path: Path, words: str, said: str, hint: str
) -> None:
    run_here(tmp_path, *words.split()).refused(said, hint)
