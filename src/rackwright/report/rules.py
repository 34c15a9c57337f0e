"""The documentation of rules, as reports carry it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from rackwright.policy.api import Policy, Severity
from rackwright.policy.packs.loader import documentation


@dataclass(frozen=True, slots=True)
class RuleText:
    """Text of a report about a rule.

    Attributes:
        summary: its first paragraph, in one line.
        markdown: all of its ``.md``.
    """

    id: str
    title: str
    severity: Severity
    family: str
    since: str
    summary: str
    markdown: str


def read_rules(policies: Iterable[type[Policy]]) -> Mapping[str, RuleText]:
    """Return the texts of ``policies`` by id, read from the ``.md`` beside each."""
    return {policy.id: _read(policy) for policy in policies}


def _read(policy: type[Policy]) -> RuleText:
    text = documentation(policy).read_text(encoding="utf-8")
    return RuleText(
        id=policy.id,
        title=policy.title,
        severity=policy.severity,
        family=policy.family,
        since=policy.since,
        summary=first_paragraph(text) or policy.title,
        markdown=text.strip(),
    )


def first_paragraph(markdown: str) -> str:
    """Return the first paragraph that is no heading, in one line; empty when there is none."""
    for block in re.split(r"\n\s*\n", markdown.strip()):
        lines = [line.strip() for line in block.splitlines() if not line.startswith("#")]
        if text := " ".join(filter(None, lines)):
            return text
    return ""
