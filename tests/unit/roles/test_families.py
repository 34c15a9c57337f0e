"""A distribution for which a role has no package: it is refused by name, not left out silently."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from collection_support import COLLECTIONS, roles_of

ROOT = Path(__file__).parents[3]
MEASURING = {
    "node_exporter": ("Prometheus' node exporter", "node_exporter"),
    "prometheus": ("Prometheus", "prometheus2"),
    "alertmanager": ("Alertmanager", "alertmanager"),
}


def said(folder: Path, family: str, offered: str = "") -> str:
    """What the roles say of a host of a family, one host for each role.

    Args:
        folder: an empty one.
        family: the family.
        offered: the only package that its repositories have.
    """
    local = {"ansible_connection": "local", "ansible_python_interpreter": sys.executable}
    hosts = {role.replace("_", "-"): {"case_role": role} for role in MEASURING}
    (folder / "hosts.json").write_text(json.dumps({"all": {"hosts": hosts, "vars": local}}))
    dnf = folder / "bin/dnf"
    dnf.parent.mkdir()
    dnf.write_text(f'#!/bin/sh\n[ "$*" = "--quiet repoquery {offered}" ] && echo "$3"\nexit 0\n')
    dnf.chmod(0o755)
    facts = {"os_family": family, "distribution": "Rocky", "cacheable": True}
    play = {
        "hosts": "all",
        "gather_facts": False,
        "tasks": [
            {"ansible.builtin.set_fact": facts},
            {
                "ansible.builtin.include_role": {
                    "name": "{{ case_role }}",
                    "tasks_from": "preflight",
                }
            },
        ],
    }
    (folder / "play.yml").write_text(json.dumps([play]))
    program = Path(sys.executable).parent / "ansible-playbook"
    done = subprocess.run(
        [program, "-i", folder / "hosts.json", folder / "play.yml"],
        env={
            **os.environ,
            "ANSIBLE_ROLES_PATH": str(ROOT / "roles"),
            "ANSIBLE_COLLECTIONS_PATH": str(COLLECTIONS),
            "ANSIBLE_NOCOLOR": "True",
            "PATH": f"{dnf.parent}:{os.environ['PATH']}",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert "PLAY RECAP" in done.stdout, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def unknown(tmp_path_factory: pytest.TempPathFactory) -> str:
    return said(tmp_path_factory.mktemp("unknown"), "Suse")


@pytest.fixture(scope="module")
def lacking(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Hosts whose repositories have the package of the node exporter only."""
    return said(tmp_path_factory.mktemp("lacking"), "RedHat", "node_exporter")


def failures(output: str, role: str) -> list[str]:
    return re.findall(rf"^fatal: \[{role.replace('_', '-')}\].*$", output, re.MULTILINE)


@pytest.mark.parametrize("role", MEASURING)
def test_a_host_that_cannot_be_measured_is_told_and_how_to_do_without(
    unknown: str, role: str
) -> None:
    (failure,) = failures(unknown, role)
    words, _ = MEASURING[role]
    assert f"{role.replace('_', '-')} runs Rocky, which has no package of {words} that" in failure
    assert "set configure_monitoring: false in an inventory of your own" in failure


@pytest.mark.parametrize("role", ["prometheus", "alertmanager"])
def test_a_host_whose_repositories_have_no_package_is_told(lacking: str, role: str) -> None:
    (failure,) = failures(lacking, role)
    _, package = MEASURING[role]
    assert f"no repository of {role} has the package {package}; add one that has it" in failure


def test_a_host_of_the_rhel_family_with_the_package_is_measured(lacking: str) -> None:
    assert not failures(lacking, "node_exporter")


def test_no_role_is_left_out_because_of_the_distribution() -> None:
    """They were, and the run was green all the same."""
    plays = yaml.safe_load((ROOT / "stacks/baremetal/playbooks/site.yml").read_text())
    conditions = {
        role: str(entry.get("when", "")) for play in plays for role, entry in roles_of(play).items()
    }
    assert not [role for role, condition in conditions.items() if "ansible_facts" in condition]
    asked = "configure_monitoring | default(true) | bool"
    assert {role for role, condition in conditions.items() if asked in condition} == {
        *MEASURING,
        "slurm_exporter",
    }
