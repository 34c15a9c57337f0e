"""The health check of a node: each check on a sound and on a broken node, and what Slurm is told."""

from __future__ import annotations

import importlib.util
import json
import threading
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

PROGRAM = Path(__file__).parents[3] / "roles/health_check/files/node_health.py"
SCONTROL = """echo "$*" >> {log}
case "$*" in
--oneliner*) echo 'NodeName=gpu-1 Arch=x86_64 State={state} ThreadsPerCore=2{reason}';;
esac"""


@pytest.fixture
def health() -> ModuleType:
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
            "xids": [79, 95],
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


@pytest.fixture
def node(tmp_path: Path, health: ModuleType, monkeypatch: pytest.MonkeyPatch) -> Node:
    return Node(tmp_path, health, monkeypatch)


def test_a_node_as_it_is_meant_is_healthy(node: Node) -> None:
    assert node.judge() == []
    assert node.run() == 0
    assert not node.log.exists(), "nobody is asked about a healthy node"


def test_a_missing_accelerator(node: Node) -> None:
    (node.folder / "nvidia1").unlink()
    assert node.judge() == ["1 of 2 accelerators"]


def test_an_accelerator_too_many(node: Node) -> None:
    (node.folder / "nvidia2").touch()
    assert node.judge() == ["3 of 2 accelerators"]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("36 1 0:9 / /other rw - lustre x rw", "/scratch is not mounted"),
        ("36 1 0:9 / /scratch rw - nfs4 x rw", "/scratch is nfs4, not lustre"),
        ("36 1 0:9 / /scratch ro,noatime - lustre x ro", "/scratch is read-only"),
    ],
)
def test_a_mount_that_is_not_as_meant(node: Node, line: str, reason: str) -> None:
    node.mounts(line)
    assert node.judge() == [reason]


def test_too_little_free_space(node: Node) -> None:
    node.settings["free"] = [{"path": str(node.folder), "percent": 99.99}]
    (reason,) = node.judge()
    assert "less than 99.99 %" in reason


def test_a_file_system_that_does_not_answer(
    node: Node, health: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    never = threading.Event()

    def hang(path: str) -> None:
        never.wait()
        raise OSError

    monkeypatch.setattr(health, "STAT_S", 0.05)
    monkeypatch.setattr(health.os, "statvfs", hang)
    assert node.judge() == [f"{node.folder} does not answer"]
    never.set()


def test_a_service_that_has_failed(node: Node) -> None:
    node.program("systemctl", "echo failed; exit 3")
    assert node.judge() == ["munge is failed"]


@pytest.mark.parametrize(
    ("number", "reasons"), [(79, ["Xid 79"]), (31, []), (95, ["Xid 95"]), (7, [])]
)
def test_xid_errors(node: Node, number: int, reasons: list[str]) -> None:
    line = f"NVRM: Xid (PCI:0000:1b:00): {number}, pid=1, name=python"
    node.program("journalctl", f"echo 'kernel: {line}'")
    assert node.judge() == reasons


def test_messages_that_cannot_be_read_are_no_good_sign(node: Node) -> None:
    node.program("journalctl", "exit 2")
    assert node.judge() == ["the kernel's messages cannot be read"]


def test_a_check_that_fails_itself_is_a_reason(node: Node) -> None:
    (node.folder / "mountinfo").unlink()
    (reason,) = node.judge()
    assert reason.startswith("check_mounts: ")


def test_an_unhealthy_node_is_drained_with_every_reason(node: Node) -> None:
    (node.folder / "nvidia1").unlink()
    node.program("systemctl", "echo inactive; exit 3")
    assert node.run() == 1
    assert node.told == [
        "update NodeName=gpu-1 State=DRAIN Reason=node health: 1 of 2 accelerators; munge is inactive"
    ]


@pytest.mark.parametrize("flag", ["--prolog", "--print"])
def test_a_prolog_speaks_to_nobody(
    node: Node, flag: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (node.folder / "nvidia1").unlink()
    assert node.run(flag) == 1
    assert capsys.readouterr().out == "1 of 2 accelerators\n"
    assert not node.log.exists()


def test_a_prolog_judges_what_is_quick_only(node: Node) -> None:
    for name in ("systemctl", "journalctl"):
        node.program(name, f"echo {name} >> {node.log}; exit 3")
    assert node.run("--prolog") == 0
    assert not node.log.exists()


@pytest.mark.parametrize(
    ("state", "reason", "tells"),
    [
        ("IDLE+DRAIN", "Prolog error", True),
        ("IDLE+DRAIN", "node health: 1 of 2 accelerators", False),
        ("IDLE+DRAIN", "node health: something else", True),
        ("IDLE+DRAIN", "memory is exchanged on Monday", False),
        ("MIXED", "", True),
        ("DOWN*", "Not responding", True),
    ],
)
def test_the_reason_of_somebody_else_is_kept(
    node: Node, state: str, reason: str, *, tells: bool
) -> None:
    node.in_slurm(state, reason)
    (node.folder / "nvidia1").unlink()
    assert node.run() == 1
    assert bool(node.told) is tells


def test_a_drained_node_that_is_healthy_again_is_not_taken_back(node: Node) -> None:
    node.in_slurm("IDLE+DRAIN", "node health: 1 of 2 accelerators")
    assert node.run() == 0
    assert node.told == []


def test_a_controller_that_does_not_answer(node: Node, capsys: pytest.CaptureFixture[str]) -> None:
    (node.folder / "nvidia1").unlink()
    node.program("scontrol", "echo 'Unable to contact slurm controller'; exit 1")
    assert node.run() == 1
    assert "Unable to contact" in capsys.readouterr().err


@pytest.mark.parametrize("text", [None, "", "{"])
def test_without_settings_nothing_is_said_about_the_node(
    health: ModuleType, tmp_path: Path, text: str | None
) -> None:
    path = tmp_path / "settings.json"
    if text is not None:
        path.write_text(text)
    assert health.main(["--settings", str(path)]) == 2
