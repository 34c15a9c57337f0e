"""Storage of a training job: reading of its data, and writing of its checkpoints."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rackwright.model.quantities import format_quantity
from rackwright.model.reliability import JobProfile
from rackwright.model.storage import Checkpoint, lnet_name
from rackwright.model.workloads import TrainingDataset, TrainingWorkload
from rackwright.plan.base import Path
from rackwright.plan.fabric.layout import port_rate
from rackwright.plan.missing import Missing, fields_of
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
        next_rate: B/s of the other of both, the ports or the file system, which limits once ``rate`` is raised.
    """

    token: float | None
    rate: float | None
    system: FileSystem | None = None
    ports: Path | None = None
    missing: tuple[str, ...] = ()
    next_rate: float = math.inf

    @property
    def limit(self) -> float:
        """Most tokens in a second that storage delivers; infinite where it is unknown."""
        return self.rate / self.token if self.rate and self.token else math.inf

    @property
    def next_limit(self) -> float:
        """Most tokens in a second once ``wider`` is applied; infinite where it is unknown."""
        return self.next_rate / self.token if self.token else math.inf

    def demand(self, speed: float) -> float | None:
        """Return the B/s that are read at a speed in tokens/s; None if unknown."""
        return None if self.token is None else self.token * speed

    def wider(self, speed: float) -> tuple[Path, str] | None:
        """Return the field by which storage delivers more, and its change; None where it is fast enough or unknown.

        The change is to ``speed`` tokens/s, or to the rate of the next limit if that is lower.
        """
        demand, system = self.demand(speed), self.system
        if speed <= self.limit or demand is None or self.rate is None or system is None:
            return None
        demand = _rounded_up(demand)
        change = f"reads at {_per_second(self.rate)} → "
        if demand < self.next_rate:
            change += _per_second(demand)
        else:
            demand = self.next_rate
            change += (
                f"{_per_second(demand)}, the rate of its {'file system' if self.ports else 'ports'}"
            )
        if self.ports is not None:
            return self.ports, change
        remedy = system.remedy("read", demand / 1e6)
        field: Path = ("objects", "count")
        if system.fsx is not None:
            field = ("capacity",) if system.fsx.existing is None else ("existing", "capacity")
        return (*system.path, *field), change if remedy is None else f"{change} ({remedy})"


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
    at_site = [system for system in file_systems(plan) if system.site == workload.site]
    systems = [system for system in at_site if dataset.file_system in (None, system.system)]
    if len(systems) != 1:
        words = f"a file system of '{workload.site}' with the training data"
        if systems:
            words += f", one of {', '.join(system.system for system in systems)}"
        missing.append(Missing(words, (*place, "file_system")))
        return TrainingReads(token, None, missing=tuple(missing))
    (system,) = systems
    rate = system.read.value
    if rate is None:
        missing += system.read.missing
    elif not rate:
        missing.append(Missing(f"a read throughput of '{system.system}' above zero", system.path))
    clients = system.lustre.clients if system.lustre else None
    if clients is not None and workload.group not in [client.group for client in clients]:
        words = f"'{workload.group}' among the clients of '{system.system}'"
        missing.append(Missing(words, (*system.path, "clients")))
    if rate is None or missing:
        return TrainingReads(token, None, system, missing=tuple(missing))
    rate *= 1e6
    ports = _ports(plan, workload, system, hosts)
    if isinstance(ports, Missing):
        return TrainingReads(token, None, system, missing=(ports,))
    most, field = ports
    if most < rate:
        return TrainingReads(token, most, system, field, next_rate=rate)
    return TrainingReads(token, rate, system, next_rate=most)


def _ports(
    plan: Expansion, workload: TrainingWorkload, system: FileSystem, hosts: int
) -> tuple[float, Path | None] | Missing:
    """Return the B/s of all hosts of the job to the fabrics that carry the file system, and the field of their rate.

    Infinite, without a field, where no fabric is stated that carries it to them.
    """
    if system.lustre is None:
        return math.inf, None
    networks = {
        lnet_name(name)
        for client in system.lustre.clients or ()
        if client.group == workload.group
        for name in client.networks or ()
    }
    carrying = [
        network.fabric
        for network in system.lustre.networks
        if not networks or lnet_name(network.name) in networks
    ]
    total = 0.0
    field: Path | None = None
    for site in plan.onprem:
        for fabric in site.fabrics if site.name == workload.site else ():
            layout = fabric.layout if fabric.name in carrying else None
            for attached in layout.hosts if layout else ():
                if attached.group.name != workload.group:
                    continue
                rate, count = port_rate(attached), attached.interfaces
                place = fabric.attachment(workload.group)
                if rate is None or count is None:
                    words = f"rate of the ports of '{workload.group}' on the fabric '{fabric.name}'"
                    return Missing(words, (*place, "interfaces" if count is None else "rate"))
                total += rate / 8 * 1e9 * count * hosts
                group = site.groups_by_name[workload.group].path
                field = field or fabric.wider_ports(workload.group, group)
    return (total, field) if field else (math.inf, None)


