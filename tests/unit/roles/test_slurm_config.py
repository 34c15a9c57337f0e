"""What of a new configuration makes daemons of Slurm start again, and what they read as they run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.rackwright.cluster.plugins.filter.slurm_restarts import (
    ALWAYS,
    BEFORE_23_11,
    OPTIONS_BEFORE_23_11,
    slurm_restarts,
)
from collection_support import COLLECTIONS

ROLE = Path(__file__).parents[3] / "roles" / "slurm_config"
GOLDEN = Path(__file__).parents[2] / "golden" / "slurm"
OLD, NEW = "slurm-wlm 22.05.8", "slurm 24.11.5"
BEFORE = {
    "slurm.conf": """# Generated
ClusterName=atlas
SlurmctldHost=head-1
SelectType=select/cons_tres
MessageTimeout=10
SchedulerParameters=bf_continue
MaxJobCount=10000

NodeName=dgx-[1-4] CPUs=224 Gres=gpu:h100:8
PartitionName=gpu Nodes=dgx-[1-4]
""",
    "gres.conf": "NodeName=dgx-[1-4] Name=gpu Type=h100 File=/dev/nvidia[0-7]\n",
    "cgroup.conf": "CgroupPlugin=autodetect\nConstrainCores=yes\n",
}


def changed(old: str, new: str, file: str = "slurm.conf") -> dict[str, str]:
    assert old in BEFORE[file]
    return {**BEFORE, file: BEFORE[file].replace(old, new)}


@pytest.mark.parametrize(
    ("after", "old", "new"),
    [
        (BEFORE, [], []),
        (changed("# Generated", "# Generated otherwise"), [], []),
        (changed("MessageTimeout=10", "messagetimeout = 10  # as before"), [], []),
        (changed("MessageTimeout=10", "MessageTimeout=30"), [], []),
        (changed("bf_continue", "bf_continue,bf_window=60"), [], []),
        (changed("bf_continue", "no_backup_scheduling"), ["SchedulerParameters"], []),
        (changed("Nodes=dgx-[1-4]\n", "Nodes=dgx-[1-3] State=DOWN\n"), [], []),
        (changed("MaxJobCount=10000\n", ""), ["MaxJobCount"], []),
        (changed("dgx-[1-4] CPUs", "dgx-[1-5] CPUs"), ["NodeName"], []),
        (changed("head-1\n", "head-1\nSlurmctldHost=head-2\n"), ["SlurmctldHost"], []),
        (changed("cons_tres\n", "linear\nPreemptType=preempt/qos\n"),
         ["PreemptType", "SelectType"], []),
        (changed("ClusterName", "AuthType=auth/slurm\nClusterName"), ["AuthType"], ["AuthType"]),
        (changed("ClusterName", "SlurmdPort=7000\nClusterName"), ["SlurmdPort"], ["SlurmdPort"]),
        (changed("[0-7]", "[0-3]", "gres.conf"), ["gres.conf"], ["gres.conf"]),
        (changed("yes", "no", "cgroup.conf"), [], []),
        (changed("autodetect", "cgroup/v2", "cgroup.conf"), ["CgroupPlugin"], ["CgroupPlugin"]),
    ],
)  # fmt: skip
def test_changes_that_restart_daemons(
    after: dict[str, str], old: list[str], new: list[str]
) -> None:
    assert slurm_restarts(BEFORE, after, OLD) == old
    assert slurm_restarts(BEFORE, after, NEW) == new
    assert slurm_restarts(after, BEFORE, OLD) == old, "and back again"


def test_a_qos_that_slurmctld_has_not_heard_of_is_read_at_its_start() -> None:
    """slurmctld 22.05 ended at such a reconfiguration, before slurmdbd had told it of the QOS."""
    named = changed("Nodes=dgx-[1-4]\n", "Nodes=dgx-[1-4] QOS=low AllowQos=low,high\n")
    fewer = changed("Nodes=dgx-[1-4]\n", "Nodes=dgx-[1-4] AllowQos=HIGH\n")
    assert slurm_restarts(BEFORE, named, OLD) == ["PartitionName"]
    assert slurm_restarts(BEFORE, named, NEW) == []
    assert slurm_restarts(named, fewer, OLD) == []
    assert slurm_restarts(named, BEFORE, OLD) == []


@pytest.mark.parametrize("release", ["", "command not found", "slurm 23.02.7"])
def test_a_release_that_is_not_known_is_taken_for_an_old_one(release: str) -> None:
    after = changed("MaxJobCount=10000", "MaxJobCount=50000")
    assert slurm_restarts(BEFORE, after, release) == ["MaxJobCount"]
    assert slurm_restarts(BEFORE, after, "slurm 23.11.0") == []


def test_a_host_without_a_configuration_needs_a_restart() -> None:
    nothing: dict[str, str | None] = {"slurm.conf": None, "gres.conf": None, "cgroup.conf": None}
    assert slurm_restarts(nothing, BEFORE, NEW) == ["slurm.conf"]
    assert slurm_restarts({}, BEFORE, NEW) == ["slurm.conf"]


def test_the_table_is_in_lower_case() -> None:
    words = {*ALWAYS, *BEFORE_23_11, *OPTIONS_BEFORE_23_11, *OPTIONS_BEFORE_23_11.values()}
    assert {word for word in words if word != word.lower()} == set()
    assert not ALWAYS & BEFORE_23_11


@pytest.fixture(scope="module")
def decided(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """What the variables of the role are on hosts with one configuration or another."""
    folder = tmp_path_factory.mktemp("slurm-config")
    (folder / "bin").mkdir()
    (folder / "bin/scontrol").write_text('#!/bin/sh\necho "$RELEASE"\n')
    (folder / "bin/scontrol").chmod(0o755)
    text = (GOLDEN / "tree/slurm.conf").read_text(encoding="utf-8")
    there = {
        "same": text,
        "timeout": text.replace("ReturnToService=1", "ReturnToService=2"),
        "nodes": text.replace("CPUs=224", "CPUs=192"),
        "none": None,
    }
    defaults = yaml.safe_load((ROLE / "defaults/main.yml").read_text(encoding="utf-8"))
    hosts: dict[str, Any] = {}
    for name, conf in there.items():
        (folder / name).mkdir()
        if conf is not None:
            (folder / name / "slurm.conf").write_text(conf)
            for file in ("gres.conf", "cgroup.conf"):
                (folder / name / file).write_bytes((GOLDEN / "tree" / file).read_bytes())
        hosts[name] = {**defaults, "slurm_config_folder": str(folder / name)}
    (folder / "hosts.json").write_text(json.dumps({"all": {"hosts": hosts}}))
    tasks = yaml.safe_load((ROLE / "tasks/configure.yml").read_text(encoding="utf-8"))
    states = {"slurmd": "running", "slurmctld": "stopped", "ssh": "running"}
    services = {f"{name}.service": {"state": state} for name, state in states.items()}
    names = ("restarts", "running", "former")
    content = "{{ {" + ", ".join(f"'{n}': slurm_config_{n}" for n in names) + "} | to_json }}"
    play = {
        "hosts": "all",
        "connection": "local",
        "gather_facts": False,
        "environment": {"PATH": f"{folder}/bin:{os.environ['PATH']}", "RELEASE": OLD},
        "vars_files": [str(ROLE / "vars/main.yml")],
        "vars": {
            "ansible_python_interpreter": sys.executable,
            "slurm_config_source": str(GOLDEN / "tree"),
        },
        "tasks": [
            {"ansible.builtin.include_tasks": str(ROLE / "tasks/preflight.yml")},
            *(task for task in tasks if task.get("register") == "slurm_config_before"),
            {"ansible.builtin.set_fact": {"services": services, "cacheable": True}},
            {
                "ansible.builtin.copy": {
                    "content": content,
                    "dest": f"{folder}/{{{{ inventory_hostname }}}}.json",
                }
            },
        ],
    }
    (folder / "play.yml").write_text(json.dumps([play]))
    done = subprocess.run(
        [
            Path(sys.executable).parent / "ansible-playbook",
            *("-i", folder / "hosts.json", folder / "play.yml"),
        ],
        env={**os.environ, "ANSIBLE_COLLECTIONS_PATH": str(COLLECTIONS), "ANSIBLE_NOCOLOR": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return {name: json.loads((folder / f"{name}.json").read_text()) for name in there}


@pytest.mark.parametrize(
    ("host", "restarts"),
    [("same", []), ("timeout", []), ("nodes", ["NodeName"]), ("none", ["slurm.conf"])],
)
def test_the_role_compares_what_is_there_with_what_is_to_be(
    host: str, restarts: list[str], decided: dict[str, dict[str, Any]]
) -> None:
    assert decided[host]["restarts"] == restarts
    assert decided[host]["running"] == ["slurmd"]
    assert [Path(path).name for path in decided[host]["former"]] == ["topology.yaml"]
