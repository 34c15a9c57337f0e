"""``--quiet``: nothing of progress and of what to do next, and never less than what blocks."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli_support import run_here
from rackwright.cli.options.telling import is_quiet
from rackwright.policy.packs.loader import builtin_pack
from rackwright.render.blueprints import find_template, write_blueprint

LIQUID = builtin_pack() / "fixtures" / "liquid.yaml"
OVER = "sites: [{name: lux1, power: {contract: 1 kW}}]\n"


def test_quiet_prints_only_the_result(tmp_path: Path) -> None:
    told = run_here(tmp_path, "init", "site", "--template", "lab", "--example", "--quiet")
    assert (told.code, told.out, told.err) == (0, "site/blueprint.yaml\n", "")
    assert "next:" in run_here(tmp_path, "init", "other", "--template", "lab", "--example").err
    assert not is_quiet()


@pytest.mark.parametrize("words", [("--quiet", "check"), ("check", "--quiet")])
def test_check_says_nothing_of_what_passes(words: tuple[str, str], tmp_path: Path) -> None:
    write_blueprint(find_template("lab"), tmp_path, {})
    told = run_here(tmp_path, *words, "blueprint.yaml")
    assert (told.code, told.out, told.err) == (0, "", "")


def test_check_says_what_blocks_and_the_verdict(tmp_path: Path) -> None:
    (tmp_path / "over.yaml").write_text(OVER)
    whole = run_here(tmp_path, "check", str(LIQUID), "--layer", "over.yaml")
    quiet = run_here(tmp_path, "check", str(LIQUID), "--layer", "over.yaml", "--quiet")
    assert quiet.code == whole.code == 5
    assert "PWR-006" in quiet.out
    assert quiet.out.splitlines()[-1] == whole.out.splitlines()[-1]
    shown = [line for line in quiet.out.splitlines() if line]
    assert set(shown) < set(whole.out.splitlines())


def test_a_report_in_a_file_is_whole(tmp_path: Path) -> None:
    write_blueprint(find_template("lab"), tmp_path, {})
    told = run_here(tmp_path, "check", "blueprint.yaml", "--quiet", "--output", "text=report.txt")
    assert told.out == ""
    assert " passed, " in (tmp_path / "report.txt").read_text()


def test_waivers_that_are_not_in_order_are_told(tmp_path: Path) -> None:
    write_blueprint(find_template("lab"), tmp_path, {})
    (tmp_path / "policies").mkdir()
    (tmp_path / "policies/waivers.yaml").write_text(
        "waivers: [{id: W-1, policy: PWR-006, match: {site: nowhere}, up_to: 1 kW, ticket: DC-1,\n"
        "  reason: it was measured twice, owner: dc@example.com, expires: 2020-02-01}]\n"
    )
    told = run_here(tmp_path, "check", "blueprint.yaml", "--quiet", "--strict-waivers")
    assert told.code == 7, told
    assert "W-1" in told.out


def test_errors_are_told(tmp_path: Path) -> None:
    run_here(tmp_path, "check", "missing.yaml", "--quiet").refused("missing.yaml")
    words = ("check", str(LIQUID), "--quiet", "--verbose")
    run_here(tmp_path, *words).refused("--quiet and --verbose contradict each other")
