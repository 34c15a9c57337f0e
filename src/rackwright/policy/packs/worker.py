"""The process in which the rules of one pack run, away from the engine that judges by them.

It reads questions on its input and writes an answer to each on its output, one line of JSON each.
What a rule prints goes to stderr. ``process`` is the other end.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping
from datetime import date
from pathlib import Path
from typing import Any, TextIO

from pydantic import ValidationError

from rackwright.catalog.loader import catalogue_of_data
from rackwright.errors import RackwrightError
from rackwright.plan.load import load_data
from rackwright.plan.model import Plan
from rackwright.policy.api import Policy
from rackwright.policy.engine import failure_text
from rackwright.policy.packs.exchange import encode
from rackwright.policy.packs.loader import load_pack, policy_file
from rackwright.policy.result_validation import checked
from rackwright.processes import give_up_looking


def main(folder: Path) -> None:
    """Load the pack in ``folder``, say which rules it has, and answer until the input ends."""
    give_up_looking()
    questions, answers = _take_streams()
    try:
        policies = {policy.id: policy for policy in load_pack(folder)}
    except RackwrightError as error:
        _say(answers, {"refused": _refusal(error)})
        return
    _say(answers, {"rules": [describe(policy) for policy in policies.values()]})
    for line in questions:
        question = json.loads(line)
        if "parameters" in question:
            _say(answers, validate(policies[question["rule"]], question["parameters"]))
        else:
            _say(answers, {"answers": list(judge(policies, question))})


def describe(policy: type[Policy]) -> dict[str, Any]:
    """Return the description of a rule for the engine."""
    return {
        "id": policy.id,
        "title": policy.title,
        "severity": policy.severity,
        "since": policy.since,
        "family": policy.family,
        "enforcement": policy.enforcement,
        "profile": policy.profile,
        "stage": policy.stage,
        "waivable": policy.waivable,
        "mandatory_since": policy.mandatory_since,
        "file": str(policy_file(policy)),
        "fields": list(policy.model_fields),
    }


def validate(policy: type[Policy], parameters: Any) -> dict[str, Any]:
    """Return the values of all parameters of a rule as texts, or what is wrong with those that are given."""
    try:
        made = policy.model_validate(parameters)
    except ValidationError as error:
        wrong = error.errors(include_url=False, include_input=False)
        return {"wrong": [{**detail, "ctx": _texts(detail.get("ctx", {}))} for detail in wrong]}
    return {"values": {name: repr(getattr(made, name)) for name in policy.model_fields}}


def judge(
    policies: Mapping[str, type[Policy]], question: Mapping[str, Any]
) -> Iterator[dict[str, Any]]:
    """Yield the results of each requested rule for the blueprint, or its failure."""
    catalogue = catalogue_of_data(question["catalogue"])
    plan = load_data(question["blueprint"], catalogue=catalogue).plan
    for asked in question["judge"]:
        day = None if asked["day"] is None else date.fromisoformat(asked["day"])
        yield _ask(policies[asked["rule"]].model_validate(asked["parameters"]).on(day), plan)


def _ask(policy: Policy, plan: Plan) -> dict[str, Any]:
    try:
        return {"yields": [encode(checked(item)) for item in policy.check(plan)]}
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a rule that raises must never pass
        return {"failed": failure_text(error, policy)}


def _take_streams() -> tuple[TextIO, TextIO]:
    """Return the input and the output of this process, which rules do not get to see as such."""
    questions = os.fdopen(os.dup(0), "r", encoding="utf-8")
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    with Path(os.devnull).open("rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    os.dup2(2, 1)
    return questions, answers


def _say(answers: TextIO, answer: Mapping[str, Any]) -> None:
    answers.write(json.dumps(answer, default=str) + "\n")
    answers.flush()


def _refusal(error: RackwrightError) -> dict[str, Any]:
    place = error.location
    return {
        "summary": error.summary,
        "hint": error.hint,
        "location": [place.file, place.line, place.column] if place else None,
    }


def _texts(context: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: value if isinstance(value, (str, int, float)) else str(value)
        for name, value in context.items()
    }


if __name__ == "__main__":
    main(Path(sys.argv[1]))
