"""What counts as a change."""

from __future__ import annotations

import io
from types import SimpleNamespace
from typing import Any

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
