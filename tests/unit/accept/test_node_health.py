"""The health check of a node: each check on a sound and on a broken node, and what Slurm is told."""

from __future__ import annotations

import os
import stat
import threading
from pathlib import Path
from types import ModuleType

import pytest

from node_support import Node


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
    assert node.judge() == [
        "/scratch does not answer [file-system-silent]",
        f"{node.folder} does not answer",
    ]
    never.set()


def test_a_service_that_has_failed(node: Node) -> None:
    node.program("systemctl", "echo failed; exit 3")
    assert node.judge() == ["munge is failed"]


@pytest.mark.parametrize(
    ("number", "reasons"),
    [
        (79, ["Xid 79 (GPU has fallen off the bus)"]),
        (31, []),
        (95, ["Xid 95 (Uncontained memory error of a GPU)"]),
        (7, []),
    ],
)
def test_xid_errors(node: Node, number: int, reasons: list[str]) -> None:
    line = f"NVRM: Xid (PCI:0000:1b:00): {number}, pid=1, name=python"
    node.program("journalctl", f"echo 'kernel: {line}'")
    assert node.judge() == reasons


def test_xid_errors_from_before_a_repair_are_over(node: Node) -> None:
    """A GPU that was reset and not booted kept its Xid in the log, and its node was drained again."""
    node.settings["repaired"] = str(node.folder / "repaired")
    node.program("journalctl", f'echo "$@" >> {node.log}')
    assert node.judge() == []
    (node.folder / "repaired").write_text("1764230000\n")
    assert node.judge() == []
    assert [line.endswith("--since=@1764230000") for line in node.told] == [False, True]


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


def test_prolog_after_a_good_verdict_checks_what_is_quick_only(node: Node) -> None:
    assert node.run() == 0
    node.program("systemctl", f"echo systemctl >> {node.log}; exit 3")
    assert node.run("--prolog") == 0
    assert not node.told, "and speaks to no controller"


def test_prolog_without_a_fresh_good_verdict_checks_everything(node: Node) -> None:
    """A node that lost a GPU at run time went on taking jobs: its device file is there until the reboot."""
    assert node.run("--prolog") == 0
    node.program("systemctl", "echo failed; exit 3")
    assert node.run("--prolog") == 1, "there is no verdict"
    assert node.run() == 1
    assert node.run("--prolog") == 1, "the last one is bad"
    node.program("systemctl", "echo active")
    assert node.run("--prolog") == 0, "and the node has been repaired since"
    assert node.run() == 0
    node.program("systemctl", "echo failed; exit 3")
    assert node.run("--prolog") == 0
    node.settings["verdict_s"] = -1
    assert node.run("--prolog") == 1, "the good one is too old"


def test_prolog_sees_a_gpu_that_fell_off_the_bus_since_the_last_verdict(node: Node) -> None:
    assert node.run() == 0
    line = "NVRM: Xid (PCI:0000:5d:00): 79, pid=1, name=x, GPU has fallen off the bus."
    node.program("journalctl", f"echo 'kernel: {line}'")
    assert node.run("--prolog") == 1


@pytest.mark.skipif(os.geteuid() != 0, reason="device files need root")
def test_slurmd_starts_without_a_device_and_the_check_drains_the_node(node: Node) -> None:
    """slurmd ended with "can't stat gres.conf file /dev/nvidia1", and the node was down without a reason."""
    lost = node.folder / "nvidia1"
    lost.unlink()
    node.settings["devices"] = [str(node.folder / f"nvidia{number}") for number in range(2)]
    setattr(node.health, "DRIVER_S", 0)  # noqa: B010
    assert node.run("--start") == 0
    assert stat.S_ISCHR(lost.stat().st_mode)
    assert node.run() == 1
    assert any("1 of 2 accelerators" in line for line in node.told)


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
