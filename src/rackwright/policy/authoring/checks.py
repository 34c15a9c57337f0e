"""Checks of a policy's parts: documentation with its headings, examples of every kind."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from rackwright.plan.missing import fields_of
from rackwright.policy.api import Outcome, Policy
from rackwright.policy.authoring.examples import KINDS, judge, load_examples
from rackwright.policy.packs.loader import documentation

HEADINGS = ("What it does", "Why", "Source", "How to fix")
ALWAYS_DECIDED = ("is never unknown", "there is always an answer")
"""Sentences that spare a policy the example of kind `unknown`; the second is that of older packs."""
NEVER_FAILS = "This policy never fails"


def shortfalls(policy: type[Policy], pack: Path) -> Iterator[str]:
    """Yield the parts that ``policy`` lacks.

    Raises:
        SpecErrors: its examples cannot be read.
    """
    text = documentation(policy).read_text(encoding="utf-8")
    if not text.startswith(f"# {policy.id}: "):
        yield f"its documentation does not begin with '# {policy.id}: '"
    for heading in HEADINGS:
        if f"\n## {heading}\n" not in text:
            yield f"its documentation lacks '## {heading}'"
    for name in policy.model_fields:
        if f"`{name}`" not in text:
            yield f"its documentation does not name the parameter '{name}'"
    examples = load_examples(policy)
    needed = set(KINDS) - spared(text)
    for kind in KINDS:
        if kind in needed and all(example.kind != kind for example in examples):
            yield f"it has no example of kind '{kind}'"
    for example in examples:
        for result in judge(policy, example, pack):
            if result.outcome is Outcome.FAIL and not result.fix:
                yield f"'{example.name}' fails without a fix: {result.message}"
            if result.outcome is Outcome.UNKNOWN and not result.missing:
                yield f"'{example.name}' is unknown and does not say why: {result.message}"
            for text in result.missing if result.outcome is Outcome.UNKNOWN else ():
                if not fields_of(text):
                    yield f"'{example.name}' does not say which field would tell: {text}"


def spared(text: str) -> set[str]:
    """Return the kinds of examples that a policy cannot have, by the text of its documentation."""
    plain = " ".join(text.split())
    kinds = {"unknown"} if any(one in plain for one in ALWAYS_DECIDED) else set()
    return kinds | ({"fail"} if NEVER_FAILS in text else set())
