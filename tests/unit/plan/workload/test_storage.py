"""Storage of workloads: training data that is read in time or not, checkpoints that stop a job or do not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from rackwright.errors import RackwrightError
from rackwright.nodelife.burnin.limits import read_floors
from rackwright.plan.load import load_plan
from rackwright.plan.missing import Missing
from rackwright.plan.storage.training import CheckpointWriting, TrainingReads
from rackwright.plan.workload.changes import changes
from rackwright.plan.workload.library import known_accelerators
from rackwright.plan.workload.prediction import Prediction, with_links
from rackwright.policy.check import check_blueprint
from rackwright.policy.packs.loader import builtin_pack
from rackwright.report.prediction import facts

FIXTURES = builtin_pack() / "fixtures"
MIB = 2**20
SLOW = {"servers": "dgx", "count": 2, "target_read": "1 GB/s", "server_read": "1 GB/s"}
SEQUENCES = 512
"""Sequences that the workload of the fixture trains on in one step."""


def system(name: str = "data", **more: Any) -> dict[str, Any]:
    """Return a file system of 2 GB/s."""
    return {"name": name, "kind": "lustre", "mount": f"/{name}", "objects": SLOW, **more}


def predicted(
    folder: Path,
    *systems: dict[str, Any],
    job: dict[str, Any] | None = None,
    profile: dict[str, Any] | None = None,
    group: dict[str, Any] | None = None,
) -> Prediction:
    """Return the prediction of the fixture's job with file systems, and other fields of job, profile and hosts."""
    document = yaml.safe_load((FIXTURES / "workloads.yaml").read_text(encoding="utf-8"))
    document["sites"][0]["file_systems"] = list(systems)
    document["sites"][0]["node_groups"][0] |= group or {}
    document["reliability"]["jobs"][0] |= profile or {}
    document["workloads"][0] |= job or {}
    path = folder / "blueprint.yaml"
    path.write_text(yaml.safe_dump(document))
    (found,) = load_plan(path).plan.predictions
    return found


def sample(size: str, **more: Any) -> dict[str, Any]:
    return {"dataset": {"sample_size": size, **more}}


@pytest.mark.parametrize(("model", "width"), [("llama3.1-70b", 4), ("gpt3-175b", 2)])
def test_text_is_read_by_tokens_of_two_or_four_bytes(
    tmp_path: Path, model: str, width: int
) -> None:
    """51,200 tokens of GPT-3 are numbered in 2 bytes, 128,256 of Llama in 4."""
    found = predicted(
        tmp_path, system(), job={"model": model, "precision": "fp8", "layout": "auto"}
    )
    assert found.reads is not None
    assert found.step is not None
    assert found.reads.demand(found.step.wanted) == pytest.approx(
        width * found.step.tokens / found.step.seconds
    )
    assert found.step.reads == 0
    assert found.reads.rate == 2e9


def test_a_step_takes_as_long_as_its_data_where_storage_is_slower(tmp_path: Path) -> None:
    free = predicted(tmp_path, system())
    found = predicted(tmp_path, system(), job=sample("40 MiB"))
    step, plain = found.step, free.step
    assert step is not None
    assert plain is not None
    assert found.a_day is not None
    seconds = SEQUENCES * 40 * MIB / 2e9
    assert plain.seconds < seconds
    assert step.seconds == pytest.approx(seconds)
    assert step.by_part()["storage reads"] == pytest.approx(seconds - plain.seconds)
    assert sum(step.by_part().values()) == pytest.approx(step.seconds)
    assert step.flops * step.seconds == pytest.approx(plain.flops * plain.seconds)
    assert found.effective is not None
    day = step.tokens / seconds * 86400 * found.effective
    assert (found.a_day.low, found.a_day.high) == pytest.approx((day, day))
    (wider,) = (one for one in changes(found) if one.path[-1] == "count")
    assert wider.path == ("sites", 0, "file_systems", 0, "objects", "count")
    assert wider.gain == pytest.approx(seconds / plain.seconds - 1)


def test_what_the_change_names_ends_the_wait(tmp_path: Path) -> None:
    found = predicted(tmp_path, system(), job=sample("40 MiB"))
    (wider,) = (one for one in changes(found) if one.path[-1] == "count")
    needed = float(wider.what.split("→ ")[1].split(" ")[0])
    objects = {
        **SLOW,
        "count": 64,
        "target_read": f"{needed / 64} GB/s",
        "server_read": "9 GB/s",
    }
    other = predicted(tmp_path, system(objects=objects), job=sample("40 MiB"))
    assert other.step is not None
    assert other.step.reads == 0
    assert [one for one in changes(other) if one.path[-1] == "count"] == []


