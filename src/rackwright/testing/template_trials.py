"""Clusters made from a template with the answers of its test, judged and rendered."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rackwright.errors import RackwrightError
from rackwright.exit_codes import ExitCode
from rackwright.inventory.inventory import build_inventory
from rackwright.plan.load import load_plan
from rackwright.policy.api import Outcome
from rackwright.policy.check import check_blueprint
from rackwright.policy.policy_sets import RELEASED
from rackwright.policy.stated_facts import example_values
from rackwright.render.full_form import full_yaml
from rackwright.render.generated import generate
from rackwright.templates.cases import read_cases
from rackwright.templates.making import BLUEPRINT, make_cluster, write_cluster
from rackwright.templates.questions import Answer
from rackwright.templates.source import Template

_OPEN = {Outcome.FAIL, Outcome.UNKNOWN, Outcome.ERROR}


@dataclass(frozen=True, slots=True)
class Tried:
    """One case of a template's test.

    Attributes:
        name: of the case.
        exit_code: 0 where everything passes.
        told: what does not, and facts that the catalogue has by now, each in a line.
        lines: of the blueprint, that say something.
        full_lines: of its full form.
        examples: values that are marked as examples.
        files: that are rendered from it.
        hosts: in its inventory.
    """

    name: str
    exit_code: int
    told: tuple[str, ...]
    lines: int = 0
    full_lines: int = 0
    examples: int = 0
    files: int = 0
    hosts: int = 0

    @property
    def row(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "name": self.name,
            "passes": self.exit_code == ExitCode.CLEAN,
            "told": list(self.told),
            "lines": self.lines,
            "full_lines": self.full_lines,
            "examples": self.examples,
            "files": self.files,
            "hosts": self.hosts,
        }


def try_template(template: Template) -> list[Tried]:
    """Return each case of a template's test: no rule fails, nothing is unknown, files and hosts follow.

    Raises:
        RackwrightError: the template or its cases cannot be read.
    """
    return [_try(template, name, answers) for name, answers in read_cases(template).items()]


def said_lines(text: str) -> int:
    """Return the lines of YAML that say something."""
    return sum(
        1 for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")
    )


def _try(template: Template, name: str, answers: Mapping[str, Answer]) -> Tried:
    try:
        with tempfile.TemporaryDirectory(prefix="rackwright-template-test-") as made:
            return _judged(template, name, answers, Path(made))
    except RackwrightError as error:
        return Tried(name, int(error.exit_code), tuple(str(error).splitlines()))


def _judged(template: Template, name: str, answers: Mapping[str, Answer], folder: Path) -> Tried:
    write_cluster(make_cluster(template, folder, answers, RELEASED), folder)
    path = folder / BLUEPRINT
    report = check_blueprint(path)
    open_results = [r for r in report.results if r.outcome in _OPEN and not r.preview]
    loaded = load_plan(path)
    facts = list(zip(loaded.plan.facts, loaded.plan.superseded_facts, strict=True))
    refused = int(report.exit_code)
    if open_results and refused == ExitCode.CLEAN:  # what is advisory does not block a blueprint
        unknown = all(result.outcome is Outcome.UNKNOWN for result in open_results)
        refused = int(ExitCode.UNKNOWN if unknown else ExitCode.VIOLATION)
    return Tried(
        name,
        refused,
        (
            *(f"{r.policy} {r.outcome.value}: {r.message}" for r in open_results),
            *(f"{fact.product}: {fact.field}: {text}" for fact, text in facts if text),
        ),
        lines=said_lines(path.read_text(encoding="utf-8")),
        full_lines=said_lines(full_yaml(loaded, BLUEPRINT)),
        examples=sum(1 for fact, text in facts if fact.is_example and not text)
        + sum(example_values(loaded).values()),
        files=len(generate(loaded.plan)),
        hosts=sum(1 for _ in build_inventory(loaded.plan)["_meta"]["hostvars"]),
    )
