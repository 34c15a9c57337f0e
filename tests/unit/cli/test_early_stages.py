"""Commands that deploy refuse a design whose stage comes before ``build``."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli_support import run_here
from rackwright.render.blueprints import find_template, write_blueprint

DEPLOY = {
    "up": ("up", "--target", "local", "--yes"),
    "configure": ("configure", "--check"),
}


@pytest.mark.parametrize("command", DEPLOY)
@pytest.mark.parametrize("stage", ["concept", "design"])
def test_early_stage_is_not_deployed(tmp_path: Path, command: str, stage: str) -> None:
    path, *_ = write_blueprint(find_template("hybrid-h100"), tmp_path, {})
    text = path.read_text(encoding="utf-8")
    path.write_text(f"{text}\nstage: {stage}\n", encoding="utf-8")
    words = DEPLOY[command]
    run_here(tmp_path, words[0], str(path), *words[1:]).refused(
        f"is at stage '{stage}': only 'build' and 'run' are deployed", "set 'stage: build'"
    )
