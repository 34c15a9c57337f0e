"""Suggested edits: made where a value really stands, and never where that would change more."""

from __future__ import annotations

import json
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from policy_factories import HERE, a_measure, a_policy, report_of
from rackwright.catalog.loader import load_catalogue
from rackwright.cli import main
from rackwright.plan.derivation.derive import derive
from rackwright.policy.api import Finding, Outcome, Suggestion
from rackwright.policy.autofix import with_edits
from rackwright.policy.check import check_blueprint
from rackwright.policy.engine import Report
from rackwright.reading.loader import load_tree
from rackwright.reading.yaml_reader import read_raw
from rackwright.render.blueprints import find_template, write_blueprint
from rackwright.report.text import render_text
from short_forms import a_short_site


def suggesting(*wanted: Suggestion) -> Report:
    items = [
        Finding(HERE, ok=False, message=f"finding {n}", what=f"{n}", suggest=suggestion)
        for n, suggestion in enumerate(wanted)
    ]
    return report_of(a_policy(*items))


def edited(folder: Path, text: str | bytes, *wanted: Suggestion) -> Report:
    file = folder / "a.yaml"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return with_edits(suggesting(*wanted), load_tree(file))


def after(report: Report) -> str | None:
    return report.revised[0].after if report.revised else None


FOUR = Suggestion(("a", "b"), 4)


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        ("a: {b: 5} # b: 5\n", "a: {b: 4} # b: 5\n"),
        ("a:\n  b:   5\t# x\nc: 5\n", "a:\n  b:   4\t# x\nc: 5\n"),
        ("a:\r\n  b: 5\r\nc: 5\r\n", "a:\r\n  b: 4\r\nc: 5\r\n"),
        ("\ufeffa: {b: 5}\nc: 5", "\ufeffa: {b: 4}\nc: 5"),
        ('"é": "𝄞"\na: {"b" : "5"}', '"é": "𝄞"\na: {"b" : 4}'),
        ("x: &x 5\na: {b: 5, c: *x}\n", "x: &x 5\na: {b: 4, c: *x}\n"),
    ],
)
def test_only_the_value_changes(before: str, expected: str, tmp_path: Path) -> None:
    assert after(edited(tmp_path, before, FOUR)) == expected


@pytest.mark.parametrize(
    "text",
    [
        "x: &x 5\na: {b: *x}\n",
        "x: &x {b: 5}\na: *x\n",
        "x: &x {b: 5}\na: {<<: *x}\n",
        "a: &x {b: 5}\n",
        "a: {c: 5}\n",
        "a: {b: }\n",
        "a: {b: [5]}\n",
        "a:\n  b: |\n    5\n",
        "a: {b: 4}\n",
        "a: 5\n",
    ],
)
def test_dependent_value_gets_no_suggestion(text: str, tmp_path: Path) -> None:
    report = edited(tmp_path, text, FOUR)
    assert (report.revised, report.results[0].edit) == ((), None)


def test_a_value_of_a_layer_is_edited_in_the_layer(tmp_path: Path) -> None:
    base, layer = tmp_path / "base.yaml", tmp_path / "layer.yaml"
    base.write_text("a: [{name: x, b: 5, c: 1}]\n")
    layer.write_text("a:\n  - name: x\n    b: 6\n")
    wanted = suggesting(Suggestion(("a", 0, "b"), 4), Suggestion(("a", 0, "c"), 2))
    report = with_edits(wanted, load_tree(base, layers=(layer,)))
    assert {revised.file: revised.after for revised in report.revised} == {
        str(layer): "a:\n  - name: x\n    b: 4\n",
        str(base): "a: [{name: x, b: 5, c: 2}]\n",
    }


def test_a_value_that_is_derived_is_not_edited(tmp_path: Path) -> None:
    """The limit stands once in the file, for the racks of nodes and of switches."""
    file = tmp_path / "a.yaml"
    file.write_text(a_short_site(), encoding="utf-8")
    tree = derive(load_tree(file), load_catalogue()).tree
    row = ("sites", 0, "halls", 0, "rows", 0, "rack_groups", 1, "cooling", "power_limit")
    item = tree.find(row)
    assert item is not None
    assert (item.value, item.location.line) == ("45 kW", 11)
    report = with_edits(suggesting(Suggestion(row, "44 kW")), tree)
    assert (report.revised, report.results[0].edit) == ((), None)


def test_two_values_for_one_place_are_shown_and_not_in_the_patch(tmp_path: Path) -> None:
    other = Suggestion(("c",), "x")
    report = edited(tmp_path, "a: {b: 5}\nc: y\n", FOUR, Suggestion(("a", "b"), 3), other)
    assert after(report) == "a: {b: 5}\nc: x\n"
    shown = render_text(report)
    said = "(not in the patch: another finding suggests another value)"
    assert f"a.yaml:1:8: 'b: 5' -> '4' {said}" in shown
    assert f"a.yaml:1:8: 'b: 5' -> '3' {said}" in shown
    assert "a.yaml:2:4: 'c: y' -> 'x'\n" in shown


def test_the_same_value_twice_is_one_edit(tmp_path: Path) -> None:
    report = edited(tmp_path, "a: {b: 5}\n", FOUR, FOUR)
    assert after(report) == "a: {b: 4}\n"
    assert [result.edit and result.edit.contested for result in report.results] == [False, False]


