"""Writing of checkpoints: the time that a job waits for one, synchronous or in the background."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rackwright.model.reliability import JobProfile
from rackwright.model.storage import Checkpoint
from rackwright.model.workloads import TrainingWorkload
from rackwright.plan.storage.filesystem import GIB, file_systems, write_time

if TYPE_CHECKING:
    from rackwright.plan.expansion import Expansion

CHECKPOINT = 14
"""Bytes of a parameter in a checkpoint: its weight in bf16, master weight and two moments of Adam in fp32."""


@dataclass(frozen=True, slots=True)
class CheckpointWriting:
    """Writing of one checkpoint.

    Attributes:
        blocking: time that the job always waits, in s: the whole writing, or the copy to the memory of the hosts.
        background: time that storage takes while the job goes on, in s; 0 if synchronous.
        copy: time of the copy to the memory of the hosts, in s; None if unknown.
    """

    blocking: float
    background: float = 0.0
    copy: float | None = None

    @property
    def asynchronous(self) -> CheckpointWriting | None:
        """The same checkpoint written in the background; None if it is already, or the copy is unknown."""
        if self.background or self.copy is None:
            return None
        return CheckpointWriting(self.copy, self.blocking, self.copy)

    def stall(self, interval: float) -> float:
        """Return the time that a checkpoint stops the job, in s.

        A checkpoint in the background starts when the one before it is written: with an ``interval`` in s that is shorter,
        the job waits for the rest, and at most as long as for a synchronous one.
        """
        waited = self.blocking + max(0.0, self.background - interval)
        return min(waited, max(self.blocking, self.background))


def checkpoint_writing(
    plan: Expansion,
    workload: TrainingWorkload,
    profile: JobProfile,
    parameters: float,
    copies: float | None,
) -> CheckpointWriting | None:
    """Return the writing of a checkpoint of a workload; None where it is unknown.

    Args:
        plan: with the file systems.
        workload: names the site.
        profile: its job; a stated ``checkpoint_stall`` is taken as it is.
        parameters: of its model.
        copies: B/s from all accelerators of the job to their hosts; None if unknown.
    """
    if profile.checkpoint_stall is not None:
        return CheckpointWriting(profile.checkpoint_stall)
    written = _write_seconds(plan, workload, parameters)
    if written is None:
        return None
    copy = CHECKPOINT * parameters / copies if copies else None
    synchronous = CheckpointWriting(written, copy=copy)
    return synchronous.asynchronous if profile.async_save else synchronous


def missing_stall(workload: TrainingWorkload, profile: JobProfile, copies: float | None) -> str:
    """Return the facts of which each makes the stall of a checkpoint known, in words."""
    stated = f"'checkpoint_stall' of the job '{profile.name}'"
    if profile.async_save and copies is None:
        return f"{stated} (no rate is known of copies from its accelerators to the memory of their hosts)"
    return (
        f"{stated}, or one file system of '{workload.site}' with a write throughput whose workload has a "
        "'checkpoint'"
    )


def _write_seconds(plan: Expansion, workload: TrainingWorkload, parameters: float) -> float | None:
    """Return the time in which all weights and the optimizer are written, in s.

    They go to the one file system of the site that takes checkpoints; None where it is not known. An adapter of LoRA
    is no copy of the model.
    """
    systems = [
        one
        for one in file_systems(plan)
        if one.site == workload.site and isinstance(one.workload.checkpoint, Checkpoint)
    ]
    if workload.task == "lora" or len(systems) != 1 or not systems[0].write.value:
        return None
    size = CHECKPOINT * parameters
    return write_time(size / GIB, systems[0].write.value)
