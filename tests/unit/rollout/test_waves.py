"""The order in which hosts are changed: everyone once, never too many, always the same."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rackwright.errors import UsageError
from rackwright.plan.load import load_plan
from rackwright.render.blueprints import find_template, write_blueprint
from rackwright.rollout.waves import (  # fmt: skip
    Domain,
    Limit,
    Roster,
    Wave,
    WaveKind,
    WaveUnit,
    parse_limit,
    plan_waves,
    roster,
)


def a_roster(racks: list[list[tuple[int, int]]]) -> Roster:
    """Racks of units, each with its number of hosts and the number of its group."""
    units = []
    for rack, content in enumerate(racks):
        for unit, (hosts, group) in enumerate(content):
            names = tuple(f"n{rack}-{unit}-{tray}" for tray in range(hosts))
            place = ("room", f"r{rack}")
            pools = (f"group g{group}", "partition all")
            units.append(WaveUnit(names, place, f"type-{group}", pools))
    nodes = {host: host for unit in units for host in unit.hosts}
    return Roster((("head-1", "controller"),), tuple(units), ("login-1", "login-2"), nodes)


ROSTERS = st.builds(
    a_roster,
    st.lists(
        st.lists(st.tuples(st.integers(1, 6), st.integers(0, 2)), min_size=1, max_size=6),
        max_size=8,
    ),
)
LIMITS = st.one_of(
    st.just(Limit()),
    st.builds(Limit, hosts=st.integers(1, 20)),
    st.builds(Limit, percent=st.floats(0.5, 100)),
)


def is_within(wave: Wave, found: Roster, limit: Limit) -> bool:
    unit_of = {host: unit for unit in found.units for host in unit.hosts}
    sizes = Counter(pool for unit in found.units for pool in unit.pools for _ in unit.hosts)
    out = Counter(pool for host in wave.hosts for pool in unit_of[host].pools)
    if limit.hosts is not None:
        return len(wave.hosts) <= limit.hosts
    assert limit.percent is not None
    return all(count <= limit.percent * sizes[pool] / 100 + 1e-6 for pool, count in out.items())


@given(ROSTERS, LIMITS)
def test_every_host_is_in_one_wave(found: Roster, limit: Limit) -> None:
    waves = plan_waves(found, Domain.RACK, limit)
    hosts = [host for wave in waves for host in wave.hosts]
    assert sorted(hosts) == sorted(found.hosts)
    assert all(wave.hosts for wave in waves)
    assert waves == plan_waves(found, Domain.RACK, limit), "the order is always the same"
    kinds = [wave.kind for wave in waves]
    assert kinds == sorted(kinds, key=list(WaveKind).index)


# A unit that is over the limit by itself got others of another node group beside it.
@example(a_roster([[(1, 0), (1, 0), (1, 1), (1, 1), (1, 0)]]), Limit(percent=40.0))
@given(ROSTERS, LIMITS)
def test_a_wave_keeps_the_limit_or_is_one_unit(found: Roster, limit: Limit) -> None:
    unit_of = {host: unit for unit in found.units for host in unit.hosts}
    waves = plan_waves(found, Domain.RACK, limit)
    assert sorted(host for wave in waves for host in wave.hosts) == sorted(found.hosts)
    for wave in waves:
        if wave.kind not in {WaveKind.CANARY, WaveKind.COMPUTE}:
            assert len(wave.hosts) == 1
            continue
        units = {unit_of[host] for host in wave.hosts}
        assert {host for unit in units for host in unit.hosts} == set(wave.hosts), "no unit is cut"
        if len(units) > 1:
            if limit:
                assert is_within(wave, found, limit)
            else:
                assert len({unit.domain for unit in units}) == 1


def split_domains(found: Roster, limit: Limit) -> list[Wave]:
    """The domains that are in more than one wave, each as the wave that it would make."""
    every = plan_waves(found, Domain.RACK, limit)
    waves = [wave for wave in every if wave.kind is WaveKind.COMPUTE]
    first = {host for wave in every if wave.kind is WaveKind.CANARY for host in wave.hosts}
    wholes = [
        {h for unit in found.units if unit.domain == domain for h in unit.hosts} - first
        for domain in {unit.domain for unit in found.units}
    ]
    return [
        Wave(WaveKind.COMPUTE, "", tuple(hosts))
        for hosts in wholes
        if sum(1 for wave in waves if hosts & set(wave.hosts)) > 1
    ]


@given(ROSTERS, LIMITS)
def test_a_domain_is_split_only_when_it_is_too_large(found: Roster, limit: Limit) -> None:
    split = split_domains(found, limit)
    assert not split or limit
    assert not any(is_within(whole, found, limit) for whole in split)


def test_a_domain_that_is_too_large_is_split() -> None:
    (whole,) = split_domains(a_roster([[(1, 0)] * 6]), Limit(hosts=2))
    assert len(whole.hosts) == 5, "the first unit goes alone, before the others"


@given(ROSTERS, st.data())
def test_some_of_the_hosts(found: Roster, data: st.DataObject) -> None:
    only = data.draw(st.sets(st.sampled_from(sorted(found.hosts))))
    waves = plan_waves(found, Domain.RACK, Limit(percent=10), only=only)
    assert sorted(host for wave in waves for host in wave.hosts) == sorted(only)


def test_each_hardware_has_its_own_first_unit_which_is_in_service() -> None:
    found = a_roster([[(1, 0), (1, 0)], [(2, 1), (2, 1)]])
    waves = plan_waves(found, Domain.RACK, Limit(), unfit={"n0-0-0", "n1-1-0"})
    assert [wave.hosts for wave in waves if wave.kind is WaveKind.CANARY] == [
        ("n0-1-0",),
        ("n1-0-0", "n1-0-1"),
    ]
    worn_out = {unit.hosts[0] for unit in found.units}
    waves = plan_waves(found, Domain.RACK, Limit(), unfit=worn_out)
    assert waves[1].hosts == ("n0-0-0",), "none is better than another"


def test_a_unit_that_is_too_large_is_alone() -> None:
    found = a_roster([[(1, 0)] * 5, [(1, 1), (1, 2)], [(1, 0)] * 5, [(1, 2), (1, 0), (1, 2)]])
    waves = plan_waves(found, Domain.RACK, Limit(percent=20))
    with_small = [wave.hosts for wave in waves if "n3-0-0" in wave.hosts or "n3-2-0" in wave.hosts]
    assert with_small == [("n3-0-0",), ("n3-2-0",)]


def test_racks_go_together_as_far_as_the_limit_lets_them() -> None:
    found = a_roster([[(1, 0)] * 4 for _ in range(5)])

    def titles(limit: Limit) -> list[tuple[str, int]]:
        waves = plan_waves(found, Domain.RACK, limit)
        return [(wave.title, len(wave.hosts)) for wave in waves if wave.kind is WaveKind.COMPUTE]

    assert titles(Limit())[1:] == [("rack r1", 4), ("rack r2", 4), ("rack r3", 4), ("rack r4", 4)]
    assert titles(Limit(percent=40)) == [("rack r[0-1]", 7), ("rack r[2-3]", 8), ("rack r4", 4)]
    assert titles(Limit(hosts=3)) == [
        ("rack r0", 3),
        ("rack r1, n1-0-0,n1-1-0,n1-2-0", 3), ("rack r1, n1-3-0", 1),
        ("rack r2, n2-0-0,n2-1-0,n2-2-0", 3), ("rack r2, n2-3-0", 1),
        ("rack r3, n3-0-0,n3-1-0,n3-2-0", 3), ("rack r3, n3-3-0", 1),
        ("rack r4, n4-0-0,n4-1-0,n4-2-0", 3), ("rack r4, n4-3-0", 1),
    ]  # fmt: skip


def test_the_waves_of_a_blueprint(tmp_path: Path) -> None:
    write_blueprint(find_template("lab"), tmp_path, {})
    path = tmp_path / "blueprint.yaml"
    text = path.read_text()
    for old, new in {
        "type: cpu-2u, count: 1, racks: n01, per_rack: 1, start_unit: 20 U": "type: cpu-2u, count: 2, racks: n01, per_rack: 2, start_unit: 10 U",
        "    - {host: head-1}\n": "    - {host: head-1}\n    - {host: head-2}\n",
        "accounting: {host: head-1}": "accounting: {host: head-2}",
    }.items():  # fmt: skip
        assert old in text
        text = text.replace(old, new)
    path.write_text(text)
    plan = load_plan(path).plan
    found = roster(plan, Domain.RACK)
    assert found.nodes == {f"gpu-{n}": f"gpu-{n}" for n in range(1, 5)}
    waves = plan_waves(found, Domain.RACK, Limit())
    assert [(wave.kind.value, wave.title, wave.hosts) for wave in waves] == [
        ("service", "head-2: database and backup controller", ("head-2",)),
        ("service", "head-1: controller", ("head-1",)),
        ("canary", "gpu-1, the first dgx-h100", ("gpu-1",)),
        ("compute", "rack c01", ("gpu-2",)),
        ("compute", "rack c02", ("gpu-3", "gpu-4")),
        ("login", "login-1: login", ("login-1",)),
    ]
    row = plan_waves(roster(plan, Domain.ROW), Domain.ROW, Limit())
    assert [(wave.title, len(wave.hosts)) for wave in row if wave.kind is WaveKind.COMPUTE] == [
        ("row row-1", 3)
    ]
    unit = plan_waves(roster(plan, Domain.UNIT), Domain.UNIT, Limit())
    assert [wave.title for wave in unit if wave.kind is WaveKind.COMPUTE] == [
        "gpu-2",
        "gpu-3",
        "gpu-4",
    ]


def test_limits() -> None:
    assert parse_limit("8") == Limit(hosts=8)
    assert parse_limit("12.5%") == parse_limit("12.5 %") == Limit(percent=12.5)
    for bad in ("0", "0%", "101%", "-1", "8.5", "many", "", "8 hosts"):
        with pytest.raises(UsageError, match="is no limit"):
            parse_limit(bad)
