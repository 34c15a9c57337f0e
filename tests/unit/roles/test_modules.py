"""The modules of the collection, which roles use in place of rows of tasks, run on this machine."""

from __future__ import annotations

import getpass
import grp
import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.rackwright.cluster.plugins.modules import probe
from collection_support import COLLECTIONS

GROUP = grp.getgrgid(os.getgid()).gr_name


@pytest.mark.parametrize(
    ("words", "rc", "stdout", "stderr"),
    [
        (["printf", "a\\nb\\n\\n"], 0, "a\nb", ""),
        (["sh", "-c", "echo why >&2; exit 3"], 3, "", "why"),
        (["no-such-program"], 127, "", "[Errno 2] No such file or directory: 'no-such-program'"),
        (["sleep", "30"], 124, "", "no answer within 0.1 s"),
    ],
)
def test_a_command_is_told_of_however_it_ends(
    words: list[str], rc: int, stdout: str, stderr: str
) -> None:
    assert probe.run(words, 0.1 if "sleep" in words else 30) == {
        "rc": rc,
        "stdout": stdout,
        "stderr": stderr,
    }


def test_file_is_reported_with_its_mode_and_hash(tmp_path: Path) -> None:
    file, link = tmp_path / "file", tmp_path / "link"
    file.write_text("text\n")
    file.chmod(0o640)
    link.symlink_to(file)
    found = probe.look(str(file))
    assert found == {
        "exists": True,
        "is_link": False,
        "is_folder": False,
        "mode": "0640",
        "owner": getpass.getuser(),
        "group": GROUP,
        "sha256": hashlib.sha256(b"text\n").hexdigest(),
    }
    assert probe.look(str(link)) == {**found, "is_link": True}
    folder = probe.look(str(tmp_path))
    assert (folder["is_folder"], folder["sha256"]) == (True, None)
    file.unlink()
    assert probe.look(str(file))["exists"] is False
    assert (probe.look(str(link))["exists"], probe.look(str(link))["is_link"]) == (False, True)
    assert probe.read(str(file)) is None


@dataclass(frozen=True)
class Site:
    """A folder with templates, and one to write to."""

    folder: Path

    def play(self, *tasks: Mapping[str, Any]) -> list[dict[str, Any]]:
        """What the modules of tasks say, one after the other; one that fails says why in ``msg``."""
        told = self.folder / "told.json"
        names = [f"said_{number}" for number in range(len(tasks))]
        shared = {"ignore_errors": True, "vars": {"planet": "Mars"}}
        asked = [
            {**shared, **task, "register": name} for name, task in zip(names, tasks, strict=True)
        ]
        content = f"{{{{ [{', '.join(names)}] | to_json }}}}"
        asked.append({"ansible.builtin.copy": {"content": content, "dest": str(told)}})
        play = {"hosts": "localhost", "connection": "local", "gather_facts": False, "tasks": asked}
        (self.folder / "play.yml").write_text(json.dumps([play]))
        done = subprocess.run(
            [
                Path(sys.executable).parent / "ansible-playbook",
                *("-i", "localhost,", self.folder / "play.yml"),
                *("-e", f"ansible_python_interpreter={sys.executable}"),
            ],
            env={
                **os.environ,
                "ANSIBLE_COLLECTIONS_PATH": str(COLLECTIONS),
                "ANSIBLE_NOCOLOR": "True",
            },
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        said: list[dict[str, Any]] = json.loads(told.read_text())
        return said


@pytest.fixture
def site(tmp_path: Path) -> Site:
    for folder in ("templates", "files", "etc"):
        (tmp_path / folder).mkdir()
    (tmp_path / "templates/planet.conf.j2").write_text(
        "planet {{ planet }} {{ moon | default('') }}\n"
    )
    (tmp_path / "files/plain").write_text("plain\n")
    (tmp_path / "etc/old").write_text("old\n")
    return Site(tmp_path)


FILES, PROBE = "rackwright.cluster.files", "rackwright.cluster.probe"


def files_of(site: Site, **changes: Any) -> dict[str, Any]:
    """A task that makes a folder and files, and takes one away."""
    etc = site.folder / "etc"
    given = {
        "owner": getpass.getuser(),
        "group": GROUP,
        "mode": "0644",
        "files": [
            {"path": f"{etc}/d", "state": "directory", "mode": "0750"},
            {"path": f"{etc}/d/planet.conf", "template": "planet.conf.j2", "mode": "0600"},
            {"path": f"{etc}/moon.conf", "template": "planet.conf.j2", "vars": {"moon": "Phobos"}},
            {"path": f"{etc}/plain", "copy": "plain"},
            {"path": f"{etc}/old", "template": "planet.conf.j2", "state": "absent"},
        ],
    }
    return {FILES: {**given, **changes}}


def test_files_are_made_once_and_only_what_is_otherwise_is_mended(site: Site) -> None:
    etc = site.folder / "etc"
    every = [entry["path"] for entry in files_of(site)[FILES]["files"]]
    check = {**files_of(site), "check_mode": True, "diff": True}
    look = {PROBE: {"globs": {"all": f"{etc}/*"}}}
    foreseen, seen, made, again = site.play(check, look, files_of(site), files_of(site))
    assert (foreseen["changed"], foreseen["paths"]) == (True, every)
    assert "planet Mars Phobos\n" in [one.get("after") for one in foreseen["diff"]]
    assert seen["globs"]["all"] == [f"{etc}/old"], "a check changes nothing"
    assert (made["changed"], made["paths"]) == (True, every)
    assert (again["changed"], again["paths"]) == (False, [])
    assert (etc / "d/planet.conf").read_text() == "planet Mars \n"
    assert (etc / "moon.conf").read_text() == "planet Mars Phobos\n"
    assert oct((etc / "d").stat().st_mode)[-3:] == "750"

    (etc / "plain").chmod(0o600)
    (etc / "moon.conf").write_text("planet Venus\n")
    (etc / "d/planet.conf").unlink()
    (etc / "d/planet.conf").symlink_to(etc / "plain")
    mended, again = site.play(files_of(site), files_of(site))
    assert mended["paths"] == [f"{etc}/d/planet.conf", f"{etc}/moon.conf", f"{etc}/plain"]
    assert again["changed"] is False
    assert not (etc / "d/planet.conf").is_symlink()


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"path": "/x", "template": "t", "copy": "c"}, "/x: a file needs one of template, copy"),
    ({"path": "/x"}, "/x: a file needs one of template, copy"),
    ({"path": "/x", "state": "link"}, "a state of file, directory, absent"),
    ({"path": "/x", "state": "absent", "content": "x"}, "'content' is no setting of a file"),
    ({"state": "absent"}, "needs a path"),
    ({"path": "/x", "copy": "no-such-file"}, "no-such-file"),
    ({"path": "/tmp/bad", "copy": "plain", "validate": "false %s"}, "/tmp/bad: failed to validate"),
]
"""A file that cannot be, and what is said of it."""


