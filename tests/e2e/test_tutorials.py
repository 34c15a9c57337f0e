"""The tutorial of AWS, run as it stands by the real engine on the embedded AWS."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from documented_commands import follow, in_a_shell, reader_environment

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(900)]
DOCUMENT = Path(__file__).parents[2] / "docs/tutorial-aws.md"


def test_the_tutorial_of_aws_runs_as_it_stands(lab: Any, tmp_path: Path) -> None:
    folder = tmp_path / "empty"
    folder.mkdir()
    environment = {**lab.environment, **reader_environment(Path.home())}
    text = DOCUMENT.read_text("utf-8")
    count = follow(text, folder, lambda line: in_a_shell(line, folder, environment))
    assert count > 10
