"""STO-002: checkpoints are written within the allowed time."""

from __future__ import annotations

from collections.abc import Iterator

from rackwright.api import (
    Contributor,
    Finding,
    Measure,
    Missing,
    Plan,
    Policy,
    Severity,
    Subject,
    rule,
)
from rackwright.model.quantities import format_quantity
from rackwright.model.storage import Checkpoint
from rackwright.plan.storage.filesystem import (
    FileSystem,
    checkpoint_size,
    throughput_for,
    write_time,
)
from rackwright.policy.helpers.remediation import either, provide


@rule(
    "STO-002",
    "Checkpoints are written within the allowed time",
    Severity.HIGH,
    since="0.2",
    stage="design",
)
class Checkpoints(Policy):
    """The time to write a checkpoint at the full write throughput is within its limit."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield a measure for each file system, but for those that hold no checkpoints."""
        for system in plan.file_systems:
            checkpoint = system.workload.checkpoint
            if checkpoint != "none":
                yield _judge(system, checkpoint or Checkpoint())


def _judge(system: FileSystem, checkpoint: Checkpoint) -> Measure:
    size, limit = checkpoint_size(checkpoint), checkpoint.write_time
    missing = list(system.write.missing)
    place = (*system.path, "workload", "checkpoint")
    if size is None:
        words = "'size' of the checkpoint, or 'parameters' and 'bytes_per_parameter'"
        missing.append(Missing(words, (*place, "size"), (*place, "parameters")))
    if limit is None:
        missing.append(Missing("'write_time' of the checkpoint", (*place, "write_time")))
    moved, value, fix = system.write.value, None, None
    shares: tuple[Contributor, ...] = ()
    if moved == 0:
        rate: tuple[str, ...] = ("objects", "server_write")
        if system.fsx is not None:
            rate = ("throughput",) if system.fsx.existing is None else ("existing", "throughput")
        missing.append(Missing("a write throughput above zero", (*system.path, *rate)))
    elif size is not None and moved is not None:
        value = write_time(size, moved)
        written = f"{format_quantity(size, 'GiB')} at {format_quantity(moved, 'MB/s')}"
        shares = (Contributor(written, 1, value),)
    if size is not None and limit:
        needed = throughput_for(size, limit)
        fix = either(
            system.remedy("write", needed) or provide(needed, "MB/s", "write throughput"),
            f"allow a 'write_time' of {format_quantity(value, 's')}" if value else None,
        )
    return Measure(
        Subject(system.name, (*system.path, "workload")),
        value=value,
        limit=limit,
        unit="s",
        what="time to write a checkpoint",
        contributors=shares,
        fix=fix or "allow a 'write_time' above zero",
        missing=tuple(missing),
    )
