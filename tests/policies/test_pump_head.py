"""The pressure that a loop needs against that of its pumps, with one CDU lost; by hand.

Four racks that ask for 180 L/min at 100 kPa are 720 L/min, at which piping of 60 kPa at 1,000 L/min takes
31.104 kPa. A CDU gives 250 kPa at 1,500 L/min and 350 kPa at none.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rackwright.policy.api import Outcome
from rackwright.policy.check import check_blueprint
from rackwright.policy.packs.loader import builtin_pack

PLANT = builtin_pack() / "fixtures" / "plant.yaml"
FAIL, PASS, UNKNOWN = Outcome.FAIL, Outcome.PASS, Outcome.UNKNOWN
KNOWN = {
    ("gb200-nvl72", "liquid.flow"): "180 L/min",
    ("gb200-nvl72", "liquid.pressure_drop"): "100 kPa",
    ("cdu-spec-1mw", "head"): "250 kPa",
    ("cdu-spec-1mw", "shutoff_head"): "350 kPa",
}


def judged(folder: Path, site: str = "", **facts: str | None) -> Any:
    """What the rule says of the loop; facts are named like their field, ``None`` leaves one out."""
    lines = [
        f"{{product: {product}, field: {field}, value: {value}, source: a data sheet, "
        "date: 2026-11-21, confidence: official}"
        for (product, field), known in KNOWN.items()
        if (value := facts.get(field.rpartition(".")[2], known)) is not None
    ]
    layer = folder / "layer.yaml"
    layer.write_text(f"facts: [{', '.join(lines)}]\nsites: [{{name: lux1, {site}}}]\n")
    report = check_blueprint(PLANT, layers=(layer,), only=("COOL-014",))
    (result,) = report.results
    return result


@pytest.mark.parametrize(
    ("head", "shutoff_head", "outcome"),
    [
        ("250 kPa", "350 kPa", PASS),
        ("54.144 kPa", "154.144 kPa", PASS),
        ("54.1 kPa", "154.1 kPa", FAIL),
    ],
)
def test_the_other_cdu_moves_all(
    head: str, shutoff_head: str, outcome: Outcome, tmp_path: Path
) -> None:
    result = judged(tmp_path, head=head, shutoff_head=shutoff_head)
    assert (result.outcome, result.value) == (outcome, pytest.approx(131.104))


def test_one_point_of_the_curve_is_enough_up_to_its_flow(tmp_path: Path) -> None:
    """720 of 1,500 L/min: it gives 250 kPa at least; no maker publishes the pressure at no flow."""
    result = judged(tmp_path, shutoff_head=None)
    assert (result.outcome, result.value) == (PASS, pytest.approx(131.104))
    assert result.limit == pytest.approx(250)
    assert judged(tmp_path, head="131 kPa", shutoff_head=None).outcome is FAIL


def test_two_others_move_half_each(tmp_path: Path) -> None:
    """350 - 100 × 0.24² = 344.24 kPa."""
    result = judged(tmp_path, "loops: [{name: tcs-1, count: 3}]")
    assert result.limit == pytest.approx(344.24)


def test_a_rack_that_needs_more_than_its_maker_asks_for(tmp_path: Path) -> None:
    """At a rise of 5 K: 2 × 171.2584 L/min, 342.517² / 180² × 100 kPa and 60 × 1.370067² kPa."""
    result = judged(tmp_path, "loops: [{name: tcs-1, temperature_rise: 5 K}]")
    flow = 60 * 115 / (1.02 * 3.95 * 5)
    expected = 100 * (flow / 180) ** 2 + 60 * (4 * flow / 1000) ** 2
    assert (result.outcome, result.value) == (FAIL, pytest.approx(expected))
    assert expected == pytest.approx(474.715, abs=0.01)


def test_racks_with_a_rear_door(tmp_path: Path) -> None:
    """The door takes 17 kW: 25.3 L/min beside 180, with a drop of its own."""
    text = PLANT.read_text()
    door = "mode: rear-door, rear_door_capacity: 17 kW, rear_door_difference: 1 K"
    results: list[Any] = []
    for more in (", rear_door_pressure_drop: 120 kPa", ""):
        blueprint, layer = tmp_path / "blueprint.yaml", tmp_path / "layer.yaml"
        blueprint.write_text(text.replace("mode: liquid", door + more))
        judged(tmp_path)
        results += check_blueprint(blueprint, layers=(layer,), only=("COOL-014",)).results
    flow = 4 * (180 + 60 * 17 / (1.02 * 3.95 * 10))
    assert results[0].value == pytest.approx(120 + 60 * (flow / 1000) ** 2)
    assert results[1].outcome is UNKNOWN
    assert results[1].missing == ("'rear_door_pressure_drop' of racks g[01-04]",)


def test_catalogue_facts_of_a_cdu_are_not_reported_unknown(tmp_path: Path) -> None:
    result = judged(tmp_path, "loops: [{name: tcs-1, temperature_rise: 4 K}]", shutoff_head=None)
    assert result.missing == ("cdu-spec-1mw: pressure of its pumps at no flow",)
    result = judged(tmp_path, flow=None)
    assert not [one for one in result.missing if one.startswith("cdu-spec-1mw")]


@pytest.mark.parametrize(
    ("site", "facts", "said"),
    [
        ("", {"head": None}, "cdu-spec-1mw: pressure of its pumps at its flow"),
        (
            "loops: [{name: tcs-1, temperature_rise: 4 K}]",
            {"shutoff_head": None},
            "cdu-spec-1mw: pressure of its pumps at no flow",
        ),
        ("", {"flow": None}, "gb200-nvl72: published coolant flow"),
        ("", {"pressure_drop": None}, "gb200-nvl72: published pressure drop"),
        ("loops: [{name: tcs-1, pressure_drop: null}]", {}, "'pressure_drop' of the loop 'tcs-1'"),
        ("loops: [{name: tcs-1, flow_limit: null}]", {}, "'flow_limit' of the loop 'tcs-1'"),
    ],
)
def test_nobody_says(site: str, facts: dict[str, None], said: str, tmp_path: Path) -> None:
    result = judged(tmp_path, site, **facts)
    assert result.outcome is UNKNOWN
    assert said in result.missing
