"""Which packages of Slurm an upgrade exchanges, by what package managers list.

The lists have the form of the queries of the playbook; that of Debian 12 is as its dpkg and apt print it.
Each case is a host of one run of Ansible on this machine.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from collection_support import ROOT
from role_cases import play_cases

PLAYBOOK = ROOT / "stacks/baremetal/playbooks/slurm_upgrade.yml"
BASIC = "slurm-wlm-basic-plugins"


def debian(version: str, *names: str, source: str = "slurm-wlm", status: str = "installed") -> str:
    return "\n".join(f"{name} | {version} | {status} | {source}" for name in names)


def madison(*offers: tuple[str, str]) -> str:
    """Each version is listed once for each repository that has it."""
    form = " {} | {} | http://mirror/debian {}/main amd64 Packages"
    suites = ("stable", "stable-security")
    return "\n".join(form.format(name, version, s) for name, version in offers for s in suites)


OLD, NEW, NEWER = "24.11.5-2", "26.05.4-1", "26.05.5-1"
HEAD = ("slurm-client", BASIC, "slurmctld", "slurmdbd")
OFFERED = madison(
    *((name, version) for name in (*HEAD, "slurmd") for version in (NEWER, NEW, OLD)),
)
OTHERS = "\n".join(
    [
        debian(OLD, "libslurm42"),
        debian("5.0.7-1", "libpmix2t64", source="pmix"),
        debian("0.21.0-1", "nvslurm-plugin-pyxis", source="pyxis"),
        debian(OLD, "slurmrestd", status="config-files"),
    ]
)
CASES: Mapping[str, Mapping[str, Any]] = {
    "release": {
        "version": "26.05",
        "listed": f"{debian(OLD, *HEAD)}\n{OTHERS}",
        "others": list(HEAD),
        "chosen": dict.fromkeys(HEAD, NEWER),
        "daemons": ["slurmctld", "slurmdbd"],
    },
    "version": {
        "version": "26.05.4",
        "listed": debian(OLD, "slurm-client", BASIC, "slurmd"),
        "others": ["slurm-client", BASIC, "slurmd"],
        "chosen": dict.fromkeys(("slurm-client", BASIC, "slurmd"), NEW),
        "daemons": ["slurmd"],
    },
    "there-already": {
        "version": "26.05",
        "listed": debian(NEW, "slurm-client", BASIC),
        "others": [],
        "daemons": [],
    },
    "interrupted": {
        "version": "26.05",
        "listed": f"{debian(NEW, BASIC)}\n{debian(OLD, 'slurm-client', 'slurmd')}",
        "others": ["slurm-client", "slurmd"],
        "daemons": ["slurmd"],
    },
    "only-begins-like-it": {
        "version": "24.1",
        "listed": debian(OLD, "slurm-client"),
        "others": ["slurm-client"],
        "chosen": {},
        "daemons": [],
    },
    "of-schedmd": {
        "version": "26.05",
        "listed": debian("24.11.5-1", "slurm-smd", "slurm-smd-slurmd", source="slurm-smd"),
        "others": ["slurm-smd", "slurm-smd-slurmd"],
        "daemons": ["slurmd"],
    },
    "rpm": {
        "version": "26.05",
        "family": "RedHat",
        "listed": "slurm | 24.11.5-1.el9 | installed | slurm-24.11.5-1.el9.src.rpm\n"
        "slurm-slurmd | 24.11.5-1.el9 | installed | slurm-24.11.5-1.el9.src.rpm\n"
        "pmix | 4.2.9-1.el9 | installed | pmix-4.2.9-1.el9.src.rpm",
        "offered": "\n".join(
            f"{name} | 0:{version}.el9"
            for name in ("slurm", "slurm-slurmd")
            for version in (OLD, NEW, NEWER)
        ),
        "others": ["slurm", "slurm-slurmd"],
        "chosen": dict.fromkeys(("slurm", "slurm-slurmd"), f"0:{NEWER}.el9"),
        "daemons": ["slurmd"],
    },
}
ASKED = ("others", "chosen", "daemons")


def test_only_installed_packages_are_upgraded(tmp_path: Path) -> None:
    (play,) = yaml.safe_load(PLAYBOOK.read_text(encoding="utf-8"))
    given = {name: value for name, value in play["vars"].items() if name != "slurm_upgrade_family"}
    hosts = {
        name: {
            "slurm_upgrade_family": case.get("family", "Debian"),
            "slurm_upgrade_version": case["version"],
            "slurm_upgrade_listed": {"stdout": case["listed"]},
            "slurm_upgrade_repository": {"stdout": case.get("offered", OFFERED)},
        }
        for name, case in CASES.items()
    }
    found = ", ".join(f"'{name}': slurm_upgrade_{name}" for name in ASKED)
    task = {
        "ansible.builtin.copy": {
            "dest": f"{tmp_path}/{{{{ inventory_hostname }}}}.json",
            "content": f"{{{{ {{{found}}} | to_json }}}}",
            "mode": "0600",
        },
        "vars": given,
    }
    said = play_cases(tmp_path, hosts, [task])
    assert re.search(r"failed=[1-9]", said) is None, said
    for name, case in CASES.items():
        told = json.loads((tmp_path / f"{name}.json").read_text())
        assert told["others"] == case["others"], name
        assert told["daemons"] == case["daemons"], name
        if "chosen" in case:
            chosen = {one[0]: one[1] for one in told["chosen"] if one[0] in case["others"]}
            assert chosen == case["chosen"], name


def test_backup_precedes_the_upgrade() -> None:
    (play,) = yaml.safe_load(PLAYBOOK.read_text(encoding="utf-8"))
    (block,) = [task["block"] for task in play["tasks"] if "block" in task]
    names = [task["name"] for task in block]
    order = [
        "Check that it offers the one that is wanted",
        "Stop the daemons",
        "Save the database",
        "Save the state of the controller",
        "Keep the packages from starting them",
        "Install the version that is wanted",
        "Restore the database",
        "Start slurmdbd",
        "Wait until it has converted the database and answers",
        "Configuration of Slurm",
        "Start the other daemons",
    ]
    assert [name for name in names if name in order] == order
