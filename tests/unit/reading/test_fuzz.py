"""Hostile text in every file that a pull request can change: errors with words, nothing else."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, example, given
from hypothesis import strategies as st

from examples import share
from rackwright.errors import RackwrightError, SpecErrors
from rackwright.model.hardware import Node, Pdu
from rackwright.plan.load import load_data, load_plan
from rackwright.policy.check import check_plan
from rackwright.policy.exceptions.baseline import BaselineFile
from rackwright.policy.exceptions.exceptions import ExceptionChoice, read_exceptions
from rackwright.policy.exceptions.waivers import WaiverFile
from rackwright.reading.loader import load_text
from rackwright.render.blueprints import find_template, write_blueprint
from rackwright.resources import bundled
from rackwright.team.config import TeamConfig

HOSTILE: tuple[Any, ...] = (
    *(None, True, 0, -1, -0.0, 1e308, 5e-324, 10**18 - 1, -(10**18), 10**400),
    *("", " ", "\0", "\x1b[31m", "\u202e", "\ud800", "../../etc/passwd", "x" * 10_000, "1 kW"),
    *("999999999999999 kW", "-1 kW", "0 W", "1e999", "nan", ".inf", "c[1-999999999]", "c[" * 50),
    *("::/0", "0.0.0.0/0", "2026-13-45", "9999-12-31", "${x}", "{{ x }}", "!!python/name:os"),
    *([], {}, [[]], [None], {"name": None}, {"": ""}, {"value": 1}, [{"name": "a"}] * 2),
)


@cache
def blueprint_text() -> str:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        write_blueprint(find_template("hybrid-h100"), Path(folder, "demo"), {})
        return Path(folder, "demo", "blueprint.yaml").read_text(encoding="utf-8")


@cache
def blueprint_data() -> Any:
    return yaml.safe_load(blueprint_text().replace("2026-11-21", "'2026-11-21'"))


WAIVERS = {
    "waivers": [
        {
            "id": "W-1",
            "policy": "RACK-002",
            "match": {"site": "sjc1", "rack": "c[01-04]"},
            "up_to": "47 kW",
            "reason": "burn-in until the second PDU",
            "owner": "dc@example.com",
            "ticket": "DC-1",
            "expires": "2026-12-12",
        }
    ]
}


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of every part of a document but the whole."""
    parts = value.items() if isinstance(value, dict) else enumerate(value)
    for key, child in parts:
        yield (*path, key)
        if isinstance(child, (dict, list)):
            yield from places(child, (*path, key))


def mutate(document: Any, seed: int, times: int) -> Any:
    """``document`` with parts deleted, doubled, swapped and replaced by hostile values."""
    chance = random.Random(seed)
    made = copy.deepcopy(document)
    for _ in range(times):
        found = list(places(made))
        if not found:
            break
        *above, last = chance.choice(found)
        parent = made
        for part in above:
            parent = parent[part]
        match chance.choice(("delete", "double", "swap", "replace", "replace", "key")):
            case "delete":
                del parent[last]
            case "double" if isinstance(parent, list):
                parent.insert(last, copy.deepcopy(parent[last]))
            case "swap":
                keys = list(parent) if isinstance(parent, dict) else range(len(parent))
                other = chance.choice(list(keys))
                parent[last], parent[other] = parent[other], parent[last]
            case "key" if isinstance(parent, dict):
                parent[str(chance.choice(HOSTILE))] = parent.pop(last)
            case _:
                parent[last] = copy.deepcopy(chance.choice(HOSTILE))
    return made


def accepts(load: Any, *arguments: Any) -> bool:
    """Whether ``load`` succeeds; what fails must say why, without control characters."""
    said = None
    try:
        load(*arguments)
    except RackwrightError as error:
        said = str(error)
    assert said is None or (said.strip() and all(map(str.isprintable, said.split("\n"))))
    return said is None


SEEDS = st.integers(0, 2**32), st.integers(1, 6)


def test_half_a_character_in_plain_data_is_an_error_with_words() -> None:
    data = copy.deepcopy(blueprint_data())
    data["sites"][1]["fabrics"][0]["links"][1]["length"] = "\ud800"
    with pytest.raises(SpecErrors, match="not Unicode"):
        load_data(data)


def test_a_trillion_interfaces_are_refused_at_their_field_and_not_named_one_by_one() -> None:
    """A mutated file was loaded for minutes: its addresses have a name for each interface of a host."""
    data = copy.deepcopy(blueprint_data())
    (network,) = (one for one in data["sites"][1]["addresses"]["networks"] if "fabric" in one)
    fabric = next(f for f in data["sites"][1]["fabrics"] if f["name"] == network["fabric"])
    fabric["attached"][0]["interfaces"] = 10**12
    with pytest.raises(SpecErrors, match="interfaces"):
        load_data(data)


