"""Every result can be told from the others; policies that judge declarations."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from rackwright.plan.base import Subject
from rackwright.plan.load import load_plan
from rackwright.policy.api import Outcome
from rackwright.policy.engine import Result, evaluate
from rackwright.policy.helpers.attestation import declared
from rackwright.policy.packs.loader import builtin_pack, load_packs

FAMILIES = ("security", "operations", "iac")
FIXTURES = sorted((builtin_pack() / "fixtures").glob("*.yaml"))


def results(path: Path, families: tuple[str, ...] = ()) -> tuple[Result, ...]:
    policies = [policy() for policy in load_packs() if not families or policy.family in families]
    return evaluate(load_plan(path).plan, policies, {}, lambda _: None).results


@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: path.stem)
def test_no_two_results_share_a_fingerprint(path: Path) -> None:
    found = Counter(result.fingerprint for result in results(path))
    assert [key for key, count in found.items() if count > 1] == []


def test_declared_facts_pass_except_for_the_pin() -> None:
    path = builtin_pack() / "fixtures" / "operated.yaml"
    outcomes = {
        (r.policy, r.outcome) for r in results(path, FAMILIES) if r.outcome is not Outcome.PASS
    }
    assert outcomes == {
        ("IAC-003", Outcome.NOT_APPLICABLE),
        ("IAC-004", Outcome.UNKNOWN),
        ("OPS-006", Outcome.NOT_APPLICABLE),
        ("OPS-007", Outcome.NOT_APPLICABLE),
    }


@pytest.mark.parametrize(
    ("value", "ok", "message"),
    [(True, True, "the door is shut"), (False, False, "it stands open"),
     (None, None, "whether the door is shut")],
)  # fmt: skip
def test_a_declaration_is_yes_no_or_nothing(value: bool | None, ok: bool, message: str) -> None:
    found = declared(
        Subject("x", ()),
        value=value,
        yes="the door is shut",
        no="it stands open",
        missing="'door'",
        fix="shut it",
    )
    assert (found.ok, found.message) == (ok, message)
    assert found.missing == (("'door'",) if value is None else ())
    assert found.fix == ("shut it" if value is False else None)
