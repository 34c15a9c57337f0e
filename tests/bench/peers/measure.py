"""What a whole process costs: seconds on the clock and on a processor, and its peak memory."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc
from google.protobuf.struct_pb2 import Struct
from pulumi.runtime.proto import analyzer_pb2, analyzer_pb2_grpc

LAUNCHER = Path(__file__).with_name("launch.py")
PACK = Path(__file__).with_name("pulumi_pack.py")

Failures = frozenset[tuple[str, str]]


@dataclass(frozen=True)
class Run:
    """One run of one tool.

    Attributes:
        failures: policy and subject of everything that it refused.
    """

    wall_s: float
    busy_s: float
    peak_mib: float
    failures: Failures


def median(runs: Sequence[Run], attribute: Callable[[Run], float]) -> float:
    return statistics.median(attribute(run) for run in runs)


@contextmanager
def launched(command: Sequence[object], report: Path) -> Iterator[subprocess.Popen[str]]:
    """The launcher of ``command``, with bytecode kept as usual; ``report`` exists afterwards."""
    report.unlink(missing_ok=True)
    arguments = [sys.executable, "-I", "-S", LAUNCHER, report, *command]
    keep = {k: text for k, text in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    process = subprocess.Popen(
        [str(argument) for argument in arguments],
        env=keep,
        stdout=subprocess.PIPE,
        encoding="utf-8",
    )
    try:
        yield process
    finally:
        process.terminate()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()


def run_to_end(
    command: Sequence[object], report: Path, read: Callable[[Any], Failures], codes: set[int]
) -> Run:
    """A run of a program that judges, prints JSON and ends."""
    with launched(command, report) as process:
        output, _ = process.communicate()
    cost = json.loads(report.read_text())
    assert cost["code"] in codes, cost
    return Run(cost["wall_s"], cost["busy_s"], cost["peak_mib"], read(json.loads(output)))


def to_requests(plan: Mapping[str, Sequence[Mapping[str, Any]]]) -> list[Any]:
    """Every row of an exported plan as a resource, as Pulumi would send it."""
    made = []
    for kind, rows in plan.items():
        for number, row in enumerate(rows):
            properties = Struct()
            properties.update(row)
            name = f"{kind}-{number}"
            made.append(
                analyzer_pb2.AnalyzeRequest(
                    type=f"plan:index:{kind.removesuffix('s')}",
                    urn=f"urn:{name}",
                    name=name,
                    properties=properties,
                )
            )
    return made


def run_pulumi_policy(requests: Sequence[Any], report: Path) -> Run:
    """From the start of the pack to its last answer; the memory is the pack's alone."""
    failures = set()
    started = time.perf_counter()
    with launched((sys.executable, PACK), report) as process:
        assert process.stdout is not None
        port = int(process.stdout.readline())
        with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
            stub = analyzer_pb2_grpc.AnalyzerStub(channel)
            for request in requests:
                for found in stub.Analyze(request).diagnostics:
                    subject = found.message.removeprefix(found.description).strip()
                    failures.add((found.policyName, subject))
        took = time.perf_counter() - started
    cost = json.loads(report.read_text())
    return Run(took, cost["busy_s"], cost["peak_mib"], frozenset(failures))
