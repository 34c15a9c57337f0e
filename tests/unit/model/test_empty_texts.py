"""No text of a blueprint, a catalogue or another file that people write is empty or has blanks around."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError
from pydantic_core import SchemaValidator

from rackwright.catalog.loader import FOLDERS
from rackwright.cli import main
from rackwright.model.aws import AwsNetwork
from rackwright.model.base import Model
from rackwright.model.cluster import Blueprint, PolicySetting
from rackwright.model.cost import Costs
from rackwright.model.power import RackFeed
from rackwright.model.prices import PriceList
from rackwright.policy.authoring.examples import Example
from rackwright.policy.exceptions.baseline import BaselineFile
from rackwright.policy.exceptions.waivers import WaiverFile
from rackwright.policy.packs.manifest import PackManifest
from rackwright.render.blueprints import find_template, write_blueprint
from rackwright.team.config import TeamConfig

WRITTEN: tuple[type[BaseModel], ...] = (
    Blueprint,
    *FOLDERS.values(),
    PriceList,
    WaiverFile,
    BaselineFile,
    TeamConfig,
    PackManifest,
    Example,
)
"""The models of every file that people write."""

MAY_BE_EMPTY = {
    "Account.comment": "a comment may say nothing; its pattern says so",
    "AwsSite.tags[*]": "AWS takes a tag without a value",
    "DataRepository.prefix": "no prefix: the whole bucket",
    "BaselineEntry.unit": "a rule without a number has no unit",
    "BaselineEntry.what": "a rule without a number measures nothing",
    "ExpectedFinding.at": "the site as a whole has no name",
    "ExpectedFinding.what": "a rule without a number measures nothing",
}
"""The texts that may be empty, and why."""

PROSE = {
    "PolicySetting.reason",
    "Fact.note",
    "Source.title",
}
"""Sentences that may end with a line break, as YAML's blocks of text do."""


def texts(model: type[BaseModel]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Every schema of a text below ``model``, with the name of its field."""
    model.model_rebuild(force=True)
    yield from _texts(model.__pydantic_core_schema__, model.__name__)


def _texts(schema: Any, at: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    if isinstance(schema, list | tuple):
        for part in schema:
            yield from _texts(part, at)
    elif isinstance(schema, Mapping):
        kind = schema.get("type")
        if kind == "str":
            yield at, schema
        elif kind == "model":
            yield from _texts(schema["schema"], schema["cls"].__name__.partition("[")[0])
        elif kind == "model-fields":
            for name, field in schema["fields"].items():
                yield from _texts(field["schema"], f"{at}.{name}")
        elif kind == "dict":
            yield from _texts(schema.get("keys_schema"), f"{at} (a key)")
            yield from _texts(schema.get("values_schema"), f"{at}[*]")
        else:
            for key, part in schema.items():
                if key not in {"metadata", "serialization", "default"}:
                    yield from _texts(part, at)


def accepts(schema: Mapping[str, Any], value: str) -> bool:
    try:
        SchemaValidator(dict(schema)).validate_python(value)
    except ValidationError:
        return False
    return True


def test_every_text_of_every_file_refuses_to_be_empty() -> None:
    found = {name: schema for model in WRITTEN for name, schema in texts(model)}
    assert len(found) > 100, "the walk finds the fields"
    assert {"RackFeed.pdu", "AwsNetwork.availability_zones", "Costs.capex (a key)"} <= found.keys()
    assert {name for name, schema in found.items() if accepts(schema, "")} == set(MAY_BE_EMPTY)


def test_no_text_without_a_pattern_of_its_own_has_blanks_around() -> None:
    found = {name: schema for model in WRITTEN for name, schema in texts(model)}
    for blank in (" ", "\t", "\n", " x", "x ", "\u00a0x"):
        assert not {n for n, s in found.items() if accepts(s, blank) and accepts(s, "ü")}
    assert {name for name, schema in found.items() if accepts(schema, "x y\n")} >= PROSE


@pytest.mark.parametrize(
    ("model", "document"),
    [
        (AwsNetwork, {"cidr": "10.0.0.0/16", "availability_zones": [""]}),
        (Costs, {"as_of": "2026-11-01", "capex": {"": "1 USD"}}),
        (PolicySetting, {"reason": "   "}),
        (RackFeed, {"name": "A", "source": "rpp-a", "pdu": " pdu-1"}),
    ],
)
def test_a_blank_text_is_refused_wherever_it_stands(model: type[Model], document: Any) -> None:
    with pytest.raises(ValidationError) as told:
        model.model_validate(document)
    assert {one["type"] for one in told.value.errors()} & {
        "string_too_short",
        "string_pattern_mismatch",
    }


def check(tmp_path: Path, old: str, new: str) -> int:
    path = write_blueprint(find_template("hybrid-h100"), tmp_path, {})[0]
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    return main(["check", str(path), "--isolated"])


def test_an_empty_pdu_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert check(tmp_path, "pdu: pdu-415v-60a-24c19", "pdu: ''") == 2
    told = capsys.readouterr().err
    assert "pdu: the text is empty" in told
    assert "hint: leave the key out, or say something" in told


def test_blanks_around_a_text_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert check(tmp_path, "pdu: pdu-415v-60a-24c19", "pdu: 'pdu-415v-60a-24c19 '") == 2
    told = capsys.readouterr().err
    assert "pdu: 'pdu-415v-60a-24c19 ' has blanks around it" in told
