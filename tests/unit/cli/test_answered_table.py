"""A filled-in table of ``check --todo FILE.csv`` as a layer."""

from __future__ import annotations

import csv
import io
import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from cli_support import Ended, run_here
from rackwright.resources import bundled
from wrong_inputs import BASE

SHORT = BASE.replace(", aisle_depth: 0.6 m", "")
ANSWERS: Mapping[str, str] = {
    "sites.sjc1.racks.aisle_depth": "600 mm",
    "sites.sjc1.racks.shipping.height": "2.2 m",
    "sites.sjc1.power.sources.utility.fault_current": "20 kA",
    "sites.sjc1.power.feed_path.ups.short_circuit_rating": "65 kA",
    "sites.sjc1.fabric.links.nodes.lower_shell": "flat-top",
    "sites.sjc1.halls.hall-1.air.fed_by": "[ups-a, ups-b]",
    "operations.health_checks": "TRUE",
}
"""Fields of the sheet of ``SHORT``: of a mapping, a list, a list that is not written and a new mapping."""
AS_LAYER = """\
sites:
  - name: sjc1
    racks: {aisle_depth: 600 mm, shipping: {height: 2.2 m}}
    power:
      sources:
        - {name: utility, fault_current: 20 kA}
        - {name: ups-a, short_circuit_rating: 65 kA}
        - {name: ups-b, short_circuit_rating: 65 kA}
        - {name: ups-c, short_circuit_rating: 65 kA}
    fabrics: [{name: compute, links: [{name: nodes, lower_shell: flat-top}]}]
    halls: [{name: hall-1, air: {fed_by: [ups-a, ups-b]}}]
operations: {health_checks: true}
"""


def check(folder: Path, *arguments: str) -> Ended:
    return run_here(folder, "check", "blueprint.yaml", "--stage", "run", *arguments)


