"""Two bills compared: what changes on which hosts, and what that takes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rackwright.diff.actions import Action
from rackwright.errors import UsageError
from rackwright.model.base import Model
from rackwright.model.field_kinds import rollouts_of
from rackwright.model.operations import Operations
from rackwright.model.software import AmdSoftware, KernelModules, SoftwareBill
from rackwright.plan.model import Plan
from rackwright.plan.slurm.releases import ReleaseError
from rackwright.rollout.software_record import SoftwareRecord, with_record
from rackwright.rollout.upgrade_steps import (
    MANNERS,
    UpgradeStep,
    check_installed,
    remarks,
    slurm_versions,
    steps_for_touched,
    to_change,
    to_reboot,
    upgrade_steps,
)

GPUS = ("gpu-1", "gpu-2", "gpu-3", "gpu-4")
EVERY = (*GPUS, "head-1", "login-1")
OF_AMD = {"driver": "amdgpu", "rocm": "rocm"}
"""Components that the fields of AMD's software state the versions of."""


def bill(**versions: object) -> SoftwareBill:
    return SoftwareBill.model_validate({"name": "all", **versions})


def steps(plan: Plan, before: SoftwareBill, after: SoftwareBill) -> tuple[UpgradeStep, ...]:
    one, other = (with_record(plan, SoftwareRecord("22.05", (b,))) for b in (before, after))
    return upgrade_steps(one, other)


def test_the_driver_and_the_kernel_change_where_they_are(plan: Plan) -> None:
    found = steps(
        plan,
        bill(kernel="6.1.0-30", driver="570.124.06", fabric_manager="570.124.06", nccl="2.26.2-1"),
        bill(kernel="6.1.0-31", driver="570.133.20", fabric_manager="570.133.20", nccl="2.26.2-1"),
    )
    assert [(s.component, s.before, s.after) for s in found] == [
        ("kernel", "6.1.0-30", "6.1.0-31"),
        ("driver", "570.124.06", "570.133.20"),
        ("fabric_manager", "570.124.06", "570.133.20"),
    ]
    assert {*found[0].hosts} == {*EVERY}
    assert found[1].hosts == found[2].hosts == GPUS
    assert all(step.drain and step.reboot for step in found)
    assert [step.order for step in found] == sorted(step.order for step in found)
    assert to_reboot(found) == to_change(found) == {*EVERY}
    assert str(found[1]) == "driver 570.124.06 → 570.133.20 on gpu-[1-4]: drained and rebooted"


def test_change_for_later_jobs_needs_no_drain(plan: Plan) -> None:
    found = steps(plan, bill(nccl="2.26.2-1", cuda="12.4.1"), bill(nccl="2.27.3-1", cuda="12.8.1"))
    assert [(s.component, s.drain, s.reboot) for s in found] == [
        ("cuda", True, False),
        ("nccl", False, False),
    ]
    assert to_reboot(found) == frozenset()
    alone = steps(plan, bill(nccl="2.26.2-1"), bill(nccl="2.27.3-1"))
    assert any("nothing here needs a drain" in told for told in remarks(alone))
    assert remarks(found) == ()


def test_added_and_removed_versions(plan: Plan) -> None:
    (first,) = steps(plan, bill(), bill(driver="570.133.20"))
    assert (first.before, first.after, first.reboot) == (None, "570.133.20", True)
    assert str(first).startswith("driver (not stated) → 570.133.20")
    (last,) = steps(plan, bill(driver="570.133.20"), bill())
    assert (last.after, last.drain, last.reboot) == (None, False, False)
    assert str(last) == "driver 570.133.20 is stated no more, and stays on gpu-[1-4]"
    assert to_change([last]) == frozenset()


def test_equal_bills_change_nothing(plan: Plan) -> None:
    same = bill(driver="570.133.20", kernel="6.1.0-31")
    assert steps(plan, same, same) == ()


def test_slurm_changes_on_all_its_hosts_inside_the_window(plan: Plan) -> None:
    one, two = (with_record(plan, SoftwareRecord(v, ())) for v in ("22.05", "23.11"))
    (found,) = upgrade_steps(one, two)
    assert (found.component, found.before, found.after) == ("slurm", "22.05", "23.11")
    assert {*found.hosts} == {*EVERY}
    assert not found.reboot
    assert any("plugins of Slurm" in told for told in remarks([found]))
    with pytest.raises(ReleaseError, match=r"not of 22\.05"):
        upgrade_steps(one, with_record(plan, SoftwareRecord("24.11", ())))
    exact = with_record(plan, SoftwareRecord("22.05", (bill(slurm="22.05.11"),)))
    (found,) = upgrade_steps(one, exact)
    assert (found.before, found.after) == ("22.05", "22.05.11")
    assert remarks([found]) == ()


def test_another_system_is_no_upgrade(plan: Plan) -> None:
    with pytest.raises(UsageError, match="would go from debian-12 to ubuntu"):
        steps(plan, bill(system="debian-12"), bill(system="ubuntu-24.04"))


