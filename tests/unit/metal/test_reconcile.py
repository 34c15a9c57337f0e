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
    steps = [step.value for step in ProvisioningStep if step is not ProvisioningStep.SECURED]
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
        ({"accelerators": 7}, "it has 7 accelerators, and 8 are planned"),
        ({"accelerators": None}, "does not tell its accelerators, and 8 are planned"),
        ({"model": "DGX A100"}, "it is a 'NVIDIA DGX A100', and a dgx-h100 is planned"),
        ({"rack": "c07"}, "its controller says rack 'c07', and c02 is planned"),
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
    assert "as well" in outcome.failed["dgx-03"][1]
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
    assert "not of 'top-of-rack' (other)" in outcome.failed["dgx-01"][1]
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
    assert outcome.records["dgx-01"].done["firmware"] == "as planned: bios, bmc; not told: nic"


def test_firmware_that_is_not_read_back_is_a_failure_although_ironic_is_content(
    tmp_path: Path,
) -> None:
    hall = Hall(tmp_path, MORE + FIRMWARE, operations(bmc="r1"))
    hall.seen["dgx-01"] = replace(hall.seen["dgx-01"], firmware={"bmc": "r0"})
    outcome = hall.provision(HOSTS[:1])
    assert outcome.failed == {"dgx-01": ("firmware", "update bmc failed 3 times: not read back")}


def test_firmware_without_a_file_for_this_version_is_a_failure(tmp_path: Path) -> None:
    hall = Hall(tmp_path, MORE + FIRMWARE, operations(bios="r2"))
    outcome = hall.provision(HOSTS[:1])
    step, reason = outcome.failed["dgx-01"]
    assert step == "firmware"
    assert (
        "bios is r1, and r2 is planned: no file of 'provisioning.firmware' brings it there"
        in reason
    )


@pytest.mark.parametrize(
    ("on", "reason"), [(True, None), (False, "secure boot is off"), (None, "does not tell")]
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
