"""A secret is whole or not there, whoever is killed and whoever else makes it."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from rackwright.ansible_runs.files import Workspace, prepare
from rackwright.errors import StateError
from rackwright.plan.load import load_plan
from rackwright.plan.model import Plan
from rackwright.provision.targets import passphrase_file
from rackwright.render.blueprints import find_template, write_blueprint
from rackwright.secret_files import Secret, keep_secret, write_secret
from rackwright_lab import lab as labs

LEAST = Secret("the key", least=4, remedy="remove it")


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> Plan:
    folder = tmp_path_factory.mktemp("blueprint")
    return load_plan(write_blueprint(find_template("lab"), folder, {})[0]).plan


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o7777


def test_a_secret_is_made_once_and_for_its_owner_only(tmp_path: Path) -> None:
    path = tmp_path / "new" / "key"
    assert keep_secret(path, lambda: b"first", LEAST) == path
    keep_secret(path, lambda: b"second", LEAST)
    assert path.read_bytes() == b"first"
    assert (mode(path), mode(path.parent)) == (0o600, 0o700)
    assert [one.name for one in path.parent.iterdir()] == ["key"]


@pytest.mark.parametrize("moment", ["fsync", "link"])
def test_killed_writer_leaves_no_secret(tmp_path: Path, moment: str) -> None:
    code = (
        "import os, signal, sys, pathlib\n"
        f"os.{moment} = lambda *_: os.kill(os.getpid(), signal.SIGKILL)\n"
        "from rackwright.secret_files import Secret, keep_secret\n"
        "secret = Secret('the key', least=4, remedy='')\n"
        "keep_secret(pathlib.Path(sys.argv[1]), lambda: b'first', secret)\n"
    )
    path = tmp_path / "key"
    died = subprocess.run([sys.executable, "-c", code, str(path)], check=False)
    assert died.returncode == -signal.SIGKILL
    assert not path.exists()
    assert {mode(left) for left in tmp_path.iterdir()} == {0o600}
    keep_secret(path, lambda: b"second", LEAST)
    assert path.read_bytes() == b"second"


def test_a_full_disk_leaves_no_secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left") as told:
        keep_secret(tmp_path / "key", lambda: b"first", LEAST)
    assert told.value.filename == str(tmp_path / "key"), "it says which file"
    assert list(tmp_path.iterdir()) == []


def test_all_who_make_a_secret_at_once_use_the_same(tmp_path: Path) -> None:
    path, start, seen = tmp_path / "key", threading.Barrier(8), []

    def make(number: int) -> None:
        start.wait()
        seen.append(keep_secret(path, lambda: b"secret %d" % number, LEAST).read_bytes())

    threads = [threading.Thread(target=make, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(seen) == {path.read_bytes()}
    assert len(seen) == 8
    assert [one.name for one in tmp_path.iterdir()] == ["key"]


def test_second_writer_does_not_overwrite(tmp_path: Path) -> None:
    path = tmp_path / "key"

    def slow() -> bytes:
        path.write_bytes(b"theirs")  # another maker, while this one still makes
        return b"ours"

    assert keep_secret(path, slow, LEAST).read_bytes() == b"theirs"


def test_a_file_system_without_links_will_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unknown(*_: object) -> None:
        raise OSError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr(os, "link", unknown)
    assert keep_secret(tmp_path / "key", lambda: b"first", LEAST).read_bytes() == b"first"
    assert keep_secret(tmp_path / "key", lambda: b"second", LEAST).read_bytes() == b"first"


@pytest.mark.parametrize("content", [b"", b"abc", b" \n\n\n\n"])
def test_a_short_secret_is_refused_with_what_to_do(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "key"
    path.write_bytes(content)
    with pytest.raises(StateError) as told:
        keep_secret(path, lambda: b"first", LEAST)
    assert str(told.value).startswith(f"the key in '{path}' is ")
    assert "hint: remove it" in str(told.value)
    assert path.read_bytes() == content


def test_a_short_secret_that_nobody_uses_is_made_anew(tmp_path: Path) -> None:
    path = tmp_path / "key"
    path.write_bytes(b"")
    assert keep_secret(path, lambda: b"first", LEAST, in_use=False).read_bytes() == b"first"
    assert keep_secret(path, lambda: b"second", LEAST, in_use=False).read_bytes() == b"first"


def test_a_secret_that_others_can_read_is_closed_again(tmp_path: Path) -> None:
    path = tmp_path / "key"
    path.write_bytes(b"first")
    path.chmod(0o644)
    keep_secret(path, lambda: b"second", LEAST)
    assert mode(path) == 0o600


def test_a_secret_that_is_no_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "key").mkdir()
    with pytest.raises(StateError, match="is no file"):
        keep_secret(tmp_path / "key", lambda: b"first", LEAST)


def test_a_secret_is_replaced_at_once(tmp_path: Path) -> None:
    path = tmp_path / "key"
    path.write_bytes(b"first")
    with path.open("rb") as reader:
        write_secret(path, b"second")
        assert reader.read() == b"first"
    assert (path.read_bytes(), mode(path)) == (b"second", 0o600)


def test_an_empty_passphrase_is_made_anew_before_there_is_a_stack(tmp_path: Path) -> None:
    (tmp_path / "passphrase").touch()
    assert len(passphrase_file(tmp_path).read_text()) == 43


def test_an_empty_passphrase_of_stacks_is_refused(tmp_path: Path) -> None:
    (tmp_path / "passphrase").touch()
    stack = tmp_path / "pulumi/.pulumi/stacks/aws-network/a.json"
    stack.parent.mkdir(parents=True)
    stack.write_text("{}")
    with pytest.raises(StateError, match=r"the passphrase of the stacks in .* is empty") as told:
        passphrase_file(tmp_path)
    assert f"remove '{tmp_path}'" in str(told.value.hint)


def test_an_empty_munge_key_is_made_anew_before_any_host_has_it(plan: Plan, tmp_path: Path) -> None:
    place = Workspace(tmp_path)
    place.munge_key.parent.mkdir()
    place.munge_key.touch()
    prepare(plan, place)
    assert place.munge_key.stat().st_size == 1024


def test_an_empty_munge_key_of_a_cluster_is_refused(plan: Plan, tmp_path: Path) -> None:
    place = Workspace(tmp_path)
    prepare(plan, place)
    place.munge_key.write_bytes(b"")
    with pytest.raises(StateError, match=r"the MUNGE key in .* is empty") as told:
        prepare(plan, place)
    assert "/etc/munge/munge.key" in str(told.value.hint)


def test_a_key_of_ssh_that_a_killed_run_began_is_made_anew(tmp_path: Path) -> None:
    key = tmp_path / "id_ed25519"
    key.touch()
    labs.make_key(key, "lab x", in_use=False)
    assert b"OPENSSH PRIVATE KEY" in key.read_bytes()
    assert key.with_suffix(".pub").read_text().endswith("lab x\n")
    assert mode(key) == 0o600
    assert sorted(path.name for path in tmp_path.iterdir()) == ["id_ed25519", "id_ed25519.pub"]


def test_a_key_of_ssh_without_its_public_part_is_refused_while_hosts_have_it(
    tmp_path: Path,
) -> None:
    key = tmp_path / "id_ed25519"
    labs.make_key(key, "lab x", in_use=False)
    key.write_bytes(b"")
    with pytest.raises(StateError, match="is empty") as told:
        labs.make_key(key, "lab x", in_use=True)
    assert "rackwright lab down" in str(told.value.hint)
