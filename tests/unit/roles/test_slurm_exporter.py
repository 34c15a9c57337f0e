"""The program of the role slurm_exporter, on what a real controller has written."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

PROGRAM = Path(__file__).parents[3] / "roles/slurm_exporter/files/slurm_exporter.py"
RECORDED = Path(__file__).parent / "recorded"


@pytest.fixture(scope="module")
def exporter() -> ModuleType:
    spec = importlib.util.spec_from_file_location("slurm_exporter", PROGRAM)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["slurm_exporter"] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def slurm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Commands of Slurm that repeat what was recorded."""
    for name in ("sinfo", "squeue"):
        program = tmp_path / "bin" / name
        program.parent.mkdir(exist_ok=True)
        program.write_text(f"#!/bin/sh\nexec /bin/cat '{RECORDED / name}.txt'\n")
        program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    return tmp_path


def series(text: str) -> dict[str, float]:
    """The measurements by name and labels."""
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    return {line.rpartition(" ")[0]: float(line.rpartition(" ")[2]) for line in lines}


def test_answer_of_a_controller_becomes_metrics(exporter: ModuleType, slurm: Path) -> None:
    """Slurm 22.05: gpu-1 runs a job with 3 of its GPUs, gpu-2 is drained, two tasks wait."""
    file = slurm / "slurm.prom"
    assert exporter.main([str(file)]) == 0
    found = series(file.read_text())
    assert {name: value for name, value in found.items() if value} == {
        "slurm_up": 1,
        'slurm_nodes{state="mixed"}': 1,
        'slurm_nodes{state="drained"}': 1,
        'slurm_jobs{state="running"}': 1,
        'slurm_jobs{state="pending"}': 2,
        "slurm_gpus_total": 16,
        "slurm_gpus_usable": 8,
        "slurm_gpus_allocated": 3,
        'slurm_node_drained{node="gpu-2"}': 1,
    }
    assert found['slurm_nodes{state="down"}'] == 0, "a state that no node is in is zero, not absent"


@pytest.mark.parametrize(
    ("gres", "count"),
    [
        ("(null)", 0),
        ("gpu:8", 8),
        ("gpu", 1),
        ("gpu:h100:8(S:0-1)", 8),
        ("gpu:1g.10gb:7(S:0)", 7),
        ("gpu:h100:3(IDX:0,2-3)", 3),
        ("nic:2,gpu:a:4(S:0,1),gpu:b:2,gpus:9", 6),
        ("gpu:(null):0(IDX:N/A)", 0),
    ],
)
def test_gpus_are_counted_in_every_form_of_gres(
    exporter: ModuleType, gres: str, count: int
) -> None:
    assert exporter.count_gpus(gres) == count


@pytest.mark.parametrize(
    ("state", "plain", "usable"),
    [
        ("idle", "idle", True),
        ("idle~", "idle", True),
        ("mixed-", "mixed", True),
        ("allocated+", "allocated", True),
        ("idle*", "idle", False),
        ("down*", "down", False),
        ("draining", "draining", False),
        ("drained*", "drained", False),
        ("maint", "maint", False),
    ],
)
def test_marks_of_a_state_are_understood(
    exporter: ModuleType, state: str, plain: str, usable: bool
) -> None:
    (node,) = exporter.parse_nodes(f"gpu-1  {state}  gpu:h100:8  gpu:h100:0\n")
    assert (node.state, node.is_usable) == (plain, usable)


def test_a_node_of_two_partitions_counts_once(exporter: ModuleType) -> None:
    line = "gpu-1 mixed gpu:h100:8(S:0-1) gpu:h100:3(IDX:0-2)\n"
    found = series(exporter.render(exporter.parse_nodes(line * 2), {}))
    assert found["slurm_gpus_total"] == 8
    assert found["slurm_gpus_allocated"] == 3
    assert found['slurm_nodes{state="mixed"}'] == 1
    assert found['slurm_nodes{state="down"}'] == 0


def test_another_form_of_output_is_refused(exporter: ModuleType) -> None:
    with pytest.raises(ValueError, match="wanted four fields"):
        exporter.parse_nodes("gpu-1 idle gpu:8\n")
    with pytest.raises(ValueError, match="invalid literal"):
        exporter.parse_nodes("gpu-1 idle gpu:h100 gpu:0\n")


def test_labels_are_escaped(exporter: ModuleType) -> None:
    found = exporter.render([exporter.Node('a"\\b', "drained", True, 8, 0)], {})
    assert r'slurm_node_drained{node="a\"\\b"} 1' in found


def test_the_file_is_replaced_in_one_step(exporter: ModuleType, slurm: Path) -> None:
    file = slurm / "slurm.prom"
    file.write_text("old\n")
    before = file.stat().st_ino
    assert exporter.main([str(file)]) == 0
    assert file.stat().st_ino != before, "another file took its place"
    assert file.stat().st_mode & 0o777 == 0o644
    assert sorted(path.name for path in slurm.iterdir()) == ["bin", "slurm.prom"]


def test_silence_of_the_controller_leaves_no_old_values(
    exporter: ModuleType, slurm: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = slurm / "slurm.prom"
    assert exporter.main([str(file)]) == 0
    (slurm / "bin/squeue").write_text("#!/bin/sh\necho 'slurm_load_jobs error' >&2\nexit 1\n")
    assert exporter.main([str(file)]) == 1
    assert series(file.read_text()) == {"slurm_up": 0}
    assert "slurm_load_jobs error" in capsys.readouterr().err
    (slurm / "bin/sinfo").unlink()
    assert exporter.main([str(file)]) == 1
    assert series(file.read_text()) == {"slurm_up": 0}


def test_the_program_runs_by_itself(slurm: Path) -> None:
    command: list[str | Path] = [sys.executable, PROGRAM, slurm / "slurm.prom"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
