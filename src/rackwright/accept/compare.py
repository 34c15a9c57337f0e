"""Expected against found: pure. What is not known never passes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from rackwright.accept.expected import Comparing, Expectation, HostExpectations
from rackwright.exit_codes import ExitCode

REACHABLE = "reachable"
"""The item that fails on a host that does not answer."""

UNSCHEDULABLE = ("DRAIN", "DOWN", "FAIL", "MAINT", "UNKNOWN", "NOT_RESPONDING", "REBOOT", "POWER",
                 "FUTURE", "INVAL", "PLANNED_DOWN")  # fmt: skip
"""Words of a node's state, as ``scontrol`` prints it, with which it gets no job."""

SCHEDULABLE = frozenset({"IDLE", "MIXED", "ALLOCATED", "COMPLETING"})
"""Base states in which a node works."""


class ItemOutcome(StrEnum):
    """Outcome of one item."""

    PASS = "pass"  # noqa: S105 - not a password
    FAIL = "fail"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class ItemResult:
    """One item of a host.

    Attributes:
        expected: as it is shown, with its unit; None where nobody has said it.
        found: as it is shown; None where it could not be found out.
        reason: of anything that does not pass, on one line.
    """

    item: str
    outcome: ItemOutcome
    expected: str | None
    found: str | None
    tolerance: str | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class HostAcceptance:
    """A host with the results of all its items; ``node`` as in its expectations."""

    name: str
    node: str | None
    items: tuple[ItemResult, ...]

    @property
    def outcome(self) -> ItemOutcome:
        """Fail before unknown before pass; a host without items is unknown."""
        return _worst(item.outcome for item in self.items)

    @property
    def failures(self) -> tuple[ItemResult, ...]:
        """Items that fail."""
        return tuple(item for item in self.items if item.outcome is ItemOutcome.FAIL)


@dataclass(frozen=True, slots=True)
class Acceptance:
    """All hosts."""

    hosts: tuple[HostAcceptance, ...]

    @property
    def outcome(self) -> ItemOutcome:
        """The worst of the hosts'."""
        return _worst(host.outcome for host in self.hosts)

    @property
    def exit_code(self) -> ExitCode:
        """5 when anything fails, 6 when something is unknown, 0 when everything passes."""
        codes = {
            ItemOutcome.PASS: ExitCode.CLEAN,
            ItemOutcome.FAIL: ExitCode.VIOLATION,
            ItemOutcome.UNKNOWN: ExitCode.UNKNOWN,
        }
        return codes[self.outcome]


def _worst(outcomes: Iterable[ItemOutcome]) -> ItemOutcome:
    seen = set(outcomes)
    for outcome in (ItemOutcome.FAIL, ItemOutcome.UNKNOWN, ItemOutcome.PASS):
        if outcome in seen:
            return outcome
    return ItemOutcome.UNKNOWN


def compare(
    expected: Sequence[HostExpectations],
    facts: Mapping[str, Mapping[str, Any]],
    unreachable: Mapping[str, str],
) -> Acceptance:
    """Return the results of all hosts.

    Args:
        expected: what each host must have.
        facts: what the collector found, by the host's name.
        unreachable: hosts of which there are no facts, with the reason.
    """
    return Acceptance(
        tuple(_compare_host(host, facts.get(host.name), unreachable) for host in expected)
    )


def _compare_host(
    host: HostExpectations, facts: Mapping[str, Any] | None, unreachable: Mapping[str, str]
) -> HostAcceptance:
    if facts is None:
        reason = unreachable.get(host.name, "its collector has not answered")
        first = ItemResult(REACHABLE, ItemOutcome.FAIL, "answers", "no answer", reason=reason)
        others = [
            ItemResult(
                item.item, ItemOutcome.UNKNOWN, _shown(item), None, item.tolerance, NO_ANSWER
            )
            for item in host.items
        ]
        return HostAcceptance(host.name, host.node, (first, *others))
    first = ItemResult(REACHABLE, ItemOutcome.PASS, "answers", "answers")
    items = [compare_item(item, facts) for item in host.items]
    return HostAcceptance(host.name, host.node, (first, *items))


NO_ANSWER = "the host did not answer"


def compare_item(item: Expectation, facts: Mapping[str, Any]) -> ItemResult:
    """Return the result of one item of a host with ``facts``."""
    shown = _shown(item)
    found = _find(facts, item.key)
    mount = item.key[0] == "mounts" and isinstance(facts.get("mounts"), Mapping)
    if found is None and mount and item.key[1] in facts["mounts"]:
        found = "nothing is mounted"
    if item.expected is None:
        reason = "neither blueprint nor catalogue says what is expected"
        text = None if found is None else _text(found, item.unit)
        return ItemResult(item.item, ItemOutcome.UNKNOWN, None, text, item.tolerance, reason)
    if found is None:
        why = missing_reason(facts, item.key)
        return ItemResult(item.item, ItemOutcome.UNKNOWN, shown, None, item.tolerance, why)
    try:
        passes, told = _judge(item, found)
    except (KeyError, TypeError, ValueError):  # never taken for a pass
        why = "the host tells something that cannot be read"
        return ItemResult(item.item, ItemOutcome.UNKNOWN, shown, str(found), item.tolerance, why)
    if passes:
        return ItemResult(item.item, ItemOutcome.PASS, shown, told, item.tolerance)
    reason = _complaint(item, told)
    return ItemResult(item.item, ItemOutcome.FAIL, shown, told, item.tolerance, reason)


