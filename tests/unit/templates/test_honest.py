"""Templates state what was answered, what follows from it, and what they mark as examples: nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from rackwright.policy.api import Outcome
from rackwright.policy.check import check_blueprint
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
    "onprem-h100",
    "onprem-h200",
    "onprem-mi300x",
)
"""Templates that leave out what is not asked."""
OTHERS = ("aws-", "hybrid-", "lab")
"""Beginnings of templates that are not of one hall: those of AWS, containers of one machine, and the
hybrid one, whose values are not marked yet."""
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
    assert [(r.policy, r.message) for r in report.results if r.outcome in bad and r.blocks] == []
    assert report.regime.stage == "concept"


@pytest.mark.parametrize("name", HONEST)
def test_design_of_a_template_asks_for_what_was_not_asked(name: str, tmp_path: Path) -> None:
    write_blueprint(find_template(name), tmp_path, answers_of(name, "design"))
    report = check_blueprint(tmp_path / "blueprint.yaml")
    fields = {question.field.rpartition(".")[2] for question in report.questions if question.blocks}
    assert {"voltage_tolerance", "mtu", "cable_allowance"} <= fields
    assert not any(r.outcome is Outcome.FAIL and r.blocks for r in report.results)


@pytest.mark.parametrize("template", list_templates(), ids=lambda template: template.name)
def test_every_value_is_answered_derived_or_an_example(template: Template, tmp_path: Path) -> None:
    write_blueprint(template, tmp_path, example_answers(template))
    marked = [
        path.name
        for path in tmp_path.glob("*.yaml")
        if yaml.safe_load(path.read_text()).get("example") is True
    ]
    assert template.name.startswith(OTHERS) or template.name in HONEST
    if template.name in HONEST:
        assert sorted(marked) == ["blueprint.yaml", "example.yaml"]
