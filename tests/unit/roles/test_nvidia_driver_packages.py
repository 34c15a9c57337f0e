"""Packages of the driver have the names of the repository that offers the wanted version."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROLE = Path(__file__).parents[3] / "roles/nvidia_driver"
UBUNTU = {
    "nvidia-headless-570-server-open": "570.133.20-0ubuntu0.24.04.1",
    "nvidia-utils-570-server": "570.133.20-0ubuntu0.24.04.1",
    "nvidia-compute-utils-570-server": "570.133.20-0ubuntu0.24.04.1",
    "nvidia-fabricmanager-570": "570.133.20-0ubuntu0.24.04.1",
}
NVIDIA = {
    "nvidia-headless-595-open": "595.112.07-1ubuntu1",
    "nvidia-utils-595": "595.112.07-1ubuntu1",
    "nvidia-compute-utils-595": "595.112.07-1ubuntu1",
    "nvidia-fabricmanager": "595.112.07-1",
}
OLDER = {
    "nvidia-headless-570-open": "570.133.20-0ubuntu1",
    "nvidia-utils-570": "570.133.20-0ubuntu1",
    "nvidia-compute-utils-570": "570.133.20-0ubuntu1",
    "nvidia-fabricmanager-570": "570.133.20-1",
    "nvidia-fabricmanager": "595.112.07-1",
}
CASES = {
    "ubuntu": ("570.133.20", UBUNTU, list(UBUNTU)),
    "nvidia-595": ("595.112.07", NVIDIA, list(NVIDIA)),
    "nvidia-570": ("570.133.20", OLDER, list(OLDER)[:4]),
    "both": ("595.112.07", UBUNTU | NVIDIA, list(NVIDIA)),
    "none": ("595.112.07", {}, [name.replace("570", "595") for name in UBUNTU]),
}


@pytest.fixture(scope="module")
def chosen(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """Return the packages that the role takes, by case."""
    folder = tmp_path_factory.mktemp("driver")
    hosts = {}
    for name, (version, offered, _) in CASES.items():
        lines = [f" {package} | {offer} | http://repository" for package, offer in offered.items()]
        hosts[name] = {
            "nvidia_driver_version": version,
            "nvidia_driver_fabric_manager": True,
            "nvidia_driver_repository": {"stdout": "\n".join(lines)},
        }
    facts = {"distribution": "Ubuntu", "os_family": "Debian", "cacheable": True}
    play = {
        "hosts": "all",
        "connection": "local",
        "gather_facts": False,
        "roles": [],
        "tasks": [
            {"ansible.builtin.set_fact": facts},
            {"ansible.builtin.include_vars": str(ROLE / "vars/main.yml")},
            {
                "ansible.builtin.debug": {
                    "msg": "TAKES {{ inventory_hostname }} {{ nvidia_driver_wanted | join(',') }}"
                },
                "vars": {"nvidia_driver_imex": False},
            },
        ],
        "vars_files": [str(folder / "defaults.json")],
    }
    defaults = yaml.safe_load((ROLE / "defaults/main.yml").read_text())
    del defaults["nvidia_driver_fabric_manager"]
    (folder / "defaults.json").write_text(json.dumps(defaults))
    (folder / "hosts.json").write_text(json.dumps({"all": {"hosts": hosts}}))
    (folder / "play.yml").write_text(json.dumps([play]))
    program = Path(sys.executable).parent / "ansible-playbook"
    done = subprocess.run(
        [program, "-i", folder / "hosts.json", folder / "play.yml"],
        env={**os.environ, "ANSIBLE_NOCOLOR": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    found = re.findall(r"TAKES (\S+) ([^\s\"]+)", done.stdout)
    return {name: packages.split(",") for name, packages in found}


@pytest.mark.parametrize("name", CASES)
def test_names_are_those_of_the_repository_that_has_the_version(
    chosen: dict[str, list[str]], name: str
) -> None:
    """Ubuntu's names were asked of NVIDIA's repository, which has others from the branch 580 on."""
    assert chosen[name] == CASES[name][2]
