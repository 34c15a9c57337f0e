"""Slurm's numbers that follow from the nodes, against what SchedMD's manual and guide say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from rackwright.model.scheduler import Scheduler
from rackwright.plan.load import load_plan
from rackwright.plan.problems import PlanProblem
from rackwright.plan.slurm.gres import Gres
from rackwright.plan.slurm.nodes import NodeSet, PartitionSets, node_sets, partition_sets
from rackwright.plan.slurm.settings import (
    DEFAULT_ARRAY,
    DEFAULT_JOBS,
    LARGE,
    MOST_JOBS,
    Shares,
    backfill,
    check_settings,
    max_array_size,
    max_jobs,
    message_timeout,
    reach,
    shares,
    sizes,
    srun_ports,
    tree_width,
    unkillable_step_timeout,
)
from rackwright.policy.packs.loader import builtin_pack

SLURM = builtin_pack() / "fixtures" / "slurm.yaml"
OLD, NEW = (22, 5), (24, 11)
RELEASES = st.sampled_from([OLD, (23, 2), (23, 11), (24, 5), NEW, (26, 5)])
NODES = st.integers(1, 200_000)


@pytest.mark.parametrize(
    ("nodes", "release", "width"),
    [
        (64, NEW, None),
        (4_368, NEW, None),  # 16 + 256 + 4096: what the manual says that the default reaches
        (4_369, NEW, 17),
        (12_500, NEW, 23),  # its cube root is 23.2
        (2_550, OLD, None),  # 50 + 2500
        (12_500, OLD, 23),
        (12_500, (23, 2), 23),
        (4_000, (23, 2), 16),
        (4_000, (23, 11), None),
    ],
)
def test_the_width_of_the_tree(nodes: int, release: tuple[int, int], width: int | None) -> None:
    assert tree_width(nodes, release) == width


@given(NODES, RELEASES)
def test_every_node_is_reached_in_three_hops_by_the_least_width(nodes, release) -> None:
    width = tree_width(nodes, release)
    if width is not None:
        assert reach(width) >= nodes > reach(width - 1)
        assert width <= 65_533
        assert abs(width - nodes ** (1 / 3)) <= 1, "the cube root, as the guide advises"
    else:
        assert reach(16 if release >= (23, 11) else 50) >= nodes


@given(NODES, RELEASES)
def test_a_killed_process_has_five_times_the_time_of_a_message(nodes, release) -> None:
    timeout = message_timeout(nodes) or 10
    needed = unkillable_step_timeout(timeout, release)
    default = max(60, 5 * timeout) if release >= (24, 5) else 60
    assert (needed or default) >= 5 * timeout
    assert timeout <= 100, "Slurm warns of more"
    assert (timeout > 10) == (nodes >= LARGE)


@given(st.integers(0, 4_000_000))
def test_jobs_have_room_for_every_accelerator_and_for_as_many_that_wait(slots) -> None:
    jobs = max_jobs(slots)
    assert (jobs or DEFAULT_JOBS) >= min(2 * slots, MOST_JOBS)
    assert jobs is None or DEFAULT_JOBS < jobs <= MOST_JOBS


@given(st.integers(1, 2**32 - 1))
def test_an_array_is_a_tenth_of_all_jobs(jobs) -> None:
    size = max_array_size(jobs) or DEFAULT_ARRAY
    assert size - 1 <= jobs / 10
    assert max_array_size(DEFAULT_JOBS) is None


@pytest.mark.parametrize(("nodes", "ports"), [(1, 5), (48, 5), (50, 7), (200, 13), (12_500, 525)])
def test_ports_of_an_srun_with_a_terminal(nodes: int, ports: int) -> None:
    """The manual of 23.11 has 4, 4, 6 and 12 without one; that of 22.05 has 5, 7 and 13."""
    assert srun_ports(nodes, 1_000) == 1_000 * ports


@given(NODES, st.integers(1, 1000))
def test_more_steps_and_nodes_need_no_fewer_ports(nodes, steps) -> None:
    assert srun_ports(nodes + 1, steps) >= srun_ports(nodes, steps) >= 1_000
    assert srun_ports(nodes, steps + 1) >= srun_ports(nodes, steps)


@pytest.mark.parametrize(
    ("longest", "window", "resolution", "expected"),
    [
        (None, None, None, (1_440, 60)),
        (60, None, None, (1_440, 60)),
        (10_080, None, None, (10_080, 420)),
        (99_999_999, None, None, (43_200, 1_800)),  # 30 days are the most that Slurm takes
        (10_080, 2_880, None, (2_880, 120)),
        (10_080, None, 300, (10_080, 300)),
    ],
)
def test_planned_ahead_time_of_the_scheduler(longest, window, resolution, expected) -> None:
    assert backfill(longest, window, resolution) == expected


@given(st.integers(1, 10**8))
def test_the_number_of_steps_that_are_planned_does_not_grow(longest) -> None:
    ahead, step = backfill(longest, None, None)
    assert ahead * 60 / step <= 1_440
    assert ahead >= min(longest, 43_200)
    assert step <= 3_600


def a_set(
    cpus: int = 224,
    memory: int = 2_000_000,
    gpus: int = 8,
    shape: tuple[int, int, int] | None = None,
    **more: Any,
) -> NodeSet:
    gres = more.pop("gres", Gres("gpu", "h100", gpus, "nvidia") if gpus else None)
    return NodeSet(
        group="dgx",
        site="hall",
        path=(),
        entry="dgx-h100",
        is_cloud=False,
        count=more.pop("count", 4),
        unit_hosts=1,
        cpus=cpus,
        known_cpus=cpus,
        memory=memory,
        known_memory=memory,
        gres=gres,
        known_gres=gres,
        shape=shape,
        **more,
    )


def a_scheduler(**more: Any) -> Scheduler:
    data = {
        "kind": "slurm",
        "version": "24.11",
        "controllers": [{"host": "head-1"}],
        "partitions": [{"name": "gpu", "groups": ["dgx"], **more.pop("partition", {})}],
        "topology": {"plugin": "flat"},
        **more,
    }
    return Scheduler.model_validate(data)


def share_of(*sets: NodeSet, **more: Any) -> Shares:
    scheduler = a_scheduler(**more)
    return shares(scheduler, PartitionSets(scheduler.partitions[0], (), sets, ()))


def test_a_gpu_has_an_equal_share_of_memory_and_whole_cores() -> None:
    node = a_set(cpus=224, memory=2_000_007, shape=(2, 56, 2))
    assert share_of(node) == Shares(250_000, 28, 8_928)
    five = a_set(cpus=224, gpus=5, shape=(2, 56, 2))
    assert share_of(five).cpus_per_gpu == 44, "112 cores make 22 for each of five, with 44 threads"


def test_reserved_memory_is_not_shared() -> None:
    node = a_set(cpus=224, shape=(2, 56, 2), reserved_cores=8, reserved_memory=80_000)
    assert share_of(node) == Shares(240_000, 26, 9_230)


def test_the_least_share_of_a_partition_fits_on_all_its_nodes() -> None:
    small = a_set(cpus=64, memory=500_000, gpus=4)
    assert share_of(a_set(), small) == Shares(125_000, 16, 7_812)
    no_gpus = a_set(cpus=8, memory=1_000, gpus=0)
    assert share_of(a_set(), no_gpus) == share_of(a_set())


def test_job_without_gpu_leaves_memory_of_a_gpu_node_to_others() -> None:
    """DefMemPerGPU alone gave a job of one core all memory, and with it the node."""
    assert share_of(a_set()).memory_per_cpu == 8_928
    said = {"memory_per_gpu": "100 GiB"}
    assert share_of(a_set(), partition=said) == Shares(102_400, 28, 8_928)


def test_without_gpus_memory_is_shared_by_cpu() -> None:
    assert share_of(a_set(cpus=128, memory=512_000, gpus=0)) == Shares(memory_per_cpu=4_000)
    trainium = a_set(gres=Gres("neuron", "trainium", 16, "aws"))
    assert share_of(trainium) == Shares(memory_per_cpu=2_000_000 // 224)


def test_a_job_with_a_node_to_itself_has_no_share() -> None:
    assert share_of(a_set(), partition={"exclusive": True}) == Shares()
    assert share_of(a_set(), default_shares=False) == Shares()


def test_value_of_a_partition_has_precedence_over_the_share() -> None:
    said = {"memory_per_gpu": "100 GiB", "cpus_per_gpu": 8}
    assert share_of(a_set(), partition=said) == Shares(102_400, 8, 8_928)
    assert share_of(a_set(), partition=said, default_shares=False) == Shares(102_400, 8)


@pytest.mark.parametrize("key", ["DefMemPerCPU", "DefMemPerGPU", "defmempernode"])
def test_memory_by_another_measure_is_left_alone(key: str) -> None:
    """Slurm takes one of the three, and not two."""
    assert share_of(a_set(), extra={key: 4_000}) == Shares(cpus_per_gpu=28)


def test_cpus_that_extra_gives_are_left_alone() -> None:
    assert share_of(a_set(), extra={"DefCpuPerGPU": 4}).cpus_per_gpu is None


@given(
    cores=st.integers(1, 512),
    threads=st.integers(1, 4),
    memory=st.integers(1, 10**7),
    gpus=st.integers(0, 32),
    reserved=st.integers(0, 512),
)
def test_a_node_has_room_for_a_job_on_each_of_its_gpus(
    cores, threads, memory, gpus, reserved
) -> None:
    node = a_set(
        cpus=cores * threads,
        memory=memory,
        gpus=gpus,
        shape=(1, cores, threads),
        reserved_cores=min(reserved, cores - 1),
        reserved_memory=min(reserved, memory - 1),
    )
    made = share_of(node)
    assert node.free_memory is not None
    assert node.free_cores is not None
    assert gpus * (made.memory_per_gpu or 0) <= node.free_memory
    assert gpus * (made.cpus_per_gpu or 0) <= node.free_cores * threads
    assert (made.cpus_per_gpu or 0) % threads == 0
    assert node.free_cores * threads * (made.memory_per_cpu or 0) <= node.free_memory
    assert 0 not in (made.memory_per_gpu, made.cpus_per_gpu, made.memory_per_cpu)


def test_a_small_cluster_needs_no_sizes() -> None:
    made = sizes(a_scheduler(), [a_set(count=64)])
    numbers = (made.message_timeout, made.tree_width, made.max_jobs, made.max_array_size)
    assert numbers == (None,) * 4
    assert made.unkillable_step_timeout is None
    assert made.srun_ports is None
    assert made.scheduling == ()


def test_the_sizes_of_a_large_one() -> None:
    made = sizes(a_scheduler(version="22.05"), [a_set(count=12_500)])
    assert (made.message_timeout, made.unkillable_step_timeout) == (30, 150)
    assert (made.tree_width, made.max_jobs, made.max_array_size) == (23, 200_000, 20_001)
    assert made.scheduling == ("bf_continue", "max_rpc_cnt=150")
    newer = sizes(a_scheduler(), [a_set(count=12_500)])
    assert newer.unkillable_step_timeout is None, "its default follows, from 24.05 on"


def test_extra_setting_is_written_once_and_counts() -> None:
    extra = {"messagetimeout": 60, "TreeWidth": 50, "MaxJobCount": 400_000}
    made = sizes(a_scheduler(version="22.05", extra=extra), [a_set(count=12_500)])
    assert (made.message_timeout, made.tree_width, made.max_jobs) == (None, None, None)
    assert made.unkillable_step_timeout == 300
    assert made.max_array_size == 40_001


def test_the_steps_of_planning_follow_from_a_window_in_extra() -> None:
    scheduler = a_scheduler(extra={"SchedulerParameters": "bf_window=4320"})
    assert sizes(scheduler, [a_set()]).scheduling == ("bf_resolution=180",)
    both = a_scheduler(extra={"SchedulerParameters": "bf_window=4320,BF_resolution=60"})
    assert sizes(both, [a_set()]).scheduling == ()


def problems_of(tmp_path: Path, **said: Any) -> list[PlanProblem]:
    more = tmp_path / "more.yaml"
    more.write_text(yaml.safe_dump({"scheduler": said}))
    plan = load_plan(SLURM, [more]).plan
    assert plan.blueprint.scheduler is not None
    sets = node_sets(plan)
    return check_settings(plan.blueprint.scheduler, sets, partition_sets(plan, sets))


@pytest.mark.parametrize(
    ("said", "place", "message"),
    [
        (
            {"reserve": {"cores": 112}},
            "scheduler.reserve.cores",
            "a host of 'dgx' has 112 cores and keeps 112",
        ),
        (
            {"nodes": [{"groups": ["dgx"], "reserve": {"memory": "1.9 TiB"}}]},
            "scheduler.nodes.0.reserve.memory",
            "a host of 'dgx' has 1,992,294 MiB for Slurm and keeps 1,992,295",
        ),
        (
            {"nodes": [{"groups": ["dgx"], "gres": "gpu:h100:5", "gpus_by_socket": True}]},
            "scheduler.nodes.0.gpus_by_socket",
            "5 accelerators of a host of 'dgx' cannot be dealt out to 2 sockets by number",
        ),
        (
            {"nodes": [{"groups": ["dgx"], "cpus": 96, "gpus_by_socket": True}]},
            "scheduler.nodes.0.gpus_by_socket",
            "cannot be dealt out to an unknown number of sockets",
        ),
        (
            {"partitions": [{"name": "gpu", "cpus_per_gpu": 225}]},
            "scheduler.partitions.0.cpus_per_gpu",
            "a job with one GPU gets 225 CPUs, and the largest host of the partition 'gpu' has 224",
        ),
        (
            {"partitions": [{"name": "gpu", "memory_per_gpu": "2 TiB"}]},
            "scheduler.partitions.0.memory_per_gpu",
            "a job with one GPU gets 2,097,152 MiB, and the largest host of the partition 'gpu'",
        ),
        (
            {"version": "24.11", "tuning": {"message_timeout": "60 s",
                                            "unkillable_step_timeout": "299 s"}},
            "scheduler.tuning.unkillable_step_timeout",
            "299 s are less than 5 times the 60 s of a message",
        ),
        (
            {"tuning": {"srun_ports": {"steps": 1000}}},
            "scheduler.tuning.srun_ports",
            "1000 job steps over all nodes need 7,000 ports, and there are 5,535 from 60001 on",
        ),
    ],
)  # fmt: skip
def test_impossible_setting_is_refused_with_its_numbers(
    said: dict[str, Any], place: str, message: str, tmp_path: Path
) -> None:
    (problem,) = problems_of(tmp_path, **said)
    assert ".".join(map(str, problem.path)) == place
    assert message in problem.message
    assert problem.hint


def test_a_group_of_its_own_reserve_is_not_judged_by_that_of_the_cluster(tmp_path: Path) -> None:
    own = [{"groups": ["dgx"], "reserve": {"cores": 4}}]
    assert not problems_of(tmp_path, reserve={"cores": 112}, nodes=own)


def test_a_share_of_gpus_that_are_not_there_is_refused(tmp_path: Path) -> None:
    none = a_set(gpus=0)
    scheduler = a_scheduler(partition={"memory_per_gpu": "1 GiB"})
    entry = PartitionSets(scheduler.partitions[0], ("scheduler", "partitions", 0), (none,), ())
    (problem,) = check_settings(scheduler, [none], [entry])
    assert problem.message == "no host of the partition 'gpu' has a GPU"


@pytest.mark.parametrize(("vendor", "refused"), [("nvidia", False), ("amd", True), ("aws", True)])
def test_only_gpus_of_nvidia_are_detected_so(vendor: str, refused: bool) -> None:
    nodes = a_set(gres=Gres("gpu", "x", 8, vendor))
    scheduler = a_scheduler(nodes=[{"groups": ["dgx"], "detect": "nvidia"}])
    messages = [problem.message for problem in check_settings(scheduler, [nodes], [])]
    wanted = ["the hosts of 'dgx' have no NVIDIA GPUs to be detected"]
    assert messages == (wanted if refused else [])
