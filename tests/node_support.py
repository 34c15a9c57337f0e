"""A node made of files, with programs of its own, for the program that judges a node's health."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from rackwright.catalog.fault_signals import faults_of_node
from rackwright.catalog.fault_table import builtin_faults

PROGRAM = Path(__file__).parents[1] / "roles/health_check/files/node_health.py"
SCONTROL = """echo "$*" >> {log}
case "$*" in
--oneliner*) echo 'NodeName=gpu-1 Arch=x86_64 State={state} ThreadsPerCore=2{reason}';;
esac"""


def load_health() -> ModuleType:
    """The program as a module of its own, so that a test may change it."""
    spec = importlib.util.spec_from_file_location("node_health", PROGRAM)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Node:
    """A node made of files, with programs of its own."""

    def __init__(self, folder: Path, health: ModuleType, patch: pytest.MonkeyPatch) -> None:
        self.folder, self.health = folder, health
        self.log = folder / "scontrol.log"
        self.settings: dict[str, Any] = {
            "node": "gpu-1",
            "accelerators": 2,
            "device_pattern": f"{folder}/nvidia[0-9]*",
            "mountinfo": str(folder / "mountinfo"),
            "mounts": [{"path": "/scratch", "type": "lustre"}],
            "free": [{"path": str(folder), "percent": 0}],
            "services": ["munge"],
            "faults": faults_of_node(builtin_faults()),
            "verdict": str(folder / "verdict.json"),
        }
        for number in range(2):
            (folder / f"nvidia{number}").touch()
        self.mounts("36 1 0:9 / /scratch rw - lustre x rw")
        (folder / "bin").mkdir()
        patch.setattr(health, "PATHS", str(folder / "bin"))
        self.program("systemctl", "echo active")
        self.program("journalctl", "exit 1")
        self.in_slurm("IDLE")

    def mounts(self, line: str) -> None:
        (self.folder / "mountinfo").write_text(f"{line}\n")

    def program(self, name: str, text: str) -> None:
        path = self.folder / "bin" / name
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)

    def in_slurm(self, state: str, reason: str = "") -> None:
        said = f" Reason={reason} [root@2026-11-21T09:00:00]" if reason else ""
        self.program("scontrol", SCONTROL.format(log=self.log, state=state, reason=said))

    def judge(self) -> list[str]:
        found: list[str] = self.health.judge(self.settings, self.health.ALL)
        return found

    def run(self, *arguments: str) -> int:
        path = self.folder / "settings.json"
        path.write_text(json.dumps(self.settings))
        code: int = self.health.main(["--settings", str(path), *arguments])
        return code

    @property
    def told(self) -> list[str]:
        """What the controller was told, not what it was asked."""
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        return [line for line in lines if not line.startswith("--oneliner")]