def test_faster_links_bring_nothing_to_a_job_that_waits_for_storage(tmp_path: Path) -> None:
    found = predicted(tmp_path, system(), job=sample("40 MiB"))
    assert found.placement is not None
    assert found.placement.links is not None
    faster = with_links(found, rail=2 * found.placement.links.rail)
    assert faster is not None
    assert found.step is not None
    assert faster.seconds == pytest.approx(found.step.seconds)


CAP = {"power_cap": "7.7 kW"}


def test_a_job_under_a_power_cap_asks_storage_for_less(tmp_path: Path) -> None:
    """Without the cap it would wait for its data, which was told of the job under it as well."""
    capped, free = (predicted(tmp_path, system(), group=group) for group in (CAP, {}))
    assert capped.wanted < 0.8 * free.wanted
    size = 2e9 / (capped.wanted * 1.1) * 8192
    found = predicted(tmp_path, system(), job=sample(f"{size / 1e6} MB"), group=CAP)
    assert found.reads is not None
    assert found.speed is not None
    assert found.speed.value == found.wanted == capped.wanted < found.reads.limit < free.wanted
    assert [one for one in changes(found) if one.path[-1] == "count"] == []
    assert dict(facts(found, None))["reads"] == "1,818 MB/s of 2,000 MB/s from 'data'"
    (waits,) = check_blueprint(tmp_path / "blueprint.yaml", only=("PERF-006",)).results
    assert waits.value == 0
    slower = predicted(tmp_path, system(), job=sample(f"{size * 1.5 / 1e6} MB"), group=CAP)
    (waits,) = check_blueprint(tmp_path / "blueprint.yaml", only=("PERF-006",)).results
    assert waits.value == pytest.approx(100 * (1 - 1.1 / 1.5))
    (wider,) = (one for one in changes(slower) if one.path[-1] == "count")
    assert wider.gain == pytest.approx(1.5 / 1.1 - 1)


def test_a_power_cap_costs_nothing_where_storage_is_slower(tmp_path: Path) -> None:
    alone = predicted(tmp_path, system(), group=CAP)
    found = predicted(tmp_path, system(), job=sample("100 MiB"), group=CAP)
    assert alone.slowed is not None
    assert alone.slowed.value < 0.8
    assert found.slowed is not None
    assert found.slowed.low == 1


@given(
    st.floats(1, 500), st.floats(1, 4), st.floats(0.1, 100), st.floats(1, 4),
)  # fmt: skip
def test_more_bytes_are_never_faster_and_more_bandwidth_never_slower(
    size: float, larger: float, rate: float, faster: float
) -> None:
    step = PLAIN.step
    assert step is not None

    def seconds(megabytes: float, gigabytes: float) -> float:
        each = megabytes * 1e6 * SEQUENCES / step.tokens
        return step.limited(TrainingReads(each, gigabytes * 1e9).limit).seconds

    assert seconds(size, rate) >= step.seconds * (1 - 1e-12)
    assert seconds(size * larger, rate) >= seconds(size, rate) * (1 - 1e-12)
    assert seconds(size, rate * faster) <= seconds(size, rate) * (1 + 1e-12)


@pytest.mark.parametrize(
    ("systems", "job", "missing"),
    [
        ((), {}, "a file system of 'sjc1' with the training data"),
        ((system(), system("home")), {},
         "a file system of 'sjc1' with the training data, one of data, home"),
        ((system(clients=[]),), {}, "'dgx' among the clients of 'data'"),
        (
            (system(objects={**SLOW, "target_read": None}),),
            {},
            "'target_read' of the objects",
        ),
        (
            (system(objects={**SLOW, "target_read": "0 GB/s"}),),
            {},
            "a read throughput of 'data' above zero",
        ),
        (
            (system(),),
            {"model": "wan2.1-14b", "sequence": 37440, "batch": "19169280 tokens", "precision": "bf16",
             "layout": {"context": 2}},
            "size of a sample of 'pretrain'",
        ),
    ],
)  # fmt: skip
def test_reading_that_is_not_stated_is_unknown(
    tmp_path: Path, systems: tuple[dict[str, Any], ...], job: dict[str, Any], missing: str
) -> None:
    found = predicted(tmp_path, *systems, job=job)
    assert found.reads is not None
    assert found.step is not None
    assert found.reads.missing == (missing,)
    assert isinstance(found.reads.missing[0], Missing)
    assert found.reads.missing[0].fields
    assert found.step.reads == 0
    told = [text for name, text in facts(found, None) if name == "not counted"]
    assert any(missing in text for text in told)


