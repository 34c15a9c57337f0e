"""Templates state what was answered, what follows from it, and what they mark as examples: nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from cli_support import run_here
from rackwright.model.base import Model
from rackwright.model.cluster import Blueprint
from rackwright.model.field_kinds import marked_fields
from rackwright.policy.api import Outcome
from rackwright.policy.check import check_blueprint
from rackwright.reading.loader import load
from rackwright.render.blueprints import find_template, list_templates, write_blueprint
from rackwright.templates.answering import Answering
from rackwright.templates.cases import read_cases
from rackwright.templates.questions import Answer
from rackwright.templates.source import Template
from template_support import example_answers

HONEST = (
    "onprem-b200",
    "onprem-b300",
    "onprem-gb200-nvl72",
    "onprem-gb300-nvl72",
    "onprem-h100",
    "onprem-h200",
    "onprem-mi300x",
)
"""Templates that leave out what is not asked."""
AWS = ("aws-p5", "aws-p6-b200", "aws-trn2")
WHOLE = ("hybrid-h100", "lab")
"""Templates that ask little: every value is marked as an example, whatever is answered."""
TRUE_FAILURES = {"onprem-gb300-nvl72": {"COOL-008"}}
"""Rules that fail for the example answers: no connector of the catalogue takes 177 L/min."""
PRODUCTS = {
    "sites.power.continuous_derate",  # of the code for circuits that are loaded for hours
    "sites.power.circuit.current",  # of the PDU that the template names
    "sites.power.circuit.phases",
    "sites.power.circuit.voltage",
    "sites.power.feed_path.circuit.phases",
    "sites.power.feed_path.circuit.voltage",
    "sites.power.feed_path.modules.spare",  # "one of them spare", as it is asked
    "sites.power.conductors.parallel",
    "sites.node_groups.count",  # heads and logins: the servers of Slurm that the template brings
    "sites.node_groups.name_digits",
    "sites.loops.approach",  # as 'coolant_supply' is asked
    "sites.loops.supplies.count",  # halves of the CDUs that are asked
    "sites.racks.cooling.manifolds.count",  # part of an NVL72
    "sites.racks.cooling.manifolds.height",
    "sites.racks.shelves.count",
    "sites.racks.network.shelves",
    "sites.racks.network.circuit.current",
    "sites.racks.network.circuit.phases",
    "sites.racks.network.circuit.voltage",
    "sites.racks.network.conductors.parallel",
    "sites.fabric.segments.vlan",
    "sites.fabric.rate",  # of the network adapters of the product
}
"""Quantities that are part of the products that a template names."""
NUMBER = re.compile(r"-?\d+(\.\d+)?( ?(%|[A-Za-z°µ][A-Za-z0-9/·°]*))?")


def answers_of(name: str, stage: str) -> dict[str, Answer]:
    template = find_template(name)
    first = next(iter(read_cases(template).values()))
    given = {**first, "stage": stage, "example": "none"}
    answering = Answering(template.manifest.questions, given, {})
    answering.take_all()
    return {key: value for key, value in given.items() if key in answering.answers}


def leaves(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for key, child in value.items():
            yield from leaves(child, (*path, str(key)))
    elif isinstance(value, list):
        for child in value:
            yield from leaves(child, path)
    else:
        yield ".".join(path), value


def claims(text: str) -> Iterator[tuple[str, Any]]:
    """Yield the quantities, dates and truth values of a blueprint."""
    for path, value in leaves(yaml.safe_load(text)):
        if path.split(".")[0] in {"apiVersion", "derive", "policy_set", "policies", "scheduler"}:
            continue
        if not isinstance(value, str) or NUMBER.fullmatch(value):
            yield path, value


@pytest.mark.parametrize("name", HONEST)
@pytest.mark.parametrize("stage", ["concept", "design"])
def test_every_quantity_and_claim_is_answered(name: str, stage: str, tmp_path: Path) -> None:
    template = find_template(name)
    answers = answers_of(name, stage)
    answering = Answering(template.manifest.questions, answers, {})
    answering.take_all()
    known = {str(value) for value in answering.answers.values()}
    known |= {str(value).split()[0] for value in answering.answers.values() if str(value).strip()}
    write_blueprint(template, tmp_path, answers)
    text = (tmp_path / "blueprint.yaml").read_text()
    unasked = {
        path: value
        for path, value in claims(text)
        if str(value) not in known and str(value).split()[0] not in known and path not in PRODUCTS
    }
    assert unasked == {}
    assert len(list(claims(text))) > 20


@pytest.mark.parametrize("name", HONEST)
def test_no_claim_of_security_and_no_run_is_invented(name: str, tmp_path: Path) -> None:
    for stage in ("concept", "design"):
        folder = tmp_path / stage
        write_blueprint(find_template(name), folder, answers_of(name, stage))
        text = (folder / "blueprint.yaml").read_text()
        for word in (
            "security",
            "routing_run",
            "m_key",
            "firmware",
            "burn_in",
            "facility_informed",
        ):
            assert word not in text
        assert not (folder / "example.yaml").exists()


@pytest.mark.parametrize("name", HONEST)
def test_concept_of_a_template_is_ok_without_examples(name: str, tmp_path: Path) -> None:
    write_blueprint(find_template(name), tmp_path, answers_of(name, "concept"))
    report = check_blueprint(tmp_path / "blueprint.yaml")
    bad = {Outcome.FAIL, Outcome.UNKNOWN, Outcome.ERROR}
    found = [r for r in report.results if r.outcome in bad and r.blocks]
    assert {r.policy for r in found} == TRUE_FAILURES.get(name, set())
    assert all(r.outcome is Outcome.FAIL for r in found)
    assert report.regime.stage == "concept"


@pytest.mark.parametrize("name", AWS)
def test_concept_of_a_template_of_aws_is_ok_without_examples(name: str, tmp_path: Path) -> None:
    answers = {**example_answers(find_template(name)), "example": "none"}
    write_blueprint(find_template(name), tmp_path, answers)
    ended = run_here(tmp_path, "check", "--stage", "concept")
    assert ended.code == 0, ended.out
    assert "ok for concept" in ended.out
    assert "example" not in ended.out


@pytest.mark.parametrize("name", WHOLE)
def test_template_of_examples_needs_the_word(name: str, tmp_path: Path) -> None:
    """``init --template lab`` wrote 310 values of no site without being asked for examples."""
    ended = run_here(tmp_path, "init", "hall", "--template", name)
    ended.refused(f"every value of the template '{name}' is an example", "add '--example'")
    assert list(tmp_path.iterdir()) == []
    assert run_here(tmp_path, "init", "hall", "--template", name, "--example").code == 0
    assert "\nexample: true\n" in (tmp_path / "hall/blueprint.yaml").read_text()


@pytest.mark.parametrize("name", HONEST)
def test_design_of_a_template_asks_for_what_was_not_asked(name: str, tmp_path: Path) -> None:
    write_blueprint(find_template(name), tmp_path, answers_of(name, "design"))
    report = check_blueprint(tmp_path / "blueprint.yaml")
    fields = {question.field.rpartition(".")[2] for question in report.questions if question.blocks}
    assert {"voltage_tolerance", "mtu", "cable_allowance"} <= fields
    failed = {r.policy for r in report.results if r.outcome is Outcome.FAIL and r.blocks}
    assert failed == TRUE_FAILURES.get(name, set())


@pytest.mark.parametrize("template", list_templates(), ids=lambda template: template.name)
def test_every_value_is_answered_derived_or_an_example(template: Template, tmp_path: Path) -> None:
    write_blueprint(template, tmp_path, example_answers(template))
    marked = [
        path.name
        for path in tmp_path.glob("*.yaml")
        if yaml.safe_load(path.read_text()).get("example") is True
    ]
    expected = ["blueprint.yaml", "example.yaml"]
    assert sorted(marked) == (expected if template.name in HONEST else ["blueprint.yaml"])
    assert template.name in {*HONEST, *AWS, *WHOLE}


def model_claims(value: object, path: tuple[str, ...] = ()) -> Iterator[tuple[str, object]]:
    """Yield the fields of a model that are claims by their class, with their values."""
    if isinstance(value, Model):
        marked = marked_fields(type(value)).claims
        for name in sorted(value.model_fields_set):
            found = getattr(value, name)
            if name in marked:
                yield ".".join((*path, name)), found
            else:
                yield from model_claims(found, (*path, name))
    elif isinstance(value, tuple):
        for child in value:
            yield from model_claims(child, path)


@pytest.mark.parametrize("name", AWS)
def test_every_claim_of_a_template_of_aws_follows_an_answer(name: str, tmp_path: Path) -> None:
    """Another answer gives another claim: rates of failure and limits were written unasked."""
    template = find_template(name)
    answers: dict[str, Answer] = {**example_answers(template), "example": "none"}
    changed: dict[str, Answer] = {
        "zone_id": "use1-az1",
        "p_quota": 8192,
        "trn_quota": 8192,
        "standard_quota": 2048,
        "quotas_read": "2026-10-01",
        "scratch": "false",
        "node_failures": 5.5,
        "repair_time": 36,
        "spares": 2,
        "restart": 20,
        "checkpoint_interval": 30,
        "checkpoint_stall": 45,
        "most_nodes": 5,
    }
    others = {key: value for key, value in changed.items() if key in template.manifest.questions}
    found = []
    for number, given in enumerate((answers, {**answers, **others})):
        path, *_ = write_blueprint(template, tmp_path / str(number), given)
        found.append(dict(model_claims(load(path, Blueprint).value)))
    same = {path for path, value in found[0].items() if found[1].get(path) == value}
    # The first is true by the program of 'health_check'; the second is stricter than no statement.
    assert same == {"operations.health_checks", "operations.changes.protect_storage"}
    assert len(found[0]) > 10
