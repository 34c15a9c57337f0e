"""Air handlers, CDUs and chillers with entries of their own, on the sources that feed them; by hand.

Four racks of 132 kW, 528 kW in all, on two UPSs. Three air handlers of 5 kW and two chillers of 30 kW
hang on panels beside the UPSs, three CDUs of 8 kW on the UPSs.
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

LIQUID = builtin_pack() / "fixtures" / "liquid.yaml"
FAIL, PASS, UNKNOWN = Outcome.FAIL, Outcome.PASS, Outcome.UNKNOWN

AIR = "halls: [{name: hall-1, air: {power: 5 kW, fed_by: [mech-a, mech-b]}}]"
CDUS = "loops: [{name: tcs-1, power: 8 kW, fed_by: [ups-a, ups-b]}]"
CHILLERS = (
    "plant: [{name: chillers, kind: chiller, count: 2, power: 30 kW, fed_by: [mech-b, mech-a]}]"
)
EFFICIENT = ("{name: ups-a, efficiency: 96 %}", "{name: ups-b, efficiency: 96 %}")


def a_site(
    folder: Path,
    *parts: str,
    pue: str = "null",
    contract: str = "1 MW",
    panel: str = "80 kW",
    sources: tuple[str, ...],
) -> tuple[Path, Path]:
    """The fixture, and a layer with two panels for machines and these parts."""
    panels = [
        f"{{name: mech-{n}, kind: panel, fed_by: [utility], capacity: {panel}}}" for n in "ab"
    ]
    layer = folder / "layer.yaml"
    layer.write_text(
        "sites:\n"
        "  - name: lux1\n"
        f"    pue: {pue}\n"
        f"    power: {{contract: {contract}, sources: [{', '.join([*panels, *sources])}]}}\n"
        + "".join(f"    {part}\n" for part in parts)
    )
    return LIQUID, layer


def judged(site: tuple[Path, Path], rule: str = "PWR-006") -> dict[str, Any]:
    report = check_blueprint(site[0], layers=site[1:], only=(rule,))
    return {
        result.subject.name.removeprefix("lux1 ").removeprefix("source "): result
        for result in report.results
    }


WHOLE = (AIR, CDUS, CHILLERS)


def test_a_ups_carries_the_pumps_that_hang_on_it_after_a_loss_too(tmp_path: Path) -> None:
    """528 kW + 24 kW = 552 kW when the other UPS is lost: 550 kW passed."""
    small = "{name: ups-b, efficiency: 96 %, capacity: 550 kW}"
    found = judged(a_site(tmp_path, *WHOLE, sources=(EFFICIENT[0], small)))
    assert (found["ups-b"].outcome, found["ups-b"].value) == (FAIL, pytest.approx(552_000))
    assert "after losing 'ups-a'" in found["ups-b"].message
    assert any("CDUs of loop 'tcs-1'" in c.name for c in found["ups-b"].contributors)
    assert (found["ups-a"].outcome, found["ups-a"].value) == (PASS, pytest.approx(552_000))


@pytest.mark.parametrize(("capacity", "outcome"), [("552 kW", PASS), ("551.9 kW", FAIL)])
def test_a_ups_that_just_carries_its_pumps(capacity: str, outcome: Outcome, tmp_path: Path) -> None:
    exact = f"{{name: ups-b, efficiency: 96 %, capacity: {capacity}}}"
    found = judged(a_site(tmp_path, *WHOLE, sources=(EFFICIENT[0], exact)))
    assert found["ups-b"].outcome is outcome


def test_a_panel_takes_over_the_machines_of_the_other_one(tmp_path: Path) -> None:
    """15 kW of air handlers, and 60 kW of chillers when their panel is lost."""
    found = judged(a_site(tmp_path, *WHOLE, sources=EFFICIENT))
    assert (found["mech-a"].outcome, found["mech-a"].value) == (PASS, pytest.approx(75_000))
    assert "'mech-b'" in found["mech-a"].message
    found = judged(a_site(tmp_path, *WHOLE, panel="70 kW", sources=EFFICIENT))
    assert found["mech-a"].outcome is FAIL
    assert {c.name for c in found["mech-a"].contributors} == {
        "air handlers of hall 'hall-1'",
        "plant 'chillers'",
    }


@pytest.mark.parametrize(("capacity", "outcome"), [("650 kW", PASS), ("649.9 kW", FAIL)])
def test_without_a_pue_the_entries_are_what_the_facility_draws(
    capacity: str, outcome: Outcome, tmp_path: Path
) -> None:
    """(264 + 24) / 0.96 + 264 / 0.96 + 15 + 60 = 300 + 275 + 75 = 650 kW."""
    utility = f"{{name: utility, capacity: {capacity}}}"
    found = judged(a_site(tmp_path, *WHOLE, contract=capacity, sources=(utility, *EFFICIENT)))
    for name in ("utility", "contract"):
        assert (found[name].outcome, found[name].value) == (outcome, pytest.approx(650_000))


@pytest.mark.parametrize(("pue", "expected"), [("1.15", 650_000), ("1.3", 686_400)])
def test_greater_of_two_declared_loads_counts(pue: str, expected: float, tmp_path: Path) -> None:
    """528 kW × 1.15 = 607.2 kW is less than the entries, × 1.3 = 686.4 kW is more."""
    found = judged(a_site(tmp_path, *WHOLE, pue=pue, sources=EFFICIENT))
    for name in ("utility", "contract"):
        assert found[name].value == pytest.approx(expected)
    assert found["mech-a"].value == pytest.approx(75_000)
    assert found["ups-a"].value == pytest.approx(552_000)


def test_the_pue_covers_what_has_no_entry(tmp_path: Path) -> None:
    """Air handlers on their panel; the rest of 607.2 kW is drawn above the UPSs."""
    found = judged(a_site(tmp_path, AIR, pue="1.15", sources=()))
    assert found["utility"].value == pytest.approx(607_200)
    assert found["mech-a"].value == pytest.approx(15_000)
    assert found["utility"].outcome is PASS


def test_source_of_racks_only_carries_no_load_of_entries(tmp_path: Path) -> None:
    """A transformer above one UPS: (528 + 24) / 0.96 = 575 kW, without chillers and air handlers."""
    lane = "{name: t-a, kind: transformer, fed_by: [utility], capacity: 575 kW, efficiency: 98 %}"
    ups = "{name: ups-a, fed_by: [t-a], efficiency: 96 %}"
    found = judged(a_site(tmp_path, *WHOLE, sources=(lane, ups, EFFICIENT[1])))
    assert (found["t-a"].outcome, found["t-a"].value) == (PASS, pytest.approx(575_000))


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ((AIR, CDUS), "'plant' of the site"),
        ((AIR, CHILLERS), "'fed_by' of the CDUs of loop 'tcs-1'"),
        ((AIR, CDUS, CHILLERS.replace("power: 30 kW, ", "")), "'power' of the plant 'chillers'"),
    ],
)
def test_without_a_pue_an_entry_that_lacks_something_is_unknown(
    parts: tuple[str, ...], said: str, tmp_path: Path
) -> None:
    found = judged(a_site(tmp_path, *parts, sources=EFFICIENT))
    for name in ("utility", "contract"):
        assert found[name].outcome is UNKNOWN
        assert found[name].missing == (f"'pue' of the site, or {said}",)


def test_a_pue_that_is_less_than_the_entries_covers_nothing_more(tmp_path: Path) -> None:
    """528 + 15 + 60 = 603 kW is more than 528 × 1.1 = 580.8 kW, and the CDUs come on top."""
    found = judged(a_site(tmp_path, AIR, CHILLERS, pue="1.1", sources=()))
    assert found["utility"].outcome is UNKNOWN
    assert "'fed_by' of the CDUs of loop 'tcs-1'" in found["utility"].missing[0]
    assert "more than the 'pue' of 1.1 says" in found["utility"].missing[0]


def test_pumps_of_unknown_power_make_their_ups_unknown(tmp_path: Path) -> None:
    """No product says what chillers draw, so that the UPS on which they hang is unknown."""
    chillers = "plant: [{name: chillers, kind: chiller, count: 2, fed_by: [ups-a]}]"
    found = judged(a_site(tmp_path, chillers, pue="1.3", sources=()))
    assert (found["ups-a"].outcome, found["ups-a"].missing) == (
        UNKNOWN,
        ("'power' of the plant 'chillers'",),
    )
    assert found["ups-b"].outcome is PASS
    assert found["utility"].value == pytest.approx(686_400)


def test_the_power_of_a_product_holds_where_the_site_says_none(tmp_path: Path) -> None:
    """A crah-spec-100kw draws 5 kW."""
    air = AIR.replace("power: 5 kW, ", "")
    found = judged(a_site(tmp_path, air, pue="1.15", sources=()))
    assert found["mech-a"].value == pytest.approx(15_000)


def test_a_panel_that_feeds_machines_alone_is_not_idle(tmp_path: Path) -> None:
    report = check_blueprint(
        LIQUID,
        layers=a_site(tmp_path, *WHOLE, sources=EFFICIENT)[1:],
        only=("PWR-006",),
    )
    assert not any("feeds nothing" in result.message for result in report.results)


def test_machines_on_a_source_that_is_not_there(tmp_path: Path) -> None:
    site = a_site(tmp_path, AIR.replace("mech-b", "mech-c"), sources=())
    with pytest.raises(SpecErrors, match=r"air handlers of hall 'hall-1' are fed by 'mech-c'"):
        judged(site)


def test_peaks_come_on_top_of_the_machines(tmp_path: Path) -> None:
    """A UPS alone: peaks of 4 × 192 kW and the CDUs of 24 kW, 792 kW."""
    windows = tuple(f"{{name: ups-{n}, efficiency: 96 %, overload: 790 kW}}" for n in "ab")
    found = judged(a_site(tmp_path, *WHOLE, sources=windows), "PWR-007")
    assert {r.outcome for r in found.values()} == {FAIL}
    assert found["ups-b"].value == pytest.approx(792_000)


def test_the_plan_tells_what_each_source_carries(tmp_path: Path) -> None:
    site, layer = a_site(tmp_path, *WHOLE, sources=EFFICIENT)
    (planned,) = load_plan(site, (layer,)).plan.onprem
    rows = {row.source: row for row in planned.power.sources}
    assert rows["ups-a"].facility_w == pytest.approx(288_000)
    assert rows["ups-b"].facility_w == pytest.approx(264_000)
    assert rows["ups-a"].load_w == pytest.approx(264_000)
    assert planned.totals.facility_w == pytest.approx(650_000)
    assert planned.power.overhead.missing == ()
