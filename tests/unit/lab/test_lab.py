"""What the lab refuses, and the names it gives."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from rackwright.errors import ExternalToolError, UsageError
from rackwright_lab import lab as lab_module
from rackwright_lab import system
from rackwright_lab.lab import HostSpec, open_lab, up
from rackwright_lab.system import Process, check_machine, run, start, wait_for


@pytest.fixture(autouse=True)
def own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RACKWRIGHT_STATE", str(tmp_path / "state"))


def test_without_root_it_says_what_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(UsageError, match="needs root on Linux"):
        check_machine()


def test_missing_programs_are_named_with_their_packages(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UsageError, match="debootstrap") as caught:
        check_machine()
    assert caught.value.hint is not None
    assert "systemd-container" in caught.value.hint


@pytest.mark.parametrize("name", ["", "Lab", "a-b", "1a", "toolong1", "../x"])
def test_names_that_the_kernel_could_not_hold(name: str) -> None:
    with pytest.raises(UsageError, match="cannot name a lab"):
        open_lab(name)


@pytest.mark.parametrize(
    ("network", "message"),
    [("10.0.0.0/26", "too small"), ("10.0.0.1/24", "is no network"), ("x", "is no network")],
)
def test_networks_that_cannot_be_used(network: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        open_lab("lab", network)


def test_the_names_of_links_fit_into_the_kernel() -> None:
    lab = open_lab("abcdef")
    host = lab._host(63, HostSpec("gpu64"))
    assert len(lab.bridge) <= 15
    assert len(host.link) <= 15
    assert str(host.address) == "10.77.0.73/24"


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ([], "1 to 64 hosts"),
        ([HostSpec("a"), HostSpec("a")], "same name"),
        ([HostSpec(f"h{n}") for n in range(65)], "1 to 64 hosts"),
    ],
)
def test_hosts_that_make_no_lab(
    wanted: list[HostSpec], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(system, "PROGRAMS", {})
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    with pytest.raises(UsageError, match=message):
        up(open_lab(), wanted, lambda _: None)


def test_a_command_that_fails_says_why() -> None:
    with pytest.raises(ExternalToolError, match="no such place"):
        run("sh", "-c", "echo no such place >&2; exit 3")
    with pytest.raises(ExternalToolError, match="did not end within"):
        run("sleep", "60", timeout_s=0.1)


def test_a_process_is_known_by_its_start_too(tmp_path: Path) -> None:
    process = start(["sleep", "60"], log=tmp_path / "log", environment=os.environ)
    process.write(tmp_path / "p.json")
    assert Process.read(tmp_path / "p.json") == process
    assert process.alive
    assert not Process(process.pid, "another start").alive
    process.end(timeout_s=5)
    assert not process.alive


def test_a_process_that_will_not_end_is_killed(tmp_path: Path) -> None:
    deaf = "import signal,time; signal.signal(15, signal.SIG_IGN); print('deaf'); time.sleep(60)"
    log = tmp_path / "log"
    process = start([sys.executable, "-u", "-c", deaf], log=log, environment=os.environ)
    assert wait_for(lambda: "deaf" in log.read_text(), 120)
    process.end(timeout_s=0.2)
    assert not process.alive


def test_process_that_ended_at_once_is_not_listed() -> None:
    done = subprocess.Popen(["true"])
    done.wait()
    with pytest.raises(ExternalToolError, match="ended at once"):
        Process.of(done.pid)


def test_lines_that_a_role_added_to_etc_hosts_outlive_the_next_boot(tmp_path: Path) -> None:
    disk, base = tmp_path / "upper/etc", tmp_path / "base/etc"
    disk.mkdir(parents=True)
    base.mkdir(parents=True)
    (base / "hosts").write_text("127.0.0.1\tlocalhost\n::1\t\tlocalhost ip6-localhost\n")
    layers = (disk.parent, base.parent)
    first, moved = open_lab("a", "10.77.0.0/24"), open_lab("b", "10.78.0.0/24")
    host = HostSpec("gpu1")
    wanted = (
        "127.0.0.1 localhost # lab\n10.78.0.1 controller # lab\n10.78.0.10 gpu1 # lab\n"
        "0.0.0.0 any-address.invalid\n"
    )
    text = lab_module._host_names(first, [first._host(0, host)], layers)
    (disk / "hosts").write_text(text + "0.0.0.0 any-address.invalid\n")
    for _ in range(2):
        text = lab_module._host_names(moved, [moved._host(0, host)], layers)
        assert text == wanted
        (disk / "hosts").write_text(text)
