"""The hooks of this repository run what ``make lint`` runs, by the linters that are pinned."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
CONFIG = ROOT / ".pre-commit-config.yaml"
(REPO,) = yaml.safe_load(CONFIG.read_text("utf-8"))["repos"]
HOOKS = {hook["id"]: hook for hook in REPO["hooks"]}
PACKAGES = {"lint-imports": "import-linter"}
"""Names of packages that are not those of their programs."""


def test_pre_commit_reads_them() -> None:
    command = [sys.executable, "-m", "pre_commit", "validate-config", str(CONFIG)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


@pytest.mark.parametrize("hook", HOOKS.values(), ids=HOOKS)
def test_each_runs_a_linter_of_make_lint_that_is_pinned(hook: dict[str, str]) -> None:
    program = Path(shlex.split(hook["entry"])[0])
    assert program.parent == Path(".venv/bin")
    makefile = (ROOT / "Makefile").read_text("utf-8")
    assert re.search(rf"^\t.*\$\(BIN\)/{program.name}\b", makefile, re.MULTILINE)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    pinned = [line.partition("==")[0] for line in (*extras["dev"], *extras["test"]) if "==" in line]
    assert PACKAGES.get(program.name, program.name) in pinned
