"""Every example of every built-in policy, and what each policy must come with."""

from __future__ import annotations

import re
from itertools import chain
from typing import Annotated, Any, get_args, get_origin

import pytest
from annotated_types import Ge, Gt, Le, Lt

from rackwright.policy.api import Measure, Outcome, Policy
from rackwright.policy.authoring.checks import shortfalls, spared
from rackwright.policy.authoring.example_docs import HEADING, with_example
from rackwright.policy.authoring.examples import Example, judge, load_examples, run_example
from rackwright.policy.packs.loader import builtin_pack, documentation, load_packs

POLICIES = load_packs()
EXAMPLES = [(policy, example) for policy in POLICIES for example in load_examples(policy)]
SPARED = [policy for policy in POLICIES if spared(documentation(policy).read_text())]
"""Those whose documentation says that they never fail, or can always be decided."""


def ids(pair: tuple[type[Policy], Example]) -> str:
    return f"{pair[0].id} {pair[1].name}"


@pytest.mark.parametrize("pair", EXAMPLES, ids=ids)
def test_example(pair: tuple[type[Policy], Example]) -> None:
    problem = run_example(pair[0], pair[1], builtin_pack())
    assert problem is None, problem


@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: policy.id)
def test_a_policy_comes_with_all_that_is_asked_of_a_team_s(policy: type[Policy]) -> None:
    """Headings, parameters, an example of every kind; fixes and reasons in what those say."""
    assert list(shortfalls(policy, builtin_pack())) == []


@pytest.mark.parametrize("policy", SPARED, ids=lambda policy: policy.id)
def test_a_policy_is_spared_examples_of_what_it_never_says(policy: type[Policy]) -> None:
    """Whatever blueprint it sees: those in which other policies miss something or find fault."""
    never = spared(documentation(policy).read_text())
    foreign = [example for _, example in EXAMPLES if example.kind in never]
    assert len(foreign) > 50
    for example in foreign:
        plain = example.model_copy(update={"parameters": {}})
        said = {result.outcome.value for result in judge(policy, plain, builtin_pack())}
        assert not said & never, example.name


REPEATED = re.compile(
    r"\b(?!Gbps|tokens)([a-z]{4,}?)(s|es)?\b.* (?:is|are) -?[\d,.]+ (?:\w+ )?\1(s|es)?\b(?! (?:is|are))",
    re.I,
)
"""A number whose noun was said before it: "number of controllers is 1 controller"."""


@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: policy.id)
def test_no_finding_repeats_the_noun_of_its_number(policy: type[Policy]) -> None:
    """It said "number of controllers is 1 controller" and "C13 outlets in use is 14 outlets"."""
    assert REPEATED.search("number of controllers is 1 controller; the minimum is 3")
    assert REPEATED.search("C13 outlets in use is 14 outlets; the limit is 12 outlets")
    messages = {
        result.message.partition(";")[0]
        for example in load_examples(policy)
        for result in judge(policy, example, builtin_pack())
    }
    assert [message for message in messages if REPEATED.search(message)] == []


@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: policy.id)
def test_the_example_in_the_documentation_is_what_the_policy_says(policy: type[Policy]) -> None:
    text = documentation(policy).read_text()
    assert HEADING in text
    fresh = with_example(policy, text, builtin_pack())
    assert text == fresh, "run: rackwright policy document policies"


def test_a_value_at_its_limit_passes_and_one_beyond_fails() -> None:
    from rackwright.plan.base import Subject

    at = Subject("x", ())
    assert Measure(at, 10.0, 10.0, "W", "x").outcome is Outcome.PASS
    assert Measure(at, 10.0 + 1e-6, 10.0, "W", "x").outcome is Outcome.FAIL
    assert Measure(at, 10.0, 10.0, "W", "x", sense="at_least").outcome is Outcome.PASS
    assert Measure(at, 10.0 - 1e-6, 10.0, "W", "x", sense="at_least").outcome is Outcome.FAIL
    assert Measure(at, None, 10.0, "W", "x").outcome is Outcome.UNKNOWN
    assert Measure(at, 10.0, None, "W", "x").outcome is Outcome.UNKNOWN


def test_a_boundary_of_numbers_is_exactly_at_the_limit() -> None:
    gaps: dict[str, float] = {}
    for policy, example in EXAMPLES:
        if example.kind == "boundary":
            for result in judge(policy, example, builtin_pack()):
                if result.value is not None and result.limit is not None:
                    gap = abs(result.value - result.limit)
                    gaps[policy.id] = min(gap, gaps.get(policy.id, gap))
    assert len(gaps) > 40
    assert gaps == pytest.approx(dict.fromkeys(gaps, 0), abs=1e-6)


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
