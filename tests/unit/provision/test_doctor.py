from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from cli_support import run_here
from rackwright.extras import install_hint
from rackwright.provision.doctor import PURPOSES, Check, run_doctor
from rackwright.provision.tools import aws_provider
from rackwright.provision.tools.find import built_shelf
from rackwright.provision.tools.folder import AWS_PROVIDER, Shelf


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine with an empty PATH, home, cache and state."""
    (tmp_path / "path").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "path"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("RACKWRIGHT_TOOLS_DIR", str(tmp_path / "tools"))
    monkeypatch.setenv("RACKWRIGHT_STATE", str(tmp_path / "state"))
    monkeypatch.delenv("PULUMI_HOME", raising=False)
    return tmp_path


def script(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def install(shelf: Shelf, prepared: Path, names: dict[str, str]) -> None:
    for name, text in names.items():
        script(prepared / name, text)
    shelf.put(prepared, version="3.259.0")


def check(name: str) -> Check:
    """Return a check by its name, without its purpose."""
    (found,) = (check for check in run_doctor() if check.name == name)
    return replace(found, purpose="check")


def test_machine_that_only_checks_is_healthy_without_pulumi(machine: Path) -> None:
    """It ended with 4 on premises, for lack of a program that only AWS needs."""
    assert run_here(machine, "doctor").code == 0
    ended = run_here(machine, "doctor", "check")
    assert (ended.code, ended.out.partition("\n")[0]) == (
        0,
        "check: check, draw and render blueprints: ready",
    )
    assert "pulumi" not in ended.out
    asked = run_here(machine, "doctor", "aws")
    assert asked.code == 4
    assert "aws: provision AWS: not ready\n" in asked.out
    assert "fix: rackwright tools install\n" in asked.out
    run_here(machine, "doctor", "asw").refused("'asw' is not a purpose", "did you mean 'aws'?")


@pytest.mark.parametrize(("extra", "module"), [("design", "ortools"), ("workbook", "openpyxl")])
def test_package_that_a_purpose_lacks_is_named_with_its_extra(
    machine: Path, monkeypatch: pytest.MonkeyPatch, extra: str, module: str
) -> None:
    there = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == module else there(name)
    )
    found = check(module)
    assert (found.status, found.fix) == ("fail", install_hint(extra))


def test_every_purpose_has_checks_of_its_own() -> None:
    checks = run_doctor()
    assert list(dict.fromkeys(found.purpose for found in checks)) == list(PURPOSES)
    (local,) = {found.purpose for found in run_doctor(["local"])} - {"aws"}
    assert local == "local"


def test_names_are_unique_and_every_complaint_has_a_fix(machine: Path) -> None:
    checks = run_doctor()
    assert len({found.name for found in checks}) == len(checks)
    for found in checks:
        assert found.detail
        assert (found.fix is None) == (found.status == "ok"), found


def test_nothing_is_created(machine: Path) -> None:
    run_doctor()
    assert sorted(path.name for path in machine.iterdir()) == ["path"]


def test_connects_to_nothing_and_imports_no_engine(machine: Path) -> None:
    program = """
import sys

