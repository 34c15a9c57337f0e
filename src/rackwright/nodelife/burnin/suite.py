"""The suite: load on each node, comparison of equal nodes, and collectives over groups that grow."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

from rackwright.accept.all_reduce import FACT
from rackwright.harmless import counted
from rackwright.nodelife.burnin.bisection import Search, bisect
from rackwright.nodelife.burnin.corruption import odd_ones
from rackwright.nodelife.burnin.groups import (
    KINDS,
    BurnInNode,
    GroupKind,
    GroupUnderTest,
    groups_of,
)
from rackwright.nodelife.burnin.limits import Judged, RateFloor, RateOutcome, judge
from rackwright.nodelife.burnin.results import (
    Digest,
    LoadReport,
    Measured,
    PartUnderTest,
    WrongResult,
    read_report,
)
from rackwright.nodelife.ledger import Ledger, StoredRate
from rackwright.plan.model import Plan

ALL_REDUCE = "all-reduce"
WITHOUT_ACCELERATORS = frozenset({"accelerators"})
"""Problems that are none on hosts of a lab, which only pose as having accelerators."""


class SuiteVerdict(StrEnum):
    """Outcome of a node or a group."""

    PASS = "pass"  # noqa: S105 - not a password
    FAIL = "fail"
    UNKNOWN = "unknown"


class Jobs(Protocol):
    """Jobs of Slurm."""

    def load(self, nodes: Sequence[BurnInNode], request: Mapping[str, Any]) -> Mapping[str, dict[str, Any] | str]:  # fmt: skip
        """Run the program on each node; its report, or the reason why there is none."""

    def all_reduce(self, groups: Sequence[Sequence[BurnInNode]]) -> Sequence[Mapping[str, Any]]:
        """Run a collective over each group; facts of :mod:`rackwright.accept.all_reduce`."""


@dataclass
class NodeResult:
    """Results of one node.

    Attributes:
        problems: steps that gave no result, with the reason: what is not known never passes.
    """

    node: BurnInNode
    faults: list[WrongResult] = field(default_factory=list)
    judged: list[Judged] = field(default_factory=list)
    problems: dict[str, str] = field(default_factory=dict)

    @property
    def verdict(self) -> SuiteVerdict:
        """Fail before unknown before pass; a node of which nothing was measured is unknown."""
        if self.faults or any(one.outcome is RateOutcome.FAIL for one in self.judged):
            return SuiteVerdict.FAIL
        if self.problems or not self.judged:
            return SuiteVerdict.UNKNOWN
        limited = {one.measured.part for one in self.judged if one.outcome is RateOutcome.PASS}
        gpus = {one.measured.part for one in self.judged if one.measured.part.kind == "gpu"}
        return SuiteVerdict.PASS if gpus <= limited else SuiteVerdict.UNKNOWN

    @property
    def reasons(self) -> tuple[str, ...]:
        """Reasons that the node does not pass, the worst first."""
        found = [f"{one.part.name}: {one.name}: {one.text}" for one in self.faults]
        for one in self.judged:
            if one.outcome is RateOutcome.FAIL and one.limit is not None:
                rate = one.measured
                found.append(
                    f"{rate.part.name}: {rate.name} is {rate.value:g} {rate.unit}, at least {one.limit.least:g} is needed"
                )
        found += [f"{name}: {why}" for name, why in self.problems.items()]
        if not found and self.verdict is SuiteVerdict.UNKNOWN:
            found.append("no limit is known for its accelerators")
        return tuple(found)


@dataclass(frozen=True, slots=True)
class GroupResult:
    """Result of one group.

    Attributes:
        value: bus bandwidth in GB/s; None if the run failed.
        limit: least bandwidth in GB/s; None where the blueprint states none.
        search: for the nodes at fault, where the group is too slow.
        problem: reason for a missing value.
    """

    group: GroupUnderTest
    value: float | None
    limit: float | None
    search: Search | None = None
    problem: str | None = None

    @property
    def verdict(self) -> SuiteVerdict:
        """Unknown without a value or a limit."""
        if self.value is None or self.limit is None:
            return SuiteVerdict.UNKNOWN
        return SuiteVerdict.PASS if self.value >= self.limit else SuiteVerdict.FAIL


@dataclass(frozen=True, slots=True)
class Suite:
    """Results of all nodes and groups.

    Attributes:
        began: seconds since the epoch; ``ended`` likewise.
        hours: load on each node that was asked for.
        lab: the hosts only pose as having accelerators, whose steps are not judged.
    """

    cluster: str
    began: float
    ended: float
    hours: float
    nodes: tuple[NodeResult, ...]
    groups: tuple[GroupResult, ...]
    lab: bool = False

    @property
    def verdict(self) -> SuiteVerdict:
        """The worst of the nodes; a group that is slow fails the nodes that cause it, and the suite."""
        seen = {node.verdict for node in self.nodes} | {group.verdict for group in self.groups}
        for verdict in (SuiteVerdict.FAIL, SuiteVerdict.UNKNOWN):
            if verdict in seen:
                return verdict
        return SuiteVerdict.PASS if self.nodes else SuiteVerdict.UNKNOWN


@dataclass(frozen=True, slots=True)
class SuiteRequest:
    """Extent of a suite.

    Attributes:
        groups: kinds of groups, in the order of their growth.
        request: to the program on each node.
        across: least bus bandwidth of a collective by node group, in GB/s.
        lab: the hosts only pose as having accelerators.
    """

    groups: tuple[GroupKind, ...]
    request: Mapping[str, Any]
    across: Mapping[str, float | None]
    lab: bool = False


def run_nodes(
    nodes: Sequence[BurnInNode],
    jobs: Jobs,
    ledger: Ledger,
    floors: Sequence[RateFloor],
    asked: SuiteRequest,
    serials: Mapping[str, Mapping[str, str]],
) -> list[NodeResult]:
    """Run the load on each node, and compare equal ones.

    Args:
        nodes: those that take jobs.
        jobs: runs them.
        ledger: has the rates of other nodes of the halls.
        floors: of the inventory.
        asked: what is run.
        serials: serial number of each GPU by UUID, by node.
    """
    told = jobs.load(nodes, asked.request)
    results = {node.name: NodeResult(node) for node in nodes}
    measured: list[Measured] = []
    digests: list[Digest] = []
    for node in nodes:
        report = told.get(node.name, "it gave no report")
        if isinstance(report, str):
            results[node.name].problems["report"] = report
            continue
        try:
            read = read_report(report, serials.get(node.name, {}))
        except ValueError as error:
            results[node.name].problems["report"] = str(error)
            continue
        _take(results[node.name], read, asked)
        measured += read.measured
        digests += read.digests
    for fault in odd_ones(digests):
        results[fault.part.node].faults.append(fault)
    _judge(results, measured, ledger, floors)
    return list(results.values())


def _take(result: NodeResult, read: LoadReport, asked: SuiteRequest) -> None:
    result.faults += read.faults
    ignored = WITHOUT_ACCELERATORS if asked.lab or not result.node.accelerators else frozenset()
    result.problems |= {name: why for name, why in read.problems.items() if name not in ignored}
    seen = {one.part.index for one in read.measured if one.part.kind == "gpu"}
    missing = result.node.accelerators - len(seen)
    if missing > 0 and not ignored and "accelerators" not in result.problems:
        why = f"{len(seen)} of {result.node.accelerators} were tested"
        result.problems["accelerators"] = why


def _judge(
    results: Mapping[str, NodeResult],
    measured: Sequence[Measured],
    ledger: Ledger,
    floors: Sequence[RateFloor],
) -> None:
    """Judge the rates by hall: those of this run are known, and take the place of earlier ones of a node."""
    halls: dict[str, list[Measured]] = {}
    for one in measured:
        halls.setdefault(results[one.part.node].node.hall, []).append(one)
    for hall, own in halls.items():
        known = {key: dict(values) for key, values in ledger.hall_rates(hall).items()}
        present: dict[tuple[str, str, int], dict[str, list[float]]] = {}
        for one in own:
            if results[one.part.node].faults:
                continue  # a faulty node says nothing about sound ones
            key = (one.part.model, one.name, one.size)
            present.setdefault(key, {}).setdefault(one.part.node, []).append(one.value)
        for key, values in present.items():
            known[key] = {**known.get(key, {}), **values}
        for judged in judge(own, floors, known):
            results[judged.measured.part.node].judged.append(judged)


def run_groups(
    plan: Plan,
    nodes: Sequence[BurnInNode],
    results: Sequence[NodeResult],
    jobs: Jobs,
    asked: SuiteRequest,
    say: Callable[[str], None],
) -> list[GroupResult]:
    """Run collectives over groups that grow, among the nodes that are not at fault so far.

    A node that a search finds becomes a fault of its result, and is in no larger group.
    """
    by_name = {node.name: node for node in nodes}
    own = {one.node.name: one for one in results}
    made: list[GroupResult] = []
    for kind in (one for one in KINDS if one in asked.groups and one != "node"):
        good = [
            node.name
            for node in nodes
            if node.accelerators > 1
            and node.name in own
            and own[node.name].verdict is not SuiteVerdict.FAIL
        ]
        groups = groups_of(plan, kind, nodes, good)
        facts = jobs.all_reduce([[by_name[name] for name in group.nodes] for group in groups])
        for group, found in zip(groups, facts, strict=True):
            made.append(_group_result(group, found, by_name, jobs, asked, say))
            for fault in _faults(made[-1]):
                own[fault.part.node].faults.append(fault)
    return made


def _group_result(
    group: GroupUnderTest,
    facts: Mapping[str, Any],
    by_name: Mapping[str, BurnInNode],
    jobs: Jobs,
    asked: SuiteRequest,
    say: Callable[[str], None],
) -> GroupResult:
    value = bandwidth(facts)
    limit = asked.across.get(by_name[group.nodes[0]].group)
    problem = (
        None
        if value is not None
        else str((facts.get("problems") or {}).get(FACT) or "wrong values")
    )
    busy = facts.get(FACT) is None
    if limit is None or busy or (value is not None and value >= limit):
        return GroupResult(group, value, limit, None, problem)

    def measure(members: Sequence[str]) -> float | None:
        (found,) = jobs.all_reduce([[by_name[name] for name in members]])
        say(f"{counted(len(members), 'node')} of {group.name}: {_shown(bandwidth(found))}")
        return bandwidth(found)

    return GroupResult(group, value, limit, bisect(group.nodes, measure, limit), problem)


def bandwidth(facts: Mapping[str, Any]) -> float | None:
    """Return the bus bandwidth in GB/s; None if the run failed or gave wrong values."""
    found = facts.get(FACT)
    return None if not found or found["wrong"] else float(found["bus_gb_s"])


def _shown(value: float | None) -> str:
    return "no result" if value is None else f"{value:g} GB/s"


def _faults(result: GroupResult) -> Iterator[WrongResult]:
    search = result.search
    if search is None:
        return
    least = f"at least {result.limit:g} GB/s is needed" if result.limit is not None else ""
    for name in search.faulty:
        values = [run.value for run in search.runs if name in run.members and not run.passed]
        text = f"{_shown(values[-1] if values else None)} with a node that is fast with others, {least}"
        yield WrongResult(PartUnderTest(name, "node"), ALL_REDUCE, text)
    for one, other in (*search.paths, *search.unclear):
        said = "slow only together" if (one, other) in search.paths else "slow together"
        for name, partner in ((one, other), (other, one)):
            yield WrongResult(
                PartUnderTest(name, "node"), ALL_REDUCE, f"{said} with {partner}, {least}"
            )


def record(suite: Suite, ledger: Ledger) -> None:
    """Store the results of each node, and of its parts, in the ledger."""
    for result in suite.nodes:
        rates = [
            StoredRate(
                one.measured.part.kind, one.measured.part.serial, one.measured.part.model, one.measured.name,
                one.measured.size, one.measured.value, one.measured.unit,
                None if one.limit is None else one.limit.least, "" if one.limit is None else one.limit.basis,
            )
            for one in result.judged
        ]  # fmt: skip
        node = result.node
        ledger.record_suite(
            node.name, node.hall, str(result.verdict), suite.hours, "; ".join(result.reasons)[:500], rates, suite.ended
        )  # fmt: skip
        for fault in result.faults:
            ledger.write(
                "fault", node.name, f"{fault.name}: {fault.text}", suite.ended, kind=fault.part.kind,
                serial=fault.part.serial,
            )  # fmt: skip
