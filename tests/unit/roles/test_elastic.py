"""The program of elastic nodes, cut off at any call: no orphan, none twice, nothing ended that jobs use."""

from __future__ import annotations

import datetime as dt
import random
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from elastic_fakes import KNOWN, Aws, KilledError, Slurm, load_program


@pytest.fixture
def program() -> ModuleType:
    return load_program()


@pytest.fixture
def aws() -> Aws:
    return Aws()


@pytest.fixture
def slurm() -> Slurm:
    return Slurm()


@pytest.fixture
def run(program: ModuleType, aws: Aws, slurm: Slurm, tmp_path: Path) -> Any:
    """Run a job as a process of its own does, which reads the journal again."""

    def job(name: str, *nodes: str) -> None:
        site = program.Site(KNOWN, aws.client)
        elastic = program.Elastic([site], slurm, program.Journal(tmp_path))
        getattr(elastic, name)(*([list(nodes)] if name != "sweep" else []))

    return job


class Clock:
    """Time of a test, in s since 1970."""

    def __init__(self) -> None:
        self.now = dt.datetime(2026, 3, 1, tzinfo=dt.UTC).timestamp()

    def __call__(self) -> float:
        return self.now

    def before(self, seconds: float) -> dt.datetime:
        """Return an earlier time, as boto3 does."""
        return dt.datetime.fromtimestamp(self.now - seconds, dt.UTC)


