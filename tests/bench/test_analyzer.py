"""The analyzer against pulumi-policy: the same rules over the same resources, in one run."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.protobuf.struct_pb2 import Struct
from pulumi.runtime.proto import analyzer_pb2, analyzer_pb2_grpc

RESOURCES = 2_000
HERE = Path(__file__).parent
pytestmark = pytest.mark.bench


@contextmanager
def analyzer(pack: Path, *arguments: str) -> Iterator[Any]:
    command = [sys.executable, str(pack), *arguments]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        port = int(process.stdout.readline())
        with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
            yield analyzer_pb2_grpc.AnalyzerStub(channel)
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def requests() -> list[Any]:
    """Launch templates with 32 EFA interfaces; one of them breaks the rules."""
    made = []
    for n in range(RESOURCES):
        properties = Struct()
        properties.update(
            {
                "metadataOptions": {"httpTokens": "required" if n else "optional"},
                "networkInterfaces": [
                    {"networkCardIndex": card, "deviceIndex": 1, "interfaceType": "efa-only"}
                    for card in range(32)
                ],
            }
        )
        token = "aws:ec2/launchTemplate:LaunchTemplate"
        made.append(
            analyzer_pb2.AnalyzeRequest(
                type=token, urn=f"urn:{n}", name=f"t{n}", properties=properties
            )
        )
    return made


def run(pack: Path, messages: list[Any], *arguments: str) -> tuple[float, int]:
    with analyzer(pack, *arguments) as stub:
        stub.Analyze(messages[0])
        started = time.perf_counter()
        findings = sum(len(stub.Analyze(message).diagnostics) for message in messages)
        return time.perf_counter() - started, findings


def test_analyzer_against_pulumi_policy() -> None:
    messages = requests()
    ours, our_findings = run(HERE / "our_pack.py", messages)
    exchange, none = run(HERE / "our_pack.py", messages, "none")
    peers, peer_findings = run(HERE / "peer_pack.py", messages)
    print(
        f"\n30 policies × {RESOURCES} resources over gRPC: {ours:.2f} s here, "
        f"{peers:.2f} s in pulumi-policy: {peers / ours:.1f} times as fast; "
        f"{exchange:.2f} s of each go to the exchange alone"
    )
    assert none == 0
    assert our_findings == peer_findings == 30
