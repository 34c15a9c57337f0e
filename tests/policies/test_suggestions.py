"""What built-in policies suggest: the finding is gone once the blueprint has the value."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rackwright.catalog.loader import load_catalogue
from rackwright.plan.load import plan_tree
from rackwright.policy.api import Outcome, Policy, Suggestion
from rackwright.policy.authoring.examples import document, judge, judge_plan, load_examples
from rackwright.policy.engine import Result
from rackwright.policy.packs.loader import builtin_pack, load_packs
from rackwright.reading.tree import Path

SUGGESTING = {
    "AWS-001", "AWS-006", "AWS-008", "COOL-006", "IAC-001", "IAC-002", "NET-014", "OPS-001",
    "OPS-002", "OPS-004", "SCH-001", "SCH-004", "SCH-005", "SEC-003",
}  # fmt: skip
"""The policies for whose failures one value is certain, by their own examples.

The examples of the rules about racks have no spare rack that could take what is too much; these are
in ``tests/unit/policy/test_autofix.py``.
"""
FAILING = [
    (policy, example)
    for policy in load_packs()
    for example in load_examples(policy)
    if example.expect.outcome is Outcome.FAIL
]
POLICIES = sorted({policy for policy, _ in FAILING}, key=lambda policy: policy.id)


def suggestions(results: tuple[Result, ...]) -> dict[str, Suggestion]:
    return {r.fingerprint: r.suggest for r in results if r.suggest}


def with_value(data: object, path: Path, value: object) -> object:
    """``data`` as a layer would change it; lists are given by position, so they are given whole."""
    if not path:
        return value
    first, *rest = path
    if isinstance(data, list):
        assert isinstance(first, int)
        changed = with_value(data[first], tuple(rest), value)
        return [changed if n == first else item for n, item in enumerate(data)]
    assert isinstance(data, dict)
    return data | {first: with_value(data.get(first, {}), tuple(rest), value)}


@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: policy.id)
def test_a_suggested_value_mends_its_finding(policy: type[Policy]) -> None:
    """For every example that fails; in each policy that suggests at all, one example does."""
    found = 0
    for example in (example for p, example in FAILING if p is policy):
        before = judge(policy, example, builtin_pack())
        for name, suggestion in suggestions(before).items():
            found += 1
            tree = document(example, builtin_pack())
            data = with_value(tree.data, suggestion.path, suggestion.value)
            changed = replace(tree, data=data)
            planned = plan_tree(changed, load_catalogue().patched(example.catalogue))
            after = judge_plan(policy, example, changed, planned)
            still = [r for r in after if r.fingerprint == name and r.outcome is Outcome.FAIL]
            assert not still, (example.name, suggestion, still[0].message)
    assert (found > 0) == (policy.id in SUGGESTING)
