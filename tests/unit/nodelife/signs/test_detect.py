"""Detection of faults in recordings, and the examples of the table itself."""

from __future__ import annotations

import pytest

from rackwright.catalog.fault_table import LINK_XIDS, builtin_faults
from rackwright.model.faults import FaultAction, FaultSeverity
from rackwright.nodelife.signs.detect import detect, detect_in
from rackwright.nodelife.signs.fault_examples import run_examples
from rackwright.nodelife.signs.recordings import read_recording

TABLE = builtin_faults()
OFF_BUS = "NVRM: Xid (PCI:0000:9b:00): 79, GPU has fallen off the bus."


def faults(**material: str) -> set[str]:
    return {event.fault for event in detect_in(TABLE, {k.replace("_", "-"): v for k, v in material.items()})}  # fmt: skip


def test_every_example_of_the_table_finds_what_it_expects() -> None:
    named = tuple(fault for fault in TABLE.faults.values() if fault.examples)
    results = list(run_examples(TABLE, named))
    assert [result for result in results if result.problem is not None] == []
    assert len(named) >= 55
    assert len(results) >= 95


def test_faults_without_an_example_are_those_of_the_catalogue_of_xids() -> None:
    assert all(fault.examples or fault.id.startswith("xid-") for fault in TABLE.faults.values())


def test_gpu_that_fell_off_the_bus_without_an_xid_is_lost() -> None:
    """The driver of one node logged no Xid, and tools that count Xids called it healthy."""
    assert faults(kernel="[812.12] NVRM: GPU 0000:9b:00.0: GPU has fallen off the bus.\n") == {"gpu-off-bus"}  # fmt: skip
    lost = "Unable to determine the device handle for GPU0000:9B:00.0: Unknown Error\n"
    assert faults(nvidia_smi_text=lost) == {"gpu-off-bus"}
    assert faults(host="10 gpus_expected 8\n10 gpus 7\n") == {"gpu-init-failed"}


def test_every_xid_of_the_catalogue_is_found_with_its_documented_action() -> None:
    actions = {"RESET_GPU": {FaultAction.RESET_GPU, FaultAction.RESET_FABRIC}, "RESTART_BM": {FaultAction.COLD_CYCLE},
               "RESTART_VM": {FaultAction.REBOOT}, "RESTART_APP": {FaultAction.USER, FaultAction.RESET_GPU}}  # fmt: skip
    for number in range(1, 173):
        if number in {*LINK_XIDS, 154}:
            continue
        found = faults(kernel=f"[1.0] NVRM: Xid (PCI:0000:9b:00): {number}, pid=1\n")
        assert found, number
        for name in found:
            fault = TABLE.faults[name]
            immediate = (fault.documented or "").partition(" / ")[0]
            if immediate in actions and number not in {48, 143}:
                assert fault.action in actions[immediate], (number, immediate)
    assert TABLE.get("xid-143").action is FaultAction.REBOOT, "a count that is short is not reset"


def test_rules_of_nvlink_errors_are_found_in_both_forms_of_their_message() -> None:
    assert len(TABLE.links) == 91
    for row in TABLE.links:
        for form in (row.v1, row.v2):
            first = int(form.replace("-", "0"), 2)
            found = TABLE.class_of(row.xid, first, int(row.status, 16))
            assert found is not None
            assert (found.immediate, found.later) == (row.immediate, row.later)


def test_line_that_is_still_written_and_lines_read_twice_count_once() -> None:
    assert faults(kernel=f"[1.0] {OFF_BUS}") == set()
    assert faults(kernel=f"[1.0] {OFF_BUS}\n[2.0] NVRM: Xid (PCI:0000:9b:00): 4") == {"gpu-off-bus"}
    once = "[1.0] NETDEV WATCHDOG: eth0 (mlx5_core): transmit queue 1 timed out\n"
    assert faults(kernel=once * 5) == set()


