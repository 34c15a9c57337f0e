"""The README's blueprint, and the verdict that it prints."""

from __future__ import annotations

import re
from pathlib import Path

from cli_support import run_here

README = (Path(__file__).parents[3] / "README.md").read_text(encoding="utf-8")


def test_readme_shows_a_whole_blueprint_and_the_verdict_of_it(tmp_path: Path) -> None:
    """The one that it showed had gaps, and no stage: a copy of it was a wall of 70 questions."""
    (text,) = re.findall(r'```yaml title="blueprint.yaml"\n(.*?)```', README, re.DOTALL)
    (tmp_path / "blueprint.yaml").write_text(text, encoding="utf-8")
    ended = run_here(tmp_path, "check")
    assert ended.code == 6, ended.out
    assert len(ended.out.splitlines()) <= 40
    (shown,) = re.findall(r"```console\n\$ rackwright check\n(.*?)```", README, re.DOTALL)
    lines = [line for line in shown.splitlines() if line != "…"]
    assert [line for line in lines if line not in ended.out.splitlines()] == []
    assert len(lines) > 4
    values = re.search(
        r"in full: (\d+) values as they are written", run_here(tmp_path, "expand").out
    )
    assert values
    assert int(values[1]) <= 30
