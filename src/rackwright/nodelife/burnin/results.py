"""Reports of nodes as measurements: rates with a unit, faults with a place, digests to compare."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

SCHEMA = "rackwright.burn-in/v1"
"""Schema of what the program of the role ``acceptance`` prints."""
_LINE = re.compile(rf"{re.escape(SCHEMA)} (\S+) (\d+)/(\d+) (.*)$", re.MULTILINE)

RATES: Mapping[str, tuple[str, str]] = {
    "tflop_s": ("", "TFLOP/s"),
    "write_gb_s": ("write", "GB/s"),
    "read_gb_s": ("read", "GB/s"),
    "to_device_gb_s": ("to device", "GB/s"),
    "to_host_gb_s": ("to host", "GB/s"),
    "on_device_gb_s": ("on device", "GB/s"),
}
"""Rates in a report, with the words that they add to the name of their step, and their unit."""


@dataclass(frozen=True, slots=True, order=True)
class PartUnderTest:
    """A part under test.

    Attributes:
        node: name in Slurm.
        kind: ``gpu``, ``cpu`` or ``node``.
        model: as its driver has it.
        serial: number or UUID; empty where none is known.
        index: of an accelerator in its node.
    """

    node: str
    kind: str
    model: str = ""
    serial: str = ""
    index: int = 0

    @property
    def name(self) -> str:
        """Node, and accelerator where one is meant."""
        return f"{self.node} GPU {self.index}" if self.kind == "gpu" else self.node


@dataclass(frozen=True, slots=True)
class Measured:
    """One rate of one part.

    Attributes:
        name: step and format or direction, like ``gemm bf16`` and ``copy to device``.
        size: what was measured: side of matrices, or bytes; a limit holds only with its size.
    """

    part: PartUnderTest
    name: str
    size: int
    value: float
    unit: str


@dataclass(frozen=True, slots=True)
class WrongResult:
    """Something that a check found wrong, whatever the limits are."""

    part: PartUnderTest
    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Digest:
    """Result of a deterministic step; equal parts with equal software must have equal ones."""

    part: PartUnderTest
    name: str
    size: int
    software: str
    value: str


@dataclass
class LoadReport:
    """Results of one node.

    Attributes:
        node: name in Slurm.
        measured: rates.
        faults: what is wrong.
        digests: of deterministic steps.
        problems: steps that gave no result, with the reason.
    """

    node: str
    measured: list[Measured] = field(default_factory=list)
    faults: list[WrongResult] = field(default_factory=list)
    digests: list[Digest] = field(default_factory=list)
    problems: dict[str, str] = field(default_factory=dict)


def read_output(text: str) -> dict[str, dict[str, Any] | str]:
    """Return the report of each node in the output of a job; for a report that is cut, the reason as text."""
    parts: dict[str, dict[int, str]] = {}
    wanted: dict[str, int] = {}
    for node, number, count, part in _LINE.findall(text):
        parts.setdefault(node, {})[int(number)] = part
        wanted[node] = int(count)
    found: dict[str, dict[str, Any] | str] = {}
    for node, known in parts.items():
        if sorted(known) != list(range(1, wanted[node] + 1)):
            found[node] = f"its report is cut: {len(known)} of {wanted[node]} lines came"
            continue
        try:
            report = json.loads("".join(known[number] for number in sorted(known)))
        except ValueError:
            report = None
        legible = isinstance(report, dict) and report.get("schema") == SCHEMA
        found[node] = report if legible else "its report cannot be read"
    return found


def read_report(report: Mapping[str, Any], serials: Mapping[str, str]) -> LoadReport:
    """Return the results in a report.

    Args:
        report: as the program printed it.
        serials: serial number of each GPU of the node by its UUID, as far as known.

    Raises:
        ValueError: it is not a report of this schema.
    """
    try:
        return _read_report(report, serials)
    except (AttributeError, KeyError, TypeError) as error:
        raise ValueError(f"the report of a node cannot be read: {error!r}") from None


def _read_report(report: Mapping[str, Any], serials: Mapping[str, str]) -> LoadReport:
    made = LoadReport(str(report["node"]), problems=dict(report.get("problems") or {}))
    own = PartUnderTest(made.node, "node")
    for step, found in report["steps"].items():
        if found is not None:
            _take(made, own, step, found, "")
    for device in report["devices"]:
        gpu = device["kind"] == "accelerator"
        uuid = _uuid(device.get("uuid"))
        part = PartUnderTest(
            made.node,
            "gpu" if gpu else "cpu",
            str(device["model"]),
            serials.get(uuid, uuid) if gpu else "",
            int(device["index"]),
        )
        for step, found in device["steps"].items():
            if found is None:
                continue
            if step == "gemm":
                for form, one in found.items():
                    _take(made, part, f"gemm {form}", one, str(device["software"]))
            else:
                _take(made, part, step, found, "")
    return made


def _uuid(value: Any) -> str:
    """Return a UUID as nvidia-smi writes it: PyTorch leaves the word before it out."""
    text = str(value or "")
    return text if not text or text.startswith("GPU-") else f"GPU-{text}"


def _take(
    made: LoadReport, part: PartUnderTest, name: str, found: Mapping[str, Any], software: str
) -> None:
    size = int(found.get("size") or found.get("bytes") or 0)
    for key, (words, unit) in RATES.items():
        if isinstance(value := found.get(key), int | float):
            label = f"{name} {words}".strip()
            made.measured.append(Measured(part, label, size, float(value), unit))
    if others := found.get("to_others_gb_s"):
        slowest = min(map(float, others.values()))
        made.measured.append(Measured(part, f"{name} to others", size, slowest, "GB/s"))
    made.faults += (WrongResult(part, name, text) for text in _faults(found))
    if found.get("digest"):
        made.digests.append(Digest(part, name, size, software, str(found["digest"])))


def _faults(found: Mapping[str, Any]) -> Iterator[str]:
    first = found.get("first_wrong") or {}
    at = ", first: " + ", ".join(f"{key} {value}" for key, value in first.items()) if first else ""
    if count := found.get("wrong_calls"):
        yield f"{count} of {found['calls']} equal products differ{at}"
    if count := found.get("exact_wrong_rows"):
        yield f"{count} rows of exact products are wrong"
    if count := found.get("wrong_words"):
        yield f"{count} words of memory changed{at}"
    if count := found.get("wrong_blocks"):
        yield f"{count} blocks read other than written"
    if cores := found.get("wrong_cores"):
        yield f"cores {', '.join(map(str, cores))} computed something else than the others"
    for name, count in (found.get("errors") or {}).items():
        yield f"{count} memory errors of {name}"
    if failed := found.get("failed"):
        yield f"DCGM level {found.get('level')}: {', '.join(failed)} failed"
