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
from rackwright.provision.stack_locks import (
    FileStore,
    clear_dead_locks,
    clear_half_written,
    locked,
    named_locks,
    open_store,
    read_locks,
)


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
    assert clear_dead_locks(FileStore(tmp_path), "project", "stack") == 1
    assert not path.exists()


def test_attributes_that_a_killed_engine_left_empty_are_removed_and_states_stay(
    tmp_path: Path,
) -> None:
    states = tmp_path / ".pulumi/stacks/project"
    states.mkdir(parents=True)
    files = {
        tmp_path / ".pulumi/meta.yaml": "version: 1",
        tmp_path / ".pulumi/meta.yaml.attrs": "",
        states / "whole.json": "{}",
        states / "whole.json.attrs": '{"md5": ""}',
        states / "killed.json": "{}",
        states / "killed.json.attrs": "",
        tmp_path / ".pulumi/stacks/empty": "",
    }
    for path, text in files.items():
        path.write_text(text)
    assert clear_half_written(FileStore(tmp_path), "project") == 2
    gone = {tmp_path / ".pulumi/meta.yaml.attrs", states / "killed.json.attrs"}
    assert {path for path in files if not path.exists()} == gone
    assert clear_half_written(FileStore(tmp_path / "none"), "project") == 0


def test_the_lock_of_a_living_process_stays(tmp_path: Path) -> None:
    path = write_lock(tmp_path, pid=os.getpid(), hostname=socket.gethostname())
    with pytest.raises(
        ExternalToolError, match=rf"is being updated by .* \(process {os.getpid()}\)"
    ):
        clear_dead_locks(FileStore(tmp_path), "project", "stack")
    assert path.exists()


def test_the_lock_of_another_host_stays(tmp_path: Path) -> None:
    path = write_lock(tmp_path, pid=1, hostname="somewhere-else")
    with pytest.raises(ExternalToolError, match="somewhere-else"):
        clear_dead_locks(FileStore(tmp_path), "project", "stack")
    assert path.exists()


def test_an_unreadable_lock_is_never_removed(tmp_path: Path) -> None:
    path = write_lock(tmp_path)
    path.write_text("{")
    with pytest.raises(ExternalToolError, match="cannot be read"):
        clear_dead_locks(FileStore(tmp_path), "project", "stack")
    assert path.exists()


def test_no_locks_at_all(tmp_path: Path) -> None:
    assert clear_dead_locks(FileStore(tmp_path), "project", "stack") == 0


def test_lock_message_of_the_cli_is_parsed() -> None:
    said = (
        "error: the stack is currently locked by 1 lock(s). Either wait for the other process(es) to "
        "end or delete the lock file with `pulumi cancel`.\n"
        "  s3://state/.pulumi/locks/organization/p/s/1.json: created by ada@runner-7 (pid 12) at "
        "2026-11-23T10:00:00Z\n"
    )
    (lock,) = named_locks(said)
    assert str(lock) == "ada@runner-7 (process 12) since 2026-11-23T10:00:00Z"
    assert "by ada@runner-7" in str(locked("p/s", (lock,)))
    assert named_locks("[409] Conflict: Another update is currently in progress.") == ()
    assert "stack 'p/s' is being updated\n" in f"{locked('p/s', ())}"


def test_an_odd_process_is_no_traceback(tmp_path: Path) -> None:
    path = write_lock(tmp_path, pid=2**80, hostname=socket.gethostname())
    assert clear_dead_locks(FileStore(tmp_path), "project", "stack") == 1
    for pid in ("many", None, [1]):
        path.write_text(json.dumps({"pid": pid, "hostname": socket.gethostname()}))
        with pytest.raises(ExternalToolError, match="cannot be read"):
            clear_dead_locks(FileStore(tmp_path), "project", "stack")


def test_a_backend_of_another_cloud_is_not_looked_into() -> None:
    assert open_store("gs://state") is None
    assert open_store("https://api.pulumi.com") is None
    assert open_store(None) is None


def test_locks_in_a_bucket_are_read_and_removed(monkeypatch: pytest.MonkeyPatch) -> None:
    import boto3
    from moto import mock_aws

    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
    with mock_aws():
        s3 = boto3.client("s3", region_name="us-east-1")
        s3.create_bucket(Bucket="state")
        held = {"pid": 12, "username": "ada", "hostname": "runner-7", "timestamp": "then"}
        below = "team/a/.pulumi/locks/organization/project"
        for key in ("stack/1.json", "stack/2.json", "stacks/3.json"):
            s3.put_object(Bucket="state", Key=f"{below}/{key}", Body=json.dumps(held).encode())
        store = open_store("s3://state/team/a?region=us-east-1")
        assert store is not None
        locks = read_locks(store, "project", "stack")
        assert [lock.name for lock in locks] == [f"{below}/stack/{n}.json" for n in (1, 2)]
        assert str(locks[0]) == "ada@runner-7 (process 12) since then"
        store.remove(locks[0].name)
        assert [lock.name for lock in read_locks(store, "project", "stack")] == [locks[1].name]
        assert store.read(locks[0].name) is None
        gone = open_store("s3://nobody-has-it?region=us-east-1")
        assert gone is not None
        with pytest.raises(ExternalToolError, match=r"cannot be listed.*NoSuchBucket"):
            read_locks(gone, "project", "stack")
