"""``check --todo`` and ``cost --todo``: a layer to fill in, and what it makes known."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml

from cli_support import Ended, run_here
from rackwright.resources import bundled
from wrong_inputs import BASE

SHORT = BASE.replace(", aisle_depth: 0.6 m", "")
BLANK = re.compile(r"^( *)([^\s#-][^:#]*):  # (.*)$", re.MULTILINE)
"""A key without a value, and what may stand there."""

SAMPLES: Mapping[str, str] = {
    "false | true": "true",
    "text": "ldiskfs",
    "a number": "2",
    "[…]": "[48, 63]",
    "[text]": "[utility]",
    "… s": "172800 s",
    "… %": "10 %",
    "… °C": "20 °C",
    "… W": "50 MW",
    "… A": "10 kA",
    "… V": "415 V",
    "… m": "1 m",
    "… m3": "500 m3",
    "… kg": "2000 kg",
    "… kPa": "50 kPa",
    "… L/min": "100 L/min",
    "… USD": "1000 USD",
    "… USD/kWh": "0.1 USD/kWh",
    "official | secondary | common | computed | estimate | example": "official",
    "the document or measurement, to be found again": "Data sheet 7",
    "when it was published, read or measured: YYYY-MM-DD": "2026-05-02",
}


@pytest.fixture
def blueprint(tmp_path: Path) -> Path:
    """Of a liquid-cooled site, with a product whose inlets nobody publishes."""
    path = tmp_path / "blueprint.yaml"
    text = (bundled("policies") / "fixtures" / "liquid.yaml").read_text("utf-8")
    water = "    facility_water: [{name: chilled}]\n    halls:\n"
    path.write_text(text.replace("    halls:\n", water, 1), "utf-8")
    return path


DIGEST = re.compile(r"(catalogue_digest: )\S+")
CONNECTOR = re.compile(r"(field: liquid\.connector\n +value: )\S+")
"""A fact that is the id of a connector, which the catalogue has to have."""


def filled(text: str) -> str:
    """The layer with something behind each colon, as its comment shows."""

    def value(match: re.Match[str]) -> str:
        return "chilled" if match[2] == "water" else SAMPLES[match[3]]

    made = BLANK.sub(lambda match: f"{match[1]}{match[2]}: {value(match)}", text)
    made = CONNECTOR.sub(r"\1lqc-v2", made)
    return DIGEST.sub(rf"\g<1>sha256:{0:064}", made)


def check(path: Path, *arguments: str) -> Ended:
    return run_here(path.parent, "check", path.name, *arguments)


def unknowns(ended: Ended) -> dict[tuple[str, str], str]:
    """What is unknown, with how it would be known."""
    results = json.loads(ended.out)["results"]
    return {(r["policy"], r["subject"]): r["fix"] for r in results if r["outcome"] == "unknown"}


def test_filled_in_answers_are_known(blueprint: Path) -> None:
    before = check(blueprint, "--json", "--todo", "todo.yaml")
    said = r"wrote todo.yaml: 4\d fields to fill in, 1\d to be said elsewhere\n"
    assert re.fullmatch(said, before.err)
    layer = blueprint.with_name("todo.yaml")
    layer.write_text(filled(layer.read_text("utf-8")), "utf-8")
    after = check(blueprint, "--json", "--layer", "todo.yaml", "--todo", "rest.yaml")
    assert re.fullmatch(
        r"wrote rest.yaml: \d fields to fill in, 1\d to be said elsewhere\n", after.err
    )
    asked, still = unknowns(before), unknowns(after)
    # Which circuit takes the heat is said now: what is behind it is asked next.
    behind = {
        ("COOL-011", "lux1 heat rejection of chilled"),
        ("COOL-015", "lux1 facility water chilled"),
        ("COOL-016", "lux1 air handlers of hall 'hall-1'"),
    }
    assert set(still) - behind < set(asked)
    assert ("COOL-006", "lux1 hall hall-1 gb200-nvl72") in asked
    rest = blueprint.with_name("rest.yaml").read_text("utf-8")
    told = " ".join(rest.replace("\n#  ", "").split())
    for (policy, subject), fix in still.items():
        if (policy, subject) in behind:
            continue
        for part in fix.split("; "):  # one for each field
            assert part in told, (policy, part)


def test_the_file_says_who_needs_a_field_and_where_it_is_found(blueprint: Path) -> None:
    check(blueprint, "--todo", "todo.yaml")
    text = blueprint.with_name("todo.yaml").read_text("utf-8")
    assert text.startswith(
        "# What 'rackwright check blueprint.yaml' does not know. With this file over the blueprint:\n"
        "#   rackwright check blueprint.yaml --layer todo.yaml\n"
    )
    assert (
        "  # gb200-nvl72: coldest inlet. Coldest air at its intake in which its maker lets it run, in °C.\n"
        "  # Needed by COOL-006. See the data sheet or manual of NVIDIA for GB200 NVL72.\n"
        "  - product: gb200-nvl72\n"
        "    field: inlet_min\n"
        "    value:  # … °C\n"
    ) in text
    assert "    most_nodes:  # … %\n" in text
    assert "# - 'jobs' in 'reliability': set 'reliability.jobs' (blueprint.yaml:2:1)." in text


def test_a_sheet_without_a_value_changes_nothing_and_is_counted(blueprint: Path) -> None:
    before = unknowns(check(blueprint, "--todo", "todo.yaml", "--json"))
    lines = blueprint.with_name("todo.yaml").read_text("utf-8").splitlines()
    first = next(number for number, line in enumerate(lines, 1) if BLANK.match(line))
    ended = check(blueprint, "--layer", "todo.yaml")
    assert f"todo.yaml:{first}:" in ended.out + ended.err
    count = sum(1 for line in lines if BLANK.match(line))
    assert count > 60
    told = f": {count} empty keys, without effect"
    assert told in ended.out + ended.err
    assert unknowns(check(blueprint, "--layer", "todo.yaml", "--json")) == before


def test_a_sheet_that_is_filled_in_half_answers_half(blueprint: Path) -> None:
    before = unknowns(check(blueprint, "--todo", "todo.yaml", "--json"))
    text = blueprint.with_name("todo.yaml").read_text("utf-8")
    whole = filled(text)
    half = len(text.splitlines()) // 2
    start = next(n for n in range(half, 0, -1) if text.splitlines()[n].startswith("  - "))
    mixed = [*whole.splitlines()[:start], *text.splitlines()[start:]]
    blueprint.with_name("half.yaml").write_text("\n".join(mixed) + "\n", "utf-8")
    after = unknowns(check(blueprint, "--layer", "half.yaml", "--json"))
    assert 0 < len(after) < len(before)


def test_a_file_that_is_there_is_left_as_it_is(blueprint: Path) -> None:
    there = blueprint.with_name("todo.yaml")
    there.write_text("pue: 1.3\n")
    for verb in ("check", "cost"):
        ended = run_here(blueprint.parent, verb, blueprint.name, "--todo", "todo.yaml")
        ended.refused("'todo.yaml' exists")
        assert ended.out == ""
    (blueprint.parent / "link.yaml").symlink_to("nowhere.yaml")
    check(blueprint, "--todo", "link.yaml").refused("'link.yaml' exists")
    assert there.read_text() == "pue: 1.3\n"
    check(blueprint, "--todo", "no/folder.yaml").refused("'no/folder.yaml' cannot be written")


def test_no_file_is_written_without_unknowns(blueprint: Path) -> None:
    ended = check(blueprint, "--only", "PWR-001", "--todo", "todo.yaml")
    assert ended.code == 0
    assert ended.err == "nothing is unknown, so 'todo.yaml' is not written\n"
    assert not blueprint.with_name("todo.yaml").exists()


def test_facts_of_a_layer_join_those_of_the_blueprint(blueprint: Path) -> None:
    fact = (
        "facts:\n"
        "  - {product: gb200-nvl72, field: inlet_min, value: 5 °C, source: Manual 7,\n"
        "     date: 2026-05-02, confidence: official}\n"
    )
    blueprint.write_text(blueprint.read_text("utf-8") + fact, "utf-8")
    check(blueprint, "--only", "COOL-006", "--todo", "todo.yaml")
    layer = blueprint.with_name("todo.yaml")
    text = layer.read_text("utf-8")
    assert "inlet_max" in text
    assert "inlet_min" not in text
    layer.write_text(filled(text), "utf-8")
    ended = check(blueprint, "--only", "COOL-006", "--layer", "todo.yaml", "--json")
    assert unknowns(ended) == {}


def test_prices_that_are_filled_in_make_a_cost_known(tmp_path: Path) -> None:
    path = tmp_path / "blueprint.yaml"
    path.write_bytes((bundled("policies") / "fixtures" / "air.yaml").read_bytes())
    before = run_here(tmp_path, "cost", path.name, "--todo", "todo.yaml")
    assert before.code == 0
    assert before.err == "wrote todo.yaml: 10 fields to fill in\n"
    assert before.out.startswith("air: unknown\n")
    text = (tmp_path / "todo.yaml").read_text("utf-8")
    assert (
        "    # purchase price of 'rack-48u' ('capex' of the costs).\n"
        "    # Needed by hardware of sjc1, opex of sjc1. See offers, contracts and invoices.\n"
        "    rack-48u:  # … USD\n"
    ) in text
    assert run_here(tmp_path, "cost", path.name, "--layer", "todo.yaml").out == before.out
    (tmp_path / "todo.yaml").write_text(filled(text), "utf-8")
    after = run_here(tmp_path, "cost", path.name, "--layer", "todo.yaml", "--todo", "rest.yaml")
    assert after.code == 0
    assert after.err == "nothing is unknown, so 'rest.yaml' is not written\n"
    assert "unknown" not in after.out
    assert "dgx-h100: 1,000 USD/unit, the owner's own" in after.out


def test_missing_fact_of_short_form_racks_is_asked_once_at_its_place(
    tmp_path: Path,
) -> None:
    (tmp_path / "b.yaml").write_text(SHORT, encoding="utf-8")
    ended = run_here(tmp_path, "check", "b.yaml", "--stage", "build", "--todo", "todo.yaml")
    sheet = yaml.safe_load((tmp_path / "todo.yaml").read_text(encoding="utf-8"))
    (site,) = sheet["sites"]
    assert {"aisle_depth", "cable_allowance", "shipping"} <= set(site["racks"])
    assert "rack_groups" not in (tmp_path / "todo.yaml").read_text(encoding="utf-8")
    filled = "sites: [{{name: sjc1, racks: {{aisle_depth: 0.6 m}}}}]\n"
    (tmp_path / "filled.yaml").write_text(filled, encoding="utf-8")
    again = run_here(tmp_path, "check", "b.yaml", "--stage", "build", "--layer", "filled.yaml")
    assert "aisle_depth" in ended.out
    assert "aisle_depth" not in again.out


def test_table_of_questions_is_grouped_by_who_can_answer(tmp_path: Path) -> None:
    (tmp_path / "b.yaml").write_text(SHORT, encoding="utf-8")
    run_here(tmp_path, "check", "b.yaml", "--stage", "design", "--todo", "todo.csv")
    with (tmp_path / "todo.csv").open(encoding="utf-8-sig") as file:
        rows = [row for row in csv.DictReader(file) if row["blocks"] == "yes"]
    owners = [row["who can answer"] for row in rows]
    assert list(dict.fromkeys(owners)) == ["facility team", "network team", "you"]
    assert owners == sorted(owners, key=list(dict.fromkeys(owners)).index)
    assert len({row["field"] for row in rows}) == len(rows)
    assert not any(row["answer"] for row in rows)
    assert all(row["meaning"] for row in rows)
    assert sum(row["value"].startswith("… ") for row in rows) > len(rows) / 3  # with their unit
