"""Storage of a training job: reading of its data, and writing of its checkpoints."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rackwright.model.reliability import JobProfile
from rackwright.model.storage import Checkpoint, lnet_name
from rackwright.model.workloads import TrainingDataset, TrainingWorkload
from rackwright.plan.base import Path
from rackwright.plan.fabric.layout import port_rate
from rackwright.plan.missing import Missing
from rackwright.plan.storage.filesystem import GIB, FileSystem, file_systems, write_time

if TYPE_CHECKING:
    from rackwright.plan.expansion import Expansion

CHECKPOINT = 14
"""Bytes of a parameter in a checkpoint: its weight in bf16, master weight and two moments of Adam in fp32."""


@dataclass(frozen=True, slots=True)
class TrainingReads:
    """Reading of training data while steps run: the next batch is read during a step.

    Attributes:
        token: stored bytes of each token; None if unknown.
        rate: B/s that the hosts of the job get from the file system; None if unknown.
        system: file system with the data; None if unknown.
        ports: field of the ports that limit the rate; None where the file system does.
        missing: facts without which the time of reading is unknown.
    """

    token: float | None
    rate: float | None
    system: FileSystem | None = None
    ports: Path | None = None
    missing: tuple[str, ...] = ()

    @property
    def limit(self) -> float:
        """Most tokens in a second that storage delivers; infinite where it is unknown."""
        return self.rate / self.token if self.rate and self.token else float("inf")

    def demand(self, speed: float) -> float | None:
        """Return the B/s that are read at a speed in tokens/s; None if unknown."""
        return None if self.token is None else self.token * speed

    def wider(self, speed: float) -> tuple[Path, str] | None:
        """Return the field by which storage delivers ``speed`` tokens/s, and its change; None where it does or is unknown."""
        needed, system = self.demand(speed), self.system
        if speed <= self.limit or needed is None or self.rate is None or system is None:
            return None
        told = f"reads at {_gigabytes(self.rate)} → {_gigabytes(needed)} GB/s"
        if self.ports is not None:
            return self.ports, told
        remedy = system.remedy("read", needed / 1e6)
        field: Path = ("objects", "count")
        if system.fsx is not None:
            field = ("capacity",) if system.fsx.existing is None else ("existing", "capacity")
        return (*system.path, *field), told if remedy is None else f"{told} ({remedy})"


def training_reads(
    plan: Expansion, workload: TrainingWorkload, token: float | None, hosts: int, path: Path
) -> TrainingReads:
    """Return the reading of the workload at ``path`` on ``hosts`` hosts, from the file system of its dataset.

    The rate is that of the file system, or of the hosts' ports on the fabrics of its LNet networks, whichever is lower.
    ``token`` are the bytes of a token of text, for a dataset without a size of its samples; None for images and videos.
    """
    place = (*path, "dataset")
    missing: list[str] = []
    dataset = workload.dataset or TrainingDataset()
    if dataset.sample_size is not None:
        token = dataset.sample_size * GIB / workload.sequence
    if token is None:
        missing.append(Missing(f"size of a sample of '{workload.name}'", (*place, "sample_size")))
    at_site = [one for one in file_systems(plan) if one.site == workload.site]
    systems = [one for one in at_site if dataset.file_system in (None, one.system)]
    if len(systems) != 1:
        told = f"a file system of '{workload.site}' with the training data"
        if systems:
            told += f", one of {', '.join(one.system for one in systems)}"
        missing.append(Missing(told, (*place, "file_system")))
        return TrainingReads(token, None, missing=tuple(missing))
    (system,) = systems
    rate = system.read.value
    if rate is None:
        missing += system.read.missing
    elif not rate:
        missing.append(Missing(f"a read throughput of '{system.system}' above zero", system.path))
    clients = system.lustre.clients if system.lustre else None
    if clients is not None and workload.group not in [one.group for one in clients]:
        told = f"'{workload.group}' among the clients of '{system.system}'"
        missing.append(Missing(told, (*system.path, "clients")))
    if rate is None or missing:
        return TrainingReads(token, None, system, missing=tuple(missing))
    rate *= 1e6
    ports = list(_ports(plan, workload, system))
    most = sum(each for each, _ in ports) * hosts
    if ports and most < rate:
        return TrainingReads(token, most, system, ports[0][1])
    return TrainingReads(token, rate, system)


def _ports(
    plan: Expansion, workload: TrainingWorkload, system: FileSystem
) -> Iterator[tuple[float, Path]]:
    """Yield the B/s of each host of the job to each fabric that carries the file system, and their field."""
    if system.lustre is None:
        return
    spoken = {
        lnet_name(name)
        for one in system.lustre.clients or ()
        if one.group == workload.group
        for name in one.networks or ()
    }
    carrying = [
        one.fabric for one in system.lustre.networks if not spoken or lnet_name(one.name) in spoken
    ]
    sites = (site for site in plan.onprem if site.name == workload.site)
    for fabric in (one for site in sites for one in site.fabrics if one.name in carrying):
        for hosts in fabric.layout.hosts if fabric.layout else ():
            rate = port_rate(hosts)
            if hosts.group.name == workload.group and rate is not None and hosts.interfaces:
                yield rate / 8 * 1e9 * hosts.interfaces, (*fabric.path, "rate")


def _gigabytes(rate: float) -> str:
    return f"{rate / 1e9:,.3g}"


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
