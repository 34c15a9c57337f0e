"""What shells complete, asked of bash itself."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import shtab

from cli_support import run_here
from rackwright.cli import VERBS
from rackwright.cli.commands.completion import SHELLS, whole_parser

PROGRAM = Path(sys.executable).parent / "rackwright"
ASK = """
source ./script
COMP_WORDS=("$@")
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
_shtab_rackwright
printf '%s\\n' "${COMPREPLY[@]}"
"""


def completed(folder: Path, *words: str) -> list[str]:
    """What bash offers in the place of the last word."""
    (folder / "script").write_text(run_here(folder, "completion", "bash").out, encoding="utf-8")
    asked = ["bash", "--norc", "-c", ASK, "bash", *words]
    done = subprocess.run(asked, cwd=folder, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return done.stdout.split()


def test_commands_are_completed(tmp_path: Path) -> None:
    assert completed(tmp_path, "rackwright", "che") == ["check"]
    assert set(VERBS) <= set(completed(tmp_path, "rackwright", ""))


def test_options_and_actions_of_a_command_are_completed(tmp_path: Path) -> None:
    assert completed(tmp_path, "rackwright", "check", "--only") == ["--only"]
    assert completed(tmp_path, "rackwright", "waivers", "ad") == ["add"]
    assert completed(tmp_path, "rackwright", "waivers", "add", "--tick") == ["--ticket"]
    assert completed(tmp_path, "rackwright", "check", "--format", "junit") == ["junit"]


def test_files_are_completed(tmp_path: Path) -> None:
    (tmp_path / "blueprint.yaml").touch()
    assert completed(tmp_path, "rackwright", "check", "blue") == ["blueprint.yaml"]


@pytest.mark.parametrize("shell", [shell for shell in SHELLS if shell != "fish"])
def test_the_script_reaches_the_shell_unchanged(shell: str) -> None:
    done = subprocess.run(
        [PROGRAM, "completion", shell], capture_output=True, text=True, check=True
    )
    assert done.stdout == f"{shtab.complete(whole_parser(), shell)}\n"
    assert done.stderr == ""


def test_a_shell_that_is_not_known_is_refused(tmp_path: Path) -> None:
    run_here(tmp_path, "completion", "elvish").refused(
        "'elvish' is not one of bash, zsh, tcsh, fish"
    )


def test_script_for_fish_has_every_command_option_and_choice(tmp_path: Path) -> None:
    lines = run_here(tmp_path, "completion", "fish").out.splitlines()
    assert all(line.startswith("complete -c rackwright -n ") for line in lines)
    commands = {line.split(" -fa ")[1].split()[0] for line in lines if " -fa " in line}
    assert set(VERBS) <= commands
    inside = [line for line in lines if "seen_subcommand_from check'" in line]
    assert any(" -l only -r" in line for line in inside)
    assert any(" -l format -r -fa " in line and "sarif" in line for line in inside)
    assert all(len(shlex.split(line)) > 4 for line in lines)
