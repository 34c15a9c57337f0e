"""Slurm's numbers that follow from the nodes: shares of a job, sizes of slurmctld, back-fill.

Sources are SchedMD's: the manual page of ``slurm.conf`` and the guide for large clusters
(``big_sys.html``), each of Slurm 22.05 and 26.05. What neither says is marked as judgement.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from rackwright.model.job_time import job_minutes
from rackwright.model.scheduler import Scheduler
from rackwright.model.scheduler_settings import LARGEST_PORT
from rackwright.plan.base import Path
from rackwright.plan.problems import PlanProblem
from rackwright.plan.slurm.nodes import SCHEDULER, NodeSet, PartitionSets

Release = tuple[int, int]

LARGE = 1024
"""Nodes from which on SchedMD's guide for large clusters speaks."""

DEFAULT_MESSAGE_TIMEOUT = 10
"""Seconds (manual)."""

LARGE_MESSAGE_TIMEOUT = 3 * DEFAULT_MESSAGE_TIMEOUT
"""Seconds on a large cluster: a message passes three hosts at most, the answer comes back the same
way, and each may take the time that is the default of one. Judgement."""

HOPS = 3
"""Hosts that a message passes at most, one after the other (manual, 26.05)."""

DEFAULT_JOBS = 10_000
"""``MaxJobCount``: jobs that slurmctld holds (manual)."""
DEFAULT_ARRAY = 1_001
"""``MaxArraySize``: one more than the largest index of a job array (manual)."""
MOST_JOBS = 300_000
"""Performance suffers with "more than a few hundred thousand" (manual)."""

DEFAULT_UNKILLABLE = 60
"""``UnkillableStepTimeout`` in seconds (manual)."""
UNKILLABLE_RATIO = 5
"""``UnkillableStepTimeout`` is at least so many times ``MessageTimeout`` (manual, from 23.02 on);
its default follows from 24.05 on."""

DAY_MINUTES = 1440
"""Minutes of ``bf_window`` by default, planned in steps of ``DEFAULT_RESOLUTION``."""
DEFAULT_RESOLUTION = 60
"""``bf_resolution`` in seconds (manual)."""
LONGEST_WINDOW = 43_200
"""Most minutes of ``bf_window``, which are 30 days (manual)."""

BUSY_THREADS = 150
"""Threads of slurmctld from which on it answers before it schedules: the middle of 256 that the
manual advises (under ``bf_max_time``)."""

FEWEST_PORTS = 1_000
"""Ports of a range for srun (manual)."""


@dataclass(frozen=True, slots=True)
class Shares:
    """Defaults of a job of a partition; None where nothing is written.

    Attributes:
        memory_per_gpu: MiB for each GPU.
        cpus_per_gpu: logical CPUs for each GPU.
        memory_per_cpu: MiB for each CPU, of a job without GPUs.
    """

    memory_per_gpu: int | None = None
    cpus_per_gpu: int | None = None
    memory_per_cpu: int | None = None


def shares(scheduler: Scheduler, entry: PartitionSets) -> Shares:
    """Return the equal shares of a partition's nodes, the least of them where they differ.

    A job that has its nodes to itself does not share them. The manual calls memory by GPU and by CPU
    mutually exclusive; slurmctld takes both of a partition, and uses the one for jobs with GPUs and the
    other for jobs without, which would get all memory of their nodes. Of other accelerators it knows no
    such share.
    """
    partition = entry.partition
    with_gpus = _with_gpus(entry)
    asked = scheduler.default_shares and not partition.exclusive
    by_hand = {key for key in ("CPU", "GPU", "Node") if scheduler.extra_value(f"DefMemPer{key}")}
    memory, cpus = partition.memory_per_gpu, partition.cpus_per_gpu
    own = Shares(None if memory is None else math.floor(memory * 1024 + 1e-6), cpus)
    if not asked:
        return own
    if not with_gpus:
        return Shares(memory_per_cpu=None if by_hand else _least(map(_memory_per_cpu, entry.sets)))
    cpus_by_hand = scheduler.extra_value("DefCpuPerGPU")
    by_gpu = None if by_hand else _least(map(_memory_per_gpu, with_gpus))
    return Shares(
        own.memory_per_gpu or by_gpu,
        own.cpus_per_gpu or (None if cpus_by_hand else _least(map(_cpus_per_gpu, with_gpus))),
        None if by_hand else _least(map(_memory_per_cpu, with_gpus)),
    )


