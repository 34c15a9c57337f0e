"""No lock of the engine outlives its holder."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from rackwright.errors import ExternalToolError
from rackwright.provision.dead_locks import clear_dead_locks


def write_lock(backend: Path, **facts: object) -> Path:
    folder = backend / ".pulumi" / "locks" / "organization" / "project" / "stack"
    folder.mkdir(parents=True)
    path = folder / "one.json"
    path.write_text(json.dumps(facts))
    return path


def dead_pid() -> int:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def test_the_lock_of_a_dead_process_is_removed(tmp_path: Path) -> None:
    path = write_lock(tmp_path, pid=dead_pid(), hostname=socket.gethostname())
    assert clear_dead_locks(tmp_path, "project", "stack") == 1
    assert not path.exists()


def test_the_lock_of_a_living_process_stays(tmp_path: Path) -> None:
    path = write_lock(tmp_path, pid=os.getpid(), hostname=socket.gethostname())
    with pytest.raises(ExternalToolError, match="is being updated by process"):
        clear_dead_locks(tmp_path, "project", "stack")
    assert path.exists()


def test_the_lock_of_another_host_stays(tmp_path: Path) -> None:
    path = write_lock(tmp_path, pid=1, hostname="somewhere-else")
    with pytest.raises(ExternalToolError, match="somewhere-else"):
        clear_dead_locks(tmp_path, "project", "stack")
    assert path.exists()


def test_an_unreadable_lock_is_never_removed(tmp_path: Path) -> None:
    path = write_lock(tmp_path)
    path.write_text("{")
    with pytest.raises(ExternalToolError, match="cannot be read"):
        clear_dead_locks(tmp_path, "project", "stack")
    assert path.exists()


def test_no_locks_at_all(tmp_path: Path) -> None:
    assert clear_dead_locks(tmp_path, "project", "stack") == 0
