"""Output whose encoding lacks some of our letters: they are written as escapes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from factories import a_blueprint
from pull_request import overdrawn


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252"])
@pytest.mark.parametrize("verb", ["check", "show", "explain"])
def test_output_that_is_not_utf_8_ends_as_it_does_in_utf_8(
    tmp_path: Path, encoding: str, verb: str
) -> None:
    file = tmp_path / "blueprint.yaml"
    file.write_text(yaml.safe_dump(a_blueprint(overdrawn()), allow_unicode=True))
    given = {"check": [f"{file}", "--verbose"], "show": [f"{file}"], "explain": ["PWR-006"]}[verb]
    ended = {}
    for used in ("utf-8", encoding):
        environment = {**os.environ, "PYTHONIOENCODING": used}
        command = [sys.executable, "-m", "rackwright", verb, *given]
        done = subprocess.run(command, env=environment, capture_output=True, check=False)
        ended[used] = done.returncode
        assert b"Error" not in done.stderr
        assert done.stdout.decode(used)
    assert ended[encoding] == ended["utf-8"]
