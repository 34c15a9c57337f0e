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

ROOT = Path(__file__).parents[3]
MEASURING = {
    "node_exporter": "Prometheus' node exporter",
    "prometheus": "Prometheus",
    "alertmanager": "Alertmanager",
}


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What the roles say of a host of the RHEL family, one host for each role."""
    folder = tmp_path_factory.mktemp("families")
    local = {"ansible_connection": "local", "ansible_python_interpreter": sys.executable}
    hosts = {role.replace("_", "-"): {"case_role": role} for role in MEASURING}
    (folder / "hosts.json").write_text(json.dumps({"all": {"hosts": hosts, "vars": local}}))
    facts = {"os_family": "RedHat", "distribution": "Rocky", "cacheable": True}
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
        env={**os.environ, "ANSIBLE_ROLES_PATH": str(ROOT / "roles"), "ANSIBLE_NOCOLOR": "True"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "PLAY RECAP" in done.stdout, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.mark.parametrize("role", MEASURING)
def test_a_host_that_cannot_be_measured_is_told_and_how_to_do_without(said: str, role: str) -> None:
    host = role.replace("_", "-")
    (failure,) = re.findall(rf"^fatal: \[{host}\].*$", said, re.MULTILINE)
    assert f"{host} runs Rocky, which has no package of {MEASURING[role]} that" in failure
    assert "set configure_monitoring: false in an inventory of your own" in failure


def test_no_role_is_left_out_because_of_the_distribution() -> None:
    """They were, and the run was green all the same."""
    plays = yaml.safe_load((ROOT / "stacks/baremetal/playbooks/site.yml").read_text())
    conditions = {
        entry["role"]: str(entry.get("when", ""))
        for play in plays
        for entry in play.get("roles", ())
    }
    assert not [role for role, condition in conditions.items() if "ansible_facts" in condition]
    asked = "configure_monitoring | default(true) | bool"
    assert {role for role, condition in conditions.items() if asked in condition} == {
        *MEASURING,
        "slurm_exporter",
    }
