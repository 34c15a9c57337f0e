"""Every example of every built-in policy, and what each policy must come with."""

from __future__ import annotations

import re
from itertools import chain
from typing import Annotated, Any, get_args, get_origin

import pytest
from annotated_types import Ge, Gt, Le, Lt

from rackwright.policy.api import Measure, Outcome, Policy
from rackwright.policy.examples import KINDS, Example, judge, load_examples, run_example
from rackwright.policy.exemplify import HEADING, with_example
from rackwright.policy.packs import builtin_pack, documentation, load_packs

POLICIES = load_packs()
EXAMPLES = [(policy, example) for policy in POLICIES for example in load_examples(policy)]
HEADINGS = ("What it does", "Why", "Source", "How to fix")
ALWAYS_DECIDED = "there is always an answer"
"""What the documentation of a policy says that can always be decided; it needs no example."""
NEVER_FAILS = "This policy never fails"


def ids(pair: tuple[type[Policy], Example]) -> str:
    return f"{pair[0].id} {pair[1].name}"


@pytest.mark.parametrize("pair", EXAMPLES, ids=ids)
def test_example(pair: tuple[type[Policy], Example]) -> None:
    problem = run_example(pair[0], pair[1], builtin_pack())
    assert problem is None, problem


def spared(policy: type[Policy]) -> set[str]:
    """Kinds of examples that a policy cannot have, by its documentation."""
    text = documentation(policy).read_text()
    kinds = {"unknown"} if ALWAYS_DECIDED in " ".join(text.split()) else set()
    return kinds | ({"fail"} if NEVER_FAILS in text else set())


@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: policy.id)
def test_a_policy_has_examples_of_every_kind(policy: type[Policy]) -> None:
    kinds = {example.kind for example in load_examples(policy)}
    assert set(KINDS) - spared(policy) <= kinds


@pytest.mark.parametrize(
    "policy", [policy for policy in POLICIES if spared(policy)], ids=lambda policy: policy.id
)
def test_a_policy_is_spared_examples_of_what_it_never_says(policy: type[Policy]) -> None:
    """Whatever blueprint it sees: those in which other policies miss something or find fault."""
    never = spared(policy)
    for _, example in EXAMPLES:
        if example.kind in never:
            foreign = example.model_copy(update={"parameters": {}})
            said = {result.outcome.value for result in judge(policy, foreign, builtin_pack())}
            assert not said & never, example.name


@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: policy.id)
def test_a_policy_is_documented(policy: type[Policy]) -> None:
    text = documentation(policy).read_text()
    assert text.startswith(f"# {policy.id}: ")
    for heading in HEADINGS:
        assert f"\n## {heading}\n" in text, heading
    for name in policy.model_fields:
        assert f"`{name}`" in text, f"the parameter {name} is not documented"


@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: policy.id)
def test_the_example_in_the_documentation_is_what_the_policy_says(policy: type[Policy]) -> None:
    text = documentation(policy).read_text()
    assert HEADING in text
    fresh = with_example(policy, text, builtin_pack())
    assert text == fresh, "run: rackwright policy document policies"


@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: policy.id)
def test_a_failing_measure_says_how_to_fix_it(policy: type[Policy]) -> None:
    for example in load_examples(policy):
        for result in judge(policy, example, builtin_pack()):
            if result.outcome is Outcome.FAIL:
                assert result.fix, f"{example.name}: {result.message}"
                assert re.search(r"[a-z]", result.fix)
            if result.outcome is Outcome.UNKNOWN:
                assert result.missing, f"{example.name}: {result.message}"


def test_a_value_at_its_limit_passes_and_one_beyond_fails() -> None:
    from rackwright.plan.model import Subject

    at = Subject("x", ())
    assert Measure(at, 10.0, 10.0, "W", "x").outcome is Outcome.PASS
    assert Measure(at, 10.0 + 1e-6, 10.0, "W", "x").outcome is Outcome.FAIL
    assert Measure(at, 10.0, 10.0, "W", "x", sense="at_least").outcome is Outcome.PASS
    assert Measure(at, 10.0 - 1e-6, 10.0, "W", "x", sense="at_least").outcome is Outcome.FAIL
    assert Measure(at, None, 10.0, "W", "x").outcome is Outcome.UNKNOWN
    assert Measure(at, 10.0, None, "W", "x").outcome is Outcome.UNKNOWN


@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: policy.id)
def test_a_boundary_of_numbers_is_exactly_at_the_limit(policy: type[Policy]) -> None:
    gaps = [
        abs(result.value - result.limit)
        for example in load_examples(policy)
        if example.kind == "boundary"
        for result in judge(policy, example, builtin_pack())
        if result.value is not None and result.limit is not None
    ]
    assert not gaps or min(gaps) == pytest.approx(0, abs=1e-6)


PARAMETERS = [
    pytest.param(field.annotation, field.metadata, id=f"{policy.id} {name}")
    for policy in POLICIES
    for name, field in policy.model_fields.items()
]


@pytest.mark.parametrize(("kind", "metadata"), PARAMETERS)
def test_a_parameter_is_one_of_some_words_or_has_two_ends(kind: Any, metadata: list[Any]) -> None:
    if get_origin(kind) is Annotated:
        kind, metadata = kind.__origin__, [*kind.__metadata__]
    assert kind is not str
    if kind in {int, float}:
        inner = [getattr(one, "metadata", [one]) for one in metadata]
        ends = {type(one) for one in chain.from_iterable(inner)}
        assert ends & {Ge, Gt}
        assert ends & {Le, Lt}
    for part in get_args(kind) if get_origin(kind) in {tuple, dict, frozenset} else ():
        test_a_parameter_is_one_of_some_words_or_has_two_ends(part, [])
