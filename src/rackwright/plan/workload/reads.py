"""Reading of training data from the storage of a plan."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rackwright.model.storage import lnet_name
from rackwright.model.workloads import TrainingWorkload
from rackwright.plan.base import Path
from rackwright.plan.fabric.layout import port_rate
from rackwright.plan.missing import Missing
from rackwright.plan.storage.filesystem import GIB, FileSystem, file_systems
from rackwright.plan.workload.run import Bounds
from rackwright.plan.workload.step import StepTime
from rackwright.plan.workload.transformer import LanguageModel

if TYPE_CHECKING:
    from rackwright.plan.expansion import Expansion

SHORT_TOKENS = 65_500
"""Vocabulary from which on a token is stored in 4 bytes instead of 2 (indexed datasets of Megatron-Core)."""


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

    def waited(self, step: StepTime) -> StepTime:
        """Return a step that also waits for data; ``step`` itself where they are read in time."""
        waiting = step.tokens / self.limit - step.seconds
        if waiting <= 0:
            return step
        slower = step.seconds / (step.seconds + waiting)
        return replace(step, reads=waiting, flops=step.flops * slower)

    def limited(self, speed: Bounds) -> Bounds:
        """Return a speed in tokens/s, no higher than storage delivers."""
        return Bounds(*(min(one, self.limit) for one in (speed.low, speed.value, speed.high)))

    def demand(self, step: StepTime) -> float | None:
        """Return the B/s that are read if no step waits for data; None if unknown."""
        free = step.seconds - step.reads
        return None if self.token is None else self.token * step.tokens / free

    def wider(self, step: StepTime) -> tuple[Path, str] | None:
        """Return the field by which no step would wait, and its change; None without a wait."""
        needed, system = self.demand(step), self.system
        if not step.reads or needed is None or self.rate is None or system is None:
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
    plan: Expansion, workload: TrainingWorkload, model: LanguageModel, hosts: int, path: Path
) -> TrainingReads:
    """Return the reading of the workload at ``path`` on ``hosts`` hosts, from the file system of its dataset.

    The rate is that of the file system, or of the hosts' ports on the fabrics of its LNet networks, whichever is lower.
    """
    place = (*path, "dataset")
    missing: list[str] = []
    token = _stored(workload, model)
    if token is None:
        missing.append(Missing(f"size of a sample of '{workload.name}'", (*place, "sample_size")))
    stated = workload.dataset.file_system if workload.dataset else None
    at_site = [one for one in file_systems(plan) if one.site == workload.site]
    systems = [one for one in at_site if stated in (None, one.system)]
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


def _stored(workload: TrainingWorkload, model: LanguageModel) -> float | None:
    """Return the stored bytes of each token; None for images and videos whose samples have no stated size."""
    if workload.dataset is not None and workload.dataset.sample_size is not None:
        return workload.dataset.sample_size * GIB / workload.sequence
    if model.denoises:
        return None
    return 2.0 if model.vocabulary < SHORT_TOKENS else 4.0


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
