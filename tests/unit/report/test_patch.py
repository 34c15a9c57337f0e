"""The patch: taken by git and by patch, for any name and any ending of lines."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rackwright.policy.engine import Report
from rackwright.reading.edits import BOM, Revised
from rackwright.report.formats import Context
from rackwright.report.patch import render_patch
from report_factories import MIXED


def patch_of(name: str, before: str, *lines: int) -> tuple[str, str]:
    """The patch that puts an X behind the first character of some lines, and the file after it."""
    rows = before.split("\n")
    for line in lines:
        rows[line] = f"{rows[line][:1]}X{rows[line][1:]}"
    revised = Revised(name, before, "\n".join(rows), lines)
    return render_patch(Report("atlas", (), 1, revised=(revised,)), Context()), revised.after


def take(tool: list[str], folder: Path, patch: str) -> None:
    subprocess.run(tool, cwd=folder, input=patch.encode(), check=True, capture_output=True)


TOOLS = [["git", "apply", "-"], ["git", "apply", "--unidiff-zero", "-"], ["patch", "-p1", "-s"]]


@pytest.mark.parametrize("tool", TOOLS, ids=" ".join)
@pytest.mark.parametrize(
    ("name", "before", "lines"),
    [
        ("a.yaml", "a\nb\nc\n", (1,)),
        ("a.yaml", "a\nb\nc", (2,)),
        ("a.yaml", "a\nb\nc", (0,)),
        ("a.yaml", "a", (0,)),
        ("a.yaml", "\n".join("abcdefghijklmnop") + "\n", (0, 6, 7, 15)),
        ("a.yaml", "\n".join("abcdefghijklmnop"), (3, 11)),
        ("a.yaml", "a\r\nb\r\nc\r\n", (0, 2)),
        ("a.yaml", f"{BOM}a\nb\n", (1,)),
        ("site/a b.yaml", "a\nb\n", (0,)),
        ('si"te/é\t\\.yaml', "a\nb\n", (1,)),
        ("a.yaml", "a\n\n\u2028b\x0bc\n--- a\n+++ b\n@@ -1 +1 @@\n", (2,)),
    ],
)
def test_patch_applies(
    tool: list[str], name: str, before: str, lines: tuple[int, ...], tmp_path: Path
) -> None:
    if shutil.which(tool[0]) is None:
        pytest.fail(f"this test needs '{tool[0]}'")
    file = tmp_path / name
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(before.encode())
    patch, after = patch_of(name, before, *lines)
    take(tool, tmp_path, patch)
    assert file.read_bytes() == after.encode()


@given(
    st.lists(st.sampled_from(["a", "b\r", "", "é", "-", "+x"]), min_size=1, max_size=25), st.data()
)
def test_every_line_of_a_hunk_is_a_line_of_the_file(rows: list[str], data: st.DataObject) -> None:
    ended = data.draw(st.booleans())
    before = "\n".join(rows) + ("\n" if ended or not rows[-1] else "")
    count = len(before.split("\n")) - before.endswith("\n")
    lines = data.draw(st.sets(st.integers(0, count - 1), min_size=1).map(sorted))
    patch, after = patch_of("a", before, *lines)
    body = patch.split("+++ b/a\n")[1]
    old = [line[1:] for line in body.split("\n") if line[:1] == "-"]
    new = [line[1:] for line in body.split("\n") if line[:1] == "+"]
    assert old == [before.split("\n")[line] for line in lines]
    assert new == [after.split("\n")[line] for line in lines]


def test_nothing_suggested_is_an_empty_patch() -> None:
    assert render_patch(MIXED, Context()) == ""