def test_the_file_system_of_a_dataset_is_the_one_that_it_names(tmp_path: Path) -> None:
    fast = system("fast", objects={**SLOW, "target_read": "9 GB/s", "server_read": "9 GB/s"})
    for name, rate in (("data", 2e9), ("fast", 18e9)):
        found = predicted(tmp_path, system(), fast, job={"dataset": {"file_system": name}})
        assert found.reads is not None
        assert found.reads.rate == rate
    with pytest.raises(RackwrightError, match="there is no file system 'fats' in 'sjc1'"):
        predicted(tmp_path, system(), fast, job={"dataset": {"file_system": "fats"}})


def carried_reads(
    folder: Path, carried: str | None, ports: str = "200 Gbps", target: str = "10 GB/s"
) -> Prediction:
    """Return the prediction of a job on one host with two ports on the fabric, and a file system of 16 targets."""
    document = yaml.safe_load((FIXTURES / "storage.yaml").read_text(encoding="utf-8"))
    (site,) = document["sites"]
    site["fabrics"][0]["attached"] = [
        {"group": "dgx", "interfaces": 2, "rate": ports, "rails": False}
    ]
    site["file_systems"][0]["networks"][0]["fabric"] = carried
    site["file_systems"][0]["objects"]["target_read"] = target
    document["workloads"] = [
        {"name": "small", "model": "llama3.1-8b", "site": "sjc1", "group": "dgx", "hosts": 1,
         "sequence": 8192, "batch": "1048576 tokens", **sample("16 GiB")}
    ]  # fmt: skip
    path = folder / "blueprint.yaml"
    path.write_text(yaml.safe_dump(document))
    (found,) = load_plan(path).plan.predictions
    return found


@pytest.mark.parametrize(("carried", "rate"), [("storage", 50e9), (None, 160e9)])
def test_ports_of_the_hosts_limit_what_they_read(
    tmp_path: Path, carried: str | None, rate: float
) -> None:
    """One host has 2 × 200 Gbps on the fabric of 'o2ib', and the file system 160 GB/s."""
    found = carried_reads(tmp_path, carried)
    assert found.reads is not None
    assert found.reads.rate == pytest.approx(rate)
    ports = ("sites", 0, "fabrics", 0, "attached", 0, "rate")
    assert found.reads.ports == (ports if carried else None)


def test_the_gain_of_wider_ports_ends_at_the_file_system(tmp_path: Path) -> None:
    """Ports of 50 GB/s before a file system of 56 GB/s bring 12 %; as much as the job reads was told."""
    found = carried_reads(tmp_path, "storage", target="3.5 GB/s")
    (wider,) = (one for one in changes(found) if one.path[-1] == "rate" and "reads" in one.what)
    assert wider.what == "reads at 50 GB/s → 56 GB/s, the rate of its file system"
    assert wider.gain == pytest.approx(0.12)
    applied = carried_reads(tmp_path, "storage", ports="240 Gbps", target="3.5 GB/s")
    assert found.speed is not None
    assert applied.speed is not None
    assert applied.speed.value == pytest.approx(1.12 * found.speed.value)
    assert found.wanted > 2 * applied.speed.value
    (next_one,) = (one for one in changes(applied) if "reads" in one.what)
    assert next_one.path[-2:] == ("objects", "count")


def test_the_gain_of_more_targets_ends_at_the_ports(tmp_path: Path) -> None:
    found = carried_reads(tmp_path, "storage", target="2.5 GB/s")
    (wider,) = (one for one in changes(found) if one.path[-1] == "count")
    assert wider.what.startswith("reads at 40 GB/s → 50 GB/s, the rate of its ports (use ")
    assert wider.gain == pytest.approx(0.25)


def test_fsx_is_told_with_the_capacity_that_reads_in_time(tmp_path: Path) -> None:
    """FSx moves 250 MB/s of each of its 37.5 TiB."""
    document = yaml.safe_load((FIXTURES / "aws.yaml").read_text(encoding="utf-8"))
    (site,) = document["sites"]
    group = site["node_groups"][0]["name"]
    document["workloads"] = [
        {"name": "small", "model": "llama3.1-8b", "site": site["name"], "group": group, "hosts": 1,
         "sequence": 8192, "batch": "1048576 tokens", **sample("8 GB")}
    ]  # fmt: skip
    path = tmp_path / "blueprint.yaml"
    path.write_text(yaml.safe_dump(document))
    (found,) = load_plan(path).plan.predictions
    assert found.reads is not None
    assert found.reads.rate == 9375e6
    assert found.step is not None
    assert found.step.seconds == pytest.approx(128 * 8e9 / 9375e6)
    (wider,) = (one for one in changes(found) if one.path[-1] == "capacity")
    assert "use a capacity of " in wider.what


