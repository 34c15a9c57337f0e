"""A state folder that is full, closed, damaged or of a newer version: a sentence with what to do."""

from __future__ import annotations

import errno
import os
import pickle
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from rackwright.ansible_runs.files import Workspace
from rackwright.ansible_runs.run import read_quarantine
from rackwright.cli import main
from rackwright.errors import RackwrightError, StateError
from rackwright.exit_codes import ExitCode
from rackwright.render.blueprints import find_template, write_blueprint
from rackwright.rollout import journal
from rackwright.rollout.journal import ProgressError
from rackwright.system_errors import system_fault
from rackwright_lab.embedded_aws import control
from rackwright_lab.lab import open_lab

DAMAGED = ("", "{", "\udcff", '{"schema": "rackwright.x/v9", "hosts": {}}', "[" * 100_000, "null")


def damage(path: Path, content: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode("utf-8", "surrogateescape"))


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "state"
    monkeypatch.setenv("RACKWRIGHT_STATE", str(folder))
    return folder


@pytest.fixture
def blueprint(tmp_path: Path, verb: str) -> str:
    template = find_template("lab" if verb == "configure" else "hybrid-h100")
    return str(write_blueprint(template, tmp_path / "site", {})[0])


VERBS = {
    "preview": ["--target", "local"],
    "up": ["--target", "local", "--yes"],
    "status": ["--target", "local"],
    "down": ["--target", "local", "--yes"],
    "hosts": ["--target", "local"],
    "configure": [],
    "verify": [],
}
"""Each verb that keeps something below the state folder, with what else it needs."""


def sentence(capsys: pytest.CaptureFixture[str]) -> str:
    """What was said, which is an error for people."""
    told = capsys.readouterr().err
    assert told.startswith("error: ") or "\nerror: " in told
    assert "  hint: " in told
    for word in ("Traceback", "Error", "Errno", "rackwright failed"):
        assert word not in told
    return told