def _judge(item: Expectation, found: Any) -> tuple[bool, str]:
    """Return True if ``found`` is as expected, with the text that shows it.

    Raises:
        KeyError: ``found`` lacks what is said of ports.
        TypeError: ``found`` is of another type than what is expected.
        ValueError: ``item`` has no least value that it needs, or ``found`` is no number where one
            is needed.
    """
    expected = item.expected
    match item.rule:
        case Comparing.EQUAL:
            if isinstance(expected, int) != isinstance(found, int) or isinstance(found, bool):
                raise TypeError(found)
            return found == expected, _text(found, item.unit)
        case Comparing.AT_LEAST:
            if item.least is None:
                raise ValueError(item.item)
            return float(found) >= item.least, _text(found, item.unit)
        case Comparing.WORD:
            names = sorted({str(name) for name in found})
            word = str(expected).lower()
            good = bool(names) and all(_names(word, name) for name in names)
            return good, ", ".join(names) or "none"
        case Comparing.VERSION | Comparing.RELEASE:
            return _same_version(str(expected), str(found), item.rule), str(found)
        case Comparing.SCHEDULABLE:
            return _takes_jobs(str(found)), str(found)
        case Comparing.PORTS:
            rates = [float(rate) for rate in found["rates_gbps"]]
            right = sum(rate == item.rate_gbps for rate in rates)
            others = len(rates) - right
            more = [f"{others} at another rate"] if others else []
            more += [f"{found['inactive']} inactive"] if found["inactive"] else []
            return right >= float(expected or 0), ", ".join([f"{right} active", *more])


def _names(word: str, name: str) -> bool:
    """Return True if adjacent words of ``name`` make up ``word``: ``RTX PRO 6000``."""
    words = re.findall(r"[a-z0-9]+", name.lower())
    ends = range(len(words) + 1)
    return any("".join(words[i:j]) == word for i in ends for j in ends[i + 1 :])


def _same_version(expected: str, found: str, rule: Comparing) -> bool:
    """Return True if ``found`` is ``expected``, apart from the part behind the next separator."""
    separators = "-+~." if rule is Comparing.RELEASE else "-+~"
    return found == expected or (found.startswith(expected) and found[len(expected)] in separators)


def _takes_jobs(state: str) -> bool:
    """Return True if a node in ``state`` (``IDLE``, ``MIXED+DRAIN``, ``DOWN*``) gets jobs.

    Slurm marks with ``*`` a node that does not answer.
    """
    base, *flags = state.rstrip("*").upper().split("+")
    bad = [f for f in flags for word in UNSCHEDULABLE if f.rstrip("*").startswith(word)]
    return base in SCHEDULABLE and not bad and "*" not in state


def _complaint(item: Expectation, told: str) -> str:
    """Return text like ``7 of 8 accelerators``, so that it can stand as Slurm's reason."""
    if item.expected == 0:
        return f"{told} {item.item}, none are allowed"
    if item.rule is Comparing.EQUAL and isinstance(item.expected, int):
        return f"{told} of {item.expected} {item.item}"
    if item.rule is Comparing.PORTS:
        rest = item.item.removeprefix("ports ")
        return f"{told.split(maxsplit=1)[0]} of {item.expected} {rest} ports active"
    return f"{item.item} is {told}, not {_shown(item)}"


LARGE = 10_000
"""From here on decimals say nothing."""


def _shown(item: Expectation) -> str | None:
    return None if item.expected is None else _text(item.expected, item.unit)


def _text(value: Any, unit: str) -> str:
    text = str(value)
    if isinstance(value, float):
        text = f"{value:,.0f}" if value >= LARGE else f"{value:.1f}".removesuffix(".0")
    return f"{text} {unit}" if unit else text


def _find(facts: Mapping[str, Any], key: tuple[str, ...]) -> Any:
    found: Any = facts
    for part in key:
        if not isinstance(found, Mapping):
            return None
        found = found.get(part)
    return found


def missing_reason(facts: Mapping[str, Any], key: tuple[str, ...]) -> str:
    """Return the reason why a fact is missing, in the words of its collector."""
    problems = facts.get("problems") or {}
    return str(problems.get(".".join(key)) or problems.get(key[0]) or "the host does not tell")


def drain_reason(host: HostAcceptance) -> str:
    """Return the reason for draining a host, for Slurm: one short line.

    What a host has told may be in it, and Ansible must not take that for a template.
    """
    words = "; ".join(item.reason or item.item for item in host.failures)
    text = re.sub(r"[^\x20-\x7e]|[\"'\\={}]", " ", f"rackwright verify: {words}")
    return text[:LONGEST_DRAIN_REASON].rstrip()


LONGEST_DRAIN_REASON = 200


def to_drain(acceptance: Acceptance) -> Mapping[str, str]:
    """Return the nodes of Slurm that fail, with the reason.

    A node that only fails because Slurm gives it no jobs is out of service already.
    """
    return {
        host.node: drain_reason(host)
        for host in acceptance.hosts
        if host.node is not None and any(item.item != "Slurm state" for item in host.failures)
    }
