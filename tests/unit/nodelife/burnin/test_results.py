"""Reports become measurements, faults and digests; what is cut or odd is said, never passed."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from rackwright.errors import SpecErrors
from rackwright.nodelife.burnin.corruption import odd_ones
from rackwright.nodelife.burnin.limits import (
    LEAST_NODES,
    RateOutcome,
    hall_limit,
    judge,
    read_floors,
)
from rackwright.nodelife.burnin.results import (
    Digest,
    Measured,
    PartUnderTest,
    read_output,
    read_report,
)

H100 = "NVIDIA H100 80GB HBM3"


def report(node: str = "gpu-1", **steps: Any) -> dict[str, Any]:
    gemm = {
        "size": 8192, "calls": 90, "wrong_calls": 0, "first_wrong": None, "exact_wrong_rows": 0, "digest": "ab" * 32,
        "tflop_s": 770.5, "slowest_tflop_s": 760.0,
    }  # fmt: skip
    device = {
        "model": H100, "uuid": "1234", "software": "torch 2", "index": 3, "kind": "accelerator",
        "steps": {"gemm": {"bf16": gemm}, "copy": {
            "bytes": 2**30, "to_device_gb_s": 55.0, "to_host_gb_s": 54.0, "on_device_gb_s": 2900.0,
            "to_others_gb_s": {"1": 400.0, "2": 380.0},
        }, **steps},
    }  # fmt: skip
    return {
        "schema": "rackwright.burn-in/v1",
        "node": node,
        "steps": {},
        "devices": [device],
        "problems": {},
    }


def lines(made: dict[str, Any], length: int = 60) -> list[str]:
    text = json.dumps(made)
    parts = [text[start : start + length] for start in range(0, len(text), length)]
    return [
        f"rackwright.burn-in/v1 {made['node']} {number}/{len(parts)} {part}"
        for number, part in enumerate(parts, 1)
    ]


def test_reports_of_nodes_that_srun_has_mixed_are_whole() -> None:
    mixed = [*lines(report("gpu-1")), *lines(report("gpu-2")), "srun: job 7 queued and waiting"]
    random.Random(771200).shuffle(mixed)
    found = read_output("\n".join(mixed))
    assert found == {"gpu-1": report("gpu-1"), "gpu-2": report("gpu-2")}


def test_report_that_is_cut_is_no_report() -> None:
    told = lines(report())
    assert read_output("\n".join(told[:-1])) == {
        "gpu-1": f"its report is cut: {len(told) - 1} of {len(told)} lines came"
    }
    assert read_output("rackwright.burn-in/v1 gpu-1 1/1 {}") == {
        "gpu-1": "its report cannot be read"
    }
    assert read_output("srun: error") == {}


def test_rates_have_names_sizes_and_the_serial_of_their_gpu() -> None:
    found = read_report(report(), {"GPU-1234": "1650"})
    assert {(one.name, one.size, one.value) for one in found.measured} == {
        ("gemm bf16", 8192, 770.5),
        ("copy to device", 2**30, 55.0),
        ("copy to host", 2**30, 54.0),
        ("copy on device", 2**30, 2900.0),
        ("copy to others", 2**30, 380.0),
    }
    assert {one.part for one in found.measured} == {PartUnderTest("gpu-1", "gpu", H100, "1650", 3)}
    assert read_report(report(), {}).measured[0].part.serial == "GPU-1234"
    assert found.faults == []
    assert [one.value for one in found.digests] == ["ab" * 32]


def test_wrong_values_are_faults_with_their_place() -> None:
    wrong = {"bytes": 10, "wrong_words": 2, "first_wrong": {"byte": 792, "bits": "0x200"}}
    found = read_report(report(memory=wrong), {})
    assert [one.text for one in found.faults] == [
        "2 words of memory changed, first: byte 792, bits 0x200"
    ]
    assert found.faults[0].part.name == "gpu-1 GPU 3"
    node = {**report(), "steps": {"cpu": {"wrong_cores": [5]}, "dcgm": {"level": 3, "failed": ["memory"]},
                                  "dimm": {"bytes": 1, "errors": {"mc0/dimm3 D1 ce": 4}}, "storage": None}}  # fmt: skip
    assert [one.text for one in read_report(node, {}).faults] == [
        "cores 5 computed something else than the others",
        "DCGM level 3: memory failed",
        "4 memory errors of mc0/dimm3 D1 ce",
    ]


@pytest.mark.parametrize("damage", [{"devices": None}, {"devices": [{}]}, {"steps": 7}])
def test_report_of_another_shape_is_an_error(damage: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="cannot be read"):
        read_report({**report(), **damage}, {})


def digest(
    node: str, value: str, software: str = "torch 2, driver 580", model: str = H100
) -> Digest:
    return Digest(PartUnderTest(node, "gpu", model), "gemm bf16", 8192, software, value)


def test_odd_one_of_equal_machines_is_named() -> None:
    same = [digest(f"gpu-{number}", "aaaa") for number in range(1, 8)]
    assert odd_ones(same) == []
    (fault,) = odd_ones([*same, digest("gpu-8", "bbbb")])
    assert (fault.part.node, fault.text) == (
        "gpu-8",
        "result bbbb differs from aaaa of 7 equal parts",
    )


def test_other_software_or_model_is_not_compared() -> None:
    same = [digest(f"gpu-{number}", "aaaa") for number in range(1, 4)]
    others = [
        digest("gpu-4", "bbbb", software="torch 3"),
        digest("gpu-5", "cccc", model="NVIDIA H200"),
    ]
    assert odd_ones([*same, *others]) == []


def test_two_results_without_a_majority_name_both() -> None:
    found = odd_ones([digest("a", "aaaa"), digest("b", "bbbb")])
    assert [fault.part.node for fault in found] == ["a", "b"]
    assert "without a majority" in found[0].text


def rate(value: float, node: str = "gpu-1", model: str = H100, name: str = "gemm bf16") -> Measured:
    return Measured(PartUnderTest(node, "gpu", model, node), name, 8192, value, "TFLOP/s")


def test_hall_of_fewer_than_16_nodes_has_no_limit_of_its_own() -> None:
    assert hall_limit({str(n): [100.0] for n in range(LEAST_NODES - 1)}) is None
    limit = hall_limit({str(n): [100.0] for n in range(LEAST_NODES)})
    assert limit is not None
    assert limit.least == pytest.approx(97.0), "equal values leave 3 × 1 %"


def test_limit_of_a_hall_is_median_less_three_deviations() -> None:
    draw = random.Random(438930)
    values = {str(n): [draw.gauss(770, 20) for _ in range(8)] for n in range(200)}
    limit = hall_limit(values)
    assert limit is not None
    assert 700 < limit.least < 720
    below = sum(one < limit.least for own in values.values() for one in own)
    assert below <= 8, "three deviations leave out about 1 in 740"


def test_slow_hall_does_not_lower_the_floor() -> None:
    known = {(H100, "gemm bf16", 8192): {str(n): [500.0] for n in range(20)}}
    (judged,) = judge([rate(500.0)], read_floors(), known)
    assert judged.outcome is RateOutcome.FAIL
    assert judged.limit is not None
    assert judged.limit.basis.startswith("floor: aiconfigurator-core")


def test_part_below_its_equals_fails_above_the_floor() -> None:
    known = {(H100, "gemm bf16", 8192): {str(n): [800.0] for n in range(20)}}
    outcomes = [one.outcome for one in judge([rate(760.0), rate(777.0)], read_floors(), known)]
    assert outcomes == [RateOutcome.FAIL, RateOutcome.PASS]


def test_measurement_without_a_limit_is_recorded_and_not_passed() -> None:
    (judged,) = judge([rate(1.0, name="gemm fp64")], read_floors(), {})
    assert (judged.limit, judged.outcome) == (None, RateOutcome.RECORDED)


@pytest.mark.parametrize(
    ("model", "applies"),
    [(H100, True), ("NVIDIA H100 PCIe", False), ("NVIDIA H100 NVL", False), ("NVIDIA GH200 480GB", False),
     ("NVIDIA H200", False)],
)  # fmt: skip
def test_floor_is_for_its_product_alone(model: str, applies: bool) -> None:
    floor = next(one for one in read_floors() if (one.model, one.measure) == ("h100", "gemm bf16"))
    assert floor.applies(model, "gemm bf16", 8192) is applies
    assert not floor.applies(model, "gemm bf16", 4096), "a limit holds with its size alone"


def test_every_floor_has_a_source_and_a_file_without_one_is_refused(tmp_path: Path) -> None:
    assert all(one.source.title for one in read_floors())
    path = tmp_path / "floors.yaml"
    path.write_text("floors: [{model: cpu, measure: gemm fp32, least: 1}]\n")
    with pytest.raises(SpecErrors, match="source"):
        read_floors([path])


def test_report_of_a_real_h100_passes_its_floors() -> None:
    """Recorded on one H100 80GB HBM3 in a virtual machine; serial number and UUID are replaced."""
    recorded = json.loads((Path(__file__).parent / "recorded/h100.json").read_text())
    found = read_report(recorded, {"GPU-00000000-0000-0000-0000-000000000001": "1650000000001"})
    assert (found.faults, found.problems) == ([], {})
    judged = {one.measured.name: one for one in judge(found.measured, read_floors(), {})}
    assert {name for name, one in judged.items() if one.outcome is RateOutcome.PASS} == {
        "gemm bf16", "copy to device", "copy to host",
    }  # fmt: skip
    assert judged["gemm bf16"].measured.value == 759.1051
    assert judged["gemm bf16"].measured.part.serial == "1650000000001"
    assert not [one for one in judged.values() if one.outcome is RateOutcome.FAIL]