@pytest.mark.parametrize("verb", VERBS)
def test_a_file_where_the_state_folder_should_be(
    verb: str, state: Path, blueprint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    state.touch()
    assert main([verb, blueprint, *VERBS[verb]]) == ExitCode.EXTERNAL
    told = sentence(capsys)
    assert f"'{state}" in told
    assert "not a directory" in told
    assert "set RACKWRIGHT_STATE" in told


@pytest.mark.parametrize("number", [errno.EROFS, errno.EACCES, errno.ENOSPC])
@pytest.mark.parametrize("verb", VERBS)
def test_a_state_folder_that_takes_nothing(
    verb: str,
    number: int,
    state: Path,
    blueprint: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(path: Path, *_: Any, **__: Any) -> None:
        raise OSError(number, os.strerror(number), str(path))

    monkeypatch.setattr(Path, "mkdir", refuse)
    assert main([verb, blueprint, *VERBS[verb]]) == ExitCode.EXTERNAL
    told = sentence(capsys)
    assert f"'{state}/" in told
    assert os.strerror(number).lower() in told
    wanted = "make room there" if number == errno.ENOSPC else "set RACKWRIGHT_STATE"
    assert wanted in told


def test_a_real_disk_that_is_full(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    words = ["mount", "-t", "tmpfs", "-o", "size=16k", "none", str(disk)]
    if os.geteuid() != 0 or subprocess.run(words, capture_output=True, check=False).returncode:
        pytest.skip("needs root and the right to mount")
    try:
        place = Workspace(disk)
        with pytest.raises(OSError, match="No space left") as told:
            journal.save(
                journal.RolloutProgress("c", "x" * 100_000, (), {}, ()),
                place.waves,
            )
        assert f"'{place.waves}' cannot be written" in system_fault(told.value).summary
        assert list(disk.iterdir()) == []
    finally:
        subprocess.run(["umount", str(disk)], check=True)


@pytest.mark.parametrize("content", DAMAGED[:-1])
def test_a_damaged_quarantine(tmp_path: Path, content: str) -> None:
    place = Workspace(tmp_path)
    damage(place.quarantine, content)
    with pytest.raises(StateError, match="is damaged, or a newer Rackwright") as told:
        read_quarantine(place)
    assert "configure every host" in str(told.value.hint)


@pytest.mark.parametrize("content", DAMAGED)
def test_a_damaged_record_of_waves(tmp_path: Path, content: str) -> None:
    place = Workspace(tmp_path)
    damage(place.waves, content)
    with pytest.raises(ProgressError, match="does not say how far") as told:
        journal.load(place.waves)
    assert "then remove the file" in str(told.value.hint)


@pytest.mark.parametrize("content", [*DAMAGED[:-1], '[{"name": "a"}]', "[1]"])
def test_damaged_hosts_of_a_lab(
    state: Path, content: str, capsys: pytest.CaptureFixture[str]
) -> None:
    damage(state / "lab/lab/hosts.json", content)
    assert main(["lab", "status"]) == ExitCode.EXTERNAL
    assert "hosts.json' is damaged" in sentence(capsys)


def test_a_damaged_network_of_a_lab(state: Path, capsys: pytest.CaptureFixture[str]) -> None:
    damage(state / "lab/lab/network", "\udcff")
    assert main(["lab", "status"]) == ExitCode.EXTERNAL
    assert "network' is damaged" in sentence(capsys)
    with pytest.raises(RackwrightError, match="'x' is no network"):
        open_lab("other", "x")


@pytest.mark.parametrize("content", [b"", b"\x80garbage", pickle.dumps((99, {}))])
def test_a_damaged_or_newer_state_of_the_embedded_aws(tmp_path: Path, content: bytes) -> None:
    folder = tmp_path / "embedded-aws"
    folder.mkdir()
    (folder / "state.pickle").write_bytes(content)
    with pytest.raises(RackwrightError) as told:
        control.start(folder)
    assert "state.pickle' is damaged, or a newer Rackwright has written it" in told.value.summary
    assert "provision again" in str(told.value.hint)
    assert "pulumi" in str(told.value.hint)


def test_a_process_that_cannot_be_found_again_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = []
    real = subprocess.Popen

    def begin(words: list[str], **options: Any) -> Any:
        begun.append(real([shutil.which("sleep") or "sleep", "600"], **options))
        return begun[-1]

    def full(path: Path, _: str) -> bool:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))

    monkeypatch.setattr(subprocess, "Popen", begin)
    monkeypatch.setattr(control, "write_changed", full)
    with pytest.raises(OSError, match="No space left"):
        control.start(tmp_path)
    (process,) = begun
    assert process.poll() is not None


def test_an_error_of_the_system_without_a_file_has_no_name_of_an_exception(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("rackwright.cli.commands.doctor.run", refuse)
    assert main(["doctor"]) == ExitCode.EXTERNAL
    assert "a file cannot be written: no space left on device" in sentence(capsys)


def test_a_killed_engine_is_told() -> None:
    automation = pytest.importorskip("pulumi.automation")
    from rackwright.provision.engine import Site, tool_error

    site = Site(Path("b.yaml"), (), "c", "s", "us-west-2")

    class Result:
        def __init__(self, text: str) -> None:
            self.text = text

        def __str__(self) -> str:
            return self.text

    error = automation.CommandError(Result("\n code: -9\n stdout: Updating\n stderr: \n"))
    told = tool_error("aws-network", site, "up", error)
    assert "something killed the engine (signal 9)" in told.summary
    assert "goes on where it stopped" in str(told.hint)
    silent = automation.CommandError(Result("\n code: 1\n stdout: \n stderr: \n"))
    assert "code: 1" in tool_error("aws-network", site, "up", silent).summary


def test_a_lack_of_capacity_is_told_with_what_was_tried_and_what_to_do() -> None:
    """In the words of AWS and of its provider, between others."""
    automation = pytest.importorskip("pulumi.automation")
    from rackwright.provision.engine import Site, tool_error

    tried = (
        "error: 1 error occurred: creating urn:…: waiting for Auto Scaling Group (c-s-train) capacity "
        "satisfied: timeout while waiting for state to become 'ok': Failed: We currently do not have "
        "sufficient p5.48xlarge capacity in the Availability Zone you requested (us-east-1a)."
    )
    text = f"code: 255\nstdout: Updating\n  {tried}\nerror: update failed\nstderr: \n"
    site = Site(Path("b.yaml"), (), "c", "s", "us-east-1")
    told = tool_error("aws-cluster", site, "up", automation.CommandError(text))
    assert "sufficient p5.48xlarge capacity in the Availability Zone" in told.summary
    assert "update failed" not in told.summary
    assert "another zone or another type" in str(told.hint)
    assert "'rackwright up' goes on where it stopped" in str(told.hint)


def test_a_checkpoint_that_was_cut_is_named_with_its_backup() -> None:
    """The words are those of Pulumi 3 with half of the file; it said to go on where it stopped."""
    automation = pytest.importorskip("pulumi.automation")
    from rackwright.provision.engine import Site, tool_error

    said = "error: failed to load checkpoint: place 1: unexpected end of JSON input"
    site = Site(Path("b.yaml"), (), "c", "s", "us-east-1")
    text = f"code: 255\nstdout: Updating\nstderr: {said}\n"
    told = tool_error("aws-cluster", site, "up", automation.CommandError(text))
    assert said in told.summary
    assert f"'.pulumi/stacks/aws-cluster/{site.stack}.json'" in str(told.hint)
    assert f"copy '{site.stack}.json.bak'" in str(told.hint)
    assert "goes on where it stopped" not in str(told.hint)
