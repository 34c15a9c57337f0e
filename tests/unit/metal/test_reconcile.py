"""Hosts from their controllers to their operating system: order, limits, kills, failures with reasons."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ironic_fake import KilledError
from metal_hall import HOSTS
from provisioned_hall import DIGEST, FIRMWARE, MORE, Hall
from rackwright.errors import SpecErrors
from rackwright.metal.ironic import IronicError
from rackwright.metal.journal import open_journal
from rackwright.metal.lifecycle import Act, ProvisioningStep
from rackwright.metal.waves import PowerLimits
from rackwright.nodelife.redfish import BmcState


@pytest.fixture
def hall(tmp_path: Path) -> Hall:
    return Hall(tmp_path)


def test_every_host_passes_every_step_once(hall: Hall) -> None:
    outcome = hall.provision()
    assert outcome.failed == {}
    by_choice = {ProvisioningStep.SECURED, ProvisioningStep.ATTESTED}
    steps = [step.value for step in ProvisioningStep if step not in by_choice]
    assert {tuple(one.done) for one in outcome.records.values()} == {tuple(steps)}
    assert set(hall.ironic.calls.values()) == {1}
    assert {kind for _, kind in hall.ironic.calls} == {
        "create",
        "manage",
        "inspect",
        "provide",
        "active",
    }
    assert sorted(hall.late) == sorted(
        (act, host) for host in HOSTS for act in (Act.REACH, Act.CONFIGURE, Act.ACCEPT)
    )


@pytest.mark.parametrize(
    ("limits", "most"),
    [(PowerLimits(3), 3), (PowerLimits(16, per_rack=1), 8), (PowerLimits(16, per_feed=2), 2)],
)
def test_no_more_hosts_are_switched_on_together_than_allowed(
    hall: Hall, limits: PowerLimits, most: int
) -> None:
    outcome = hall.provision(limits=limits)
    assert outcome.failed == {}
    assert hall.ironic.most_switching == most


def calls_of_a_run(tmp_path: Path) -> int:
    (tmp_path / "whole").mkdir()
    whole = Hall(tmp_path / "whole")
    whole.provision(HOSTS[:2])
    return sum(whole.ironic.calls.values())


@pytest.mark.parametrize("after", [False, True])
def test_run_that_is_killed_at_any_call_goes_on_and_does_nothing_twice(
    tmp_path: Path, after: bool
) -> None:
    count = calls_of_a_run(tmp_path)
    assert count == 10
    for number in range(1, count + 1):
        folder = tmp_path / str(number)
        folder.mkdir()
        hall = Hall(folder)
        hall.ironic.kill_at, hall.ironic.after = number, after
        with pytest.raises(KilledError):
            hall.provision(HOSTS[:2])
        outcome = hall.provision(HOSTS[:2])
        assert outcome.failed == {}, number
        assert set(hall.ironic.calls.values()) == {1}, (number, hall.ironic.calls)
        assert all("accepted" in one.done for one in outcome.records.values())


def test_another_run_of_hosts_that_are_done_does_nothing(hall: Hall) -> None:
    hall.provision()
    before = hall.ironic.calls.copy(), list(hall.late)
    assert hall.provision().failed == {}
    assert (hall.ironic.calls, hall.late) == before


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"accelerators": 7}, "it has 7 accelerators, but 8 are planned"),
        ({"accelerators": None}, "does not report its accelerators, but 8 are planned"),
        ({"model": "DGX A100"}, "it is a 'NVIDIA DGX A100', but a dgx-h100 is planned"),
        ({"rack": "c07"}, "its controller names rack 'c07', but c02 is planned"),
        ({"state": BmcState.REFUSED_PASSWORD, "model": None, "serial": None, "reason": "the user 'ops' cannot log in"},
         "password refused: the user 'ops' cannot log in"),
    ],
)  # fmt: skip
def test_machine_that_is_another_one_is_neither_enrolled_nor_switched_on(
    hall: Hall, change: dict[str, Any], reason: str
) -> None:
    hall.seen["dgx-03"] = replace(hall.seen["dgx-03"], **change)
    outcome = hall.provision()
    assert list(outcome.failed) == ["dgx-03"]
    assert outcome.failed["dgx-03"][0] == "enrolled"
    assert reason in outcome.failed["dgx-03"][1]
    assert "dgx-03" not in hall.ironic.rows
    assert "dgx-03" not in hall.ironic.switched


@pytest.mark.parametrize(
    "state",
    [
        BmcState.UNREACHABLE, BmcState.SILENT, BmcState.LOST, BmcState.ERRORS, BmcState.BUSY, BmcState.NOT_REDFISH,
        BmcState.EXPIRED_PASSWORD, BmcState.EXPIRED_CERTIFICATE, BmcState.UNTRUSTED_CERTIFICATE, BmcState.OTHER_NAME,
        BmcState.SEVERAL_SYSTEMS,
    ],
)  # fmt: skip
def test_controller_with_bad_manners_ends_in_its_named_state_and_nothing_is_switched_on(
    hall: Hall, state: BmcState
) -> None:
    bad = replace(hall.seen["dgx-03"], state=state, reason="why", model=None, serial=None)
    hall.seen["dgx-03"] = bad
    assert hall.provision(HOSTS[2:4]).failed == {"dgx-03": ("enrolled", f"{state.value}: why")}
    assert set(hall.ironic.rows) == {"dgx-04"}


def test_machine_that_does_not_tell_its_serial_number_is_not_taken_for_the_planned_one(
    tmp_path: Path,
) -> None:
    hall = Hall(tmp_path, MORE + "      serials: {dgx-03: SN0003}\n")
    hall.seen["dgx-03"] = replace(hall.seen["dgx-03"], serial=None, state=BmcState.PARTIAL)
    reason = "its controller does not report its serial number, but SN0003 is planned"
    assert hall.provision(HOSTS[2:3]).failed == {"dgx-03": ("enrolled", reason)}
    assert hall.ironic.rows == {}


def test_serial_number_that_is_in_another_rack_is_refused(tmp_path: Path) -> None:
    hall = Hall(tmp_path, MORE + "      serials: {dgx-03: SN0003, dgx-09: SN0009}\n")
    three, nine = hall.seen["dgx-03"], hall.seen["dgx-09"]
    hall.seen["dgx-03"] = replace(nine, address=three.address)
    hall.seen["dgx-09"] = replace(three, address=nine.address)
    outcome = hall.provision(["dgx-03"])
    assert outcome.failed == {
        "dgx-03": ("enrolled", "serial number SN0003 was not found at 127.20.0.3")
    }
    outcome = hall.provision(["dgx-09", "dgx-10"])
    assert list(outcome.failed) == ["dgx-09"]
    assert set(hall.ironic.rows) == {"dgx-10"}


def test_two_machines_with_one_ethernet_address_are_refused(hall: Hall) -> None:
    hall.seen["dgx-03"] = replace(hall.seen["dgx-03"], mac=hall.seen["dgx-05"].mac)
    outcome = hall.provision()
    assert sorted(outcome.failed) == ["dgx-03", "dgx-05"]
    assert "is shared with" in outcome.failed["dgx-03"][1]
    assert not {"dgx-03", "dgx-05"} & set(hall.ironic.rows)


def test_image_without_a_checksum_is_not_written(tmp_path: Path) -> None:
    hall = Hall(tmp_path, MORE.replace(f', checksum: "{DIGEST}"', ""))
    outcome = hall.provision(HOSTS[:1])
    assert outcome.failed == {"dgx-01": ("imaged", "the image 'ubuntu' has no checksum")}


def test_act_that_fails_is_tried_three_times_and_ends_with_the_reason_of_ironic(hall: Hall) -> None:
    hall.ironic.failures = {
        ("dgx-01", "active"): 1,
        ("dgx-02", "active"): 9,
        ("dgx-04", "inspect"): 2,
    }
    outcome = hall.provision(HOSTS[:4])
    reason = "deploy failed 3 times: active did not work"
    assert outcome.failed == {"dgx-02": ("imaged", reason)}
    assert hall.ironic.calls["dgx-01", "active"] == 2
    assert hall.ironic.calls["dgx-04", "inspect"] == 3
    hall.ironic.failures = {}
    hall.retry("dgx-02")
    assert hall.provision(HOSTS[:4]).failed == {}


def test_node_that_is_locked_is_asked_again_and_that_is_no_try(hall: Hall) -> None:
    locked = IronicError("Node dgx-01 is locked by host a, please retry", status=409)
    hall.ironic.refused = {"dgx-01": locked}
    outcome = hall.provision(HOSTS[:1])
    assert outcome.failed == {}
    assert hall.pauses  # it is not asked again at once


def test_node_of_others_is_left_alone(hall: Hall) -> None:
    hall.provision(HOSTS[:1], until=ProvisioningStep.ENROLLED)
    hall.ironic.rows["dgx-01"]["extra"] = {"rackwright": {"cluster": "other"}}
    outcome = hall.provision(HOSTS[:1])
    assert "not belong to 'top-of-rack' (other)" in outcome.failed["dgx-01"][1]
    assert hall.ironic.calls["dgx-01", "inspect"] == 0


def test_act_without_an_end_fails_at_its_deadline(hall: Hall) -> None:
    hall.provision(HOSTS[:1], until=ProvisioningStep.ENROLLED)
    hall.ironic.rows["dgx-01"]["provision_state"] = "inspecting"
    hours = itertools.count(0.0, 600.0)
    with open_journal(hall.folder / "journal.sqlite", "sjc1", lambda: 0.0) as journal:
        journal.begin("dgx-01", "inspected", "inspect")
    outcome = hall.provision(HOSTS[:1], now=lambda: next(hours))
    assert outcome.failed == {"dgx-01": ("inspected", "'inspecting' for more than 30 min")}


def operations(**versions: str) -> str:
    stated = ", ".join(f"{part}: {version}" for part, version in versions.items())
    return f"operations: {{firmware: [{{type: dgx-h100, versions: {{{stated}}}}}]}}\n"


def test_firmware_is_written_controller_first_and_counts_when_it_is_read_back(
    tmp_path: Path,
) -> None:
    hall = Hall(tmp_path, MORE + FIRMWARE, operations(bios="r1", bmc="r1", nic="r9"))
    hall.seen["dgx-01"] = replace(hall.seen["dgx-01"], firmware={"bios": "r0", "bmc": "r0"})
    begin = hall.ironic.set_provision_state

    def written(name: str, target: str, **more: Any) -> None:
        begin(name, target, **more)
        if target == "clean":
            image = more["clean_steps"][0]["args"]["firmware_images"][0]
            part = {"https://f.example.com/m": "bmc", "https://f.example.com/b": "bios"}[
                image["url"]
            ]
            versions = {**hall.seen[name].firmware, part: "r1"}
            hall.seen[name] = replace(hall.seen[name], firmware=versions)

    hall.ironic.set_provision_state = written  # type: ignore[method-assign]
    outcome = hall.provision(HOSTS[:2])
    assert outcome.failed == {}
    steps = [
        more[0]["args"]["firmware_images"][0]
        for _, more in hall.ironic.steps
        if isinstance(more, list)
    ]
    assert [one["url"] for one in steps] == ["https://f.example.com/m", "https://f.example.com/b"]
    assert {one["checksum"] for one in steps} == {"ab" * 32}
    assert (
        outcome.records["dgx-01"].done["firmware"] == "as planned: bios r1, bmc r1; not told: nic"
    )


def test_firmware_that_is_not_read_back_is_a_failure_although_ironic_is_content(
    tmp_path: Path,
) -> None:
    hall = Hall(tmp_path, MORE + FIRMWARE, operations(bmc="r1"))
    hall.seen["dgx-01"] = replace(hall.seen["dgx-01"], firmware={"bmc": "r0"})
    outcome = hall.provision(HOSTS[:1])
    assert outcome.failed == {"dgx-01": ("firmware", "update bmc failed 3 times: not read back")}


def flashing(hall: Hall, after: int) -> None:
    """Have the controller of the first host take an update at the ``after``-th try alone."""
    begin = hall.ironic.set_provision_state
    tries = itertools.count(1)

    def written(name: str, target: str, **more: Any) -> None:
        begin(name, target, **more)
        if target == "clean" and next(tries) == after:
            hall.seen[name] = replace(hall.seen[name], firmware={"bmc": "r1"})

    hall.ironic.set_provision_state = written  # type: ignore[method-assign]


def test_controller_that_takes_no_update_is_restarted_once_before_the_last_try(
    tmp_path: Path,
) -> None:
    hall = Hall(tmp_path, MORE + FIRMWARE, operations(bmc="r1"))
    hall.seen["dgx-01"] = replace(hall.seen["dgx-01"], firmware={"bmc": "r0"})
    flashing(hall, 3)
    assert hall.provision(HOSTS[:1]).failed == {}
    assert hall.restarted == ["dgx-01"]


@pytest.mark.parametrize("state", [BmcState.STUCK_TASK, BmcState.VANISHED_TASK])
def test_controller_whose_task_is_stuck_is_restarted_before_it_gets_firmware(
    state: BmcState, tmp_path: Path
) -> None:
    hall = Hall(tmp_path, MORE + FIRMWARE, operations(bmc="r1"))
    old = replace(hall.seen["dgx-01"], firmware={"bmc": "r0"})
    hall.seen["dgx-01"] = replace(old, state=state, reason="task 7")
    hall.seen["dgx-02"] = replace(hall.seen["dgx-02"], firmware={"bmc": "r0"}, state=state, reason="task 8")  # fmt: skip
    flashing(hall, 1)
    restart = hall.restart

    def restarted(plan: Any) -> str | None:
        if plan.name == "dgx-01":
            hall.seen["dgx-01"] = old
        return restart(plan)

    hall.restart = restarted  # type: ignore[method-assign]
    outcome = hall.provision(HOSTS[:2])
    reason = f"bmc is r0, but r1 is planned: {state.value}: task 8"
    assert outcome.failed == {"dgx-02": ("firmware", reason)}
    assert sorted(hall.restarted) == ["dgx-01", "dgx-02"]
    assert hall.ironic.calls["dgx-02", "clean"] == 0


def test_controller_that_refuses_its_restart_gets_its_last_try_all_the_same(tmp_path: Path) -> None:
    hall = Hall(tmp_path, MORE + FIRMWARE, operations(bmc="r1"))
    hall.seen["dgx-01"] = replace(hall.seen["dgx-01"], firmware={"bmc": "r0"})
    hall.refusal = "answers with errors"
    flashing(hall, 9)
    outcome = hall.provision(HOSTS[:1])
    assert outcome.failed == {"dgx-01": ("firmware", "update bmc failed 3 times: not read back")}
    assert hall.restarted == ["dgx-01"]


@pytest.mark.parametrize("state", [BmcState.UNREACHABLE, BmcState.BUSY, BmcState.LOST])
def test_controller_that_is_away_after_its_own_update_is_waited_for(
    state: BmcState, tmp_path: Path
) -> None:
    hall = Hall(tmp_path, MORE + FIRMWARE, operations(bmc="r1"))
    old = hall.seen["dgx-01"] = replace(hall.seen["dgx-01"], firmware={"bmc": "r0"})
    flashing(hall, 1)
    read, looks = hall.read, itertools.count()

    def away(plans: Any) -> Any:
        new = hall.seen["dgx-01"]
        if new.firmware != old.firmware and next(looks) < 3:
            lost = replace(new, state=state, model=None, serial=None, reason="it starts")
            hall.seen["dgx-01"] = lost
            made = read(plans)
            hall.seen["dgx-01"] = new
            return made
        return read(plans)

    hall.read = away  # type: ignore[method-assign]
    outcome = hall.provision(HOSTS[:1])
    assert outcome.failed == {}
    assert hall.restarted == []


def test_controller_that_stays_away_after_its_own_update_is_a_failure(tmp_path: Path) -> None:
    hall = Hall(tmp_path, MORE + FIRMWARE, operations(bmc="r1"))
    hall.seen["dgx-01"] = replace(hall.seen["dgx-01"], firmware={"bmc": "r0"})
    hall.provision(HOSTS[:1], until=ProvisioningStep.INSPECTED)
    with open_journal(hall.folder / "journal.sqlite", "sjc1", lambda: 0.0) as journal:
        journal.begin("dgx-01", "firmware", "update bmc")
    hall.seen["dgx-01"] = replace(hall.seen["dgx-01"], state=BmcState.UNREACHABLE, model=None, serial=None, reason="nothing answers")  # fmt: skip
    minutes = itertools.count(0.0, 300.0)
    outcome = hall.provision(HOSTS[:1], now=lambda: next(minutes))
    assert outcome.failed == {"dgx-01": ("firmware", "unreachable: nothing answers")}
    assert hall.pauses  # it was waited for


def test_of_two_files_for_a_component_the_one_of_the_planned_version_is_written(
    tmp_path: Path,
) -> None:
    both = FIRMWARE + FIRMWARE.partition("firmware:\n")[2].replace("-r1", "-r0").replace(
        "version: r1", "version: r0"
    )
    hall = Hall(tmp_path, MORE + both, operations(bmc="r1"))
    assert {plan.firmware["bmc"].name for plan in hall.plans} == {"bmc-r1"}


def test_firmware_for_a_model_that_the_site_lacks_is_an_error_of_the_blueprint(
    tmp_path: Path,
) -> None:
    with pytest.raises(SpecErrors, match="no node group of the site is a 'dgx-h200'"):
        Hall(tmp_path, MORE + FIRMWARE.replace("dgx-h100", "dgx-h200"), operations(bmc="r2"))


def test_firmware_without_a_file_for_this_version_is_a_failure(tmp_path: Path) -> None:
    hall = Hall(tmp_path, MORE + FIRMWARE, operations(bios="r2"))
    outcome = hall.provision(HOSTS[:1])
    step, reason = outcome.failed["dgx-01"]
    assert step == "firmware"
    assert (
        "bios is r1, but r2 is planned: 'provisioning.firmware' has no file of that version"
        in reason
    )


@pytest.mark.parametrize(
    ("on", "reason"), [(True, None), (False, "secure boot is off"), (None, "does not report")]
)
def test_secure_boot_is_read_back(tmp_path: Path, on: bool | None, reason: str | None) -> None:
    hall = Hall(tmp_path, MORE.replace("image: ubuntu}", "image: ubuntu, secure_boot: true}"))
    hall.seen["dgx-01"] = replace(hall.seen["dgx-01"], secure_boot=on)
    failed = hall.provision(HOSTS[:1]).failed
    assert (not failed) if reason is None else reason in failed["dgx-01"][1]


def test_host_that_is_not_reached_ends_with_what_ssh_said(hall: Hall) -> None:
    hall.answers = {
        (Act.REACH, "dgx-02"): ["Connection refused"] * 3,
        (Act.REACH, "dgx-03"): ["no", None],
    }
    outcome = hall.provision(HOSTS[:3])
    assert outcome.failed == {
        "dgx-02": ("reached by ssh", "reach failed 3 times: Connection refused")
    }
    assert (Act.CONFIGURE, "dgx-02") not in hall.late


def test_password_of_a_controller_is_in_no_file_of_the_journal(hall: Hall) -> None:
    hall.provision()
    assert all(b"secret" not in path.read_bytes() for path in hall.folder.glob("journal.sqlite*"))
    assert "secret" not in "".join(hall.said)
