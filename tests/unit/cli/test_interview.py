"""``init`` asks: on a terminal, by a file of answers, by example."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from cli_support import run_here
from rackwright.cli.options.beginning.interview import ask, question_sheet
from rackwright.errors import UsageError
from rackwright.exit_codes import ExitCode
from rackwright.render.blueprints import find_template
from rackwright.templates.questions import typed_answer
from template_support import V1, write_files
from wrong_inputs import BASE

CONCEPT = {
    "altitude": "30 m",
    "contract": "1100 kW",
    "utility": 1200,
    "pue": 1.3,
    "ups_modules": 6,
    "ups_module": "100 kW",
    "panel_current": "800 A",
    "handlers": 9,
    "floor_load": "1221 kg/m2",
    "floor_point": 680,
    "nodes": 64,
}


def typing(*lines: str) -> Iterator[str]:
    yield from lines


def test_each_question_is_asked_once_with_its_default_and_again_after_a_wrong_answer() -> None:
    template = find_template("onprem-h200")
    shown: list[str] = []
    prompts: list[str] = []
    typed = {**{k: str(v) for k, v in CONCEPT.items()}, "name": "hall-9"}
    wrong = {"altitude": ["30 ft", ""]}

    def read(prompt: str) -> str:
        prompts.append(prompt)
        name = prompt.split(maxsplit=1)[0].rstrip(":")
        if wrong.get(name):
            return wrong[name].pop(0)
        return typed.get(name, "")

    answers = ask(template, {}, read, shown.append)
    assert answers["altitude"] == 30
    assert answers["name"] == "hall-9"
    assert answers["rack_limit"] == 45
    assert "dry_bulb" not in answers
    assert "  name [atlas]: " in prompts
    assert sum("altitude" in one for one in prompts) == 3
    assert (
        "  the answer to 'altitude' must be a whole number in m, got '30 ft'; write '9 m'\n"
        in shown
    )
    assert "  this question has no default\n" in shown


def test_input_that_ends_early_writes_nothing() -> None:
    def read(prompt: str) -> str:
        raise EOFError

    with pytest.raises(UsageError, match="nothing is written"):
        ask(find_template("onprem-h200"), {}, read, lambda _: None)


def test_sheet_of_questions_is_filled_in_bit_by_bit(tmp_path: Path) -> None:
    asked = run_here(tmp_path, "init", "--template", "onprem-h200", "--questions", "a.yaml")
    assert (asked.code, asked.out) == (0, "a.yaml\n")
    text = (tmp_path / "a.yaml").read_text()
    init = ("init", "site", "--template", "onprem-h200", "--answers", "a.yaml")
    empty = run_here(tmp_path, *init)
    empty.refused("needs answers to: altitude, contract", "--set contract=…")
    for key, value in CONCEPT.items():
        text = "\n".join(
            f"{key}: {value}" if line.startswith(f"{key}:") else line for line in text.split("\n")
        )
    (tmp_path / "a.yaml").write_text(text)
    made = run_here(tmp_path, *init)
    assert made.code == 0, made.err
    checked = run_here(tmp_path, "check", "site")
    assert checked.code == 0, checked.out
    assert ": ok for concept" in checked.out


def test_sheet_names_every_question_once() -> None:
    template = find_template("onprem-h200")
    assert list(yaml.safe_load(question_sheet(template))) == list(template.manifest.questions)


def test_answers_of_another_template_are_told_with_its_name(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("name: atlas\nzone_id: use1-az6\nreserved: 4\n")
    ended = run_here(tmp_path, "init", "s", "--template", "onprem-h200", "--answers", "a.yaml")
    ended.refused("a.yaml:2:1", "does not ask for 'zone_id'", "these are answers to 'aws-p5'")
    assert not (tmp_path / "s").exists()


def test_example_passes_for_run_and_every_value_is_counted(tmp_path: Path) -> None:
    made = run_here(tmp_path, "init", "s", "--template", "onprem-h200", "--example")
    assert made.code == 0, made.err
    checked = run_here(tmp_path, "check", "s")
    assert checked.code == ExitCode.CLEAN, checked.out
    assert ": ok for run" in checked.out
    assert "s/blueprint.yaml: " in checked.out
    assert "s/example.yaml: " in checked.out


def test_value_of_a_layer_behind_the_example_is_no_example(tmp_path: Path) -> None:
    run_here(tmp_path, "init", "s", "--template", "onprem-h200", "--example")

    def count() -> int:
        out = run_here(tmp_path, "check", "s").out
        line = next(line for line in out.splitlines() if "s/example.yaml: " in line)
        return int(line.split("s/example.yaml: ")[1].split()[0])

    before = count()
    (tmp_path / "s/facility.yaml").write_text(
        "sites: [{name: hall1, security: {secure_boot: true}, pue_budget: 1.5}]\n"
    )
    path = tmp_path / "s/blueprint.yaml"
    path.write_text(path.read_text().replace("[example.yaml]", "[example.yaml, facility.yaml]"))
    assert count() == before - 2


@pytest.mark.parametrize(
    ("kind", "answer", "unit", "value"),
    [
        ("int", "1.1 MW", "kW", 1100),
        ("int", "0.8 kA", "A", 800),
        ("int", "1100kW", "kW", 1100),
        ("float", "60 cm", "m", 0.6),
        ("int", "-30 m", "m", -30),
        ("float", "40", "kA", 40.0),
    ],
)
def test_answer_in_another_unit_is_converted(
    kind: str, answer: str, unit: str, value: float
) -> None:
    """'0.8 kA' was refused as '0.8 k', and '1.1 MW' as no whole number."""
    assert typed_answer("q", kind, answer, unit) == value


@pytest.mark.parametrize(
    ("kind", "answer", "unit", "hint"),
    [
        ("int", "100 ft", "m", "write '30 m'"),
        ("int", "1100 kVA", "kW", "power is apparent power times power factor"),
        ("int", "75 °F", "°C", "write '24 °C'"),
        ("int", "1,100 kW", "kW", "write '1100'"),
        ("float", "0,6 m", "m", "decimals stand behind a point: '0.6'"),
        ("int", "six", None, "write '6'"),
    ],
)
def test_answer_that_is_no_number_of_its_unit_has_a_cure(
    kind: str, answer: str, unit: str | None, hint: str
) -> None:
    with pytest.raises(UsageError) as caught:
        typed_answer("q", kind, answer, unit)
    assert hint in str(caught.value.hint)
    assert f"got '{answer}'" in caught.value.summary


def test_option_that_answers_twice_is_refused(tmp_path: Path) -> None:
    """The last of two answers counted, and nothing said so."""
    words = ("init", "site", "--template", "onprem-h200", "--set", "nodes=64", "--set")
    run_here(tmp_path, *words, "nodes=32").refused("'nodes' is set twice")
    run_here(tmp_path, *words, "stage:design").refused("not KEY=VALUE", "--set stage=VALUE")
    assert list(tmp_path.iterdir()) == []


def test_record_of_another_cluster_is_no_file_of_answers(tmp_path: Path) -> None:
    words = ("--template", "aws-p5", "--example")
    assert run_here(tmp_path, "init", "cloud", *words).code == 0
    record = "cloud/.rackwright-template/answers.yml"
    run_here(tmp_path, "init", "hall", "--template", "onprem-h200", "--answers", record).refused(
        f"{record}:", "does not ask for 'template'", "write the answers at the top of the file"
    )
    assert not (tmp_path / "hall").exists()


def test_wrong_answer_of_the_command_line_has_no_place_in_the_file_of_answers(
    tmp_path: Path,
) -> None:
    """The file was named, where the right answer was."""
    folder = write_files(tmp_path / "t", V1)
    (tmp_path / "a.yaml").write_text("count: 4\n", encoding="utf-8")
    words = ("init", "room", "--template", str(folder), "--answers", "a.yaml")
    ended = run_here(tmp_path, *words, "--set", "count=many")
    ended.refused("error: the answer to 'count' must be a whole number, got 'many'")
    assert "a.yaml" not in ended.err


def test_answer_that_the_blueprint_refuses_is_found_by_its_place(tmp_path: Path) -> None:
    """It was found by the first word in quotes of the message: here by the unit, which no answer is."""
    folder = write_files(
        tmp_path / "t",
        {
            "copier.yml": "name: {help: a, default: atlas}\nrise: {help: b, default: 14 K}\n",
            "blueprint.yaml.j2": BASE.replace("name: atlas", "name: {{ name }}").replace(
                "temperature_rise: 14 K", "temperature_rise: {{ rise }}"
            ),
        },
    )
    (tmp_path / "a.yaml").write_text("name: hall\nrise: -3 bar\n", encoding="utf-8")
    words = ("init", "room", "--template", str(folder), "--answers", "a.yaml")
    run_here(tmp_path, *words).refused("a.yaml:2:7: the answer to 'rise' is refused: ")
    assert not (tmp_path / "room").exists()
