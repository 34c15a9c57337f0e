"""A change of a team's UPS is judged by the facts of its base until it is merged."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from catalogue_team import edit, write
from ci_team import git
from factories import a_blueprint, a_site, three_lanes
from policy_team import FILE, Team
from rackwright.cli import main

ENTRY = Path("hardware/ups/acme-ups.yaml")
SOURCES = {"offer": {"title": "Acme, offer 7", "date": "2026-10-01", "confidence": "official"}}
UNKNOWN = "unknown"


def a_ups(**changes: Any) -> dict[str, Any]:
    """What the team buys: 50 kW, three of which carry 40.8 kW, one of them spare."""
    numbers: dict[str, Any] = {
        "rating": "50 kW",
        "max_altitude": "1000 m",
        "overload": "75 kW",
        "efficiency": "95 %",
        "recharge": "5 kW",
        "backup": "5 min",
        "voltage_tolerance": "1 %",
        "short_circuit_rating": "25 kA",
        **changes,
    }
    facts = {key: {"value": v, "source": "offer"} for key, v in numbers.items() if v is not None}
    named = {"kind": "ups", "id": "acme-ups", "vendor": "Acme", "name": "Acme 50"}
    return {**named, **facts, "sources": SOURCES}


@pytest.fixture
def owner(team: Team) -> Team:
    """Its UPSs are of its own catalogue."""
    write(team.top, Path("rackwright.yaml"), {"catalogue": [{"path": "hardware"}]})
    write(team.top, ENTRY, a_ups())
    lanes = three_lanes()
    for source in lanes:
        if source["kind"] == "ups":
            source.update(product="acme-ups", modules={"count": 2, "spare": 1})
    write(team.top, FILE, a_blueprint(a_site(power={"sources": lanes})))
    return team


def number(field: str, value: str) -> Any:
    return lambda entry: entry[field].update(value=value)


def judged(owner: Team, rule: str, name: str, base: str | None = "main") -> tuple[Any, Any]:
    """What a rule says of a source, and the facts that do not hold."""
    _, report = owner.check(f"--only={rule}", "--all", base=base)
    (found,) = (r for r in report["results"] if r["subject"] == f"lab source {name}")
    return found, owner.notices(report)


def test_a_ups_whose_rating_is_raised_carries_what_the_base_says(owner: Team) -> None:
    """20.4 kW more than it carries is refused as before."""
    edit(owner.top, ENTRY, number("rating", "10 kW"))
    owner.branch()
    edit(owner.top, ENTRY, number("rating", "100 kW"))
    assert judged(owner, "PWR-006", "ups-a", base=None)[0]["outcome"] == "pass"
    found, told = judged(owner, "PWR-006", "ups-a")
    assert (found["outcome"], found["limit"]) == ("fail", 10e3)
    assert "it stays '10 kW' until the change is merged" in told["acme-ups: rating"]


def test_a_number_that_the_base_does_not_know_stays_unknown(owner: Team) -> None:
    write(owner.top, ENTRY, a_ups(overload=None))
    owner.branch()
    write(owner.top, ENTRY, a_ups())
    found, told = judged(owner, "PWR-007", "ups-a")
    assert found["outcome"] == UNKNOWN
    assert "it stays unknown" in told["acme-ups: overload"]


def test_a_number_written_beside_the_product_is_the_bases(owner: Team) -> None:
    """A change that writes over the product, or takes out what the base wrote over it."""
    owner.branch()
    text = (owner.top / FILE).read_text()
    document = yaml.safe_load(text)
    (ups,) = (s for s in document["sites"][0]["power"]["sources"] if s["name"] == "ups-a")
    ups["overload"] = "500 kW"
    write(owner.top, FILE, document)
    found, told = judged(owner, "PWR-007", "ups-a")
    assert found["limit"] == 75e3
    assert [key for key in told if "overload" in key]
    owner.commit()
    ups["overload"] = "40 kW"
    write(owner.top, FILE, document)
    owner.commit()
    git(owner.top, "branch", "--force", "main")
    (owner.top / FILE).write_text(text)
    found, told = judged(owner, "PWR-007", "ups-a")
    assert found["limit"] == 40e3
    assert [key for key in told if "overload" in key]


def test_missing_fact_of_a_teams_ups_names_the_field_of_its_file(owner: Team) -> None:
    write(owner.top, ENTRY, a_ups(overload=None))
    owner.commit()
    found, _ = judged(owner, "PWR-007", "ups-a", base=None)
    assert found["outcome"] == UNKNOWN
    assert "set 'overload' in the entry of 'acme-ups' (" in found["fix"]
    assert f"{ENTRY})" in found["fix"]


def test_a_new_ups_is_shown_with_its_sources(owner: Team) -> None:
    owner.branch()
    write(owner.top, ENTRY.with_name("acme-99.yaml"), {**a_ups(), "id": "acme-99"})
    text = (owner.top / FILE).read_text()
    (owner.top / FILE).write_text(text.replace("acme-ups", "acme-99"))
    _, report = owner.check("--only=PWR-006", "--all")
    (notice,) = (n for n in report["hygiene"]["notices"] if n["id"] == "acme-99")
    assert notice["kind"] == "proposed"
    assert "a UPS that is new in this change" in notice["message"]
    assert "'Acme, offer 7' (2026-10-01, official)" in notice["message"]


def test_a_ups_that_catalogue_new_begins_is_read_when_it_is_filled_in(
    owner: Team, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(owner.top)
    (owner.top / ENTRY).unlink()
    assert main(["catalogue", "new", "ups/acme-ups"]) == 0
    assert "# short_circuit_rating: " in (owner.top / ENTRY).read_text()
    assert main(["catalogue", "test"]) != 0
    write(owner.top, ENTRY, a_ups())
    assert main(["catalogue", "test"]) == 0
    capsys.readouterr()
    assert main(["catalogue", "show", "acme-ups"]) == 0
    assert "lacks: nothing" in capsys.readouterr().out
    assert judged(owner, "PWR-006", "ups-a", base=None)[0]["outcome"] == "pass"
