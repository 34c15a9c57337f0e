"""What is sent to workers."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from rackwright.ansible_runs.ansible import KEEPALIVE
from rackwright.ansible_runs.run import PLAYBOOK
from rackwright.receptor.bundle import (
    UNPACKED,
    sent_files,
    sent_inventory,
    sent_playbook,
    write_bundle,
)
from rackwright.receptor.workers import Login

LISTING: dict[str, Any] = {
    "_meta": {
        "hostvars": {
            "gpu-1": {"ansible_ssh_common_args": "-F none -o UserKnownHostsFile=/lab/known_hosts"},
            "gpu-2": {"nested": {"list": ["/state/munge.key", 7]}},
        }
    },
    "all": {
        "children": ["ungrouped", "rack", "hall"],
        "vars": {"slurm_config_source": "/state/slurm", "other": "/state/slurm.d"},
    },
    "hall": {"children": ["rack"], "vars": {"hall": "a"}},
    "rack": {"hosts": ["gpu-1", "gpu-2"]},
    "ungrouped": {"hosts": ["lone"]},
}
PATHS = {
    "files/slurm": Path("/state/slurm"),
    "files/munge.key": Path("/state/munge.key"),
    "files/known_hosts": Path("/lab/known_hosts"),
}


def test_variables_name_the_files_that_were_sent() -> None:
    made = sent_inventory(LISTING, PATHS, {}, login=False)["all"]
    assert made["vars"]["slurm_config_source"] == f"{UNPACKED}/files/slurm"
    assert made["hosts"]["gpu-1"]["ansible_ssh_common_args"] == (
        f"-F none -o UserKnownHostsFile={UNPACKED}/files/known_hosts"
    )
    assert made["hosts"]["gpu-2"]["nested"] == {"list": [f"{UNPACKED}/files/munge.key", 7]}
    assert made["vars"]["other"] == "/state/slurm.d", "another file than the one that is sent"


def test_groups_stay_and_those_of_parts_are_added() -> None:
    made = sent_inventory(LISTING, {}, {"part_0": {"gpu-2", "gpu-1"}}, login=False)["all"]
    assert sorted(made["hosts"]) == ["gpu-1", "gpu-2", "lone"]
    assert made["children"]["hall"] == {
        "hosts": {},
        "children": {"rack": {}},
        "vars": {"hall": "a"},
    }
    assert list(made["children"]["part_0"]["hosts"]) == ["gpu-1", "gpu-2"]
    assert set(made["children"]) == {"hall", "rack", "part_0"}


def test_a_key_that_is_sent_is_used_where_a_team_names_none() -> None:
    own = {
        "all": {"vars": {"ansible_ssh_private_key_file": "/team/key"}},
        "_meta": {"hostvars": {}},
    }
    assert sent_inventory(LISTING, {}, {}, login=True)["all"]["vars"] | {"other": ""} == {
        "ansible_ssh_private_key_file": f"{UNPACKED}/files/login.key",
        "ansible_ssh_extra_args": (
            f"-o UserKnownHostsFile={UNPACKED}/files/known_hosts {KEEPALIVE}"
        ),
        "slurm_config_source": "/state/slurm",
        "other": "",
    }
    made = sent_inventory(own, {}, {}, login=True)
    assert made["all"]["vars"]["ansible_ssh_private_key_file"] == "/team/key"


def test_the_folder_is_whole_and_only_the_owner_looks_into_it(tmp_path: Path) -> None:
    key = tmp_path / "key"
    key.write_text("secret")
    key.chmod(0o644)
    roles = tmp_path / "roles"
    (roles / "one/__pycache__").mkdir(parents=True)
    (roles / "one/main.yml").write_text("x")
    (roles / "one/__pycache__/x.pyc").write_text("x")
    folder = tmp_path / "bundle"
    for _ in range(2):
        write_bundle(
            folder,
            content={"project/roles": roles},
            secrets={"files/key": key},
            inventory={"all": {}},
        )
    assert folder.stat().st_mode & 0o777 == 0o700
    assert (folder / "files/key").stat().st_mode & 0o777 == 0o600
    assert sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file()) == [
        "files/key",
        "hosts.json",
        "project/roles/one/main.yml",
    ]


def test_a_worker_finds_roles_and_modules_beside_the_playbook(tmp_path: Path) -> None:
    write_bundle(tmp_path / "sent", content=sent_playbook(PLAYBOOK), secrets={}, inventory={})
    kept = {key: value for key, value in os.environ.items() if not key.startswith("ANSIBLE_")}
    site, settings = tmp_path / "sent/project" / PLAYBOOK.name, tmp_path / "ansible.cfg"
    settings.touch()  # not that of the checkout
    done = subprocess.run(
        [Path(sys.executable).parent / "ansible-playbook", "--syntax-check", "-i", "a,", site],
        cwd=tmp_path,
        env={**kept, "ANSIBLE_CONFIG": str(settings)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("with_login", [False, True])
def test_only_what_is_there_is_sent(tmp_path: Path, with_login: bool) -> None:
    for name in ("key", "known", "munge.key"):
        (tmp_path / name).touch()
    login = Login(private_key=tmp_path / "key", known_hosts=tmp_path / "known")
    content, secrets = sent_files(
        tmp_path / "slurm",
        (tmp_path / "munge.key", tmp_path / "slurm.key"),
        login if with_login else None,
    )
    assert content == ({"files/known_hosts": tmp_path / "known"} if with_login else {})
    assert set(secrets) == {"files/munge.key"} | ({"files/login.key"} if with_login else set())