@pytest.fixture
def clock(program: ModuleType, monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(program.time, "time", clock)
    return clock


@pytest.fixture
def busy_node(run: Any, slurm: Slurm, clock: Clock) -> str:
    """Return a node with a job, whose instance ``i-1`` was launched an hour ago."""
    slurm.state("train-3", to="ALLOCATED+POWERING_UP")
    run("resume", "train-3")
    slurm.state("train-3", to="ALLOCATED")
    clock.now += 3600
    return "train-3"


def test_a_node_is_launched_once_however_often_it_is_asked_for(
    run: Any, aws: Aws, slurm: Slurm
) -> None:
    slurm.state("train-3", "train-4", to="ALLOCATED+POWERING_UP")
    run("resume", "train-3", "train-4")
    run("resume", "train-3", "train-4")
    run("sweep")
    assert aws.living() == ["train-3", "train-4"]
    assert slurm.told["train-3"]["address"] == "10.20.0.1"


@pytest.mark.parametrize("calls", range(14))
def test_a_program_that_is_killed_before_any_call_leaves_no_orphan(
    run: Any, aws: Aws, slurm: Slurm, calls: int
) -> None:
    wanted = ["train-3", "train-4", "train-5"]
    slurm.state(*wanted, to="ALLOCATED+POWERING_UP")
    aws.calls_left = calls
    for job in ("resume", "suspend"):
        try:
            run(job, *wanted)
        except KilledError:
            break
        slurm.state(*wanted, to="IDLE+POWERING_DOWN")
    aws.calls_left = 10_000
    up = "POWERING_UP" in slurm.told["train-3"]["states"]
    run("sweep")
    assert aws.living() == (wanted if up else [])


def test_a_power_down_that_was_asked_for_waits_for_the_jobs(
    run: Any, aws: Aws, slurm: Slurm, busy_node: str
) -> None:
    slurm.state(busy_node, to="ALLOCATED+POWER_DOWN")
    run("sweep")
    assert aws.living() == [busy_node]
    slurm.state(busy_node, to="IDLE+POWER_DOWN")
    run("sweep")
    assert aws.living() == []


def test_a_launch_whose_answer_is_lost_is_found_again(run: Any, aws: Aws, slurm: Slurm) -> None:
    slurm.state("train-3", to="ALLOCATED+POWERING_UP")
    aws.killed_after = True
    with pytest.raises(KilledError):
        run("resume", "train-3")
    aws.killed_after = False
    run("resume", "train-3")
    assert aws.living() == ["train-3"]


def test_a_sweep_notes_the_instance_of_a_launch_whose_answer_is_lost(
    run: Any, aws: Aws, slurm: Slurm, program: ModuleType, tmp_path: Path
) -> None:
    """Its end had no reason of AWS: no one asked, as the journal named no instance."""
    slurm.state("train-3", to="ALLOCATED+POWERING_UP")
    aws.killed_after = True
    with pytest.raises(KilledError):
        run("resume", "train-3")
    aws.killed_after = False
    run("sweep")
    slurm.state("train-3", to="ALLOCATED")
    (instance,) = aws.instances
    journal = program.Journal(tmp_path)
    journal.launches["train-3"]["at"] = 0  # it was launched long ago
    journal.save()
    aws.instances[instance]["State"] = {"Name": "terminated"}
    aws.instances[instance]["StateReason"] = {"Message": "Server.InternalError"}
    run("sweep")
    assert f"{instance} has ended: Server.InternalError" in slurm.reasons["train-3"]


def test_lack_of_capacity_is_the_reason_of_the_node_which_comes_back_after_a_pause(
    run: Any, aws: Aws, slurm: Slurm, program: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 1_000_000.0
    monkeypatch.setattr(program.time, "time", lambda: now)
    aws.refusals = {"subnet-1": "InsufficientInstanceCapacity"}
    for pause in (60, 120, 240):
        slurm.state("train-3", to="ALLOCATED+POWERING_UP")
        run("resume", "train-3")
        assert "InsufficientInstanceCapacity of a test" in slurm.reasons["train-3"]
        now += pause - 1
        run("sweep")
        assert "DOWN" in slurm.told["train-3"]["states"]
        now += 1
        run("sweep")
        assert slurm.told["train-3"]["states"] == {"CLOUD", "IDLE", "POWERING_DOWN"}
    aws.refusals = {}
    slurm.state("train-3", to="ALLOCATED+POWERING_UP")
    run("resume", "train-3")
    assert aws.living() == ["train-3"]


def test_the_next_subnet_is_taken_where_one_is_full(run: Any, aws: Aws, slurm: Slurm) -> None:
    aws.refusals = {"subnet-1": "InsufficientFreeAddressesInSubnet"}
    slurm.state("train-3", to="ALLOCATED+POWERING_UP")
    run("resume", "train-3")
    assert [one["SubnetId"] for one in aws.instances.values()] == ["subnet-2"]


def test_a_sweep_ends_no_instance_of_a_node_with_jobs(run: Any, aws: Aws, slurm: Slurm) -> None:
    """A healthy node was ended, since the sweep had asked EC2 twice and compared objects."""
    slurm.state("train-3", "train-4", to="ALLOCATED+POWERING_UP")
    run("resume", "train-3", "train-4")
    slurm.state("train-3", to="ALLOCATED")
    # 'train-4' is a static node by a new blueprint, and its job still runs.
    slurm.state("train-4", to="ALLOCATED")
    KNOWN["groups"]["train"]["last"], last = 3, KNOWN["groups"]["train"]["last"]
    try:
        run("sweep")
        assert aws.living() == ["train-3", "train-4"]
        slurm.state("train-4", to="IDLE")
        run("sweep")
        assert aws.living() == ["train-3"]
    finally:
        KNOWN["groups"]["train"]["last"] = last


def test_names_outside_of_the_bounds_are_launched_for_no_one(
    run: Any, aws: Aws, capsys: pytest.CaptureFixture[str]
) -> None:
    run("resume", "train-1", "train-03", "train-13", "login-1")
    assert not aws.instances
    assert capsys.readouterr().err.count("is no elastic node") == 4


def test_a_spot_instance_with_notice_is_drained_and_its_jobs_are_queued_again(
    run: Any, aws: Aws, slurm: Slurm, monkeypatch: pytest.MonkeyPatch
) -> None:
    """H5: AWS takes it back two minutes later, whatever runs on it."""
    slurm.state("train-3", "train-4", to="ALLOCATED+POWERING_UP")
    run("resume", "train-3", "train-4")
    slurm.state("train-3", "train-4", to="ALLOCATED")
    aws.marked = {"i-1"}
    run("sweep")
    assert slurm.requeued == []

    monkeypatch.setitem(KNOWN, "spot", True)
    run("sweep")
    run("sweep")
    assert slurm.requeued == ["train-3"], "once for a notice"
    assert slurm.told["train-3"]["states"] == {"CLOUD", "ALLOCATED", "DRAIN"}
    assert slurm.told["train-3"]["reason"].endswith("AWS takes the spot instance back")
    assert slurm.told["train-4"]["states"] == {"CLOUD", "ALLOCATED"}

    # AWS has ended it, and Slurm had powered the node down meanwhile: jobs may have it again.
    aws.terminate_instances(["i-1"])
    slurm.state("train-3", to="IDLE+DRAIN+POWERED_DOWN")
    run("sweep")
    assert "DRAIN" not in slurm.told["train-3"]["states"]
    assert aws.living() == ["train-4"]


def test_a_drained_spot_node_whose_instance_ended_comes_back_after_its_pause(
    run: Any, aws: Aws, slurm: Slurm, program: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 1_000_000.0
    monkeypatch.setattr(program.time, "time", lambda: now)
    monkeypatch.setitem(KNOWN, "spot", True)
    slurm.state("train-3", to="ALLOCATED+POWERING_UP")
    run("resume", "train-3")
    slurm.state("train-3", to="ALLOCATED")
    aws.marked = {"i-1"}
    run("sweep")
    aws.terminate_instances(["i-1"])
    now += 400
    run("sweep")
    assert "DOWN" in slurm.told["train-3"]["states"]
    assert "has ended" in slurm.reasons["train-3"]
    now += 60
    run("sweep")
    assert slurm.told["train-3"]["states"] == {"CLOUD", "IDLE", "POWERING_DOWN"}


def test_instance_that_fails_a_status_check_is_replaced_and_its_job_is_queued_again(
    run: Any, aws: Aws, slurm: Slurm, program: ModuleType, clock: Clock
) -> None:
    """A broken instance stayed, and was paid for, until somebody looked."""
    slurm.state("train-3", "train-4", to="ALLOCATED+POWERING_UP")
    run("resume", "train-3", "train-4")
    slurm.state("train-3", "train-4", to="ALLOCATED")
    aws.impaired = {"i-1": clock.before(119)}
    run("sweep")
    assert "DOWN" not in slurm.told["train-3"]["states"], "it may be a disturbance"

    clock.now += 1
    run("sweep")
    assert slurm.reasons["train-3"].endswith("EC2's check of the host of AWS of i-1 fails")
    assert aws.living() == ["train-4"]
    clock.now += program.FIRST_PAUSE_S
    run("sweep")
    assert slurm.told["train-3"]["states"] == {"CLOUD", "IDLE", "POWERING_DOWN"}


def test_busy_node_whose_instance_ended_comes_back_after_its_pause(
    run: Any, aws: Aws, slurm: Slurm, program: ModuleType, clock: Clock, busy_node: str
) -> None:
    """It stayed down: the sweep that noted its failure still saw it with jobs, and forgot the failure."""
    aws.terminate_instances(["i-1"])
    run("sweep")
    assert "DOWN" in slurm.told[busy_node]["states"]
    clock.now += program.FIRST_PAUSE_S
    run("sweep")
    assert slurm.told[busy_node]["states"] == {"CLOUD", "IDLE", "POWERING_DOWN"}


def test_node_set_down_by_a_program_that_was_killed_then_comes_back(
    run: Any, slurm: Slurm, program: ModuleType, clock: Clock, busy_node: str
) -> None:
    slurm.update([busy_node], "State=DOWN", "Reason=rackwright-elastic: the instance i-1 has ended")
    run("sweep")
    clock.now += program.FIRST_PAUSE_S
    run("sweep")
    assert slurm.told[busy_node]["states"] == {"CLOUD", "IDLE", "POWERING_DOWN"}


@pytest.mark.parametrize("reason", ["look at the fans", "rackwright: heat: 92 °C", "Reboot ASAP"])
@pytest.mark.parametrize("state", ["ALLOCATED+DRAIN", "IDLE+DRAIN", "DOWN"])
def test_node_that_an_operator_took_out_of_service_is_left_alone_while_its_instance_is_impaired(
    run: Any, aws: Aws, slurm: Slurm, clock: Clock, busy_node: str, state: str, reason: str
) -> None:
    """It was terminated, and its drain lifted."""
    slurm.state(busy_node, to=state)
    slurm.told[busy_node]["reason"] = reason
    aws.impaired = aws.unreachable = {"i-1": clock.before(3600)}
    before = slurm.nodes()
    for _ in range(3):
        run("sweep")
        clock.now += 3600
    assert slurm.told == before
    assert aws.living() == [busy_node]


def test_drain_of_an_operator_is_not_lifted_when_the_instance_ends_by_itself(
    run: Any, aws: Aws, slurm: Slurm, clock: Clock, busy_node: str
) -> None:
    slurm.state(busy_node, to="ALLOCATED+DRAIN")
    slurm.told[busy_node]["reason"] = "look at the fans"
    aws.terminate_instances(["i-1"])
    for _ in range(3):
        run("sweep")
        clock.now += 3600
    assert slurm.told[busy_node]["states"] == {"CLOUD", "DOWN", "DRAIN"}
    assert slurm.told[busy_node]["reason"] == "look at the fans"


def test_failed_node_that_an_operator_drains_is_not_returned_to_service(
    run: Any, aws: Aws, slurm: Slurm, clock: Clock, busy_node: str
) -> None:
    aws.terminate_instances(["i-1"])
    run("sweep")
    slurm.update([busy_node], "State=DRAIN", "Reason=look at the fans")
    clock.now += 3600
    run("sweep")
    assert slurm.told[busy_node]["states"] == {"CLOUD", "DOWN", "DRAIN"}


def test_node_that_slurm_set_down_as_its_instance_is_impaired_is_replaced(
    run: Any, aws: Aws, slurm: Slurm, clock: Clock, busy_node: str
) -> None:
    slurm.state(busy_node, to="DOWN")
    slurm.told[busy_node]["reason"] = "Not responding"
    aws.unreachable = {"i-1": clock.before(3600)}
    run("sweep")
    assert aws.living() == []
    clock.now += 60
    run("sweep")
    assert slurm.told[busy_node]["states"] == {"CLOUD", "IDLE", "POWERING_DOWN"}


@pytest.mark.parametrize("flag", ["REBOOT_REQUESTED", "REBOOT_ISSUED"])
@pytest.mark.parametrize("reason", ["", "node health: 7 of 8 accelerators"])
def test_node_that_reboots_is_not_terminated(
    run: Any, aws: Aws, slurm: Slurm, clock: Clock, busy_node: str, flag: str, reason: str
) -> None:
    """It was, after two minutes, although its reboot may take 30."""
    slurm.state(busy_node, to=f"IDLE+{flag}{'+DRAIN' if reason else ''}")
    slurm.told[busy_node]["reason"] = reason
    aws.impaired = aws.unreachable = {"i-1": clock.before(30)}
    for _ in range(29):
        clock.now += 60
        run("sweep")
    slurm.state(busy_node, to="IDLE")
    run("sweep")
    assert aws.living() == [busy_node], "EC2 still reports what was before the reboot"
    clock.now += 120
    run("sweep")
    assert aws.living() == []


def test_operating_system_may_fail_its_check_for_as_long_as_a_reboot_outside_of_slurm_takes(
    run: Any, aws: Aws, clock: Clock, busy_node: str
) -> None:
    aws.unreachable = {"i-1": clock.before(1800)}
    run("sweep")
    assert aws.living() == [busy_node]
    clock.now += 120
    run("sweep")
    assert aws.living() == []


def test_failed_check_without_a_time_counts_from_the_first_sweep_that_saw_it(
    run: Any, aws: Aws, clock: Clock, busy_node: str
) -> None:
    """The instance was terminated at once."""
    aws.impaired = {"i-1": None}
    run("sweep")
    aws.impaired = {}
    clock.now += 60
    run("sweep")
    aws.impaired = {"i-1": None}
    clock.now += 60
    run("sweep")
    assert aws.living() == [busy_node], "the check passed in between"
    clock.now += 120
    run("sweep")
    assert aws.living() == []


def test_sweep_without_the_right_to_see_status_checks_does_everything_else(
    run: Any, aws: Aws, slurm: Slurm, busy_node: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Launches that were cut off, orphans and returns to service waited until ``up`` had granted the right."""
    slurm.state("train-4", to="ALLOCATED+POWERING_UP")
    slurm.state("train-5", to="IDLE+DRAIN+POWERING_UP")
    run("resume", "train-5")
    slurm.state("train-5", to="IDLE+DRAIN")
    slurm.told["train-5"]["reason"] = "node health: 7 of 8 accelerators"
    aws.denied = {"describe_instance_status"}
    run("sweep")
    assert aws.living() == [busy_node, "train-4"]
    assert "status checks of cloud: UnauthorizedOperation" in capsys.readouterr().err


def test_a_status_check_that_cannot_be_asked_for_forgets_no_reboot(
    run: Any, aws: Aws, slurm: Slurm, clock: Clock, busy_node: str
) -> None:
    aws.unreachable = {"i-1": clock.before(3600)}
    slurm.state(busy_node, to="IDLE+REBOOT_ISSUED")
    run("sweep")
    slurm.state(busy_node, to="ALLOCATED")
    for denied in ({"describe_instance_status"}, set[str]()):
        aws.denied = denied
        clock.now += 60
        run("sweep")
    assert aws.living() == [busy_node]


@pytest.mark.parametrize("reason", ["Kill task failed", "Prolog error", "Low RealMemory (1 < 2)"])
def test_node_that_slurm_drained_is_replaced_when_its_instance_is_impaired(
    run: Any, aws: Aws, slurm: Slurm, clock: Clock, busy_node: str, reason: str
) -> None:
    slurm.state(busy_node, to="IDLE+DRAIN")
    slurm.told[busy_node]["reason"] = reason
    aws.impaired = {"i-1": clock.before(3600)}
    run("sweep")
    assert aws.living() == []


def test_powered_down_node_that_its_health_check_drained_takes_nothing_of_the_budget(
    run: Any, slurm: Slurm, clock: Clock, program: ModuleType, tmp_path: Path
) -> None:
    slurm.state("train-3", to="IDLE+DRAIN+POWERED_DOWN")
    slurm.told["train-3"]["reason"] = "node health: 7 of 8 accelerators"
    run("sweep")
    assert "DRAIN" not in slurm.told["train-3"]["states"]
    assert program.Journal(tmp_path).replaced == {}

    journal = program.Journal(tmp_path)
    journal.replaced = {"train-3": [clock.now, clock.now]}
    journal.save()
    slurm.state("train-3", to="IDLE+DRAIN+POWERED_DOWN")
    slurm.told["train-3"]["reason"] = "node health: 7 of 8 accelerators"
    run("sweep")
    assert "DRAIN" in slurm.told["train-3"]["states"], "its image is suspect"


@pytest.mark.parametrize("seed", range(20))
def test_healthy_rebooting_and_drained_nodes_survive_and_no_budget_is_exceeded(
    run: Any, aws: Aws, slurm: Slurm, clock: Clock, seed: int
) -> None:
    draw = random.Random(seed)
    nodes = [f"train-{number}" for number in range(3, 13)]
    slurm.state(*nodes, to="ALLOCATED+POWERING_UP")
    run("resume", *nodes)
    clock.now += 3600
    ended: list[tuple[float, str]] = []
    for _ in range(8):
        alive = [one for one in aws.instances.values() if one["State"]["Name"] == "running"]
        instances = {one["InstanceId"]: one["Tags"] for one in alive}
        aws.impaired, aws.unreachable = (
            {
                one: draw.choice([None, clock.before(draw.choice([60, 600, 7200]))])
                for one in instances
                if draw.random() < 0.4
            }
            for _ in range(2)
        )
        safe = set()
        for instance, tags in instances.items():
            node = next(tag["Value"] for tag in tags if tag["Key"] == "rackwright:host")
            base = draw.choice(["IDLE", "ALLOCATED", "MIXED", "DOWN"])
            drain = draw.choice(["", "", "+DRAIN"])
            reboot = draw.choice(["", "", "+REBOOT_ISSUED", "+REBOOT_REQUESTED"])
            health = "node health: 7 of 8 accelerators"
            operator = draw.choice(["look at the fans", "rackwright: wave 3", ""])
            slurm.state(node, to=base + drain + reboot)
            slurm.told[node]["reason"] = draw.choice([health, operator, "Not responding"])
            ill = instance in aws.impaired or instance in aws.unreachable
            by_operator = (drain or base == "DOWN") and slurm.told[node]["reason"] == operator
            if reboot or by_operator or not (ill or drain):
                safe.add(node)
        before = set(aws.living())
        run("sweep")
        gone = before - set(aws.living())
        assert not gone & safe
        ended += [(clock.now, node) for node in gone]
        within = [node for at, node in ended if clock.now - at < 3600]
        assert len(within) <= KNOWN["replacements"]["per_hour"]
        assert all(
            sum(one == node for _, one in ended) <= KNOWN["replacements"]["per_week"]
            for node in nodes
        )
        slurm.state(*nodes, to="ALLOCATED+POWERING_UP")
        run("resume", *nodes)
        slurm.state(*nodes, to="ALLOCATED")
        aws.impaired = aws.unreachable = {}
        clock.now += 1
        run("sweep")  # all of them run
        clock.now += draw.choice([60, 60, 1800])
    assert ended, "something was replaced"


def test_node_that_its_health_check_drained_gets_another_instance_once_its_jobs_have_ended(
    run: Any, aws: Aws, slurm: Slurm
) -> None:
    slurm.state("train-3", "train-4", to="ALLOCATED+POWERING_UP")
    run("resume", "train-3", "train-4")
    slurm.state("train-3", "train-4", to="ALLOCATED+DRAIN")
    slurm.told["train-3"]["reason"] = "node health: 7 of 8 accelerators"
    slurm.told["train-4"]["reason"] = "the operator looks at it"
    run("sweep")
    assert aws.living() == ["train-3", "train-4"]

    slurm.state("train-3", "train-4", to="IDLE+DRAIN")
    run("sweep")
    assert aws.living() == ["train-4"], "an operator's drain is left alone"
    assert slurm.told["train-3"]["states"] == {"CLOUD", "IDLE", "POWERING_DOWN"}


def test_replacements_end_at_the_budgets_of_an_hour_and_of_a_week(
    run: Any, aws: Aws, slurm: Slurm, program: ModuleType, clock: Clock
) -> None:
    now = clock.before(0)
    nodes = [f"train-{number}" for number in range(3, 8)]
    slurm.state(*nodes, to="ALLOCATED+POWERING_UP")
    run("resume", *nodes)
    slurm.state(*nodes, to="ALLOCATED")
    aws.impaired = dict.fromkeys(aws.instances, now - dt.timedelta(hours=1))
    run("sweep")
    assert aws.living() == ["train-6", "train-7"], "three within an hour"
    clock.now += program.HOUR_S
    run("sweep")
    assert aws.living() == []

    aws.impaired = {}
    for survives in (False, True):
        slurm.state("train-3", to="ALLOCATED+POWERING_UP")
        run("resume", "train-3")
        slurm.state("train-3", to="ALLOCATED")
        (one,) = (i for i, each in aws.instances.items() if each["State"]["Name"] == "running")
        aws.impaired = {one: now}
        clock.now += 2 * program.HOUR_S
        run("sweep")
        assert (aws.living() == ["train-3"]) is survives, "the third of one node within a week"
    clock.now += program.WEEK_S
    run("sweep")
    assert aws.living() == []
