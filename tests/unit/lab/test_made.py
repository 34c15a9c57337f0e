"""What the lab makes once and keeps: under which key, and with which commands."""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path

import pytest

from rackwright.errors import ExternalToolError
from rackwright_lab import base, repository
from rackwright_lab.base import PACKAGES, make_base
from rackwright_lab.lab import base_of, open_lab
from rackwright_lab.mock_packages import package

URI = "http://deb.example/debian/"
RECORD = f"""#!{sys.executable} -IS
import json, os, sys
with open(os.environ["RECORD"] + "/calls", "a") as calls:
    calls.write(json.dumps([os.path.basename(sys.argv[0]), *sys.argv[1:]]) + "\\n")
"""
DEBOOTSTRAP = f"""{RECORD}
if sys.argv[1:] == ["--version"]:
    print("debootstrap", os.environ["DEBOOTSTRAP_VERSION"])
    sys.exit()
root = sys.argv[5]
for made in (
    "etc/apt", "etc/dpkg/dpkg.cfg.d", "etc/ssh", "etc/systemd/system",
    "usr/lib/python3/dist-packages", "var/cache/apt/archives", "var/lib/apt/lists", "var/lib/dbus",
):
    os.makedirs(root + "/" + made)
"""
APT_GET = f"""{RECORD}
form = sys.argv[3]
fields = {{"$(REPO_URI)": "{URI}", "$(CODENAME)": "bookworm", "$(COMPONENT)": "main"}}
fields["$(FILENAME)"] = os.environ["RECORD"] + "/lists/x_dists_bookworm_main_binary-amd64_Packages"
print(" ".join(fields[word] for word in form.split()))
"""


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine with an empty home folder whose debootstrap and apt record their calls."""
    (tmp_path / "path").mkdir()
    (tmp_path / "home").mkdir()
    (tmp_path / "lists").mkdir()
    for name, text in (("debootstrap", DEBOOTSTRAP), ("apt-get", APT_GET)):
        (tmp_path / "path" / name).write_text(text)
        (tmp_path / "path" / name).chmod(0o755)
    for name in ("RACKWRIGHT_LAB_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("RACKWRIGHT_STATE", str(tmp_path / "state"))
    monkeypatch.setenv("RECORD", str(tmp_path))
    monkeypatch.setenv("DEBOOTSTRAP_VERSION", "1.0.128")
    monkeypatch.setenv("PATH", f"{tmp_path / 'path'}{os.pathsep}{os.environ['PATH']}")
    return tmp_path


def installations(machine: Path) -> list[list[str]]:
    """The command lines of each installation of Debian."""
    calls = map(json.loads, (machine / "calls").read_text().splitlines())
    return [call for call in calls if call[0] == "debootstrap" and call[1:] != ["--version"]]


def quiet(_line: str) -> None:
    return None


def appended(path: Path, into: Path) -> Path:
    """A copy of a source file in a folder, with a line more."""
    copy = into / path.name
    copy.write_text(path.read_text() + "# changed\n")
    return copy


needs_root = pytest.mark.skipif(
    os.geteuid() != 0 or shutil.which("unshare") is None,
    reason="not root: unshare cannot make the namespace of mounts in which debootstrap runs",
)


@needs_root
class TestBase:
    def test_debian_is_installed_in_an_empty_home(self, machine: Path) -> None:
        made = make_base(quiet)
        cache = machine / "home/.cache/rackwright/lab"
        assert made.parent == cache
        assert made.name.startswith("base-bookworm-")
        assert installations(machine) == [
            [
                "debootstrap",
                "--variant=minbase",
                f"--cache-dir={cache / 'debootstrap'}",
                f"--include={','.join(PACKAGES)}",
                "bookworm",
                str(made.with_suffix(".new")),
                URI,
            ]
        ]
        assert (made / "etc/dpkg/dpkg.cfg.d/lab").read_text() == base.DPKG
        assert (made / "usr/lib/python3/dist-packages/lab_kept.py").exists()

    def test_nothing_changed_installs_nothing(self, machine: Path) -> None:
        assert make_base(quiet) == make_base(quiet)
        assert len(installations(machine)) == 1

    @pytest.mark.parametrize("changed", ["base.py", "kept.py", "debootstrap", "release"])
    def test_maker_is_part_of_the_key(
        self, machine: Path, changed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        release = machine / "lists/x_dists_bookworm_InRelease"
        release.write_text("Codename: bookworm\nDate: Sat, 06 Sep 2025 09:00:00 UTC\n")
        first = make_base(quiet)
        match changed:
            case "base.py":
                monkeypatch.setattr(base, "__file__", str(appended(Path(base.__file__), tmp_path)))
            case "kept.py":
                monkeypatch.setattr(base, "KEPT", appended(base.KEPT, tmp_path))
            case "debootstrap":
                monkeypatch.setenv("DEBOOTSTRAP_VERSION", "1.0.141")
            case _:
                release.write_text("Codename: bookworm\nDate: Sat, 10 Jan 2026 09:00:00 UTC\n")
        second = make_base(quiet)
        assert second != first
        assert first.is_dir()  # a lab may run on it
        assert len(installations(machine)) == 2


class TestRepository:
    def test_package_fetcher_is_part_of_the_key(
        self, machine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        before = repository._fetched_by(Path("/base-1"))
        assert before == repository._fetched_by(Path("/base-1"))
        assert before != repository._fetched_by(Path("/base-2"))
        with monkeypatch.context() as changed:
            changed.setattr(repository, "CODE", appended(repository.CODE, tmp_path))
            assert before != repository._fetched_by(Path("/base-1"))
        apt_get = machine / "path/apt-get"
        apt_get.write_text(APT_GET.replace(URI, "http://other.example/debian/"))
        assert before != repository._fetched_by(Path("/base-1"))

    @pytest.mark.parametrize("changed", ["repository.py", "package.py", "gcc", "no gcc"])
    def test_builder_of_mock_packages_is_part_of_the_key(
        self, machine: Path, changed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Stand-ins with a compiled plugin were left out for good where gcc came later."""
        gcc = machine / "path/gcc"
        gcc.write_text("#!/bin/sh\necho gcc 12.2.0\n")
        gcc.chmod(0o755)
        monkeypatch.setenv("PATH", str(machine / "path"))
        before = repository._filled_by(Path("/packages-1"))
        assert before == repository._filled_by(Path("/packages-1"))
        match changed:
            case "repository.py":
                monkeypatch.setattr(repository, "CODE", appended(repository.CODE, tmp_path))
            case "package.py":
                copy = appended(Path(package.__file__), tmp_path)
                monkeypatch.setattr(package, "__file__", str(copy))
            case "gcc":
                gcc.write_text("#!/bin/sh\necho gcc 14.2.0\n")
            case _:
                gcc.unlink()
        assert before != repository._filled_by(Path("/packages-1"))


class TestLab:
    def test_a_lab_stays_on_the_base_that_it_was_made_on(self, machine: Path) -> None:
        lab = open_lab()
        assert base_of(lab) is None
        lab.folder.mkdir(parents=True)
        made = machine / "base-bookworm-1"
        made.mkdir()
        (lab.folder / "base").write_text(str(made))
        assert base_of(lab) == made
        made.rmdir()
        with pytest.raises(ExternalToolError, match="which is gone") as caught:
            base_of(lab)
        assert "lab down" in (caught.value.hint or "")