WRITES = {**SLOW, "target_write": "5 GB/s", "server_write": "5 GB/s"}
CHECKPOINTS = system(objects=WRITES, workload={"checkpoint": {"size": "1 GiB"}})
PARAMETERS = 70.55e9
DRAIN = 14 * PARAMETERS / 10e9


def writing(folder: Path, *, asynchronous: bool, interval: str = "60 min") -> Prediction:
    profile = {
        "checkpoint_stall": None,
        "async_save": asynchronous,
        "checkpoint_interval": interval,
    }
    return predicted(folder, CHECKPOINTS, profile=profile)


def test_asynchronous_checkpoints_stop_a_job_for_their_copy_to_the_hosts(tmp_path: Path) -> None:
    found, before = (writing(tmp_path, asynchronous=one) for one in (True, False))
    assert found.lost is not None
    assert before.lost is not None
    copy = 14 * PARAMETERS / (512 * 48e9)
    assert found.lost.writing is not None
    assert found.lost.writing.blocking == pytest.approx(copy, rel=1e-3)
    assert found.lost.writing.background == pytest.approx(DRAIN, rel=1e-3)
    assert found.lost.checkpoints == pytest.approx(copy / (3600 + copy), rel=1e-3)
    assert before.lost.checkpoints == pytest.approx(DRAIN / (3600 + DRAIN), rel=1e-3)
    (change,) = (one for one in changes(before) if one.path[-1] == "async_save")
    assert change.path == ("reliability", "jobs", 0, "async_save")
    assert before.effective is not None
    assert change.gain == pytest.approx((found.effective or 0) / before.effective - 1)
    assert [one for one in changes(found) if one.path[-1] == "async_save"] == []


def test_an_interval_shorter_than_the_writing_stops_the_job_for_the_rest(tmp_path: Path) -> None:
    found = writing(tmp_path, asynchronous=True, interval="60 s")
    assert found.lost is not None
    assert found.lost.writing is not None
    stall = found.lost.writing.blocking + DRAIN - 60
    assert found.lost.checkpoints == pytest.approx(stall / (60 + stall), rel=1e-3)
    told = dict(facts(found, None))["checkpoints"]
    assert "longer than 'checkpoint_interval', for which the job waits" in told
    assert "longer" not in dict(facts(writing(tmp_path, asynchronous=True), None))["checkpoints"]
    assert found.lost.best_interval is not None
    assert found.lost.best_interval >= found.lost.writing.background


def test_a_stated_stall_stays_as_it_is(tmp_path: Path) -> None:
    profile = {"checkpoint_stall": "30 s", "async_save": True, "checkpoint_interval": "10 min"}
    found = predicted(tmp_path, CHECKPOINTS, profile=profile)
    assert found.lost is not None
    assert found.lost.checkpoints == pytest.approx(30 / 630)


def test_copies_of_an_accelerator_without_a_known_rate_are_unknown(tmp_path: Path) -> None:
    found = predicted(
        tmp_path,
        CHECKPOINTS,
        profile={
            "checkpoint_stall": None,
            "async_save": True,
            "parts": [{"site": "sjc1", "group": "dgx", "hosts": 32}],
        },
        group={"type": "dgx-b200", "count": 32},
        job={"layout": "auto"},
    )
    assert found.step is not None
    assert found.lost is None
    (text,) = found.missing
    assert text.startswith("'checkpoint_stall' of the job 'pretrain' (no rate is known of copies")


@given(st.floats(0, 100), st.floats(0, 3600), st.floats(1, 7200), st.floats(1, 4))
def test_a_checkpoint_in_the_background_is_never_slower_than_a_synchronous_one(
    copy: float, more: float, interval: float, faster: float
) -> None:
    """Nothing is written faster than it is copied to the hosts."""
    written = copy + more
    synchronous = CheckpointWriting(written, copy=copy)
    behind = synchronous.asynchronous
    assert behind is not None
    stall = behind.stall(interval)
    assert copy <= stall <= synchronous.stall(interval)
    assert behind.stall(interval * faster) <= stall
    wide = CheckpointWriting(copy + more / faster, copy=copy).asynchronous
    assert wide is not None
    assert wide.stall(interval) <= stall * (1 + 1e-12)


def test_rates_of_copies_to_the_hosts_are_those_of_the_burn_in() -> None:
    floors = {one.model: one.least for one in read_floors() if one.measure == "copy to host"}
    assert floors
    for name, accelerator in known_accelerators().items():
        base = name.partition("-")[0]
        if base in floors:
            assert accelerator.host_link == floors[base] * 1e9, name


PLAIN = load_plan(FIXTURES / "workloads.yaml").plan.predictions[0]