@pytest.mark.parametrize(
    "stamp",
    ["[  12.000001] ", "<4>[12.5] ", "2026-11-27T06:40:00+00:00 gpu-1 kernel: ",
     "2026-11-27T06:40:00.123456Z gpu-1 kernel: ", "[Fri Nov 27 06:40:00 2026] ",
     "Nov 27 06:40:00 gpu-1 kernel: ", "Nov  7 06:40:00 gpu-1 kernel: [  12.5] ", "4,1234,12500000,-;",
     "kern  :err   : [  12.500000] ", "kern  :err   : 2026-11-27T06:40:00,123456+00:00 ",
     "1795761600.123456 gpu-1 kernel: "],
)  # fmt: skip
def test_time_of_a_line_is_read_in_each_form(stamp: str) -> None:
    (event,) = detect_in(TABLE, {"kernel": f"{stamp}{OFF_BUS}\n"})
    assert (event.fault, event.device) == ("gpu-off-bus", "0000:9b:00")
    assert event.at > 0


@pytest.mark.parametrize(
    ("log", "line"),
    [("sel", "1 | 11/27/2026 | 06:12:01 | Memory DIMM_B2 | Uncorrectable ECC | Asserted"),
     ("sel", "1 | 11/27/26 | 06:12:01 UTC | Memory DIMM_B2 | Uncorrectable ECC | Asserted"),
     ("sel", "1  | Nov-27-2026 | 06:12:01 | Memory DIMM_B2 | Memory | Uncorrectable ECC"),
     ("fabric-manager", "[Nov 27 2026 06:12:01] [ERROR] [tid 841] detected NVSwitch fatal error 20034 on fid 0 on NVSwitch pci bus id 00000000:86:00.0 physical id 3 port 33")],
)  # fmt: skip
def test_time_of_other_logs_is_read(log: str, line: str) -> None:
    (event,) = detect_in(TABLE, {log: f"{line}\n"})
    assert event.at == 1795759921.0  # 2026-11-27T06:12:01Z


def test_line_without_a_time_is_one_event_however_often_it_is_read() -> None:
    """It was taken for a state that lasts: a repaired node failed its validation for the same line."""
    (event,) = detect_in(TABLE, {"kernel": f"{OFF_BUS}\n"})
    (again,) = detect_in(TABLE, {"kernel": f"{OFF_BUS}\nother\n"})
    (second,) = detect_in(TABLE, {"kernel": f"{OFF_BUS}\nother\n{OFF_BUS}\n"})
    assert event == again
    assert event.at
    assert second != event


def test_fault_that_comes_again_in_one_log_is_another_event() -> None:
    """The first line of a log hid all others: a fault that returned after its repair went unnoticed."""
    first, later = f"[10.0] {OFF_BUS}\n", f"[500.0] {OFF_BUS}\n"
    (event,) = detect_in(TABLE, {"kernel": first})
    (again,) = detect_in(TABLE, {"kernel": first + later})
    assert (event.at, again.at) == (10.0, 500.0)


def test_state_that_lasts_is_seen_beside_an_older_line_of_a_log() -> None:
    """The time of the line was compared with 0, the time of a state: the node returned with its bad disk."""
    line = "[40.0] nvme nvme0: controller is down; will reset: CSTS=0xffffffff\n"
    material = {"kernel": line, "nvme": '{"nvme0": {"critical_warning": 4}}'}
    events = detect_in(TABLE, material)
    assert [(event.fault, event.device, event.at) for event in events] == [
        ("nvme-failing", "nvme0", 0.0),
        ("nvme-failing", "nvme0", 40.0),
    ]


def test_new_line_of_the_kernel_is_seen_beside_an_older_one_of_the_bmc() -> None:
    """One clock counts from boot and the other from 1970: the kernel's line was always the older one."""
    bmc = "1 | 11/27/2026 | 06:12:01 | Memory DIMM_B2 | Uncorrectable ECC | Asserted\n"
    kernel = "[500.0] Memory failure: 0x12: recovery action for dirty page: Recovered\n"
    events = detect_in(TABLE, {"sel": bmc, "kernel": kernel})
    assert sorted(event.at for event in events) == [500.0, 1795759921.0]


def test_number_of_an_xid_that_dcgm_keeps_is_one_error() -> None:
    metric = 'DCGM_FI_DEV_XID_ERRORS{{gpu="0"}} {} {}\n'.format
    assert faults(dcgm=metric(31, 1000) + metric(31, 61000) + metric(31, 121000)) == {"gpu-page-fault"}  # fmt: skip
    assert "gpu-page-fault-repeated" in faults(dcgm=metric(31, 1000) + metric(13, 2000) + metric(31, 3000))  # fmt: skip