def refuse(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.sendto"):
        raise RuntimeError(f"{event} {arguments}")

sys.addaudithook(refuse)
from rackwright.provision.doctor import run_doctor
run_doctor()
sys.exit(", ".join({"pulumi", "moto", "boto3", "ansible"} & set(sys.modules)) or 0)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_python_and_package(machine: Path) -> None:
    assert check("python").status == "ok"
    assert sys.executable in check("python").detail
    assert check("rackwright").detail.endswith(("editable", "wheel", "installed"))


def test_missing_pulumi_fails(machine: Path) -> None:
    found = check("pulumi")
    assert (found.status, found.detail) == ("fail", "not installed")
    assert found.fix == "rackwright tools install"
    assert check("language host").status == "warn"


def test_unsupported_pulumi_is_named(machine: Path) -> None:
    path = script(machine / "path" / "pulumi", "echo v3.100.0")
    found = check("pulumi")
    assert found.status == "fail"
    assert f"{path} answers 3.100.0" in found.detail
    script(path, "exit 1")
    assert f"{path} answers no version" in check("pulumi").detail


def test_pulumi_on_path(machine: Path) -> None:
    path = script(machine / "path" / "pulumi", "echo v3.260.0")
    found = check("pulumi")
    assert (found.status, found.detail) == ("ok", f"3.260.0 (PATH) at {path}")
    assert check("language host").status == "warn"
    host = script(machine / "path" / "pulumi-language-python", "")
    assert check("language host") == Check("language host", "ok", str(host))


def test_checksums(machine: Path) -> None:
    assert check("installed tools").detail == f"none in {machine / 'tools'}"
    shelf = built_shelf()
    install(shelf, machine / "new", {"pulumi": "echo one", "pulumi-language-python": ""})
    assert check("installed tools").detail.startswith("2 in ")
    assert check("pulumi").detail.startswith("3.259.0 (tools)")

    script(shelf.bin / "pulumi", "echo two")
    found = check("installed tools")
    assert found.status == "fail"
    assert found.detail == f"not as installed in {shelf.bin}: pulumi"
    assert found.fix == f"delete {shelf.folder}, then rackwright tools install"

    (shelf.bin / "pulumi-language-python").unlink()
    assert check("installed tools").detail.endswith(": pulumi, pulumi-language-python")


def test_damaged_aws_provider_names_its_own_installation(machine: Path) -> None:
    shelf = aws_provider.recipe().shelf(machine / "tools")
    install(shelf, machine / "new", {shelf.name: "echo one"})
    assert check("installed tools").detail.startswith("1 in ")
    script(shelf.bin / shelf.name, "echo two")
    found = check("installed tools")
    assert found.status == "fail"
    assert found.fix == f"delete {shelf.folder}, then rackwright tools install aws-provider"


def test_go_is_needed_only_without_pulumi(machine: Path) -> None:
    assert check("go").status == "warn"
    script(machine / "path" / "pulumi", "echo v3.260.0")
    assert check("go").status == "ok"
    (machine / "path" / "pulumi").unlink()
    go = script(machine / "path" / "go", "")
    assert check("go") == Check("go", "ok", str(go))


def test_the_aws_plugin_is_built_where_the_vendors_is_not_there(machine: Path) -> None:
    found = check("aws plugin")
    assert found.status == "fail"
    assert "'--target local' needs it" in found.detail
    assert found.fix == "rackwright tools install aws-provider"
    shelf = aws_provider.recipe().shelf(machine / "tools")
    install(shelf, machine / "new", {AWS_PROVIDER: "echo one"})
    built = Check("aws plugin", "ok", str(shelf.bin / AWS_PROVIDER))
    assert check("aws plugin") == built
    script(machine / "home/.pulumi/plugins/resource-aws-v7.0.0" / AWS_PROVIDER, "")
    assert check("aws plugin") == built, "of another version than the programs' package"


@pytest.mark.parametrize("home", ["", "ph"])
def test_the_vendors_aws_plugin_comes_first(
    machine: Path, monkeypatch: pytest.MonkeyPatch, home: str
) -> None:
    if home:
        monkeypatch.setenv("PULUMI_HOME", str(machine / home))
    install(
        aws_provider.recipe().shelf(machine / "tools"), machine / "new", {AWS_PROVIDER: "echo one"}
    )
    folder = f"plugins/resource-aws-v{importlib.metadata.version('pulumi-aws')}"
    vendor = script(machine / (home or "home/.pulumi") / folder / AWS_PROVIDER, "")
    assert check("aws plugin") == Check("aws plugin", "ok", str(vendor))


def test_no_aws_plugin_without_the_package_that_it_goes_with(
    machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "pulumi_aws" else there(name)
    )
    found = check("aws plugin")
    assert found.status == "fail"
    assert found.fix == install_hint("aws")
    assert check("pulumi_aws").fix == install_hint("aws")


def test_git(machine: Path) -> None:
    assert check("git").status == "warn"
    git = script(machine / "path" / "git", "")
    assert check("git") == Check("git", "ok", str(git))


def test_state_folder(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert check("state folder") == Check("state folder", "ok", str(machine / "state"))
    (machine / "state").write_text("")
    assert check("state folder").detail == f"'{machine / 'state'}' is no folder"
    monkeypatch.setenv("RACKWRIGHT_STATE", str(machine / "state" / "below"))
    assert check("state folder").status == "fail"


def test_state_folder_that_cannot_be_written(
    machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    locked = Path("/proc/sys")  # not even root may write there
    if os.geteuid() != 0:
        locked = machine / "locked"
        locked.mkdir(mode=0o500)
    monkeypatch.setenv("RACKWRIGHT_STATE", str(locked / "state"))
    assert check("state folder").detail == f"'{locked}' cannot be written"
