"""``rackwright draw``: one drawing on stdout, several in a folder."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from cli_support import Ended, run_here
from rackwright.resources import bundled

FABRIC = str(bundled("policies") / "fixtures" / "fabric.yaml")
AWS = str(bundled("policies") / "fixtures" / "aws.yaml")


def run(folder: Path, *words: str) -> Ended:
    ended = run_here(folder, "draw", *words)
    ended.harmless()
    return ended


def test_one_drawing_is_written_to_stdout(tmp_path: Path) -> None:
    root = ET.fromstring(run(tmp_path, "power", FABRIC).out)
    assert root.tag.endswith("}svg")
    assert "c02" in run(tmp_path, "racks", FABRIC, "--name", "c02").out


def test_all_drawings_go_to_a_folder(tmp_path: Path) -> None:
    ended = run(tmp_path, "all", FABRIC, "--output", "out")
    assert ended.code == 0
    files = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert sorted(Path(line).name for line in ended.out.splitlines()) == files
    assert {"power-sjc1.svg", "cooling-sjc1.svg", "floor-sjc1-hall-1-power.svg"} <= set(files)
    assert all(ET.parse(tmp_path / "out" / name) is not None for name in files)


def test_headroom_asks_the_policies(tmp_path: Path) -> None:
    out = run(tmp_path, "floor", FABRIC, "--colour", "headroom").out
    assert "least headroom of a rack" in out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("racks", FABRIC, "--name", "z01"), "there is no rack 'z01' to draw"),
        (("power", FABRIC, "--lost", "ups-z"), "there is no power source 'ups-z' to draw"),
        (
            ("power", FABRIC, "--name", "x"),
            "--name has an effect on racks, rows, floor and fabric only",
        ),
        (("floor", FABRIC, "--lost", "x"), "--lost has an effect on power only"),
        (("racks", FABRIC), "drawings"),
        (("floor", AWS), "there is no part of a bare-metal site to draw"),
    ],
)
def test_bad_usage_is_told_in_words(tmp_path: Path, words: tuple[str, ...], message: str) -> None:
    run(tmp_path, *words).refused(message)