def test_words_of_an_operator_in_slurm_are_no_fault() -> None:
    """A ticket that named a leak would have cut the power."""
    node = '{"nodes": [{"name": "a", "state": "IDLE+DRAIN", "reason": "%s"}]}'
    assert faults(slurm=node % "moved after [coolant-leak] alarm, ticket 12") == set()
    assert faults(slurm=node % "Xid 79 last week, ticket 12") == set()


def test_clock_that_goes_back_hides_no_errors_and_makes_none() -> None:
    port = "{} mlx5_0/1 link_downed {}\n".format
    assert faults(ports=port(1000, 0) + port(10, 2)) == {"port-flaps"}
    assert faults(ports=port(1000, 0) + port(1030, 1) + port(10, 1) + port(20, 1)) == set()
    assert faults(ports=port(0, 0) + port(10, 1) + port(1e9, 2)) == set(), "years later"


def test_window_sums_growth_over_many_samples() -> None:
    slow = "".join(f"{60 * n} mlx5_0/1 link_error_recovery {n}\n" for n in range(50))
    fast = "".join(f"{10 * n} mlx5_0/1 link_error_recovery {n}\n" for n in range(50))
    assert faults(ports=slow) == set()
    assert faults(ports=fast) == {"port-retrains"}


@pytest.mark.parametrize(
    ("source", "text"),
    [("nvidia-smi", "<nvidia_smi_log><gpu id='x'>"), ("redfish", '{"Status": '), ("slurm", "{}"),
     ("ports", "now mlx5_0/1 link_downed 3\n"), ("amd-smi", "no json"), ("neuron-monitor", "[]"),
     ("nvidia-smi", "<!DOCTYPE a [<!ENTITY b 'c'>]><gpu/>"), ("telepathy", "x")],
)  # fmt: skip
def test_source_that_cannot_be_read_is_told_and_never_clean(source: str, text: str) -> None:
    recording = read_recording({source: text, "kernel": f"[1.0] {OFF_BUS}\n"})
    assert [problem.partition(":")[0] for problem in recording.problems] == [source]
    assert {event.fault for event in detect(TABLE, recording)} == {"gpu-off-bus"}
    with pytest.raises(ValueError, match=source):
        detect_in(TABLE, {source: text})


def test_reason_in_slurm_names_the_fault_by_its_id_or_xid() -> None:
    node = '{"nodes": [{"name": "a", "state": "%s", "reason": "%s"}]}'
    assert faults(slurm=node % ("IDLE+DRAIN", "node health: [nvlink-training] GPU 2")) == {"nvlink-training"}  # fmt: skip
    assert faults(slurm=node % ("IDLE+DRAIN", "node health: Xid 79 (it has fallen off)")) == {"gpu-off-bus"}  # fmt: skip
    assert faults(slurm=node % ("IDLE+DRAIN", "node health: Xid 154 (GPU Reset Required)")) == {"gpu-recovery-reset"}  # fmt: skip
    assert faults(slurm=node % ("IDLE", "")) == set()


def test_drained_node_has_a_way_back_that_ends_with_a_person() -> None:
    for fault in TABLE.faults.values():
        if fault.severity.leaves_service:
            assert fault.action not in {
                FaultAction.NONE,
                FaultAction.WATCH,
                FaultAction.USER,
                FaultAction.PATH,
            }, fault.id
    assert TABLE.faults["gpu-page-fault"].severity is FaultSeverity.INFO


def test_last_whole_report_of_neuron_monitor_counts() -> None:
    """It writes a report a line for ever, and a file of two was not read at all."""
    report = '{{"system_data": {{"neuron_hw_counters": {{"neuron_devices": [{{"neuron_device_index": 2, "mem_ecc_uncorrected": {}}}]}}}}}}\n'.format
    assert faults(neuron_monitor=report(0) + report(1)) == {"neuron-uncorrectable"}
    assert faults(neuron_monitor=report(0) + report(1) + report(2)[:40]) == {"neuron-uncorrectable"}
    assert faults(neuron_monitor=report(0) * 3) == set()