def test_modules_change_with_their_version_alone(plan: Plan) -> None:
    def with_ofed(version: str, kernel: str) -> SoftwareBill:
        return bill(ofed=KernelModules(version=version, kernel=kernel))

    (found,) = steps(plan, with_ofed("3.1.0", "6.1.0-30"), with_ofed("3.2.1", "6.1.0-31"))
    assert (found.component, found.before, found.after, found.reboot) == ("ofed", "3.1.0", "3.2.1", True)  # fmt: skip


def test_a_record_changes_versions_and_nothing_else(plan: Plan) -> None:
    changed = with_record(plan, SoftwareRecord("23.11", (bill(driver="570.133.20"),)))
    assert changed.scheduler is not None
    assert changed.scheduler.version == "23.11"
    assert changed.operations is not None
    assert plan.operations is not None
    assert changed.operations.changes == plan.operations.changes
    assert [host.inventory_name for host in changed.hosts] == [*EVERY]
    without = replace(plan, blueprint=plan.blueprint.model_copy(update={"operations": None}))
    brought = with_record(without, SoftwareRecord("22.05", (bill(driver="570.133.20"),)))
    assert brought.operations == Operations(software=(bill(driver="570.133.20"),))


def test_a_kernel_of_one_group_changes_on_its_hosts_alone(plan: Plan) -> None:
    def with_kernel(release: str) -> SoftwareBill:
        return bill(kernel="6.1.0-30", group_kernels=[{"group": "gpu", "kernel": release}])

    (found,) = steps(plan, with_kernel("6.1.0-30-64k"), with_kernel("6.1.0-31-64k"))
    assert (found.component, found.before, found.after) == ("kernel", "6.1.0-30-64k", "6.1.0-31-64k")  # fmt: skip
    assert (found.hosts, found.drain, found.reboot) == (GPUS, True, True)


def drained_by(model: type[Model]) -> set[str]:
    """Return the fields of a model whose change drains hosts."""
    return {
        name
        for name, info in model.model_fields.items()
        if any(rollout.action == Action.DRAIN.value for rollout in rollouts_of(info))
    }


def test_drains_agree_with_the_table_of_diff() -> None:
    """Both say it: the roll-outs at the fields, which 'diff' reads, and the table of upgrades."""
    drained = drained_by(SoftwareBill)
    assert "group_kernels" in drained
    drained.remove("group_kernels")  # hosts carry it as their kernel
    drained.remove("amd")  # hosts carry its versions one by one
    drained |= {OF_AMD[name] for name in drained_by(AmdSoftware)}
    installed_anew = {"system", "server_system"}
    assert {name for name, manner in MANNERS.items() if manner.drain} == drained - installed_anew
    fields = {*SoftwareBill.model_fields} - installed_anew
    fields -= {"name", "sites", "server_kernel", "group_kernels", "grafana", "amd"}
    assert set(MANNERS) == fields | {*OF_AMD.values()}, "every component of a bill that hosts carry"


def test_installed_release_decides_on_the_window() -> None:
    """A record may be old: daemons that cannot read the state are found before they are installed."""
    wanted = {"head-1": "26.05"}
    check_installed(wanted, {"head-1": {"slurm": "24.11.5"}})
    with pytest.raises(ReleaseError, match=r"not of 24\.05"):
        check_installed(wanted, {"head-1": {"slurm": "24.05.3"}})
    silent: tuple[dict[str, dict[str, str | None]], ...] = ({}, {"head-1": {"slurm": None}})
    for found in silent:
        with pytest.raises(UsageError, match="'head-1' does not tell which Slurm it runs"):
            check_installed(wanted, found)


def test_versions_of_slurm_by_host(plan: Plan) -> None:
    one, two = (with_record(plan, SoftwareRecord(v, ())) for v in ("22.05", "23.11"))
    before, after = slurm_versions(upgrade_steps(one, two))
    assert (before, after) == (dict.fromkeys(EVERY, "22.05"), dict.fromkeys(EVERY, "23.11"))
    assert slurm_versions(steps(plan, bill(driver="1.2"), bill(driver="1.3"))) == ({}, {})


def test_an_upgrade_that_was_given_up_half_way_can_be_taken_back(plan: Plan) -> None:
    """With the former bill there was nothing to upgrade, though some hosts had the other one."""
    former, other = bill(driver="570.124.06"), bill(driver="570.133.20")
    back = steps_for_touched(
        steps(plan, former, former), steps(plan, other, former), {"gpu-1", "gpu-3", "head-1"}
    )
    (step,) = back
    assert (step.before, step.after, step.hosts) == ("570.133.20", "570.124.06", ("gpu-1", "gpu-3"))
    on = steps_for_touched(steps(plan, former, other), steps(plan, other, other), {"gpu-1"})
    assert [(s.before, s.hosts) for s in on] == [("570.124.06", ("gpu-2", "gpu-3", "gpu-4"))]
