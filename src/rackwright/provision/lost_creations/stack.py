"""Settling a stack before the engine changes it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from rackwright.provision.access.record import closed_record
from rackwright.provision.aws.cloud import Cloud
from rackwright.provision.lost_creations.checkpoint import read_interrupted, record
from rackwright.provision.lost_creations.failures import FailedCreations
from rackwright.provision.lost_creations.settlement import FINDERS, settle

if TYPE_CHECKING:
    from pulumi import automation


def settle_stack(
    stack: automation.Stack,
    failures: FailedCreations,
    cloud: Cloud,
    *,
    label: str,
    say: Callable[[str], None],
) -> None:
    """Record what earlier runs have made and not recorded, and forget what they only began.

    A run that ends in between is settled by the next: what is recorded and not read yet says so in the
    checkpoint.

    Args:
        stack: the stack.
        failures: creations that failed while the engine lived.
        cloud: where it is.
        label: the stack, for people.
        say: takes lines about what was found.

    Raises:
        ExternalToolError: it cannot be told what became of a creation; the stack is left as it is.
    """
    # AWS refuses most of those itself; of a type that nobody can look for, its answer has to do.
    failed = [one for one in failures.read() if one["type"] in FINDERS]
    if not read_interrupted(closed_record(stack), failed):
        failures.clear()
        return
    deployment = stack.export_stack()
    content = deployment.deployment or {}
    interrupted = read_interrupted(content, failed)
    settlement = settle(interrupted, cloud, label=label, say=say)
    if settlement.found or interrupted.changes or interrupted.rest:
        deployment.deployment = record(content, settlement.found, interrupted.changes)
        stack.import_stack(deployment)
    failures.clear()
    half_made = [lost.urn for lost, _ in interrupted.unread]
    unread = dict.fromkeys((*settlement.found, *interrupted.changes, *half_made))
    if unread:
        quiet: Callable[[str], None] = lambda _line: None  # noqa: E731
        stack.refresh(target=list(unread), on_output=quiet, on_error=quiet)
