"""The all-reduce: reading what nccl-tests prints, and who must reach what."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from rackwright.accept.all_reduce import (
    BANDWIDTH,
    ERRORS,
    FACT,
    RankGroup,
    UnreadableOutput,
    expectations,
    facts_of,
    groups,
    read_output,
    with_all_reduce,
)
from rackwright.accept.benchmark import TASK
from rackwright.accept.compare import ItemOutcome, compare_item
from rackwright.accept.expected import expect
from rackwright.errors import SpecErrors
from rackwright.model.operations import AllReduce, Operations
from rackwright.plan.load import load_plan
from rackwright.plan.model import Plan
from rackwright.policy.packs.loader import builtin_pack

HEADER = """\
# nThread 1 nGpus 8 minBytes 8589934592 maxBytes 8589934592 step: 1048576(bytes) warmup iters: 5
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
"""
ROW = "  8589934592    2147483648     float     sum      -1    31312  274.33  480.08      0    31302  274.42  479.24      0\n"
SMALL = ROW.replace("8589934592 ", "1024 ")
RECORDED = Path(__file__).parent / "recorded/nccl_tests"
"""Of nccl-tests on one H200. An all-reduce of a library of its own gave the wrong values."""
GOOD = f"{HEADER}{ROW}# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 479.66 \n"


@pytest.fixture(scope="module")
def slurm() -> Plan:
    return load_plan(builtin_pack() / "fixtures/slurm.yaml").plan


def test_the_smaller_half_of_the_largest_size_counts() -> None:
    assert read_output(GOOD) == {"bus_gb_s": 479.24, "wrong": 0}
    assert read_output(HEADER + SMALL.replace("479.24", "3.00") + ROW)["bus_gb_s"] == 479.24


def test_wrong_values_of_every_size_count() -> None:
    wrong = ROW.replace(" 0\n", " 3\n")
    assert read_output(HEADER + SMALL.replace(" 0\n", " 2\n") + wrong)["wrong"] == 5


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "printed no result"),
        (HEADER, "printed no result"),
        (HEADER + ROW.rsplit("  ", 2)[0] + "\n", "printed no result"),
        (HEADER + SMALL, "ran with 1024 bytes"),
        (HEADER + ROW.replace(" 0\n", " N/A\n"), "has not checked"),
        (GOOD.replace("479.24", "four"), "is no number"),
        (GOOD.replace(" 0\n", " inf\n"), "is no number"),
    ],
)
def test_output_without_a_result_is_none(text: str, message: str) -> None:
    with pytest.raises(UnreadableOutput, match=message):
        read_output(text)


def recorded(name: str, code: int, errors: str = "") -> dict[str, Any]:
    """Facts of a run that ended with this code."""
    told = (RECORDED / f"{name}.txt").read_text()
    return facts_of({"rc": code, "stdout": told, "stderr": errors, "msg": "non-zero return code"})


@pytest.mark.parametrize("version", ["2.13.11", "2.17.1", "2.19.6"])
def test_output_of_each_version_is_read(version: str) -> None:
    """Over one GPU, between which and itself nothing goes over a bus."""
    assert recorded(version, 0) == {FACT: {"bus_gb_s": 0.0, "wrong": 0}}


@pytest.mark.parametrize(
    ("version", "code", "wrong"),
    [("2.13.11", 1, 14), ("2.17.1", 1, 14), ("2.19.6", 7, 400_000_000)],
)
def test_wrong_values_are_a_failure_though_the_program_fails_with_them(
    version: str, code: int, wrong: int
) -> None:
    facts = recorded(f"wrong-{version}", code)
    assert facts == {FACT: {"bus_gb_s": 0.0, "wrong": wrong}}
    errors = compare_item(expectations(0.0)[1], facts)
    assert errors.outcome is ItemOutcome.FAIL
    assert errors.reason == f"{wrong} wrong values of the NCCL all-reduce, none are allowed"


@pytest.mark.parametrize(
    ("name", "code", "reason"),
    [
        ("unchecked", 0, "all_reduce_perf has not checked its results"),
        ("apart", 0, "the processes of all_reduce_perf do not know of each other"),
        ("no-gpu", 2, "Test CUDA failure util.cu:674 'no CUDA-capable device is detected'"),
        ("no-memory", 3, "Test NCCL failure common.cu:1107 'unhandled cuda error (run with"),
        ("too-few-gpus", 5, "Invalid number of GPUs: 2 requested but only 1 were found."),
        ("2.19.6", 1, "non-zero return code"),
    ],
)
def test_why_there_is_no_result_is_told_in_the_words_of_the_program(
    name: str, code: int, reason: str
) -> None:
    errors = RECORDED / f"{name}-errors.txt"
    facts = recorded(name, code, errors.read_text() if errors.exists() else "")
    assert facts[FACT] is None
    assert facts["problems"][FACT].startswith(reason)


@pytest.mark.parametrize(
    ("output", "bandwidth", "outcomes"),
    [
        (GOOD, 479.24, (ItemOutcome.PASS, ItemOutcome.PASS)),
        (GOOD, 479.25, (ItemOutcome.FAIL, ItemOutcome.PASS)),
        (GOOD, None, (ItemOutcome.UNKNOWN, ItemOutcome.PASS)),
        (GOOD.replace(" 0\n", " 7\n"), 460.0, (ItemOutcome.PASS, ItemOutcome.FAIL)),
        (HEADER, 460.0, (ItemOutcome.UNKNOWN, ItemOutcome.UNKNOWN)),
    ],
)
def test_an_all_reduce_is_judged(
    output: str, bandwidth: float | None, outcomes: tuple[ItemOutcome, ...]
) -> None:
    facts = facts_of({"rc": 0, "stdout": output})
    assert tuple(compare_item(item, facts).outcome for item in expectations(bandwidth)) == outcomes


def test_failure_is_reported_with_its_numbers() -> None:
    facts = facts_of({"rc": 0, "stdout": GOOD.replace("479.24", "301.50").replace(" 0\n", " 7\n")})
    least, errors = (compare_item(item, facts) for item in expectations(460.0))
    assert least.reason == "NCCL all-reduce is 301.5 GB/s, not 460 GB/s"
    assert errors.reason == "7 wrong values of the NCCL all-reduce, none are allowed"


@pytest.mark.parametrize(
    ("result", "reason"),
    [
        (
            {"rc": 1, "stderr": "srun: error: Requested nodes are busy\n"},
            "Requested nodes are busy",
        ),
        ({"rc": 2, "msg": "No such file: all_reduce_perf"}, "No such file: all_reduce_perf"),
        ({"rc": 3}, "it ended with 3"),
        ({"rc": 0, "stdout": "killed"}, "printed no result"),
    ],
)
def test_a_node_that_is_not_measured_is_unknown(result: dict[str, Any], reason: str) -> None:
    facts = facts_of(result)
    judged = [compare_item(item, facts) for item in expectations(460.0)]
    assert [one.outcome for one in judged] == [ItemOutcome.UNKNOWN] * 2
    assert all(reason in (one.reason or "") for one in judged)


def test_the_number_is_the_catalogues_or_the_blueprints(slurm: Plan) -> None:
    (dgx,) = groups(slurm)
    assert (dgx.accelerators, dgx.node, dgx.across) == (8, 460.0, None)
    assert len(dgx.hosts) == 64

    said = AllReduce.model_validate({"group": dgx.name, "node": "470 GB/s", "across": "350 GB/s"})
    operations = Operations(all_reduce=(said,))
    blueprint = slurm.blueprint.model_copy(update={"operations": operations})
    (dgx,) = groups(replace(slurm, blueprint=blueprint))
    assert (dgx.node, dgx.across) == (470.0, 350.0)


def test_only_nodes_with_gpus_are_expected_to_reduce(slurm: Plan) -> None:
    found = groups(slurm)
    hosts = with_all_reduce(expect(slurm), found)
    measured = {host.name for host in hosts for item in host.items if item.item == BANDWIDTH}
    assert measured == {name for group in found for name in group.hosts.values()}
    assert measured == {host.name for host in hosts for i in host.items if i.item == ERRORS}
    assert len(hosts) > len(measured)
    assert with_all_reduce(expect(slurm), ()) == expect(slurm)


def test_a_mistyped_group_is_refused_at_its_place(tmp_path: Path) -> None:
    layer = tmp_path / "layer.yaml"
    layer.write_text("operations: {all_reduce: [{group: dgy, node: 460 GB/s}]}\n")
    with pytest.raises(SpecErrors, match="there is no node group 'dgy'") as caught:
        load_plan(builtin_pack() / "fixtures/slurm.yaml", (layer,))
    assert "layer.yaml:1:35" in str(caught.value)
    assert "dgx" in str(caught.value), "it suggests the group that is there"


def test_groups_are_told_apart_by_identity(slurm: Plan) -> None:
    """Two sites may have groups of one name; results must not be mixed up."""
    one, other = (RankGroup("dgx", {"a": "a.x"}, 8, 460.0, None) for _ in range(2))
    assert len({one: 1, other: 2}) == 2


def test_the_task_that_is_listened_to_is_there() -> None:
    tasks = Path("roles/acceptance/tasks/all_reduce.yml").read_text()
    assert TASK in [task["name"] for task in yaml.safe_load(tasks)]
