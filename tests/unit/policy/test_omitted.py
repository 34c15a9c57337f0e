"""What a blueprint leaves out is unknown: it never makes a refused site pass."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from factories import a_blueprint, a_site, a_source, three_lanes
from rackwright.cli import main
from rackwright.errors import SpecErrors
from rackwright.exit_codes import ExitCode
from rackwright.plan.load import load_data
from rackwright.policy.check import check_plan
from rackwright.policy.engine import Result
from rackwright.render.blueprints import find_template, write_blueprint


def power_results(*sources: dict[str, Any], **more: object) -> list[Result]:
    """What PWR-006 says about a site of one rack with these sources."""
    report = check_plan(load_data(a_blueprint(a_site(power={"sources": list(sources), **more}))))
    return [result for result in report.results if result.policy == "PWR-006"]


def blocked(results: list[Result]) -> dict[str, str]:
    return {r.subject.name.rpartition(" ")[2]: r.message for r in results if r.blocks}


@pytest.mark.parametrize("name", ["ups", "rpp"])
def test_fed_by_left_out_of_a_refused_site_is_unknown(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its load then reached no source above it: 0 W of 300 kW, and exit 0."""
    write_blueprint(find_template("hybrid-h100"), tmp_path, {})
    path = tmp_path / "blueprint.yaml"
    text = path.read_text().replace("capacity: 600 kW", "capacity: 300 kW")
    path.write_text(text)
    assert main(["check", str(path)]) == ExitCode.VIOLATION
    above = {"ups": "utility", "rpp": "ups-{}"}[name]
    for lane in "abc":
        text = text.replace(f" fed_by: [{above.format(lane)}],", "", 1)
    path.write_text(text)
    capsys.readouterr()

    assert main(["check", "-v", str(path)]) == ExitCode.UNKNOWN
    shown = capsys.readouterr().out
    line = next(n for n, row in enumerate(text.splitlines(), 1) if f"name: {name}-a" in row)
    assert f"blueprint.yaml:{line}:11" in shown
    assert f"'fed_by' of '{name}-a': name what feeds this {name}" in shown


def test_sources_above_an_unfed_source_are_unknown_and_loads_below_are_not() -> None:
    sources = three_lanes()
    for source in sources:
        source["redundancy"] = "N"
        if source["name"] == "ups-a":
            source["fed_by"] = []
    found = blocked(power_results(*sources))
    assert "ups-a" in found
    assert {"utility", "ups-b", "rpp-b", "ups-c", "rpp-c"} <= found.keys()
    assert "rpp-a" not in found, "what it draws is known, and so is its capacity"


def test_a_load_of_zero_is_known_of_a_generator_that_nothing_feeds() -> None:
    sources = [*three_lanes(), a_source("gen", kind="generator", capacity="600 kW")]
    results = power_results(*sources)
    assert blocked(results) == {}
    (idle,) = [result for result in results if "feeds nothing" in result.message]
    assert (idle.subject.name, idle.outcome.value) == ("lab source gen", "fail")


def test_a_transfer_switch_that_lost_its_second_parent_is_unknown() -> None:
    lanes = three_lanes()
    switch = a_source("sts-a", "ups-a", "ups-b", kind="sts", capacity="200 kW")
    for source in lanes:
        if source["name"] == "rpp-a":
            source["fed_by"] = ["sts-a"]
    assert blocked(power_results(*lanes, switch)) == {}
    once = {**switch, "fed_by": ["ups-a"]}
    assert "name the two sources" in blocked(power_results(*lanes, once))["sts-a"]
    with pytest.raises(SpecErrors, match="'ups-a' is named twice"):
        power_results(*lanes, {**switch, "fed_by": ["ups-a", "ups-a"]})


def test_many_unfed_sources_are_counted_in_a_message() -> None:
    busways = [a_source(f"busway-{n}", kind="busway", capacity="9 kW") for n in range(9)]
    found = blocked(power_results(*three_lanes(), *busways))
    assert found["utility"].endswith(
        "not known: what feeds 'busway-0'; what feeds 'busway-1'; what feeds 'busway-2'; "
        "what feeds 6 more sources"
    )


def test_modules_of_which_nobody_says_how_many_are_spare_have_no_capacity() -> None:
    """All of them then counted: 3 × 15 kW carried what 2 × 15 kW did not."""
    lanes = three_lanes()
    for source in lanes:
        if "modules" in source:
            source["modules"] = {"count": 3, "capacity": "10 kW", "spare": 1}
    assert "ups-a" in blocked(power_results(*lanes))
    for source in lanes:
        if "modules" in source:
            del source["modules"]["spare"]
    assert "'spare' of the modules of 'ups-a'" in blocked(power_results(*lanes))["ups-a"]
