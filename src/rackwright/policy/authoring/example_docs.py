"""The ``## Example`` of a policy's documentation: what the policy really says, never typed by hand."""

from __future__ import annotations

import textwrap
from pathlib import Path

from rackwright.errors import UsageError
from rackwright.policy.api import Outcome, Policy
from rackwright.policy.authoring.examples import (
    Example,
    judge,
    load_examples,
    matching,
    run_example,
)
from rackwright.policy.engine import Result

HEADING = "## Example"
_NEXT = "## How to fix"
_WIDTH = 100
_MOST_NAMED = 160
"""Longest list of contributors that an example shows."""


def with_example(policy: type[Policy], text: str, pack: Path) -> str:
    """Return ``text``, the documentation of ``policy``, with the example as the policy gives it now.

    The first example that fails is shown; of a policy that never fails, the first one.

    Raises:
        UsageError: the policy has no example, or the example is not what the policy says.
        SpecErrors: its examples cannot be read.
    """
    before, _, rest = text.partition(f"\n{HEADING}\n")
    if rest:
        _, _, after = rest.partition(f"\n{_NEXT}\n")
    else:
        before, _, after = text.partition(f"\n{_NEXT}\n")
    shown = _section(policy, pack)
    return f"{before.rstrip()}\n\n{HEADING}\n\n{shown}\n\n{_NEXT}\n{after}"


def _section(policy: type[Policy], pack: Path) -> str:
    examples = load_examples(policy)
    if not examples:
        raise UsageError(f"{policy.id} has no example to show")
    chosen = next((example for example in examples if example.kind == "fail"), examples[0])
    if problem := run_example(policy, chosen, pack):
        raise UsageError(f"{policy.id}: the example '{chosen.name}' does not hold: {problem}")
    found = matching(chosen, judge(policy, chosen, pack))[0]
    return f"{_sentence(chosen)}\n\n{_block(found)}"


def _sentence(example: Example) -> str:
    text = f"The example '{example.name}' on the blueprint `fixtures/{example.base}.yaml`:"
    return textwrap.fill(text, _WIDTH, break_long_words=False, break_on_hyphens=False)


def _block(result: Result) -> str:
    lines = [f"{result.subject.name}: {result.outcome}", *_wrapped(result.message)]
    parts = [f"{c.count} × {c.name}" for c in result.contributors]
    if parts and len(because := " + ".join(parts)) <= _MOST_NAMED:
        lines += _wrapped(f"because {because}")
    if result.outcome is Outcome.FAIL and result.fix:
        lines += _wrapped(f"fix: {result.fix}")
    return "\n".join(["```text", *lines, "```"])


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(
        text,
        _WIDTH,
        initial_indent="  ",
        subsequent_indent="    ",
        break_long_words=False,
        break_on_hyphens=False,
    )