@share(0.6, HealthCheck.function_scoped_fixture)
@given(*SEEDS)
def test_a_mutated_blueprint_is_judged_or_refused(seed: int, times: int) -> None:
    accepts(lambda data: check_plan(load_data(data)), mutate(blueprint_data(), seed, times))


@share(0.6, HealthCheck.function_scoped_fixture)
@given(*SEEDS)
def test_a_mutated_blueprint_file_is_loaded_or_refused_at_its_line(
    tmp_path: Path, seed: int, times: int
) -> None:
    path = tmp_path / "blueprint.yaml"
    path.write_text(json.dumps(mutate(blueprint_data(), seed, times), indent=1))
    files = {str(path)}
    try:
        load_plan(path)
    except SpecErrors as error:
        files = {one.location.file if one.location else "" for one in error.errors}
    assert files == {str(path)}


@share(2, HealthCheck.function_scoped_fixture)
@given(*SEEDS)
def test_mutated_waivers_are_read_or_refused(tmp_path: Path, seed: int, times: int) -> None:
    path = tmp_path / "policies" / WaiverFile.NAME
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(mutate(WAIVERS, seed, times)))
    accepts(read_exceptions, tmp_path / "blueprint.yaml", ExceptionChoice())


@pytest.mark.parametrize(
    ("folder", "name", "kind"), [("nodes", "dgx-h100", Node), ("pdus", "", Pdu)]
)
@share(0.8, HealthCheck.function_scoped_fixture)
@given(*SEEDS)
def test_a_mutated_catalogue_entry_is_read_or_refused(
    folder: str, name: str, kind: type[Any], seed: int, times: int
) -> None:
    (path, *_) = sorted((bundled("inventory") / "catalog" / folder).glob(f"{name}*.yaml"))
    document = yaml.load(path.read_text(encoding="utf-8"), yaml.BaseLoader)
    accepts(load_text, json.dumps(mutate(document, seed, times)), kind)


PIECES = st.sampled_from(
    ["a", "name", "sites", "waivers", "packs", ":", ": ", "- ", "? ", "\n", "\n  ", "\n    ", "\t"]
    * 2
    + ["[", "]", "{", "}", ",", "&x ", "*x", "<<: ", "!!set ", "!t ", "|", ">", "'", '"', "#", "%"]
    + ["---", "...", "\\", "\0", "\ufeff", "\u202e", "\u2028", "\x85", "\x1b", ".nan", "1e999", "~"]
)
TEXTS = st.one_of(st.lists(PIECES, max_size=40).map("".join), st.text(max_size=60))


@pytest.mark.parametrize("kind", [WaiverFile, BaselineFile, TeamConfig])
@share(1.5, HealthCheck.function_scoped_fixture)
@given(TEXTS)
@example("a: &a [*a]")
@example("? [a]\n: b")
@example("<<: *x")
def test_any_text_is_read_or_refused(kind: type[Any], text: str) -> None:
    accepts(load_text, text, kind)


@share(1.5, HealthCheck.function_scoped_fixture)
@given(st.one_of(st.binary(max_size=80), TEXTS.map(lambda text: text.encode())))
@example(b"\xff\xfea\0:\0 \0b\0")
def test_any_bytes_are_refused_as_a_blueprint(tmp_path: Path, raw: bytes) -> None:
    path = tmp_path / "blueprint.yaml"
    path.write_bytes(raw)
    assert not accepts(load_plan, path)


@share(0.6, HealthCheck.function_scoped_fixture)
@given(st.integers(0, 2**32))
def test_a_blueprint_with_torn_lines_is_loaded_or_refused(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    lines = blueprint_text().splitlines(keepends=True)
    for _ in range(chance.randint(1, 4)):
        at, other = chance.randrange(len(lines)), chance.randrange(len(lines))
        match chance.randrange(4):
            case 0:
                del lines[at]
            case 1:
                lines.insert(at, lines[other])
            case 2:
                lines[at], lines[other] = lines[other], lines[at]
            case _:
                cut = chance.randrange(len(lines[at]))
                lines[at] = lines[at][:cut] + chance.choice("\t\0:{[&*'\"\u202e") + lines[at][cut:]
    path = tmp_path / "blueprint.yaml"
    path.write_text("".join(lines), encoding="utf-8")
    accepts(load_plan, path)