def _rounded_up(rate: float) -> float:
    """Return a rate in B/s with three significant digits, as ``_per_second`` writes them, that is not lower."""
    unit = max(1e5, 10.0 ** (math.floor(math.log10(rate)) - 2))
    return math.ceil(rate / unit * (1 - 1e-12)) * unit


def _per_second(rate: float) -> str:
    return format_quantity(rate / 1e9, "GB/s")


@dataclass(frozen=True, slots=True)
class CheckpointWriting:
    """Writing of one checkpoint.

    Attributes:
        blocking: time that the job always waits, in s: the whole writing, or the copy to the memory of the hosts.
        background: time that storage takes while the job goes on, in s; 0 if synchronous or unknown.
        copy: time of the copy to the memory of the hosts, in s; None if unknown.
        missing: facts without which ``background`` is unknown.
    """

    blocking: float
    background: float = 0.0
    copy: float | None = None
    missing: tuple[str, ...] = ()

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

    def delay(self, interval: float) -> float:
        """Return the time from the end of its stall until a job can restart from a checkpoint, in s; 0 if synchronous.

        The first checkpoint after a restart waits for no other one: it is written after an ``interval`` in s, the copy and
        ``background``. Each further one follows after an interval and a stall.
        """
        return self.blocking + self.background - self.stall(interval)


def checkpoint_writing(
    plan: Expansion,
    workload: TrainingWorkload,
    profile: JobProfile,
    hosts: int,
    parameters: float,
    copies: float | None,
) -> CheckpointWriting | Missing:
    """Return the writing of a checkpoint of a workload, or the fact without which it is unknown.

    Args:
        plan: with the file systems and the job profiles.
        workload: names the site and the hosts.
        profile: its job. A stated ``checkpoint_stall`` is taken as it is; with ``async_save`` storage writes after it.
        hosts: of the job.
        parameters: of its model.
        copies: B/s from all accelerators of the job to their hosts; None if unknown.
    """
    stall, adapter = profile.checkpoint_stall, workload.task == "lora"
    if stall is not None and (adapter or not profile.async_save):
        return CheckpointWriting(stall)
    words = f"'checkpoint_stall' of the job '{profile.name}'"
    jobs = plan.reliability.jobs if plan.reliability else ()
    field: Path = ("reliability", "jobs", jobs.index(profile), "checkpoint_stall")
    if adapter:
        return Missing(f"{words} (the size of an adapter is unknown)", field)
    written = _write_seconds(plan, workload, hosts, CHECKPOINT * parameters)
    if stall is not None:
        if isinstance(written, Missing):
            return CheckpointWriting(stall, missing=(written,))
        return CheckpointWriting(stall, written)
    if profile.async_save and copies is None:
        return Missing(
            f"{words} (no rate is known of copies from its accelerators to the memory of their hosts)",
            field,
        )
    if isinstance(written, Missing):
        return Missing(f"{words}, or {written}", field, *written.fields)
    copy = CHECKPOINT * parameters / copies if copies else None
    # All that storage gets is copied to the hosts first, so it is never written faster.
    synchronous = CheckpointWriting(max(written, copy or 0.0), copy=copy)
    return (synchronous.asynchronous or synchronous) if profile.async_save else synchronous


def _write_seconds(
    plan: Expansion, workload: TrainingWorkload, hosts: int, size: float
) -> float | Missing:
    """Return the time in s in which all hosts of the job write ``size`` bytes.

    They go to the one file system of the site that takes checkpoints, at its rate or at that of the hosts' ports.
    """
    systems = [
        system
        for system in file_systems(plan)
        if system.site == workload.site and isinstance(system.workload.checkpoint, Checkpoint)
    ]
    if len(systems) != 1 or not systems[0].write.value:
        words = f"one file system of '{workload.site}' with a write throughput whose workload has a 'checkpoint'"
        unset = systems[0].write.missing if len(systems) == 1 else ()
        fields = [field for fact in unset for field in fields_of(fact)]
        places = {site.name: site.path for site in plan.onprem}
        places |= {aws.spec.name: aws.path for aws in plan.aws}
        return Missing(words, *(fields or [(*places[workload.site], "file_systems")]))
    ports = _ports(plan, workload, systems[0], hosts)
    if isinstance(ports, Missing):
        return ports
    return write_time(size / GIB, min(systems[0].write.value, ports[0] / 1e6))
