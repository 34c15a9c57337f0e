"""Throughput, inodes and networks of file systems against values worked by hand."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

import aws_factories
from factories import a_plan, a_site
from known import known
from rackwright.model.storage import (
    Checkpoint,
    MetadataTargets,
    ParallelFileSystem,
    split_nids,
)
from rackwright.plan.problems import PlanError
from rackwright.plan.storage.filesystem import (
    aggregate,
    aggregate_after_loss,
    checkpoint_size,
    enough,
    file_systems,
    files_of_target,
    fsx_capacity,
    fsx_throughput,
    mount_source,
    throughput_for,
    write_time,
)
from rackwright.plan.storage.lnet import NetworkDemand, judge_networks

TARGETS = st.integers(1, 200)
SERVERS = st.integers(1, 60)
RATES = st.floats(1, 1e5)


def a_system(**more: Any) -> dict[str, Any]:
    return {
        "name": "scratch",
        "kind": "lustre",
        "mount": "/scratch",
        "networks": [
            {"name": "o2ib", "subnet": "10.1.0.0/16", "interfaces": ["ib0"]},
            {"name": "tcp", "subnet": "10.2.0.0/16"},
        ],
        "management": {"servers": "dgx", "nids": ["10.1.0.1@o2ib", "10.1.0.2@o2ib0"]},
        "metadata": {"servers": "dgx", "networks": ["o2ib"]},
        "objects": {
            "servers": "dgx",
            "count": 8,
            "size": "100 TiB",
            "target_read": "10 GB/s",
            "target_write": "6 GB/s",
            "server_read": "18 GB/s",
            "server_write": "18 GB/s",
            "networks": ["o2ib"],
            "failover": "pairs",
        },
        "clients": [{"group": "dgx", "networks": ["o2ib"]}],
    } | more


def parse(**more: Any) -> ParallelFileSystem:
    return ParallelFileSystem.model_validate(a_system(**more))


def claims(**more: Any) -> list[NetworkDemand]:
    return list(judge_networks(parse(**more), 4))


def test_targets_or_servers_limit_the_throughput():
    assert aggregate(8, 4, 6, 18) == 48, "two targets of 6 on each server"
    assert aggregate(8, 4, 10, 18) == 72, "a server moves 18 of 20"


def test_an_uneven_spread_is_worked_out_server_by_server():
    """Five targets on two servers: 3 × 7 is cut to 18, 2 × 7 is not."""
    assert aggregate(5, 2, 7, 18) == 18 + 14


def test_a_partner_takes_over_at_its_own_rate():
    assert aggregate_after_loss(8, 4, 6, 18, pairs=True) == 12 + 12 + 18
    assert aggregate_after_loss(8, 4, 3, 18, pairs=True) == 24, "the partner has room for all"


def test_nothing_is_left_without_a_partner():
    assert aggregate_after_loss(8, 4, 6, 18, pairs=False) == 0
    assert aggregate_after_loss(9, 3, 6, 18, pairs=True) == 0, "the third server stands alone"


@given(TARGETS, SERVERS, RATES, RATES)
def test_no_throughput_exceeds_its_parts(targets, servers, per_target, per_server):
    moved = aggregate(targets, servers, per_target, per_server)

    assert 0 < moved <= min(targets * per_target, servers * per_server) * (1 + 1e-9)


@given(TARGETS, SERVERS, RATES, RATES)
def test_the_worst_loss_is_the_worst_of_all_losses(targets, servers, per_target, per_server):
    servers += servers % 2
    each, more = divmod(targets, servers)
    held = [each + (n < more) for n in range(servers)]

    def without(lost: int) -> float:
        partner = lost ^ 1
        living = [h for n, h in enumerate(held) if n not in {lost, partner}]
        living.append(held[lost] + held[partner])
        return math.fsum(min(h * per_target, per_server) for h in living)

    expected = min(without(lost) for lost in range(servers))
    actual = aggregate_after_loss(targets, servers, per_target, per_server, pairs=True)
    assert actual == pytest.approx(expected, rel=1e-9, abs=1e-6)


@given(st.floats(1, 1e7), TARGETS, SERVERS, RATES, RATES)
def test_the_remedy_moves_what_is_asked(demand, targets, servers, per_target, per_server):
    more_targets, more_servers = enough(demand, targets, servers, per_target, per_server)

    assert more_targets >= targets
    assert more_servers >= servers
    assert aggregate(more_targets, more_servers, per_target, per_server) >= demand * (1 - 1e-6)


@pytest.mark.parametrize(("each", "terabytes"), [(12, 4.86), (16, 6.48)])
def test_a_checkpoint_of_405_billion_parameters(each, terabytes):
    checkpoint = Checkpoint(parameters=405_000_000_000, bytes_per_parameter=each)
    size = known(checkpoint_size(checkpoint))

    assert size * 2**30 / 1e12 == pytest.approx(terabytes)
    assert throughput_for(size, 60) / 1000 == pytest.approx({12: 81, 16: 108}[each])


def test_a_checkpoint_without_bytes_has_no_size():
    assert checkpoint_size(Checkpoint(parameters=1)) is None
    assert checkpoint_size(Checkpoint()) is None
    assert checkpoint_size(Checkpoint.model_validate({"size": "5 TiB"})) == 5120


def test_a_checkpoint_has_one_size():
    with pytest.raises(ValidationError, match="not both"):
        Checkpoint.model_validate({"size": "5 TiB", "parameters": 7})


@given(st.floats(0.1, 1e7), st.floats(1, 1e7))
def test_time_and_throughput_are_inverse(size, throughput):
    seconds = write_time(size, throughput)
    assert throughput_for(size, seconds) == pytest.approx(throughput)


def metadata(**more: Any) -> MetadataTargets:
    return MetadataTargets.model_validate({"servers": "mds", **more})


def test_four_kibibytes_of_metadata_a_file():
    assert files_of_target(metadata(size="4 TiB"), 2048, 2) == 2**30


def test_data_on_metadata_takes_its_share():
    small = metadata(size="4 TiB", data_on_metadata="64 KiB")
    assert files_of_target(small, 2048, 2) == 2**42 // (68 * 1024)


def test_a_large_target_is_limited_by_its_backend():
    assert files_of_target(metadata(size="64 TiB", backend="ldiskfs"), 2048, 2) == 4_000_000_000
    assert files_of_target(metadata(size="64 TiB", backend="zfs"), 2048, 2) == 2**34
    assert files_of_target(metadata(size="64 TiB"), 2048, 2) is None
    assert files_of_target(metadata(), 2048, 2) is None


def test_fsx_is_capacity_times_throughput():
    system = aws_factories.a_site(file_systems=(aws_factories.a_file_system(),)).file_systems[0]

    assert fsx_throughput(system) == 9375
    assert fsx_capacity(system, 20_000) == 38_400, "with EFA in steps of 19,200 GiB"


def test_the_file_systems_of_a_plan():
    (found,) = file_systems(a_plan(a_site(file_systems=[a_system()])))

    assert found.name == "lab scratch"
    assert found.path == ("sites", 0, "file_systems", 0)
    assert found.servers == 4
    assert found.read.value == 72_000
    assert found.write.value == 48_000
    assert found.write.after_loss == 42_000
    assert found.capacity == 8 * 102_400
    assert found.remedy("write", 100_000) == "use 18 targets on 6 servers"


def test_unknown_fact_of_a_file_system_stays_unknown():
    system = a_system(objects={"servers": "dgx", "count": 8, "target_read": "10 GB/s"})
    (found,) = file_systems(a_plan(a_site(file_systems=[system])))

    assert found.read.value is None
    assert found.read.most == 80_000
    assert found.read.missing == ("'server_read' of the objects",)
    assert found.write.most is None
    assert found.capacity is None
    assert found.remedy("read", 1) is None


def test_no_objects_are_no_number():
    (found,) = file_systems(a_plan(a_site(file_systems=[a_system(objects=None)])))

    assert found.read.value is None
    assert found.read.missing


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"objects": {"servers": "dgk"}}, "there is no node group 'dgk'"),
        ({"clients": [{"group": "gpu"}]}, "there is no node group 'gpu'"),
        ({"networks": [{"name": "tcp", "fabric": "x"}]}, "there is no fabric 'x'"),
        ({"metadata": {"servers": "dgx", "networks": ["o2ib7"]}}, "has no network 'o2ib7'"),
        (
            {"clients": [{"group": "dgx", "networks": ["tcp", "tcp3"]}]},
            "has no network 'tcp3'",
        ),
    ],
)
def test_references_that_lead_nowhere(change, message):
    with pytest.raises(PlanError, match=message):
        a_plan(a_site(file_systems=[a_system(**change)]))


def test_the_mount_source_parts_servers_by_colons():
    system = parse(
        management={"servers": "dgx", "nids": ["10.1.0.1@o2ib0,10.2.0.1@tcp", "10.1.0.2@o2ib"]}
    )
    assert mount_source(system) == "10.1.0.1@o2ib,10.2.0.1@tcp:10.1.0.2@o2ib:/scratch"
    assert mount_source(parse(management={"servers": "dgx"})) is None


@pytest.mark.parametrize(
    "text", ["10.1.0.1", "10.1.0.1@gni", "10.1.0.300@tcp", "10.1.0.1@o2ib01", "", "a@tcp"]
)
def test_texts_that_are_no_nids(text):
    with pytest.raises(ValueError, match=r"NID|octet|Octet|Expected"):
        split_nids(text)


def test_names_that_lustre_cannot_keep():
    with pytest.raises(ValidationError, match="at most 8"):
        parse(name="scratch-01")
    with pytest.raises(ValidationError, match="'tcp' is named twice"):
        parse(networks=[{"name": "tcp"}, {"name": "tcp0"}])


def test_everything_reaches_everything():
    found = claims()

    assert all(claim.ok for claim in found), [c.message for c in found if not c.ok]
    assert len(found) == 2 + 1 + 2 + 3


@pytest.mark.parametrize(
    ("nids", "message", "fix"),
    [
        (["10.1.0.1@o2ib1"], "'o2ib1' is not declared", "use one of o2ib, tcp"),
        (["10.2.0.1@o2ib"], "does not lie in 10.1.0.0/16", "use an address of 10.1.0.0/16"),
        (["10.1.0.1@o2ib", "10.1.0.1@o2ib0"], "servers 1 and 2", "NID of its own"),
        (["10.1.0.1@o2ib", "10.2.0.2@tcp"], "server 1 of the MGS has no NID on tcp", "on tcp"),
        (["10.2.0.1@tcp"], "no network in common", "for instance tcp"),
        ([f"10.1.0.{n}@o2ib" for n in range(1, 6)], "its node group has 4", "1 to 4"),
    ],
)
def test_nids_that_do_not_match(nids, message, fix):
    bad = [c for c in claims(management={"servers": "dgx", "nids": nids}) if c.ok is False]

    assert any(message in claim.message and fix in (claim.fix or "") for claim in bad), bad


@pytest.mark.parametrize(
    "change",
    [
        {"management": None},
        {"management": {"servers": "dgx"}},
        {"networks": [{"name": "o2ib"}, {"name": "tcp"}]},
        {"metadata": None},
        {"objects": {"servers": "dgx"}},
        {"clients": None},
        {"clients": [{"group": "dgx"}]},
    ],
)
def test_a_part_that_is_not_declared_is_unknown(change):
    found = claims(**change)

    assert not any(claim.ok is False for claim in found)
    unknown = [claim for claim in found if claim.ok is None]
    assert unknown
    assert all(claim.missing for claim in unknown)
