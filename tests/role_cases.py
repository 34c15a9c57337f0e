"""Roles run on this machine, each case as a host of one run, with programs that answer what the case says."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from collection_support import COLLECTIONS, ROOT


def play_cases(
    folder: Path,
    hosts: Mapping[str, Mapping[str, Any]],
    tasks: Sequence[Mapping[str, Any]],
    *,
    roles: Path = ROOT / "roles",
    environment: Mapping[str, str] | None = None,
) -> str:
    """What Ansible says.

    Args:
        folder: where its files are written.
        hosts: variables of each case by its name; ``case_folder`` is searched for programs first.
        tasks: what every case runs.
        roles: where roles are looked for.
        environment: what programs of the cases see beside the search path, templates included.
    """
    shared = {"ansible_connection": "local", "ansible_python_interpreter": sys.executable}
    made = {name: {"case_folder": str(folder), **own} for name, own in hosts.items()}
    (folder / "hosts.json").write_text(json.dumps({"all": {"hosts": made, "vars": shared}}))
    play = {
        "hosts": "all",
        "gather_facts": False,
        "environment": {
            "PATH": "{{ case_folder }}:" + os.environ["PATH"],
            **(environment or {}),
        },
        "tasks": list(tasks),
    }
    (folder / "play.yml").write_text(json.dumps([play]))
    program = Path(sys.executable).parent / "ansible-playbook"
    done = subprocess.run(
        [program, "-i", folder / "hosts.json", folder / "play.yml"],
        env={
            **os.environ,
            "ANSIBLE_ROLES_PATH": str(roles),
            "ANSIBLE_COLLECTIONS_PATH": str(COLLECTIONS),
            "ANSIBLE_NOCOLOR": "True",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert "PLAY RECAP" in done.stdout, done.stdout + done.stderr
    return done.stdout + done.stderr


def role_tasks(
    role: str, files: Sequence[str], given: Mapping[str, Any] | None = None
) -> list[Mapping[str, Any]]:
    """Tasks by which each case runs the file of a role that its ``case_tasks`` names.

    Args:
        role: the role.
        files: names of its files of tasks; each is included by itself, since one include is the
            same for all hosts of a run.
        given: variables that stand above those of the role.
    """
    return [
        {
            "ansible.builtin.include_role": {"name": role, "tasks_from": file},
            "vars": dict(given or {}),
            "when": f"case_tasks == '{file}'",
        }
        for file in files
    ]


def failure_of(said: str, name: str) -> str:
    """What a case was refused with; empty where it was not."""
    return "".join(re.findall(rf"^(?:fatal|failed): \[{name}\].*$", said, re.MULTILINE))


def write_program(path: Path, text: str) -> None:
    """Write a program of the shell."""
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
