"""Power supplies on feeds: who stays alive, who carries what."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from known import known
from rackwright.plan.racks.feeds.wiring import (
    CircuitDraw,
    WiredCircuit,
    circuit_loads,
    device_state,
    plug_in,
    wire,
)
from rackwright.plan.records.racks import RackDevice


def a_device(
    power: float | None = 10_200.0, psus: int | None = 6, full: int | None = 4, **more: object
) -> RackDevice:
    given_ = {"kind": "node", "entry": "x", "group": "g", "path": (), "height_u": 8.0}
    return RackDevice(
        **{**given_, "psu_inlet": "C20", **more},  # type: ignore[arg-type]
        power_w=power,
        psu_count=psus,
        full_performance=full,
    )


def circuits(feeds: int, pdus: int = 1, wiring: str | None = "wye") -> list[WiredCircuit]:
    return [WiredCircuit(f, p, 32_800.0, 3, wiring) for f in range(feeds) for p in range(pdus)]  # type: ignore[arg-type]


def alive_without(device: RackDevice, feeds: int, lost: int) -> int:
    wired = wire([device], feeds)
    return sum(count for feed, count in enumerate(wired[0].psus or ()) if feed != lost)


@pytest.mark.parametrize(
    ("full", "feeds", "alive", "state"),
    [(4, 3, 4, "full"), (4, 2, 3, "degraded"), (5, 3, 4, "degraded"), (5, 2, 3, "degraded")],
    ids=["h100-3", "h100-2", "b200-3", "b200-2"],
)
def test_six_supplies_after_the_loss_of_one_feed(full, feeds, alive, state):
    device = a_device(full=full, degraded=3)
    for lost in range(feeds):
        assert alive_without(device, feeds, lost) == alive
    assert device_state(device, alive) == (state, 10_200.0)


def test_states_of_a_device_by_living_supplies():
    device = a_device(full=5, degraded=3, degraded_power_w=9_000.0)
    assert device_state(device, 6) == ("full", 10_200.0)
    assert device_state(device, 5) == ("full", 10_200.0)
    assert device_state(device, 4) == ("degraded", 9_000.0)
    assert device_state(device, 2) == ("off", 0.0)
    assert device_state(device, 0) == ("off", 0.0)


def test_unknown_redundancy_is_unknown_and_keeps_the_full_load():
    device = a_device(full=None)
    assert device_state(device, 6) == ("full", 10_200.0)
    assert device_state(device, 5) == ("unknown", 10_200.0)


def test_a_degraded_power_above_the_cap_does_not_raise_the_load():
    device = a_device(power=6_000.0, full=4, degraded=2, degraded_power_w=9_000.0)
    assert device_state(device, 3) == ("degraded", 6_000.0)


def test_a_device_was_called_degraded_when_nobody_said_whether_it_runs_at_all():
    """With one of six supplies alive it counted as running, which a rule then accepted."""
    device = a_device(full=4, degraded=None, degraded_power_w=9_000.0)
    assert device_state(device, 1) == ("unknown", 9_000.0)
    assert device_state(device, 3) == ("unknown", 9_000.0)
    assert device_state(device, 4) == ("full", 10_200.0)


def test_supplies_that_do_not_divide_start_on_the_next_feed():
    dealt = [d.psus for d in wire([a_device(psus=4)] * 3, 3)]
    assert dealt == [(2, 1, 1), (1, 2, 1), (1, 1, 2)]


def test_a_chosen_distribution_is_kept():
    device = replace(a_device(), psus=(4, 2, 0))
    assert wire([device], 3)[0].psus == (4, 2, 0)


def test_a_hardwired_product_hangs_on_every_feed_once():
    wired = wire([a_device(psus=48, psu_inlet="hardwired")], 2)[0]
    assert wired.psus == (1, 1)
    assert wired.psu_count == 2


def test_unknown_supplies_and_fixtures_are_not_wired():
    devices = [a_device(psus=None), a_device(kind="pdu"), a_device()]
    assert wire(devices, 0) == devices
    assert [d.psus for d in wire(devices, 3)] == [None, None, (2, 2, 2)]


def test_plugs_alternate_between_the_pdus_of_a_feed():
    devices = wire([a_device()] * 2, 3)
    plugs = plug_in(devices, circuits(3, pdus=2))
    used = [sum(1 for plug in plugs if plug.circuit == n) for n in range(6)]
    assert used == [2] * 6


def test_four_h100_on_three_feeds():
    """40.8 kW over 3 feeds; 8 plugs a feed on 3 lines put 3 on the busiest: 3·3·1.7 kW."""
    devices = wire([a_device()] * 4, 3)
    made = circuits(3)
    plugs = plug_in(devices, made)
    for load in circuit_loads(devices, made, plugs):
        assert load.load == pytest.approx(13_600)
        assert load.implied == pytest.approx(15_300)
    lost, *others = circuit_loads(devices, made, plugs, frozenset({0}))
    assert lost.load == 0
    for load in others:
        assert load.load == pytest.approx(20_400)
        assert load.implied == pytest.approx(22_950)


def test_an_unknown_power_makes_every_circuit_it_is_on_unknown():
    devices = [*wire([a_device()], 3), replace(a_device(power=None), psus=(1, 1, 0))]
    made = circuits(3)
    loads = circuit_loads(devices, made, plug_in(devices, made))
    assert [load.load for load in loads[:2]] == [None, None]
    assert [load.implied for load in loads[:2]] == [None, None]
    assert loads[2].load == pytest.approx(3_400)


def test_an_unknown_peak_hides_no_load():
    devices = wire([a_device()], 3)
    made = circuits(3)
    load = circuit_loads(devices, made, plug_in(devices, made))[0]
    assert load.load == pytest.approx(3_400)
    assert load.peak is None


DEVICES = st.lists(
    st.builds(
        a_device,
        power=st.floats(1, 20_000),
        psus=st.integers(1, 12),
        full=st.one_of(st.none(), st.integers(1, 6)),
        peak_w=st.floats(1, 30_000),
        degraded_power_w=st.one_of(st.none(), st.floats(1, 20_000)),
    ),
    min_size=1,
    max_size=8,
)
SHAPES = st.tuples(st.integers(1, 4), st.integers(1, 2), st.sampled_from([None, "wye", "delta"]))


@given(DEVICES, SHAPES)
def test_the_circuits_carry_what_the_devices_draw(found, shape):
    made = circuits(*shape)
    devices = wire(found, shape[0])
    plugs = plug_in(devices, made)
    loads = circuit_loads(devices, made, plugs)
    drawn = [known(device_state(d, sum(d.psus or ()))[1]) for d in devices]
    assert sum(known(load.load) for load in loads) == pytest.approx(sum(drawn))
    peaks = sum(known(d.peak_w) for d in devices)
    assert sum(known(load.peak) for load in loads) == pytest.approx(peaks)
    for load in loads:
        assert known(load.implied) >= known(load.load) * (1 - 1e-9)
        assert sum(known(load.legs)) == pytest.approx(load.load)


@given(DEVICES, SHAPES, st.data())
def test_after_a_loss_the_survivors_carry_the_living(found, shape, data):
    made = circuits(*shape)
    devices = wire(found, shape[0])
    plugs = plug_in(devices, made)
    lost = frozenset(data.draw(st.sets(st.sampled_from(range(len(made))))))
    loads = circuit_loads(devices, made, plugs, lost)
    expected = 0.0
    for number, device in enumerate(devices):
        alive = sum(1 for p in plugs if p.device == number and p.circuit not in lost)
        expected += known(device_state(device, alive)[1])
    assert sum(known(load.load) for load in loads) == pytest.approx(expected)
    assert all(loads[n].load == 0 for n in lost)


@given(DEVICES, SHAPES, st.data())
def test_one_more_device_never_lowers_a_load(found, shape, data):
    made = circuits(*shape)
    lost = frozenset(data.draw(st.sets(st.sampled_from(range(len(made))))))

    def loads(devices: Sequence[RackDevice]) -> list[CircuitDraw]:
        wired = wire(devices, shape[0])
        return circuit_loads(wired, made, plug_in(wired, made), lost)

    before, after = loads(found), loads([*found, a_device()])
    assert len(before) == len(made) > 0
    for one, two in zip(before, after, strict=True):
        assert known(two.load) >= known(one.load) - 1e-6
        assert known(two.implied) >= known(one.implied) - 1e-6
