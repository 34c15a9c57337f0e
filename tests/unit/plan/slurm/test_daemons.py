"""Controllers and databases that no host can run are refused by whatever reads the blueprint."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from rackwright.cli import main
from rackwright.policy.packs.loader import builtin_pack

FIXTURE = builtin_pack() / "fixtures/slurm.yaml"


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"controllers": [{"host": "haed-1"}]}, "there is no host 'haed-1'"),
        ({"sites": ["sjc2"]}, "there is no site 'sjc2'"),
        ({"controllers": [{"host": "dgx-65"}]}, "there is no host 'dgx-65'"),
        ({"accounting": {"host": "db-1"}}, "there is no host 'db-1'"),
        (
            {"accounting": {"host": "head-1", "backup": "head-2"}},
            "scheduler.accounting.backup: slurmdbd on 'head-2' would have a database of its own",
        ),
        (
            {"accounting": {"host": "dbd-1", "address": "192.0.2.7", "backup": "head-2"}},
            "slurmdbd on 'head-2' would have a database of its own",
        ),
    ],
)
def test_a_daemon_that_no_host_can_run(
    said: dict[str, Any], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    layer = tmp_path / "layer.yaml"
    layer.write_text(yaml.safe_dump({"scheduler": said}))
    assert main(["check", str(FIXTURE), "--layer", str(layer)]) == 2
    assert message in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize(
    "said",
    [
        {"controllers": [{"host": "haed-1", "address": "192.0.2.1"}]},
        {"accounting": {"host": "dbd-1", "address": "192.0.2.7", "backup": "dbd-2"}},
        {"accounting": {"host": "head-2"}},
    ],
)
def test_a_daemon_elsewhere_or_alone(
    said: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    layer = tmp_path / "layer.yaml"
    layer.write_text(yaml.safe_dump({"scheduler": said}))
    assert main(["check", str(FIXTURE), "--layer", str(layer)]) != 2, capsys.readouterr().err