def test_files_that_cannot_be_are_refused_with_what_is_wrong(site: Site) -> None:
    without_rights = {FILES: {"files": [{"path": "/x", "copy": "plain", "mode": "0644"}]}}
    *refused, last = site.play(
        *(files_of(site, files=[entry]) for entry, _ in WRONG), without_rights
    )
    for told, (_, message) in zip(refused, WRONG, strict=True):
        assert message in told["msg"]
    assert "/x: owner, group, mode are needed" in last["msg"]


def test_a_probe_tells_of_everything_by_its_name_and_changes_nothing(site: Site) -> None:
    etc = site.folder / "etc"
    asked = {
        "commands": {"hello": ["echo", 7], "not_asked": []},
        "paths": {"old": f"{etc}/old", "none": ""},
        "texts": {"old": f"{etc}/old", "new": f"{etc}/new"},
        "globs": {"all": f"{etc}/*"},
    }
    wrong = {PROBE: {"commands": {"hello": "echo hello"}}}
    found, refused = site.play({PROBE: asked, "check_mode": True}, wrong)
    assert found["changed"] is False
    assert found["commands"] == {"hello": {"rc": 0, "stdout": "7", "stderr": ""}}
    assert set(found["paths"]) == {"old"}
    assert found["texts"] == {"old": "old\n", "new": None}
    assert found["globs"] == {"all": [f"{etc}/old"]}
    assert "the command 'hello' is to be a list of words" in refused["msg"]


SYSTEMCTL = """\
#!/bin/sh
cd "$(dirname "$0")"
echo "$*" >> calls
case "$1" in
  reset-failed) rm -f starts;;
  restart)
    echo x >> starts
    [ "$(wc -l < starts)" -le 2 ] || { echo "Start request repeated too quickly." >&2; exit 1; };;
esac
"""
"""A systemctl whose units refuse a third start, as those of systemd do within seconds."""


@pytest.fixture
def systemd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a systemctl that comes first."""
    folder = tmp_path / "systemd"
    folder.mkdir()
    program = folder / "systemctl"
    program.write_text(SYSTEMCTL)
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    return folder


RESTART = {"rackwright.cluster.restart": {"name": "sssd.service"}}


def test_restarts_in_a_row_meet_no_start_limit(site: Site, systemd: Path) -> None:
    """The third restart of SSSD within seconds was refused: "attempted too often"."""
    (looped,) = site.play({**RESTART, "loop": [1, 2, 3, 4]})
    assert [(one["changed"], one.get("msg")) for one in looped["results"]] == [(True, None)] * 4


def test_changed_units_are_read_before_a_restart(site: Site, systemd: Path) -> None:
    """Of a drop-in in a new folder systemd says NeedDaemonReload=no, and starts the unit without it."""
    (done,) = site.play(RESTART)
    assert done["changed"], done
    calls = [line.split()[0] for line in (systemd / "calls").read_text().splitlines()]
    assert calls == ["daemon-reload", "reset-failed", "restart"]


def test_a_check_restarts_nothing(site: Site, systemd: Path) -> None:
    (foreseen,) = site.play({**RESTART, "check_mode": True})
    assert foreseen["changed"]
    assert not (systemd / "calls").exists()


def test_a_restart_that_fails_says_why(site: Site, systemd: Path) -> None:
    broken = SYSTEMCTL.replace("-le 2", "-le 0").replace("Start request repeated", "It starts")
    (systemd / "systemctl").write_text(broken)
    (done,) = site.play(RESTART)
    assert done["failed"]
    assert done["msg"] == "cannot restart sssd.service: It starts too quickly."
