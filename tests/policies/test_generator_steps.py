"""What is connected to a generator at once after its start; by hand.

Four racks of 132 kW, 528 kW in all, on two UPSs that an own generator carries when the utility is lost.
The PUE of 1.15 says 79.2 kW beside them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rackwright.errors import SpecErrors
from rackwright.policy.api import Outcome
from rackwright.policy.check import check_blueprint
from rackwright.policy.packs.loader import builtin_pack

LIQUID = builtin_pack() / "fixtures" / "liquid.yaml"
FAIL, PASS, UNKNOWN = Outcome.FAIL, Outcome.PASS, Outcome.UNKNOWN
ALL = 528_000 + 60_000 + 79_200


def judged(
    folder: Path,
    *sources: str,
    ups: str = "recharge: 30 kW",
    step_load: str = "step_load: 400 kW",
    site: str = "",
    fed_by: str = "utility, gen",
) -> dict[str, Any]:
    both = [f"{{name: ups-{n}, fed_by: [{fed_by}], {ups}}}" for n in "ab"]
    generator = f"{{name: gen, kind: generator, capacity: 1 MW, {step_load}}}"
    layer = folder / "layer.yaml"
    layer.write_text(
        "sites:\n  - name: lux1\n"
        f"    power: {{sources: [{', '.join([generator, *both, *sources])}]}}\n"
        + (f"    {site}\n" if site else "")
    )
    report = check_blueprint(LIQUID, layers=(layer,), only=("PWR-014",))
    return {result.subject.name.removeprefix("lux1 source "): result for result in report.results}


@pytest.mark.parametrize(
    ("step_load", "outcome"), [("400 kW", FAIL), ("667.2 kW", PASS), ("667.1 kW", FAIL)]
)
def test_everything_at_once_is_one_step(step_load: str, outcome: Outcome, tmp_path: Path) -> None:
    """528 kW, 60 kW that charge and 79.2 kW of cooling: nothing looked at the step."""
    result = judged(tmp_path, step_load=f"step_load: {step_load}")["gen"]
    assert (result.outcome, result.value) == (outcome, pytest.approx(ALL))
    assert "in step 1 after losing 'utility'" in result.message


def test_a_later_step_is_a_step_of_its_own(tmp_path: Path) -> None:
    """Busway B, and with it all that hangs on it, in step 3: 264 kW, and 403.2 kW before it."""
    result = judged(tmp_path, "{name: busway-b, start_step: 3}")["gen"]
    assert (result.outcome, result.value) == (FAIL, pytest.approx(ALL - 264_000))
    assert "in step 1" in result.message


def test_the_largest_step_need_not_be_the_first(tmp_path: Path) -> None:
    result = judged(tmp_path, ups="recharge: 30 kW, start_step: 2")["gen"]
    assert (result.outcome, result.value) == (FAIL, pytest.approx(588_000))
    assert "in step 2" in result.message


def test_a_ups_that_walks_in_is_no_step(tmp_path: Path) -> None:
    result = judged(tmp_path, ups="walk_in: true")["gen"]
    assert (result.outcome, result.value) == (PASS, pytest.approx(79_200))


def test_machines_are_connected_in_their_step(tmp_path: Path) -> None:
    """Two chillers of 150 kW on the generator's own board, in step 2."""
    board = "{name: board, kind: switchgear, fed_by: [utility, gen], capacity: 1 MW}"
    plant = (
        "plant: [{name: chillers, kind: chiller, count: 2, power: 150 kW, fed_by: [board], "
        "start_step: 2}]"
    )
    result = judged(tmp_path, board, ups="walk_in: true", site=plant)["gen"]
    assert (result.outcome, result.value) == (UNKNOWN, None)  # 828 kW are more than the PUE says
    site = f"{plant}\n    pue: 1.7"
    result = judged(tmp_path, board, ups="walk_in: true", site=site)["gen"]
    assert (result.outcome, result.value) == (PASS, pytest.approx(300_000))
    assert "in step 2" in result.message


def test_a_board_connects_all_that_hangs_on_it(tmp_path: Path) -> None:
    """Both UPSs behind one board in step 4; the cooling of the PUE is connected in step 1."""
    board = "{name: board, kind: switchgear, fed_by: [utility, gen], capacity: 1 MW, start_step: 4}"
    result = judged(tmp_path, board, fed_by="board")["gen"]
    assert result.value == pytest.approx(588_000)
    assert "in step 4" in result.message


def test_the_losses_of_a_ups_are_in_its_step(tmp_path: Path) -> None:
    """528 kW / 0.96 = 550 kW and 60 kW; of the PUE 57.2 kW are beyond that."""
    result = judged(tmp_path, ups="recharge: 30 kW, efficiency: 96 %")["gen"]
    assert result.value == pytest.approx(550_000 + 60_000 + 57_200)


@pytest.mark.parametrize(
    ("ups", "step_load", "said"),
    [
        ("recharge: 30 kW", "overload: 1 MW", "'step_load' of 'gen'"),
        ("overload: 1 MW", "step_load: 400 kW", "'recharge' of 'ups-b'"),
    ],
)
def test_nobody_says(ups: str, step_load: str, said: str, tmp_path: Path) -> None:
    result = judged(tmp_path, ups=ups, step_load=step_load)["gen"]
    assert result.outcome is UNKNOWN
    assert said in result.missing


def test_without_a_pue_the_step_is_unknown(tmp_path: Path) -> None:
    result = judged(tmp_path, site="pue: null")["gen"]
    assert (result.outcome, result.missing) == (UNKNOWN, ("'pue' of the site",))


def test_a_generator_that_never_carries_is_not_judged(tmp_path: Path) -> None:
    spare = "{name: spare, kind: generator, capacity: 1 MW}"
    assert set(judged(tmp_path, spare)) == {"gen"}


@pytest.mark.parametrize("field", ["walk_in: true", "step_load: 1 kW"])
def test_field_of_another_kind_of_source_is_refused(field: str, tmp_path: Path) -> None:
    with pytest.raises(SpecErrors, match="not of a busway"):
        judged(tmp_path, f"{{name: busway-a, {field}}}")
