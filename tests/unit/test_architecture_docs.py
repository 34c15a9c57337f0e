"""What docs/ names exists: packages, files and functions."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs/architecture.md").read_text("utf-8")
PLACE = re.compile(r"`((?:src|tests|policies|roles|stacks|templates|docs)/[\w./-]*)`")
DEFINED = re.compile(r"`([A-Za-z_.]+)` in `(src/[\w/]+\.py)`")


def test_every_package_has_its_line() -> None:
    listed = set(re.findall(r"^\| `src/rackwright/(\w+)` \|", TEXT, re.MULTILINE))
    folders = {path.parent.name for path in (ROOT / "src/rackwright").glob("*/__init__.py")}
    assert listed == folders - {"testing"}, "testing is the plugin for pytest of teams"


def test_what_is_named_exists() -> None:
    texts = [TEXT, *(path.read_text("utf-8") for path in (ROOT / "docs/decisions").glob("*.md"))]
    named = {place for text in texts for place in PLACE.findall(text)}
    assert len(named) > 20
    assert {place for place in named if not (ROOT / place).exists()} == set()


def test_the_drawing_has_every_package_in_the_order_of_the_contract() -> None:
    drawing = TEXT.partition("```text\n")[2].partition("```")[0]
    drawn = [
        set(re.findall(r"\w+", re.split(r" {2,}", line.strip())[0]))
        for line in drawing.splitlines()
        if line.strip(" │")
    ]
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]
    (layers,) = (one["layers"] for one in settings["contracts"] if one["id"] == "layers")
    contract = [set(re.findall(r"\w+", layer)) for layer in layers]
    assert drawn[:-1] == contract[1 : len(drawn)]


def test_the_ways_of_numbers_lead_through_functions_that_exist() -> None:
    ways = DEFINED.findall(TEXT)
    assert len(ways) > 5
    for name, path in ways:
        last = name.rpartition(".")[2]
        defined = rf"^ *(?:def|class) {last}\b|^ +{last}: "
        assert re.search(defined, (ROOT / path).read_text("utf-8"), re.MULTILINE), name


def test_each_decision_is_listed_and_says_why_and_what_it_costs() -> None:
    folder = ROOT / "docs/decisions"
    index = (folder / "README.md").read_text("utf-8")
    files = list(folder.glob("0*.md"))
    assert len(files) >= 7
    for path in files:
        text = path.read_text("utf-8")
        assert f"({path.name})" in index
        assert {"**Decision.**", "**Why.**", "**Cost.**"} <= set(re.findall(r"\*\*\w+\.\*\*", text))