def _with_gpus(entry: PartitionSets) -> list[NodeSet]:
    return [nodes for nodes in entry.sets if nodes.gres is not None and nodes.gres.name == "gpu"]


def _least(values: Iterable[int]) -> int | None:
    """Return the least; None where there is none, or a host has too little to share out."""
    return min(values, default=0) or None


def _memory_per_gpu(nodes: NodeSet) -> int:
    return (nodes.free_memory or 0) // nodes.accelerators


def _cpus_per_gpu(nodes: NodeSet) -> int:
    """Return whole cores with their threads: Slurm gives no less, and the last GPU would have none."""
    return (nodes.free_cores or 0) // nodes.accelerators * nodes.threads


def _memory_per_cpu(nodes: NodeSet) -> int:
    cpus = (nodes.free_cores or 0) * nodes.threads
    return (nodes.free_memory or 0) // cpus if cpus > 0 else 0


def tree_width(nodes: int, release: Release) -> int | None:
    """Return the hosts that a daemon passes messages on to; None where Slurm's default does well.

    The default is 16 from 23.11 on and reaches 4,368 hosts in three hops; before, it is 50 and
    reaches 2,550 in two. Beyond that SchedMD's guide advises the cube root of the number of nodes:
    the least width that reaches all of them in three hops.
    """
    enough = 4_368 if release >= (23, 11) else 2_550
    if nodes <= enough:
        return None
    width = max(1, math.floor(math.pow(nodes, 1 / HOPS)) - 1)
    while reach(width) < nodes:
        width += 1
    return width


def reach(width: int) -> int:
    """Return the hosts that a message gets to within three hops."""
    return width + width**2 + width**3


def message_timeout(nodes: int) -> int | None:
    """Return the seconds for a message and its answer; None where Slurm's default does."""
    return LARGE_MESSAGE_TIMEOUT if nodes >= LARGE else None


def unkillable_step_timeout(timeout: int, release: Release) -> int | None:
    """Return the seconds for killed processes to end; None where Slurm's default is no less than it has to be."""
    needed = UNKILLABLE_RATIO * timeout
    return needed if needed > DEFAULT_UNKILLABLE and release < (24, 5) else None