def test_a_file_that_has_changed_since_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    file.write_text("a: {b: 5}\n")
    tree = load_tree(file)
    for text in (b"a: {b: 6}\n", b"a: {b: 5, \xff}", b"[", b""):

        def changed(_: Path, text: bytes = text) -> bytes:
            return text

        assert with_edits(suggesting(FOUR), tree, changed).revised == ()


def test_only_failures_are_looked_at(tmp_path: Path) -> None:
    measures = [a_measure(1, 2, suggest=FOUR), a_measure(None, 2, suggest=FOUR)]
    report = report_of(a_policy(*measures))
    assert [result.suggest for result in report.results] == [None, None]
    (tmp_path / "a.yaml").write_text("a: {b: 5}\n")
    failed = suggesting(FOUR)
    waived = replace(failed, results=(replace(failed.results[0], outcome=Outcome.WAIVED),))

    def never(_: Path) -> bytes:
        pytest.fail("the file was read")

    assert with_edits(waived, load_tree(tmp_path / "a.yaml"), never) is waived


@pytest.mark.parametrize(
    "wrong",
    [4, Suggestion(["a"], 4), Suggestion((1.5,), 4),  # type: ignore[arg-type]
     Suggestion(("a",), float("nan")), Suggestion(("a",), None)],  # type: ignore[arg-type]
)  # fmt: skip
def test_invalid_suggestion_is_an_error_of_the_policy(wrong: Any) -> None:
    report = report_of(a_policy(a_measure(3, 2, suggest=wrong)))
    assert [result.outcome for result in report.results] == [Outcome.ERROR]


def a_site(folder: Path, *changes: tuple[str, str], end: str = "\n", start: str = "") -> Path:
    write_blueprint(find_template("hybrid-h100"), folder, {})
    file = folder / "blueprint.yaml"
    text = file.read_text()
    for old, new in changes:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    file.write_bytes((start + text.replace("\n", end)).encode())
    return file


@pytest.mark.parametrize(("end", "start"), [("\n", ""), ("\r\n", "\ufeff")])
def test_the_patch_mends_the_finding(
    end: str, start: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By ``git apply``, in a repository, and nothing else of the file is touched."""
    monkeypatch.chdir(tmp_path)
    subprocess.run(["git", "init", "-q"], check=True)
    file = a_site(Path("site"), ("per_rack: 4}", "per_rack: 5} # é"), end=end, start=start)
    before = file.read_bytes()
    arguments = ["check", str(file), "--only", "RACK-002"]
    outputs = ["--output", "patch=fix.patch", "--output", "json=a.json", "--output", "sarif=s.json"]
    assert main([*arguments, *outputs]) == 5
    assert file.read_bytes() == before
    (made,) = [r["suggestion"] for r in json.loads(Path("a.json").read_text())["results"]
               if r["suggestion"]]  # fmt: skip
    assert (made["old"], made["new"], made["contested"]) == ("5", "4", False)
    (fix,) = [fix for r in json.loads(Path("s.json").read_text())["runs"][0]["results"]
              for fix in r.get("fixes", [])]  # fmt: skip
    change = fix["artifactChanges"][0]
    region = change["replacements"][0]["deletedRegion"]
    line = before.decode("utf-8-sig").split("\n")[region["startLine"] - 1]
    assert line[region["startColumn"] - 1 : region["endColumn"] - 1] == "5"
    assert change["artifactLocation"] == {"uri": "site/blueprint.yaml", "uriBaseId": "%SRCROOT%"}
    subprocess.run(["git", "apply", "fix.patch"], check=True)
    assert main(arguments) == 0
    assert file.read_bytes() == before.replace(b"per_rack: 5} #", b"per_rack: 4} #")


@pytest.mark.parametrize(
    ("policy", "number", "room"),
    [("RACK-002", 5, 4), ("PWR-002", 8, 6), ("RACK-003", 12, 10), ("PWR-001", 14, 9)],
)
def test_fewer_in_a_rack_where_the_racks_have_room(
    policy: str, number: int, room: int, tmp_path: Path
) -> None:
    """The suggested number passes, and with too few racks there is none."""
    racks = ("c[01-08]\", per_rack: 4", f'c[01-08]", per_rack: {number}')  # fmt: skip
    file = a_site(tmp_path, racks)
    report = check_blueprint(file, only=[policy])
    suggested = {r.suggest.value for r in report.results if r.suggest}
    assert suggested == {room}
    tree = load_tree(file)
    (revised,) = with_edits(report, tree).revised
    file.write_text(revised.after)
    mended = check_blueprint(file, only=[policy])
    assert all(result.outcome is not Outcome.FAIL for result in mended.results)
    full = a_site(tmp_path / "full", (f"count: 32, name_digits: 2, racks: \"{racks[0]}", f"count: {8 * number}, name_digits: 2, racks: \"{racks[1]}"))  # fmt: skip
    assert all(r.suggest is None for r in check_blueprint(full, only=[policy]).results)


def test_reading_refuses_what_is_no_file(tmp_path: Path) -> None:
    tree = load_tree_of(tmp_path)
    (tmp_path / "a.yaml").unlink()
    assert with_edits(suggesting(FOUR), tree, read_raw).revised == ()


def load_tree_of(folder: Path) -> Any:
    (folder / "a.yaml").write_text("a: {b: 5}\n")
    return load_tree(folder / "a.yaml")
