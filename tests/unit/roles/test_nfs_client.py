"""A mount that somebody uses is not taken away: who uses it, and what the role concludes."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

import pytest
import yaml

ROLE = Path(__file__).parents[3] / "roles/nfs_client"


@pytest.fixture(scope="module")
def program() -> ModuleType:
    spec = importlib.util.spec_from_file_location("who_uses", ROLE / "files/who_uses.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@contextmanager
def somebody(code: str, folder: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that does ``code`` and then waits until it is told to end."""
    words = [sys.executable, "-c", f"{code}; print('ready', flush=True); input()"]
    with subprocess.Popen(
        words, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        yield process
        process.communicate("\n")


def users_of(program: ModuleType, *folders: Path) -> list[tuple[str, int]]:
    return [
        (folder, process) for folder, process, _ in program.users([str(one) for one in folders])
    ]


def test_process_in_a_folder_or_with_an_open_file_uses_the_mount(
    program: ModuleType, tmp_path: Path
) -> None:
    home, tools = tmp_path / "home", tmp_path / "home-tools"
    (home / "ada").mkdir(parents=True)
    tools.mkdir()
    (tools / "data").write_text("x")
    with somebody("pass", home / "ada") as stands:
        assert users_of(program, home, tools) == [(str(home), stands.pid)]
        with somebody(f"file = open({str(tools / 'data')!r})", tmp_path) as reads:
            assert users_of(program, tools) == [(str(tools), reads.pid)]
    assert users_of(program, home, tools) == []


def test_ended_process_uses_no_mount(program: ModuleType, tmp_path: Path) -> None:
    process = tmp_path / "proc/17"
    process.mkdir(parents=True)
    (process / "cwd").symlink_to("/home/ada")
    assert program.users(["/home"], f"{tmp_path}/proc/[0-9]*") == [("/home", 17, "?")]
    assert program.users(["/home/ad"], f"{tmp_path}/proc/[0-9]*") == []


def test_unmounted_or_unchanged_mount_is_not_inspected(tmp_path: Path) -> None:
    mounts = [{"path": path} for path in ("/home", "/tools", "/data")]
    told = {
        "nfs_client_mounts": mounts,
        "nfs_client_written": {
            "results": [{"changed": True}, {"changed": True}, {"changed": False}]
        },
        "nfs_client_before": {"results": [{"rc": 0}, {"rc": 1}, {"rc": 0}]},
        "nfs_client_users": {"stdout_lines": ["/home 17 bash", "/home 18 python3"]},
    }
    shown = {"stale": "{{ nfs_client_stale }}", "busy": "{{ nfs_client_busy }}"}
    play = {
        "hosts": "localhost",
        "connection": "local",
        "gather_facts": False,
        "vars": {"ansible_python_interpreter": sys.executable},
        "vars_files": [str(ROLE / "vars/main.yml")],
        "tasks": [{"ansible.builtin.copy": {"dest": str(tmp_path / "told"), "content": shown}}],
    }
    (tmp_path / "play.yml").write_text(json.dumps([play]))
    done = subprocess.run(
        [
            Path(sys.executable).parent / "ansible-playbook",
            *("-i", "localhost,", tmp_path / "play.yml", "--extra-vars", json.dumps(told)),
        ],
        env={**os.environ, "ANSIBLE_NOCOLOR": "True"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads((tmp_path / "told").read_text()) == {"stale": ["/home"], "busy": ["/home"]}


def unit(mount: Mapping[str, object]) -> str:
    """The unit of a mount, as the role writes it with its own variables."""
    from jinja2 import StrictUndefined
    from jinja2.sandbox import SandboxedEnvironment

    variables = yaml.safe_load((ROLE / "vars/main.yml").read_text())
    text = (ROLE / "templates/mount.j2").read_text()
    environment = SandboxedEnvironment(undefined=StrictUndefined)
    environment.filters["comment"] = lambda line: f"# {line}"
    options = [
        environment.from_string(one).render(nfs_client_nconnect=8)
        for one in variables["nfs_client_options"]
    ]
    return environment.from_string(text).render(
        item=mount, nfs_client_options=options, ansible_managed="managed"
    )


def test_a_mount_has_its_own_options_or_those_of_version_4_2() -> None:
    home = {"server": "fs-1.efs.eu-west-1.amazonaws.com", "export": "/", "path": "/home"}
    kept = ",noatime,nosuid,nodev,_netdev,rw\n"
    assert "Options=vers=4.2,proto=tcp,sec=sys,hard,nconnect=8" + kept in unit(home)
    own = unit(home | {"options": ["nfsvers=4.1", "noresvport"]})
    assert "Options=nfsvers=4.1,noresvport" + kept in own
    assert "What=fs-1.efs.eu-west-1.amazonaws.com:/\n" in own


@pytest.mark.parametrize(
    ("form", "fits", "odd"),
    [
        ("option", ["nfsvers=4.1", "hard", "rsize=1048576"], ["a b", "x=1,suid", "-o", ""]),
        ("export", ["/", "/export/home"], ["", "home", "//", "/a b"]),
    ],
)
def test_invalid_option_or_directory_stops_the_role(
    form: str, fits: list[str], odd: list[str]
) -> None:
    pattern = yaml.safe_load((ROLE / "vars/main.yml").read_text())[f"nfs_client_{form}_form"]
    assert [one for one in [*fits, *odd] if re.match(pattern, one)] == fits
