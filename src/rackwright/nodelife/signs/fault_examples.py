"""Examples of the table of faults: recordings that are detected again, and what is found in them. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rackwright.catalog.fault_table import FaultTable
from rackwright.model.faults import Fault
from rackwright.nodelife.signs.detect import detect_in


@dataclass(frozen=True, slots=True)
class ExampleResult:
    """Result of one example.

    Attributes:
        problem: difference between the faults expected and found; None if there is none.
    """

    fault: str
    example: str
    problem: str | None


def run_examples(table: FaultTable, faults: tuple[Fault, ...]) -> Iterator[ExampleResult]:
    """Yield the result of each example of ``faults``; a fault without an example that finds it fails."""
    for fault in faults:
        finds = False
        for example in fault.examples:
            wanted = {fault.id} if example.expect is None else set(example.expect)
            finds = finds or fault.id in wanted
            problem = None
            try:
                found = {event.fault for event in detect_in(table, example.material)}
            except ValueError as error:
                problem = str(error)
            else:
                parts = [f"{name} is not found" for name in sorted(wanted - found)]
                parts += [f"{name} is found, too" for name in sorted(found - wanted)]
                problem = "; ".join(parts) or None
            yield ExampleResult(fault.id, example.name, problem)
        if not finds:
            yield ExampleResult(fault.id, "", "no example finds it: add a recording to 'examples'")