@pytest.fixture(scope="module")
def sheet(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The questions of ``SHORT``."""
    folder = tmp_path_factory.mktemp("sheet")
    (folder / "blueprint.yaml").write_text(SHORT, "utf-8")
    check(folder, "--todo", "todo.csv")
    return (folder / "todo.csv").read_text("utf-8")


@pytest.fixture
def folder(sheet: str, tmp_path: Path) -> Path:
    """With a blueprint and the sheet of its questions."""
    (tmp_path / "blueprint.yaml").write_text(SHORT, "utf-8")
    (tmp_path / "todo.csv").write_text(sheet, "utf-8")
    return tmp_path


def rows_of(folder: Path, name: str = "todo.csv") -> list[dict[str, str]]:
    with (folder / name).open(encoding="utf-8-sig") as file:
        return list(csv.DictReader(file))


def answer(folder: Path, answers: Mapping[str, str] = ANSWERS, **form: Any) -> None:
    """Fill the sheet in, in the form of a program for tables."""
    rows = rows_of(folder)
    assert set(answers) <= {row["field"] for row in rows}
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), **form)
    writer.writeheader()
    writer.writerows({**row, "answer": answers.get(row["field"], "")} for row in rows)
    (folder / "todo.csv").write_text(text.getvalue(), "utf-8-sig", newline="")


def git(folder: Path, *words: str) -> None:
    named = ("-c", "user.name=a", "-c", "user.email=a@example.com")
    subprocess.run(("git", *named, *words), cwd=folder, check=True, capture_output=True)


def results(ended: Ended) -> list[tuple[str, str, str, str]]:
    found = json.loads(ended.out)["results"]
    return [(r["policy"], r["subject"], r["outcome"], str(r.get("actual"))) for r in found]


def asked(folder: Path, name: str) -> set[str]:
    check(folder, "--layer", name, "--todo", "rest.csv")
    return {row["field"] for row in rows_of(folder, "rest.csv")}


@pytest.mark.parametrize(
    "form",
    [
        {},
        {"delimiter": ";"},
        {"delimiter": "\t"},
        {"quoting": csv.QUOTE_ALL, "lineterminator": "\n"},
        {"delimiter": ";", "quoting": csv.QUOTE_NONNUMERIC},
    ],
    ids=["comma", "semicolon", "tab", "quotes", "libreoffice"],
)
def test_answers_of_a_table_give_the_results_of_the_same_layer(
    folder: Path, form: Mapping[str, Any]
) -> None:
    answer(folder, **form)
    (folder / "same.yaml").write_text(AS_LAYER, "utf-8")
    by_table, by_layer = (check(folder, "--json", "--layer", n) for n in ("todo.csv", "same.yaml"))
    assert results(by_table) == results(by_layer)
    assert results(by_table) != results(check(folder, "--json"))


def test_answered_fields_of_a_table_are_asked_no_more(folder: Path) -> None:
    before = {row["field"] for row in rows_of(folder)}
    answer(folder)
    assert asked(folder, "todo.csv") == before - set(ANSWERS)


def test_empty_answers_of_a_table_change_nothing_and_are_counted(folder: Path) -> None:
    rows = rows_of(folder)
    ended = check(folder, "--layer", "todo.csv")
    assert f"{len(rows)} empty answers, without effect" in ended.out + ended.err
    assert results(check(folder, "--json", "--layer", "todo.csv")) == results(
        check(folder, "--json")
    )
    answer(folder)
    ended = check(folder, "--layer", "todo.csv")
    assert f": {len(rows) - len(ANSWERS)} empty answers, without effect" in ended.out + ended.err


def test_answers_about_products_become_facts_with_their_source(tmp_path: Path) -> None:
    text = (bundled("policies") / "fixtures" / "liquid.yaml").read_text("utf-8")
    (tmp_path / "blueprint.yaml").write_text(text, "utf-8")
    check(tmp_path, "--todo", "todo.csv")
    rows = rows_of(tmp_path)
    field = "inlet_min of gb200-nvl72"
    (line,) = (number for number, row in enumerate(rows, 2) if row["field"] == field)
    answer(tmp_path, {field: "5 °C"})
    check(tmp_path, "--layer", "todo.csv").refused(
        f"todo.csv:{line}:", f"'{field}' has no 'source', 'date', 'confidence'"
    )
    source = {"source": "Manual 7", "date": "2026-05-02", "confidence": "official"}
    filled = [{**row, "answer": "5 °C", **source} if row["field"] == field else row for row in rows]
    with (tmp_path / "todo.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(filled)
    ended = check(tmp_path, "--layer", "todo.csv")
    assert "gb200-nvl72: inlet_min stated: '5 °C'" in ended.out + ended.err
    assert asked(tmp_path, "todo.csv") == {row["field"] for row in rows} - {field}


def test_racks_without_names_are_answered_by_their_type(tmp_path: Path) -> None:
    """A layer of YAML cannot: it would replace the list."""
    text = (bundled("policies") / "fixtures" / "liquid.yaml").read_text("utf-8")
    (tmp_path / "blueprint.yaml").write_text(text, "utf-8")
    field = "sites.lux1.halls.hall-1.rows.row-1.rack_groups.rack-mgx-48u.shipping.height"
    (tmp_path / "todo.csv").write_text(f"field,answer\n{field},2.2 m\n", "utf-8")
    assert field not in asked(tmp_path, "todo.csv")


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ("sites.sjc1.racks.aisle_depth;0,6 m", ("todo.csv:2:30", "'0,6 m' has a comma", "'0.6 m'")),
        ("sites.sjc1.racks.cable_weight;1.200 kg", ("todo.csv:2:31", "a point", "'1200 kg' or '1.2 kg'")),
        ("sites.sjc1.racks.cable_weight;1.234 t", ("'1234 t' or '1.2340 t'",)),
        ("sites.sjc1.racks.cable_weight;1.234.567 kg", ("write '1234567 kg'",)),
        ("sites.sjc1.racks.cable_weight;1,200 kg", ("'1200 kg' or '1.2 kg'",)),
        ("sites.sjc1.racks.cable_weight;1.234,5 kg", ("write '1234.5 kg'",)),
        ("sites.sjc1.racks.cable_weight;1,234.5 kg", ("write '1234.5 kg'",)),
        ("sites.sjc1.racks.cable_weight;5 kW", ("todo.csv:2:31", "'kW' is not a unit of mass")),
        ("sites.sjc1.racks.aisle_depth;600", ("todo.csv:2:30", "'600' has no unit")),
        ("sites.sjc1.racks.aisle_depth;tbd", ("'tbd' is not an answer", "leave the answer empty")),
        ("sites.sjc1.racks.aisle_depht;1 m", ("todo.csv:2:18", "unknown key", "'aisle_depth'?")),
        ("sites.sjc1.power.sources.utilty.fault_current;9 kA", ("todo.csv:2:26", "mean 'utility'?")),
        ("sites.sjc1.power.feed_path.usp.recharge;4 kW", ("todo.csv:2:28", "'ups'?")),
        ("sites.sjc2.altitude;4 m", ("todo.csv:2:7", "did you mean 'sjc1'?")),
        ("reliability.groups.0.spares;4", ("todo.csv:2:20", "write the list in the blueprint")),
        ("head of cdu-spec-1mv;4 kPa", ("has no 'source', 'date', 'confidence'",)),
        (";4 m", ("todo.csv:2:2", "there is no field for this answer")),
        ("sites.sjc1.pue;1.3\nsites.sjc1.pue;1.4", ("todo.csv:3:16", "twice", "todo.csv:2:16")),
        ('sites.sjc1.racks.aisle_depth;"0.6\r\n m"\r\nsites.sjc1.pue;x', ("todo.csv:4:16: sites.sjc1.pue",)),
        ("sites.sjc1.racks.aisle_depth;0.6;m", ("todo.csv:2:1", "write a cell with ';' in quotes")),
        ("operations.drain_on_xids;[48", ("todo.csv:2:26", "close it with ']'")),
    ],
)  # fmt: skip
def test_wrong_answer_is_told_with_its_place_and_cure(
    tmp_path: Path, lines: str, told: tuple[str, ...]
) -> None:
    (tmp_path / "blueprint.yaml").write_text(SHORT, "utf-8")
    (tmp_path / "todo.csv").write_text(f"\ufefffield;answer\n{lines}\n", "utf-8", newline="")
    check(tmp_path, "--layer", "todo.csv").refused(*told)


@pytest.mark.parametrize("cell", ["0.600 m", '"0.6 m"', "0.6 m ", "60 cm"])
def test_length_of_a_table_is_the_same_in_each_notation(tmp_path: Path, cell: str) -> None:
    (tmp_path / "blueprint.yaml").write_text(SHORT, "utf-8")
    field = "sites.sjc1.racks.aisle_depth"
    quoted = cell.replace('"', '""')
    (tmp_path / "todo.csv").write_text(f'answer;field\n"{quoted}";{field}\n', "utf-8")
    (tmp_path / "same.yaml").write_text(
        "sites: [{name: sjc1, racks: {aisle_depth: 0.6 m}}]\n", "utf-8"
    )
    by_table, by_layer = (
        check(tmp_path, "--json", "--layer", n) for n in ("todo.csv", "same.yaml")
    )
    assert results(by_table) == results(by_layer)


TWO_GROUPS = "sites.sjc1.halls.hall-1.rows.row-1.rack_groups"


def test_two_rack_groups_of_one_type_are_asked_apart(tmp_path: Path) -> None:
    """Both were asked as ``rack_groups.rack-48u``, once, and the answer was refused."""
    text = (bundled("policies") / "fixtures" / "air.yaml").read_text("utf-8")
    (tmp_path / "blueprint.yaml").write_text(text, "utf-8")
    check(tmp_path, "--stage", "run", "--todo", "todo.csv")
    with (tmp_path / "todo.csv").open(encoding="utf-8-sig", newline="") as file:
        fields = [row["field"] for row in csv.DictReader(file)]
    heights = [field for field in fields if field.endswith("shipping.height")]
    assert heights == [
        f"{TWO_GROUPS}.{racks}.shipping.height" for racks in ("c[01-08]", "n[01-02]")
    ]
    answers = [
        f"{TWO_GROUPS}.c[01-08].cable_weight,30 kg",
        f"{TWO_GROUPS}.n[01-02].cable_weight,12 kg",
    ]
    (tmp_path / "todo.csv").write_text("field,answer\n" + "\n".join(answers) + "\n", "utf-8")
    expanded = run_here(tmp_path, "expand", "blueprint.yaml", "--layer", "todo.csv", "--json")
    halls = json.loads(expanded.out)["blueprint"]["sites"][0]["halls"]
    groups = halls[0]["rows"][0]["rack_groups"]
    assert [(one["racks"], one["cable_weight"]) for one in groups] == [
        ("c[01-08]", "30 kg"), ("n[01-02]", "12 kg"),
    ]  # fmt: skip


def test_answer_for_two_entries_of_one_name_is_told(tmp_path: Path) -> None:
    text = (bundled("policies") / "fixtures" / "air.yaml").read_text("utf-8")
    (tmp_path / "blueprint.yaml").write_text(text, "utf-8")
    field = f"{TWO_GROUPS}.rack-48u.shipping.height"
    (tmp_path / "todo.csv").write_text(f"field,answer\n{field},2.2 m\n", "utf-8")
    check(tmp_path, "--layer", "todo.csv").refused(
        "does not tell 2 entries apart", "write 'c[01-08]' or 'n[01-02]' instead of 'rack-48u'"
    )


def test_point_of_a_table_with_commas_is_a_decimal_point(tmp_path: Path) -> None:
    (tmp_path / "blueprint.yaml").write_text(SHORT, "utf-8")
    (tmp_path / "todo.csv").write_text("field,answer\nsites.sjc1.racks.cable_weight,1.200 kg\n")
    assert "cable_weight" not in asked(tmp_path, "todo.csv")


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"rack,hall\nr1,h1\n", ("todo.csv:1:1", "no columns 'field' and 'answer'", "--todo todo.csv")),
        (b"field,answer\nsites.sjc1.pue,1.3 \xb0C\n", ("todo.csv:2:20", "not UTF-8", "'CSV UTF-8'")),
        ("field,answer\n".encode("utf-16"), ("UTF-16", "CSV in UTF-8")),
        (b"PK\x03\x04", ("document of an office program", "save a sheet as CSV")),
        (b"", ("its first line names each column once",)),
        (b"field,answer\nsites.sjc1.pue,\x001\n", ("todo.csv:2:1", "the character 0 is no text")),
    ],
)  # fmt: skip
def test_file_that_is_no_sheet_of_answers_is_told(
    tmp_path: Path, content: bytes, told: tuple[str, ...]
) -> None:
    (tmp_path / "blueprint.yaml").write_text(SHORT, "utf-8")
    (tmp_path / "todo.csv").write_bytes(content)
    check(tmp_path, "--layer", "todo.csv").refused(*told)


def test_table_is_no_blueprint(tmp_path: Path) -> None:
    (tmp_path / "todo.csv").write_text("field,answer\n")
    run_here(tmp_path, "check", "todo.csv").refused("todo.csv:1:1", "--layer todo.csv")


def test_table_that_the_blueprint_lists_applies_in_its_base_too(folder: Path) -> None:
    answer(folder, delimiter=";")
    (folder / "blueprint.yaml").write_text(f"{SHORT}layers: [todo.csv]\n", "utf-8")
    git(folder, "init", "-q", "-b", "main")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "base")
    alone = check(folder, "--json")
    against = check(folder, "--json", "--base-ref", "main")
    assert results(alone) == results(against)
    assert "aisle_depth" not in alone.out
    table = folder / "todo.csv"
    table.write_text(table.read_text("utf-8").replace("600 mm", "0.9 m"), "utf-8")
    changed = run_here(folder, "diff", "main", "blueprint.yaml")
    assert "aisle_depth" in changed.out


def test_costs_have_no_table_to_send_around(tmp_path: Path) -> None:
    """``cost --todo prices.csv`` wrote YAML into it."""
    (tmp_path / "blueprint.yaml").write_text(SHORT, "utf-8")
    run_here(tmp_path, "cost", "--todo", "prices.csv").refused("'prices.csv'", ".yaml, .yml")
    assert not (tmp_path / "prices.csv").exists()
