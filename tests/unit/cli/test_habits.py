"""Habits of other tools: short options, their names of commands, groups in ``--help``."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cli_support import run_here
from rackwright import __version__
from rackwright.cli import GROUPS, OTHER_NAMES, VERBS
from rackwright.policy.packs.loader import builtin_pack


def test_every_command_is_in_one_group() -> None:
    grouped = [verb for verbs in GROUPS.values() for verb in verbs]
    assert sorted(grouped) == sorted(VERBS)


def test_help_shows_each_command_once_under_its_group(tmp_path: Path) -> None:
    out = run_here(tmp_path, "--help").out
    assert {out.count(f"\n{group}:\n") for group in GROUPS} == {1}
    assert {len(re.findall(rf"^  {verb} ", out, re.MULTILINE)) for verb in VERBS} == {1}


@pytest.mark.parametrize("word", OTHER_NAMES)
def test_name_of_another_tool_leads_to_the_command(tmp_path: Path, word: str) -> None:
    ended = run_here(tmp_path, word, "x.yaml")
    ended.refused(f"there is no command '{word}'", f"did you mean '{OTHER_NAMES[word]}'?")
    assert word not in VERBS
    assert OTHER_NAMES[word] in VERBS


@pytest.mark.parametrize("option", ["-V", "--version"])
def test_version_has_a_short_option(tmp_path: Path, option: str) -> None:
    assert run_here(tmp_path, option).out == f"rackwright {__version__}\n"


def test_quiet_has_a_short_option(tmp_path: Path) -> None:
    path = str(builtin_pack() / "fixtures/air.yaml")
    long, short = (run_here(tmp_path, "check", path, option) for option in ("--quiet", "-q"))
    assert (short.code, short.out) == (long.code, long.out)
    assert "only warns" not in short.out


def test_blueprint_is_read_from_standard_input(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = builtin_pack() / "fixtures/air.yaml"
    named = run_here(tmp_path, "check", str(path), "--json")
    with path.open() as stream:
        monkeypatch.setattr("sys.stdin", stream)
        piped = run_here(tmp_path, "check", "-", "--json")
    assert piped.code == named.code
    assert len(piped.out.splitlines()) == len(named.out.splitlines())


def test_mistake_of_standard_input_has_a_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "b.yaml").write_text("apiVersion: rackwright/v1\nname: [\n")
    with (tmp_path / "b.yaml").open() as stream:
        monkeypatch.setattr("sys.stdin", stream)
        run_here(tmp_path, "check", "-").refused("-:3:1", "a value is missing here")
