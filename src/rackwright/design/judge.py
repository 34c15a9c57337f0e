"""The policies as judge of layouts, and the part of their verdict that tells which layouts to leave out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from rackwright.design.document import Builder, RackLayout
from rackwright.plan.load import LoadedPlan, plan_tree
from rackwright.policy.api import Enforcement, Outcome
from rackwright.policy.check import check_plan
from rackwright.policy.engine import Report, Result
from rackwright.policy.packs.process import judging_rules
from rackwright.reading.tree import Tree

_MONOTONE = ("COOL-", "PWR-", "RACK-", "CST-001", "CST-002")
"""Rules by which what is too much stays so with more racks."""
_NOT_MONOTONE = frozenset({"COOL-010", "PWR-005"})
"""Of those, the ones that judge a share or a ratio, which more racks may fix."""
_OF_A_RACK = frozenset(
    {
        *("COOL-003", "COOL-006", "COOL-008", "COOL-009"),
        *("PWR-001", "PWR-002", "PWR-003", "PWR-004", "PWR-008", "PWR-010", "PWR-012", "PWR-015"),
    }
)
"""Beside those whose names begin with RACK, the rules that look at a rack and at nothing around it."""
_WHATEVER_STANDS = ("AWS-", "CAT-", "IAC-", "OPS-", "SEC-")
"""Rules about which no layout changes anything."""
_POWER = frozenset({"PWR-006"})
_COOLING = frozenset({"COOL-001", "COOL-002", "COOL-004"})
_RESERVED_UNITS = frozenset({"CFM", "L/min", "W"})

Known = tuple[str, str, str]
"""Rule, subject and unit of a measure."""


@dataclass(frozen=True)
class LayoutVerdict:
    """Verdict of the policies on a layout.

    Attributes:
        report: all of it.
        refused: what blocks it, the reserves included.
        unknown: what blocks it because a number is missing.
    """

    report: Report
    refused: tuple[Result, ...]
    unknown: tuple[Result, ...]

    @property
    def enforced(self) -> frozenset[str]:
        """The rules that block."""
        results = self.report.results
        return frozenset(one.policy for one in results if one.enforcement is Enforcement.MANDATORY)

    @property
    def passes(self) -> bool:
        """True if nothing blocks the layout."""
        return not self.refused and not self.unknown


def is_monotone(policy: str) -> bool:
    """Return True if a layout that fails a rule fails it with more racks as well."""
    return policy.startswith(_MONOTONE) and policy not in _NOT_MONOTONE


def is_about_a_rack(policy: str) -> bool:
    """Return True if a rule gives the same result for a rack, whatever stands beside it."""
    return policy.startswith("RACK-") or policy in _OF_A_RACK


def is_about_layouts(policy: str) -> bool:
    """Return True if the result of a rule may differ for another layout."""
    return not policy.startswith(_WHATEVER_STANDS)


def excess_of(result: Result) -> float | None:
    """Return by how much a measure that has a highest value is above it; None of anything else."""
    if result.value is None or result.limit is None:
        return None
    return result.value - result.limit


def name_of(result: Result) -> Known:
    """Return the identity of a measure, the same in each layout."""
    return result.policy, result.subject.name, result.unit


class Judge:
    """Judges layouts of one facility."""

    def __init__(self, builder: Builder, packs: Sequence[Path] = ()) -> None:
        """Prepare the facility of ``builder``, with the rules of ``packs`` beside the built-in ones."""
        self.builder, self._packs = builder, tuple(packs)

    def of(self, builder: Builder) -> Judge:
        """Return the judge of another facility, by the same rules."""
        return Judge(builder, self._packs)

    def load(self, tree: Tree) -> LoadedPlan:
        """Return the plan of a blueprint.

        Raises:
            SpecErrors: it is not valid.
        """
        return plan_tree(tree, self.builder.catalogue)

    def judge(self, layout: RackLayout) -> LayoutVerdict:
        """Return the verdict of all policies on the blueprint of ``layout``.

        Raises:
            SpecErrors: the blueprint is not valid.
        """
        return self._verdict(self.load(self.builder.blueprint(layout)))

    def trial(self, loaded: LoadedPlan) -> LayoutVerdict:
        """Return the verdict on one rack of those policies that give the same result for it among others."""
        return self._verdict(loaded, only=self._monotone)

    def excesses(self, layout: RackLayout, policies: Iterable[str]) -> Mapping[Known, float]:
        """Return by how much each measure of ``policies`` is above its limit; below, where it is negative.

        Raises:
            SpecErrors: the blueprint is not valid.
        """
        verdict = self._verdict(
            self.load(self.builder.blueprint(layout)), only=tuple(sorted(set(policies)))
        )
        found: dict[Known, float] = {}
        for result in verdict.report.results:
            excess = excess_of(result)
            if excess is not None:
                name = name_of(result)
                found[name] = max(excess, found.get(name, excess))
        return found

    def switches(self, layout: RackLayout) -> tuple[tuple[str, tuple[int, ...]], ...]:
        """Return each fabric of the blueprint of ``layout`` with the switches of its tiers.

        Raises:
            SpecErrors: the blueprint is not valid.
        """
        (site,) = self.load(self.builder.blueprint(layout)).plan.onprem
        return tuple((fabric.name, fabric.switches) for fabric in site.fabrics)

    @cached_property
    def _monotone(self) -> tuple[str, ...]:
        return tuple(rule.id for rule in judging_rules(self._packs) if is_monotone(rule.id))

    def _verdict(self, loaded: LoadedPlan, *, only: Sequence[str] = ()) -> LayoutVerdict:
        report = check_plan(loaded, packs=self._packs, only=only)
        report = replace(report, results=tuple(map(self._reserved, report.results)))
        blocking = [result for result in report.results if result.blocks]
        unknown = tuple(one for one in blocking if one.outcome is Outcome.UNKNOWN)
        refused = tuple(one for one in blocking if one.outcome is not Outcome.UNKNOWN)
        return LayoutVerdict(report, refused, unknown)

    def _reserved(self, result: Result) -> Result:
        """Return a measure against what the reserve leaves of its limit."""
        reserve = self.builder.document.wanted.reserve
        share = 0.0
        if result.unit in _RESERVED_UNITS and result.policy in _POWER:
            share = reserve.power
        elif result.unit in _RESERVED_UNITS and result.policy in _COOLING:
            share = reserve.cooling
        if not share or result.limit is None or result.value is None:
            return result
        # A reserve that is asked for is kept, whether or not the rule blocks by itself.
        result = replace(result, enforcement=Enforcement.MANDATORY)
        assert result.limit is not None  # noqa: S101 - as above
        assert result.value is not None  # noqa: S101
        limit = result.limit * (1 - share / 100)
        over = result.value > limit * (1 + 1e-9)
        if not over:
            return replace(result, limit=limit)
        message = result.message
        if result.outcome is Outcome.PASS:
            message = f"{message}; {share:g} % are to stay free"
        return replace(result, limit=limit, outcome=Outcome.FAIL, message=message)