def max_jobs(slots: int) -> int | None:
    """Return the jobs in slurmctld's memory; None where the default does.

    Every accelerator may run a job of its own, and every host without one; as many more may wait.
    Judgement, in thousands.
    """
    wanted = -(-2 * slots // 1000) * 1000
    return min(wanted, MOST_JOBS) if wanted > DEFAULT_JOBS else None


def max_array_size(jobs: int) -> int | None:
    """Return one more than the highest index; None where the default does.

    ``MaxJobCount`` has to be much larger (manual); both defaults are as ten to one.
    """
    size = jobs // (DEFAULT_JOBS // (DEFAULT_ARRAY - 1)) + 1
    return None if size == DEFAULT_ARRAY else size


def srun_ports(nodes: int, steps: int) -> int:
    """Return the ports of so many job steps over all nodes.

    An srun listens on four, on one more for a terminal and on two more for every 48 hosts beyond
    the first 48 (manual, 23.11); that of 22.05 on three and two for every 48.
    """
    each = 5 + 2 * -(-max(nodes - 48, 0) // 48)
    return max(FEWEST_PORTS, each * steps)


def backfill(longest: int | None, window: int | None, resolution: int | None) -> tuple[int, int]:
    """Return minutes that are planned ahead, and the seconds of a step.

    As long as the longest limit of a job, or long jobs starve; where the window grows, the steps
    grow with it, and the number of steps stays (manual).

    Args:
        longest: minutes of the longest limit; None where there is none.
        window: minutes that the blueprint sets, if any.
        resolution: seconds that the blueprint sets, if any.
    """
    ahead = window or min(max(longest or 0, DAY_MINUTES), LONGEST_WINDOW)
    step = resolution or DEFAULT_RESOLUTION * -(-ahead // DAY_MINUTES)
    return ahead, step


@dataclass(frozen=True, slots=True)
class Sizes:
    """Sizes of a cluster in its files; None where Slurm's default fits or ``extra`` decides.

    Attributes:
        message_timeout: seconds.
        tree_width: hosts.
        max_jobs: jobs in slurmctld's memory.
        max_array_size: one more than the highest index of an array.
        unkillable_step_timeout: seconds.
        srun_ports: the first and the last.
        scheduling: options of ``SchedulerParameters``.
    """

    message_timeout: int | None
    tree_width: int | None
    max_jobs: int | None
    max_array_size: int | None
    unkillable_step_timeout: int | None
    srun_ports: tuple[int, int] | None
    scheduling: tuple[str, ...]


def sizes(scheduler: Scheduler, sets: Sequence[NodeSet]) -> Sizes:
    """Return the sizes of a cluster of these nodes: as the blueprint says, or as follows from them."""
    tuning, release = scheduler.tuning, scheduler.release
    nodes = sum(entry.count for entry in sets)
    slots = sum(entry.count * max(1, entry.accelerators) for entry in sets)

    def given(key: str, said: float | None, derived: int | None) -> int | None:
        if scheduler.extra_value(key) is not None:
            return None
        return derived if said is None else round(said)

    timeout = given("MessageTimeout", tuning.message_timeout, message_timeout(nodes))
    jobs = given("MaxJobCount", tuning.max_jobs, max_jobs(slots))
    known_jobs = jobs or _number(scheduler.extra_value("MaxJobCount")) or DEFAULT_JOBS
    ports = tuning.srun_ports
    return Sizes(
        message_timeout=timeout,
        tree_width=given("TreeWidth", tuning.tree_width, tree_width(nodes, release)),
        max_jobs=jobs,
        max_array_size=given("MaxArraySize", tuning.max_array_size, max_array_size(known_jobs)),
        unkillable_step_timeout=given(
            "UnkillableStepTimeout",
            tuning.unkillable_step_timeout,
            unkillable_step_timeout(_timeout(scheduler, timeout), release),
        ),
        srun_ports=None
        if ports is None
        else (ports.first, ports.first + srun_ports(nodes, ports.steps) - 1),
        scheduling=tuple(_scheduling(scheduler, nodes)),
    )


def _timeout(scheduler: Scheduler, written: int | None) -> int:
    """Return the seconds of a message that hold in the end."""
    by_hand = _number(scheduler.extra_value("MessageTimeout"))
    return written or by_hand or DEFAULT_MESSAGE_TIMEOUT


def _number(text: str | None) -> int | None:
    return int(text) if text is not None and text.isascii() and text.isdigit() else None


def _scheduling(scheduler: Scheduler, nodes: int) -> Iterator[str]:
    if scheduler.prolog and scheduler.requeue:
        # Slurm would hold a job whose prolog fails until an administrator releases it.
        yield "nohold_on_prolog_fail"
    ahead, step = _backfill(scheduler)
    own = scheduler.extra_options("SchedulerParameters")
    if ahead != DAY_MINUTES and "bf_window" not in own:
        yield f"bf_window={ahead}"
    if step != DEFAULT_RESOLUTION and "bf_resolution" not in own:
        yield f"bf_resolution={step}"
    if nodes >= LARGE:
        yield "bf_continue"  # the queue of a large cluster is not done before a node changes
        yield f"max_rpc_cnt={BUSY_THREADS}"


def _backfill(scheduler: Scheduler) -> tuple[int, int]:
    tuning = scheduler.tuning
    limits = [job_minutes(partition.max_time) for partition in scheduler.partitions]
    by_hand = scheduler.extra_options("SchedulerParameters").get("bf_window", "")
    window = _number(by_hand.partition("=")[2])
    if tuning.backfill_window is not None:
        window = round(tuning.backfill_window / 60)
    return backfill(
        max((limit for limit in limits if limit is not None), default=None),
        window,
        None if tuning.backfill_resolution is None else round(tuning.backfill_resolution),
    )


def check_settings(
    scheduler: Scheduler, sets: Sequence[NodeSet], partitions: Sequence[PartitionSets]
) -> list[PlanProblem]:
    """Return the settings that cannot be with these nodes."""
    return [
        *_check_accelerators(scheduler, sets),
        *_check_reserves(scheduler, sets),
        *_check_shares(partitions),
        *_check_sizes(scheduler, sizes(scheduler, sets)),
    ]


def _check_accelerators(scheduler: Scheduler, sets: Sequence[NodeSet]) -> Iterator[PlanProblem]:
    by_group = {nodes.group: nodes for nodes in sets}
    for index, entry in enumerate(scheduler.nodes):
        place: Path = (*SCHEDULER, "nodes", index)
        for nodes in (by_group[name] for name in entry.groups if name in by_group):
            vendor = "none" if nodes.gres is None else nodes.gres.vendor
            if entry.detect is not None and vendor != "nvidia":
                yield PlanProblem(
                    (*place, "detect"),
                    f"the hosts of '{nodes.group}' have no NVIDIA GPUs to be detected",
                    "leave 'detect' out for this group",
                )
            if entry.detect != "nvml" and nodes.has_instances:
                # Of the ways to find GPUs only NVML's tells instances (gres.conf(5), Slurm 24.11).
                yield PlanProblem(
                    (*place, "detect"),
                    f"the instances of divided GPUs on '{nodes.group}' have no device files of their own",
                    "write 'detect: nvml', with a Slurm built with NVIDIA's library",
                )
            if not entry.gpus_by_socket:
                continue
            sockets = None if nodes.shape is None else nodes.shape[0]
            if vendor not in {"nvidia", "aws"} or sockets is None or nodes.accelerators % sockets:
                yield PlanProblem(
                    (*place, "gpus_by_socket"),
                    f"{nodes.accelerators} accelerators of a host of '{nodes.group}' cannot be "
                    f"dealt out to {sockets or 'an unknown number of'} sockets by number",
                    "leave 'gpus_by_socket' out for this group",
                )


def _check_reserves(scheduler: Scheduler, sets: Sequence[NodeSet]) -> Iterator[PlanProblem]:
    places: dict[str, Path] = {
        name: (*SCHEDULER, "nodes", index, "reserve")
        for index, entry in enumerate(scheduler.nodes)
        if entry.reserve is not None
        for name in entry.groups
    }
    for nodes in sets:
        where = places.get(nodes.group, (*SCHEDULER, "reserve"))
        if nodes.cpus is not None and (nodes.free_cores or 0) < 1:
            cores = nodes.cpus // nodes.threads
            yield PlanProblem(
                (*where, "cores"),
                f"a host of '{nodes.group}' has {cores} cores and keeps {nodes.reserved_cores}",
                f"keep {cores - 1} at most, or give 'reserve' in 'scheduler.nodes' for its group",
            )
        if nodes.memory is not None and (nodes.free_memory or 0) < 1:
            yield PlanProblem(
                (*where, "memory"),
                f"a host of '{nodes.group}' has {nodes.memory:,} MiB for Slurm and keeps "
                f"{nodes.reserved_memory:,}",
                "keep less, or give 'reserve' in 'scheduler.nodes' for its group",
            )


def _check_shares(partitions: Sequence[PartitionSets]) -> Iterator[PlanProblem]:
    for entry in partitions:
        partition, with_gpus = entry.partition, _with_gpus(entry)
        memory = None if partition.memory_per_gpu is None else partition.memory_per_gpu * 1024
        for name, unit, asked, most in (
            ("memory_per_gpu", "MiB", memory, [nodes.free_memory for nodes in with_gpus]),
            ("cpus_per_gpu", "CPUs", partition.cpus_per_gpu,
             [(nodes.free_cores or 0) * nodes.threads for nodes in with_gpus]),
        ):  # fmt: skip
            if asked is None or not entry.sets:
                continue
            if not with_gpus:
                yield PlanProblem(
                    (*entry.path, name),
                    f"no host of the partition '{partition.name}' has a GPU",
                    f"leave '{name}' out",
                )
            elif asked > (largest := max(value or 0 for value in most)):
                yield PlanProblem(
                    (*entry.path, name),
                    f"a job with one GPU gets {asked:,.0f} {unit}, and the largest host of the "
                    f"partition '{partition.name}' has {largest:,} for jobs",
                    f"give {largest:,} {unit} at most, or leave it out for an equal share",
                )


def _check_sizes(scheduler: Scheduler, made: Sizes) -> Iterator[PlanProblem]:
    place: Path = (*SCHEDULER, "tuning")
    timeout = _timeout(scheduler, made.message_timeout)
    needed = UNKILLABLE_RATIO * timeout
    said = scheduler.tuning.unkillable_step_timeout
    if said is not None and said < needed:
        yield PlanProblem(
            (*place, "unkillable_step_timeout"),
            f"{said:.0f} s are less than {UNKILLABLE_RATIO} times the {timeout} s of a message: "
            "nodes would be drained that only answer late",
            f"give {needed} s or more, or a shorter 'message_timeout'",
        )
    ports = scheduler.tuning.srun_ports
    if ports is not None and made.srun_ports is not None and made.srun_ports[1] > LARGEST_PORT:
        count = made.srun_ports[1] - ports.first + 1
        yield PlanProblem(
            (*place, "srun_ports"),
            f"{ports.steps} job steps over all nodes need {count:,} ports, and there are "
            f"{LARGEST_PORT - ports.first + 1:,} from {ports.first} on",
            "lower 'first' or 'steps'",
        )
