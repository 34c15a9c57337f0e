"""Published rules of gpud and AzNHC, and their verdicts on the recordings of the fault table."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from rackwright.model.faults import Fault

NOTHING = "–"


@dataclass(frozen=True)
class PublishedRule:
    """A sign that a tool reads, and what it says of it.

    Attributes:
        source: kind of recording that has the sign.
        find: words of the sign in such a recording.
    """

    source: str
    find: str
    says: str


@cache
def tools() -> Mapping[str, Mapping[str, Any]]:
    """Return the tools with their rules and the revision in which these were read."""
    data: Mapping[str, Mapping[str, Any]] = yaml.safe_load(
        Path(__file__).with_suffix(".yaml").read_text()
    )
    return data


@cache
def rules_of(tool: str) -> tuple[PublishedRule, ...]:
    """Return the rules of a tool; those about Xid errors come one by one."""
    data = tools()[tool]
    xids = [
        PublishedRule("kernel", rf"Xid \([^)]*\): {number},", says)
        for says, numbers in data["xids"].items()
        for number in numbers
    ]
    rest = [PublishedRule(rule["in"], rule["find"], rule["says"]) for rule in data["rules"]]
    return (*xids, *rest)


def fitting(tool: str, material: Mapping[str, str]) -> Iterator[PublishedRule]:
    """Yield the rules of a tool whose sign is in a recording."""
    for rule in rules_of(tool):
        if re.search(rule.find, material.get(rule.source, ""), re.MULTILINE):
            yield rule


def recordings_of(fault: Fault) -> list[Mapping[str, str]]:
    """Return the recordings in which a fault is seen."""
    return [
        example.material
        for example in fault.examples
        if example.expect is None or fault.id in example.expect
    ]


def verdict(tool: str, fault: Fault) -> str:
    """Return what a tool says of the recordings of a fault; a dash if it has no rule for any."""
    said = {
        rule.says: None for material in recordings_of(fault) for rule in fitting(tool, material)
    }
    return "; ".join(said) or NOTHING


def takes_out(says: str) -> bool:
    """True if a verdict takes the node out of service; a warning does not."""
    return says.startswith(("fatal", "unhealthy", "NHC", "fails")) or "; fatal" in says
