"""slurmctld waits for its slurmdbd when it starts: which it waits for, and how long."""

from __future__ import annotations

import importlib.util
import socket
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

PROGRAM = Path(__file__).parents[3] / "roles/slurm_controller/files/await_slurmdbd.py"


@pytest.fixture
def program(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    spec = importlib.util.spec_from_file_location("await_slurmdbd", PROGRAM)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "PAUSE_S", 0.0)
    return module


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as made:
        yield made


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("ClusterName=c\n", []),
        ("#AccountingStorageHost=old\nAccountingStorageHost=db-1\n", [("db-1", 6819)]),
        (
            "accountingstoragehost = db-1 # first\nAccountingStorageBackupHost=db-2\n",
            [("db-1", 6819), ("db-2", 6819)],
        ),
        ("AccountingStoragePort=7000\nAccountingStorageHost=10.0.0.1\n", [("10.0.0.1", 7000)]),
    ],
)
def test_hosts_and_port_are_those_of_slurm_conf(
    program: ModuleType, text: str, named: list[tuple[str, int]]
) -> None:
    assert program.addresses(text) == named


def test_one_that_answers_later_is_waited_for(
    program: ModuleType, listener: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The port is there from the third question on."""
    asked: list[object] = []
    real = program.answers

    def from_the_third_on(address: object) -> bool:
        asked.append(address)
        return len(asked) > 2 and bool(real(address))

    monkeypatch.setattr(program, "answers", from_the_third_on)
    assert program.wait([listener.getsockname()], 60.0)
    assert len(asked) == 3


def test_the_backup_alone_is_enough(
    program: ModuleType, listener: socket.socket, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    port = listener.getsockname()[1]
    file = tmp_path / "slurm.conf"
    file.write_text(
        f"AccountingStorageHost=nowhere.invalid\nAccountingStorageBackupHost=127.0.0.1\n"
        f"AccountingStoragePort={port}\n"
    )
    assert program.main([str(file)]) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("host", ["127.0.0.1", "nowhere.invalid", "a" * 80 + ".b", "."])
def test_slurmctld_starts_when_none_has_answered_in_time(
    program: ModuleType,
    host: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(program, "LONGEST_S", 0.0)
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    file = tmp_path / "slurm.conf"
    file.write_text(f"AccountingStorageHost={host}\nAccountingStoragePort={port}\n")
    assert program.main([str(file)]) == 1
    assert f"no slurmdbd answered at {host}:{port} within" in capsys.readouterr().err


def test_without_accounting_there_is_nothing_to_wait_for(
    program: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "slurm.conf"
    file.write_text("ClusterName=c\n")
    monkeypatch.setattr(program, "wait", pytest.fail)
    assert program.main([str(file)]) == 0


def test_a_slurm_conf_that_is_not_there_is_said(
    program: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert program.main([str(tmp_path / "slurm.conf")]) == 1
    assert capsys.readouterr().err.endswith("slurm.conf: No such file or directory\n")
