"""What counts as a change."""

from __future__ import annotations

import io
from types import SimpleNamespace
from typing import Any

import pytest
from pulumi.automation.events import EngineEvent

from rackwright.harmless import DRAWING
from rackwright.provision.progress import StackProgress


def event(operation: str, *, finished: bool = False) -> Any:
    """One of the engine's events about a resource of the cloud."""
    meta = SimpleNamespace(
        op=operation,
        urn="urn:pulumi:s::p::aws:ec2/vpc:Vpc::vpc",
        type="aws:ec2/vpc:Vpc",
        new=SimpleNamespace(custom=True),
        old=None,
        detailed_diff=None,
        diffs=["tags"],
    )
    step = SimpleNamespace(metadata=meta)
    return SimpleNamespace(
        resource_pre_event=None if finished else step,
        res_outputs_event=step if finished else None,
        res_op_failed_event=None,
        diagnostic_event=None,
    )


def test_looking_is_no_change_and_what_follows_from_it_is() -> None:
    progress = StackProgress("aws-network", io.StringIO(), dry_run=True)
    for operation in ("refresh", "same"):
        progress(event(operation))
        progress(event(operation, finished=True))
    assert (dict(progress.changes), progress.unchanged) == ({}, 1)
    progress(event("refresh"))
    progress(event("update"))
    assert (dict(progress.changes), progress.details) == ({"update": 1}, {"vpc": ("tags",)})


def failed(operation: str, status: int) -> Any:
    """A step that failed, as the engine tells it."""
    token = "aws:ec2/vpc:Vpc"
    urn = f"urn:pulumi:s::p::{token}::vpc"
    state = {"type": token, "urn": urn, "custom": True, "inputs": {"cidrBlock": "10.0.0.0/16"}}
    meta = {"op": operation, "urn": urn, "type": token, "new": state}
    told = {"resOpFailedEvent": {"metadata": meta, "status": status, "steps": 1}}
    return EngineEvent.from_json({"sequence": 1, "timestamp": 1, **told})


def test_creations_that_failed_and_are_not_recorded_are_kept() -> None:
    progress = StackProgress("aws-network", io.StringIO())
    unknown, half_made = 2, 1
    progress(failed("create", half_made))
    progress(failed("update", unknown))
    assert progress.failed == []
    progress(failed("create", unknown))
    assert [one["inputs"] for one in progress.failed] == [{"cidrBlock": "10.0.0.0/16"}]
    foreseen = StackProgress("aws-network", io.StringIO(), dry_run=True)
    foreseen(failed("create", unknown))
    assert foreseen.failed == []


class Screen(io.StringIO):
    """A terminal."""

    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


def test_a_terminal_shows_what_is_under_way_below_what_is_done(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    stream = Screen()
    with StackProgress("aws-network", stream) as progress:
        progress(event("create"))
        assert DRAWING.sub("", stream.getvalue()) == "  aws-network: 0 done, 1 under way: vpc"
        stream.truncate(stream.seek(0))
        progress(event("create", finished=True))
        said, _, line = DRAWING.sub("", stream.getvalue()).partition("\n")
        assert said.startswith("  aws-network: created Vpc vpc")
        assert line == "  aws-network: 1 done"
    assert stream.getvalue().endswith("\r\x1b[2K"), "the line is taken away"


def test_a_log_has_the_lines_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    stream = io.StringIO()
    with StackProgress("aws-network", stream) as progress:
        progress(event("create"))
        progress(event("create", finished=True))
    (line,) = stream.getvalue().splitlines()
    assert line.startswith("  aws-network: created Vpc vpc  ")
