"""Switches by the cables that were seen in the hall: where they lead, and how fast their links are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from rackwright.accept.compare import HostAcceptance, ItemOutcome, ItemResult
from rackwright.brownfield.cabling.files import read_cables
from rackwright.errors import UsageError
from rackwright.plan.fabric.cables import wires
from rackwright.plan.fabric.discovered.differences import CableComparison
from rackwright.plan.model import Plan

_ITEM = "cables"


def judge_switches(plan: Plan, files: Sequence[Path]) -> tuple[HostAcceptance, ...]:
    """Return the results of the switches of every fabric that the files tell of.

    Raises:
        UsageError: a file cannot be read, or no fabric of the plan has devices that the files name.
    """
    made: list[HostAcceptance] = []
    reasons: list[UsageError] = []
    readable = False
    for site in plan.onprem:
        for fabric in site.fabrics:
            if fabric.layout is None:
                continue
            try:
                compared = CableComparison(fabric.layout, read_cables(fabric.layout, files, None))
            except UsageError as error:
                reasons.append(error)
                continue
            readable = True
            if compared.matched:
                made += _switches(compared)
    if reasons and not readable:
        raise reasons[0]
    if not made:
        raise UsageError(
            f"no name of a device in '{files[0]}' is in a fabric of the plan",
            hint="'rackwright fabric compare --node-name-map' takes other names",
        )
    return tuple(made)


def _switches(compared: CableComparison) -> Iterator[HostAcceptance]:
    differences = compared.differences()
    unknown = compared.not_compared()
    counts: dict[str, int] = {}
    for wire in wires(compared.layout):
        for end in (wire.lower, wire.upper):
            counts[end] = counts.get(end, 0) + 1
    for tier in compared.layout.tiers:
        for name in tier.names():
            wrong = [one for one in differences if name in one.devices]
            open_ones = sum(1 for wire in unknown if name in {wire.lower, wire.upper})
            planned = f"{counts.get(name, 0)} as planned"
            if wrong:
                first, more = wrong[0], len(wrong) - 1
                reason = f"{first.cable}: {first.message}" + (f", and {more} more" if more else "")
                item = ItemResult(
                    _ITEM, ItemOutcome.FAIL, planned, f"{len(wrong)} not as planned", reason=reason
                )
            elif open_ones:
                reason = f"{open_ones} cables or their rates are not in the files"
                item = ItemResult(_ITEM, ItemOutcome.UNKNOWN, planned, None, reason=reason)
            else:
                item = ItemResult(_ITEM, ItemOutcome.PASS, planned, planned)
            yield HostAcceptance(name, None, (item,))
