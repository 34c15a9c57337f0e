"""The all-reduce of nccl-tests: what it printed, and what it must reach."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rackwright.accept.expected import Comparing, Expectation, HostExpectations
from rackwright.harmless import counted
from rackwright.model.hardware import fact_value
from rackwright.model.operations import AllReduce
from rackwright.plan.model import Plan
from rackwright.plan.slurm.cluster import SlurmCluster

BANDWIDTH = "NCCL all-reduce"
"""Its bus bandwidth: what the slowest link would carry if the algorithm were perfect."""
ERRORS = "wrong values of the NCCL all-reduce"
FACT = "all_reduce"
SMALLEST_BYTES = 2**30
"""Below it the time is that of latencies, and the bandwidth is no measure of the links."""

_ROW = re.compile(r"^\s*(\d+)\s+\d+\s+\S+\s+\S+\s+-?\d+\s+(.*)$", re.MULTILINE)
_DEVICES = "# Using devices"
"""Printed once by all processes together, or by each of those that do not know of each other."""
_FAILURE = re.compile(r"Test (?:CUDA|NCCL) failure .*|Test timeout .*|Invalid number of GPUs.*")
"""The program's own words, which go to either output, with those of whatever started it around them."""


class UnreadableOutput(ValueError):
    """The program has not printed a result; the text says what is missing."""


def read_output(text: str) -> dict[str, Any]:
    """Return the result in the output of ``all_reduce_perf``.

    Returns:
        ``bus_gb_s``: bus bandwidth of the largest size in 10^9 bytes a second, the smaller one of
        out-of-place and in-place; ``wrong``: number of wrong values of all sizes.

    Raises:
        UnreadableOutput: there is no row, the sizes are too small, nothing was checked, or each process
            has reduced by itself.
    """
    rows = [(int(size), columns.split()) for size, columns in _ROW.findall(text)]
    # Each half of a row: time, algorithm bandwidth, bus bandwidth, number of wrong values.
    if not rows or any(len(columns) != 8 for _, columns in rows):
        raise UnreadableOutput("all_reduce_perf printed no result")
    if text.count(_DEVICES) > 1:
        raise UnreadableOutput(
            "the processes of all_reduce_perf do not know of each other: it must be built with MPI,"
            " of the kind that Slurm starts"
        )
    if any("N/A" in (columns[3], columns[7]) for _, columns in rows):
        raise UnreadableOutput("all_reduce_perf has not checked its results")
    try:
        # From a million on it prints 1e+06.
        wrong = sum(int(float(columns[index])) for _, columns in rows for index in (3, 7))
        size, last = max(rows)
        bandwidth = min(float(last[2]), float(last[6]))
    except (ValueError, OverflowError):
        raise UnreadableOutput("all_reduce_perf printed a result that is no number") from None
    if size < SMALLEST_BYTES:
        raise UnreadableOutput(
            f"all_reduce_perf ran with {size} bytes, {SMALLEST_BYTES} are needed"
        )
    return {"bus_gb_s": bandwidth, "wrong": wrong}


@dataclass(frozen=True, slots=True, eq=False)
class RankGroup:
    """Equal nodes that run the all-reduce.

    Attributes:
        hosts: names in the inventory by name in Slurm.
        accelerators: of one node.
        node: bus bandwidth in GB/s that one node must reach; None if unknown.
        across: the same of all nodes together.
    """

    name: str
    hosts: Mapping[str, str]
    accelerators: int
    node: float | None
    across: float | None


def groups(plan: Plan) -> tuple[RankGroup, ...]:
    """Return the groups of nodes with at least two NVIDIA GPUs each, as Slurm hands them out."""
    slurm, operations = plan.slurm, plan.operations
    if slurm is None:
        return ()
    said = {one.group: one for one in (operations.all_reduce if operations else ())}
    names = {(host.site, host.group, host.name): host.inventory_name for host in plan.hosts}
    return tuple(_groups(plan, slurm, said, names))


def _groups(
    plan: Plan,
    slurm: SlurmCluster,
    said: Mapping[str, AllReduce],
    names: Mapping[tuple[str, str, str], str],
) -> Iterator[RankGroup]:
    known_boards = {(board.site, board.group): board.accelerators for board in plan.boards}
    for nodes in slurm.nodes:
        board = known_boards.get((nodes.site, nodes.group))
        count = nodes.accelerators
        if board is None or board.vendor != "nvidia" or count < 2:
            continue
        own = said.get(nodes.group)
        # The catalogue's number is that of a whole board.
        known = fact_value(board.all_reduce) if count == board.count else None
        node = own.node if own is not None and own.node is not None else known
        yield RankGroup(
            name=nodes.group,
            hosts={name: names[nodes.site, nodes.group, name] for name in nodes.names},
            accelerators=count,
            node=None if node is None else node / 1000,
            across=None if own is None or own.across is None else own.across / 1000,
        )


def expectations(bandwidth_gb_s: float | None) -> tuple[Expectation, Expectation]:
    """Return the expected result of an all-reduce; None is unknown and never passes."""
    least = Expectation(
        item=BANDWIDTH,
        kind="NCCL",
        key=(FACT, "bus_gb_s"),
        rule=Comparing.AT_LEAST,
        expected=bandwidth_gb_s,
        tolerance="or more",
        unit="GB/s",
        least=bandwidth_gb_s,
    )
    return least, Expectation(ERRORS, "NCCL", (FACT, "wrong"), Comparing.EQUAL, 0)


def facts_of(result: Mapping[str, Any]) -> dict[str, Any]:
    """Return a finished run of the program as facts: its numbers, or under ``problems`` why not."""
    told = str(result.get("stdout") or "")
    try:
        found = read_output(told)
    except UnreadableOutput as error:
        return _problem(_why_failed(result, told) if result.get("rc") != 0 else str(error))
    # It ends with an error where values are wrong, too, which is a result.
    if result.get("rc") != 0 and not found["wrong"]:
        return _problem(_why_failed(result, told))
    return {FACT: found}


def _why_failed(result: Mapping[str, Any], told: str) -> str:
    others = str(result.get("stderr") or result.get("msg") or "")
    if own := _FAILURE.search(told) or _FAILURE.search(others):
        return own.group()[:LONGEST_PROBLEM].rstrip()
    words = " ".join(others.split())
    return words[-LONGEST_PROBLEM:] or f"it ended with {result.get('rc')}"


LONGEST_PROBLEM = 200


def _problem(text: str) -> dict[str, Any]:
    return {FACT: None, "problems": {FACT: text}}


def across_name(group: RankGroup, nodes: Sequence[str]) -> str:
    """Return the name of the nodes of a group together, for a report."""
    return f"{group.name} ({counted(len(nodes), 'node')} together)"


def with_all_reduce(
    expected: Sequence[HostExpectations], groups: Sequence[RankGroup]
) -> tuple[HostExpectations, ...]:
    """Return the hosts with what the all-reduce must reach on each of them besides."""
    least = {host: group.node for group in groups for host in group.hosts.values()}
    return tuple(
        replace(host, items=(*host.items, *expectations(least[host.name])))
        if host.name in least
        else host
        for host in expected
    )
