"""Options that a team's ``rackwright.yaml`` sets for its commands."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import pytest

from cli_support import run_here
from rackwright.cli.commands.completion import whole_parser
from rackwright.cli.options.defaults import HABITS, parse
from rackwright.policy.packs.loader import builtin_pack

JUDGING = frozenset(
    {
        "accept", "all-reduce", "base-ref", "baseline", "exit-zero", "isolated", "layer", "max-failures",
        "no-baseline", "no-waivers", "only", "outdated", "pack", "reason", "stage", "today", "token-file", "url",
        "waivers", "wave-limit", "yes",
    }
)  # fmt: skip
"""Options by which less is checked, more is done at once, or something is confirmed."""


@pytest.fixture
def site(tmp_path: Path) -> Path:
    text = (builtin_pack() / "fixtures/air.yaml").read_text("utf-8")
    (tmp_path / "blueprint.yaml").write_text(text, "utf-8")
    return tmp_path


def configure(folder: Path, text: str) -> None:
    (folder / "rackwright.yaml").write_text(f"defaults:\n{text}", "utf-8")


def test_default_of_the_team_applies_and_the_command_line_decides(site: Path) -> None:
    configure(site, "  check: {color: always, format: md}\n")
    assert run_here(site, "check").out.startswith("<!-- rackwright")
    assert "\x1b[" in run_here(site, "check", "--format", "text").out
    assert "\x1b[" not in run_here(site, "check", "--format", "text", "--color", "never").out
    (site / "below").mkdir()
    there = run_here(site / "below", "check", "..")
    assert there.out.startswith("<!-- rackwright")  # the file beside the blueprint


def test_flag_is_set_by_true_and_left_by_false(site: Path) -> None:
    plain = run_here(site, "check").out
    configure(site, "  check: {verbose: false}\n")
    assert run_here(site, "check").out == plain
    configure(site, "  check: {verbose: true}\n")
    assert run_here(site, "check").out == run_here(site, "check", "-v").out != plain


def test_default_gives_an_option_that_is_required(site: Path) -> None:
    run_here(site, "ci", "init").refused("--forge is missing")
    configure(site, "  ci init: {forge: gitlab, install-from: x}\n  preview: {target: local}\n")
    run_here(site, "ci", "init").refused("'x' is nothing to install from")
    run_here(site, "preview").refused("has no AWS site")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("chekc: {color: never}", ("there is no command 'chekc'", "did you mean 'check'?")),
        ("check: {colr: never}", ("'check' has no option '--colr'", "did you mean 'color'?")),
        ("check: {color: no}", ("'--color' is one of auto, always, never",)),
        ("check: {color: [never]}", ("'--color' takes one value, not a list",)),
        ("check: {verbose: 3}", ("'--verbose' is true or false, not '3'",)),
        ("check: {exit-zero: true}", ("'--exit-zero' cannot have a default", "color, format")),
        ("check: {layer: f.yaml}", ("'--layer' cannot have a default", "layers: [facility.yaml]")),
        ("check: {stage: design}", ("'--stage' cannot have a default", "'stage' in the blueprint")),
        ("check now: {color: never}", ("there is no command 'check now'", "did you mean 'check'?")),
        ("check: never", ("rackwright.yaml:2:",)),
    ],
)
def test_wrong_default_is_named_with_its_place_and_cure(
    site: Path, text: str, words: tuple[str, ...]
) -> None:
    configure(site, f"  {text}\n")
    run_here(site, "check").refused("rackwright.yaml:2:", *words)


def test_number_of_an_option_is_checked_at_its_place(site: Path) -> None:
    configure(site, "  verify: {forks: many}\n")
    run_here(site, "verify").refused("rackwright.yaml:2:19", "'--forks' must be")


def test_no_option_that_decides_a_verdict_can_have_a_default() -> None:
    assert HABITS.isdisjoint(JUDGING)
    known = set(options(whole_parser()))
    assert known >= {f"--{name}" for name in HABITS | JUDGING}


def options(parser: argparse.ArgumentParser) -> Iterator[str]:
    for action in parser._actions:
        yield from action.option_strings
        if isinstance(action, argparse._SubParsersAction):
            for child in action.choices.values():
                yield from options(child)


def read_words(folder: Path, monkeypatch: pytest.MonkeyPatch, *words: str) -> list[str]:
    """The values that were read from a command line, each as often as it was read."""
    seen: list[str] = []

    def note(text: str) -> str:
        seen.append(text)
        return text

    parser = argparse.ArgumentParser()
    parser.add_argument("--color", type=note)
    parser.add_argument("--forge", type=note, required=True)
    parser.add_argument("blueprint", nargs="?", type=Path)
    monkeypatch.chdir(folder)
    parse(parser, "check", list(words), ["check"])
    return seen


def test_command_line_is_read_again_only_for_defaults(
    site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each command line was parsed twice, with a configuration and without one."""
    assert read_words(site, monkeypatch, "--color=a", "--forge=b") == ["a", "b"]
    configure(site, "  diff: {color: never}\n")
    assert read_words(site, monkeypatch, "--color=a", "--forge=b", ".") == ["a", "b"]
    configure(site, "  check: {forge: gitlab}\n")
    assert read_words(site, monkeypatch, "--color=a")[-2:] == ["gitlab", "a"]
    configure(site, "  check: {color: never}\n")
    with pytest.raises(SystemExit):
        read_words(site, monkeypatch, "--color=a")
