"""Finding and building Receptor, with a compiler that does what a test says."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from rackwright.errors import ExternalToolError
from rackwright.provision.tools import find_receptor, install_receptor, need_receptor
from rackwright.provision.tools import receptor as module

GO = """#!/bin/sh
echo "$*" >> "$CALLS"
case "$1" in
  version) echo "go version go$VERSION linux/amd64" ;;
  build)
    while [ "$1" != -o ]; do shift; done
    echo "built" > "$2" ;;
esac
"""


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "path").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "path"))
    monkeypatch.setenv("RACKWRIGHT_TOOLS_DIR", str(tmp_path / "tools"))
    monkeypatch.setenv("CALLS", str(tmp_path / "calls"))
    monkeypatch.setattr(module, "COMPILERS", ("go1.19", "go"))
    return tmp_path


def program(path: Path, text: str) -> Path:
    path.write_text(text)
    path.chmod(0o755)
    return path


def builds(machine: Path) -> list[str]:
    calls = (machine / "calls").read_text().splitlines()
    return [call for call in calls if call.startswith("build")]


def quiet(_line: str) -> None:
    return None


def test_one_on_path_is_kept(machine: Path) -> None:
    path = program(machine / "path/receptor", "")
    assert install_receptor(progress=quiet) == find_receptor() == need_receptor() == path
    assert not (machine / "tools").exists()


def test_it_is_built_once_and_again_when_it_is_damaged(
    machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(machine / "path/go", GO)
    monkeypatch.setenv("VERSION", "1.19.8")
    said: list[str] = []
    path = install_receptor(progress=said.append)
    assert path.is_relative_to(machine / "tools")
    assert path == find_receptor()
    assert len(said) == 1
    (build,) = builds(machine)
    assert "-mod=readonly" in build
    assert "internal/version.Version=1.4.1" in build

    assert install_receptor(progress=quiet) == path
    assert len(builds(machine)) == 1
    path.write_text("bUilt\n")
    assert install_receptor(progress=quiet) == path
    assert path.read_text() == "built\n"
    assert len(builds(machine)) == 2


@pytest.mark.parametrize("version", ["1.26.8", "1.21.0", "1.18.10", "2.19.1"])
def test_a_compiler_that_cannot_build_it_is_refused(
    machine: Path, monkeypatch: pytest.MonkeyPatch, version: str
) -> None:
    program(machine / "path/go", GO)
    monkeypatch.setenv("VERSION", version)
    with pytest.raises(ExternalToolError, match=r"Receptor 1\.4\.1 is built by Go 1\.19 or 1\.20"):
        install_receptor(progress=quiet)
    assert builds(machine) == []
    assert find_receptor() is None
    with pytest.raises(ExternalToolError, match="not installed"):
        need_receptor()


def test_a_build_that_fails_leaves_nothing(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(machine / "path/go1.19", GO.replace('echo "built" > "$2"', "echo no space; exit 1"))
    monkeypatch.setenv("VERSION", "1.19.8")
    with pytest.raises(ExternalToolError, match="'go build' failed: no space") as caught:
        install_receptor(progress=quiet)
    assert "golang-1.19-go" in (caught.value.hint or "")
    assert find_receptor() is None
    assert shutil.which("receptor") is None
