"""Units of air handlers, CDUs and plant that die with a source, and what is left; by hand.

Four racks of 132 kW on two UPSs: 68 kW into the air of a hall with two air handlers of 100 kW that draw
5 kW each, 460 kW into a loop with two CDUs of 1 MW that draw 10 kW each. Two chillers of 90 kW take the
heat of the air, two dry coolers of 600 kW that of the loop, half of each on either panel.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rackwright.errors import SpecErrors
from rackwright.plan.load import load_plan
from rackwright.policy.api import Outcome
from rackwright.policy.check import check_blueprint
from rackwright.policy.packs.loader import builtin_pack

PLANT = builtin_pack() / "fixtures" / "plant.yaml"
FAIL, PASS, UNKNOWN = Outcome.FAIL, Outcome.PASS, Outcome.UNKNOWN
TOWERS = "{name: towers, kind: cooling-tower, count: 2, capacity: 98 kW, water: condenser, %s}"
BOTH = "supplies: [{count: 1, fed_by: [mech-a]}, {count: 1, fed_by: [mech-b]}]"


def site_of(folder: Path, *changes: tuple[str, str], site: str = "") -> tuple[Path, Path]:
    """The fixture with some text changed, and a layer with these fields of its site."""
    text = PLANT.read_text()
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    blueprint, layer = folder / "blueprint.yaml", folder / "layer.yaml"
    blueprint.write_text(text)
    layer.write_text(f"sites: [{{name: lux1, {site}}}]\n")
    return blueprint, layer


def judged(folder: Path, *changes: tuple[str, str], site: str = "") -> dict[str, Any]:
    blueprint, layer = site_of(folder, *changes, site=site)
    report = check_blueprint(blueprint, layers=(layer,), only=("COOL-011",))
    return {result.subject.name.removeprefix("lux1 "): result for result in report.results}


@pytest.mark.parametrize(("capacity", "outcome"), [("485 kW", PASS), ("484.9 kW", FAIL)])
def test_the_dry_cooler_that_is_left(capacity: str, outcome: Outcome, tmp_path: Path) -> None:
    """460 kW of racks, 2 × 10 kW of CDUs and 5 kW of the pump that is left."""
    found = judged(tmp_path, site=f"plant: [{{name: dry-coolers, capacity: {capacity}}}]")
    result = found["heat rejection of warm"]
    assert (result.outcome, result.value) == (outcome, pytest.approx(485_000))


def test_machines_on_one_panel_die_with_it(tmp_path: Path) -> None:
    """COOL-001 lets one air handler fail and passes; without panel B there is none."""
    site = "halls: [{name: hall-1, air: {supplies: [], fed_by: [mech-b]}}]"
    result = judged(tmp_path, site=site)["air handlers of hall-1"]
    assert (result.outcome, result.value, result.limit) == (FAIL, 68_000, 0)
    assert "after losing 'mech-b', which takes 2 of 2 units" in result.message


def test_machines_that_transfer_to_the_other_panel_live_on(tmp_path: Path) -> None:
    site = "halls: [{name: hall-1, air: {supplies: [], fed_by: [mech-b, mech-a]}}]"
    result = judged(tmp_path, site=site)["air handlers of hall-1"]
    assert (result.outcome, result.value, result.limit) == (PASS, 68_000, 200_000)


def test_a_source_above_takes_all_that_hangs_on_it(tmp_path: Path) -> None:
    """Both panels behind one board: its loss takes both pumps."""
    board = "{name: board, kind: switchgear, fed_by: [utility, gen], capacity: 1 MW}"
    panels = ", ".join(f"{{name: mech-{n}, fed_by: [board]}}" for n in "ab")
    found = judged(tmp_path, site=f"power: {{sources: [{board}, {panels}]}}")
    assert {r.outcome for name, r in found.items() if "CDUs" not in name} == {FAIL}
    assert "after losing 'board'" in found["pumps of warm"].message


def test_racks_that_die_with_their_cooling_need_none(tmp_path: Path) -> None:
    """Racks on UPS A alone, and air handlers too."""
    supplied = "supplies: [{count: 1, fed_by: [mech-a]}, {count: 1, fed_by: [mech-b]}]\n          "
    changes = (
        ("source: ups-b", "source: ups-a"),
        (f"{supplied}water", "fed_by: [ups-a]\n          water"),
    )
    result = judged(tmp_path, *changes)["air handlers of hall-1"]
    assert (result.outcome, result.value, result.limit) == (PASS, 68_000, 200_000)
    result = judged(tmp_path, changes[1])["air handlers of hall-1"]
    assert (result.outcome, result.value, result.limit) == (FAIL, 68_000, 0)


def test_a_chiller_passes_on_what_it_takes_and_draws(tmp_path: Path) -> None:
    """68 kW of racks, 5 kW of an air handler and 25 kW of the chiller that is left are 98 kW."""
    change = ("facility_water:", "facility_water:\n      - name: condenser")
    chillers = "{name: chillers, rejects_to: condenser}"
    found = judged(tmp_path, change, site=f"plant: [{chillers}, {TOWERS % BOTH}]")
    result = found["heat rejection of condenser"]
    assert (result.outcome, result.value, result.limit) == (PASS, 98_000, 98_000)
    small = "{name: chillers, rejects_to: condenser, capacity: 60 kW}"
    found = judged(tmp_path, change, site=f"plant: [{small}, {TOWERS % BOTH}]")
    assert found["heat rejection of chilled"].outcome is FAIL
    assert found["heat rejection of condenser"].value == pytest.approx(85_000)  # it takes no more


def test_a_circuit_that_nothing_cools(tmp_path: Path) -> None:
    change = ("facility_water:", "facility_water:\n      - name: condenser")
    found = judged(tmp_path, change, site="plant: [{name: chillers, rejects_to: condenser}]")
    result = found["heat rejection of condenser"]
    assert (result.outcome, result.value, result.limit) == (FAIL, 128_000, 0)


def test_air_handlers_with_condensers_of_their_own(tmp_path: Path) -> None:
    site = "halls: [{name: hall-1, air: {water: outdoors}}]"
    found = judged(tmp_path, site=site)
    assert found["air handlers of hall-1"].outcome is PASS
    assert "heat rejection of chilled" not in found


def test_cdus_in_racks_live_and_die_with_them(tmp_path: Path) -> None:
    """Twelve racks of eight nodes with 8 kW each: 768 kW, and 10 kW of a pump, on a dry cooler."""
    layer = tmp_path / "layer.yaml"
    base = builtin_pack() / "fixtures" / "cdu-in-rack.yaml"

    def found(site: str) -> dict[str, Any]:
        layer.write_text(f"sites: [{{name: mem2, {site}}}]\n")
        results = check_blueprint(base, layers=(layer,), only=("COOL-011",)).results
        return {result.subject.name.removeprefix("mem2 "): result for result in results}

    result = found("altitude: 0 m")["CDUs of own"]
    assert (result.outcome, result.missing) == (UNKNOWN, ("'water' of the CDUs of loop 'own'",))
    cooler = "{name: cooler, kind: dry-cooler, count: 1, capacity: 1 MW, water: warm, fed_by: [ups-a, ups-b]}"
    pump = "{name: pump, kind: pump, count: 1, power: 10 kW, capacity: 1 MW, water: warm, fed_by: [ups-a]}"
    water = "facility_water: [{name: warm}], loops: [{name: own, water: warm}]"
    air = "halls: [{name: hall-1, air: {water: outdoors}}]"
    results = found(f"{water}, {air}, plant: [{cooler}, {pump}]")
    assert "CDUs of own" not in results
    result = results["heat rejection of warm"]
    assert (result.outcome, result.value, result.limit) == (PASS, 778_000, 1_000_000)
    assert results["pumps of warm"].outcome is FAIL  # without UPS A it stands still


@pytest.mark.parametrize(
    ("site", "subject", "said"),
    [
        ("halls: [{name: hall-1, air: {supplies: []}}]", "air handlers of hall-1", "'fed_by' of"),
        ("loops: [{name: tcs-1, water: null}]", "CDUs of tcs-1", "'water' of the CDUs"),
        ("plant: [{name: pumps, capacity: null}]", "pumps of warm", "'capacity' of the plant 'pumps'"),
        ("plant: [{name: pumps, power: null}]", "pumps of warm", "'power' of the plant 'pumps'"),
        ("plant: [{name: pumps, water: null}]", "heat rejection of warm", "'water' of the plant 'pumps'"),
        ("plant: [{name: chillers, rejects_to: null}]", "heat rejection of chilled", "'rejects_to' of"),
        ("plant: null", "heat rejection of warm", "'plant' of the site"),
        ("altitude: null", "air handlers of hall-1", "'altitude' of the site"),
        ("power: {sources: [{name: mech-a, fed_by: []}]}", "CDUs of tcs-1", "what feeds 'mech-a'"),
    ],
)  # fmt: skip
def test_nobody_says(site: str, subject: str, said: str, tmp_path: Path) -> None:
    result = judged(tmp_path, site=site)[subject]
    assert result.outcome is UNKNOWN
    assert any(said in text for text in result.missing)


@pytest.mark.parametrize(
    ("site", "message"),
    [
        ("loops: [{name: tcs-1, count: 3, fed_by: [], supplies: [{count: 2, fed_by: [ups-a]}]}]",
         "feed 2 units; there are 3"),
        ("halls: [{name: hall-1, air: {fed_by: [mech-a]}}]", "state one"),
        ("halls: [{name: hall-1, air: {water: chill}}]", "no circuit of facility water 'chill'"),
        ("plant: [{name: chillers, rejects_to: warn}]", "no circuit of facility water 'warn'"),
        ("plant: [{name: chillers, rejects_to: chilled}]", "to that circuit again"),
        ("plant: [{name: pumps, rejects_to: outdoors}]", "is of a chiller, not of a pump"),
        ("plant: [{name: pumps, kind: other}]", "carries no heat"),
        ("plant: [{name: pumps, water: outdoors}]", "not of the outdoors"),
        ("facility_water: [{name: outdoors}]", "no circuit of water"),
        ("plant: [{name: pumps, supplies: [{count: 2, fed_by: [mech-c]}]}]", "'mech-c'"),
    ],
)  # fmt: skip
def test_impossible_losses_are_refused(site: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(SpecErrors, match=message):
        judged(tmp_path, site=site)


def test_sources_carry_the_units_that_hang_on_them(tmp_path: Path) -> None:
    """One of each on either panel: 5 + 25 + 10 + 5 = 45 kW, and 90 kW at no time."""
    blueprint, layer = site_of(tmp_path)
    (site,) = load_plan(blueprint, (layer,)).plan.onprem
    rows = {row.source: row for row in site.power.sources}
    assert rows["mech-a"].facility_w == rows["mech-a"].facility_worst_w == pytest.approx(45_000)
    assert not rows["mech-b"].idle
