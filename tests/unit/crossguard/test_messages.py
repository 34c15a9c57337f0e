"""What the engine is told is text of others, which it prints into the log of a job."""

from __future__ import annotations

import re
from typing import Any

import pulumi
import pytest
from google.protobuf.struct_pb2 import Struct
from hypothesis import example, given
from hypothesis import strategies as st
from pulumi.runtime.proto import analyzer_pb2

from log_readers import obeyed
from rackwright.crossguard import server
from rackwright.crossguard.rules import ResourceRule, Verdict
from rackwright.crossguard.server import Analyzer
from rackwright.provision import program
from rackwright.provision.program import RefusedError

EVIL = "a ##[stop-commands]x\n::stop-commands::x\r\x1b[2J#<{%reset%}>#[error]y"


def printed(message: str) -> str:
    """``message`` as the engine's program prints it: without its marks of colours."""
    return re.sub("<{%.*?%}>", "", message)


def test_a_diagnostic_of_a_rule() -> None:
    rule = ResourceRule("AWS-999", "title", frozenset(), lambda resource: iter([Verdict(EVIL)]))
    request: Any = analyzer_pb2.AnalyzeRequest(type="a:b:C", urn="u", properties=Struct())
    [found] = Analyzer(rules=[rule]).Analyze(request, None).diagnostics
    assert "stop-commands" in found.message
    assert obeyed(printed(found.message)) == []


def test_a_diagnostic_of_a_policy(monkeypatch: pytest.MonkeyPatch) -> None:
    def judge(*_: object) -> None:
        raise ValueError(EVIL)

    monkeypatch.setattr(server, "judge_spec", judge)
    spec = Struct()
    spec.update({server.SPEC_INPUT: {"name": "atlas"}})
    request: Any = analyzer_pb2.AnalyzeRequest(
        type=f"{server.ROOT_PREFIX}x", urn="u", properties=spec
    )
    [found] = Analyzer(rules=()).Analyze(request, None).diagnostics
    assert "stop-commands" in found.message
    assert obeyed(printed(found.message)) == []


@given(
    st.lists(st.sampled_from(["#", "##[", "[", "<{%", "x", "%}>", "\n", "::", "error]"])).map(
        "".join
    )
)
@example(EVIL)
def test_the_refusal_of_a_stack_s_program(text: str) -> None:
    assert obeyed(printed(str(RefusedError(text, 5)))) == []


def test_the_refusal_of_a_native_project(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    said: list[str] = []

    def read() -> None:
        print(EVIL)
        raise RefusedError(EVIL, 5)

    monkeypatch.setattr(program, "_read_config", read)
    monkeypatch.setattr(pulumi.log, "error", said.append)
    with pytest.raises(SystemExit) as ended:
        program.run("aws-network")
    assert ended.value.code == 5
    shown = capsys.readouterr().out
    assert "stop-commands" in shown
    assert "stop-commands" in said[0]
    assert obeyed(shown) + obeyed(printed(said[0])) == []
