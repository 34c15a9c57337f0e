"""Ansible with the collection of the checkout, and nothing else of the user's."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
COLLECTIONS = ROOT / "src"
"""For ``ANSIBLE_COLLECTIONS_PATH``: modules that roles use, and the roles themselves."""
SOURCES = COLLECTIONS / "ansible_collections/rackwright/cluster"

IMPORT, INCLUDE = "ansible.builtin.import_role", "ansible.builtin.include_role"


def environment() -> dict[str, str]:
    """Variables for Ansible alone with the collection, whatever the user's own settings are."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("ANSIBLE_")}
    return {
        **kept,
        "ANSIBLE_COLLECTIONS_PATH": str(COLLECTIONS),
        "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"),
        "ANSIBLE_NOCOLOR": "1",
        "ANSIBLE_LOCALHOST_WARNING": "0",
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }


def ansible(command: str, *words: object, **variables: str) -> subprocess.CompletedProcess[str]:
    """``ansible-COMMAND`` of this Python's environment, with more environment variables."""
    return subprocess.run(
        [sys.executable, "-m", "ansible", command, *map(str, words)],
        env={**environment(), **variables},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def list_inventory(*sources: Path) -> dict[str, Any]:
    """What ``ansible-inventory --list`` prints; nothing may be said on the way."""
    given = [word for source in sources for word in ("-i", source)]
    done = ansible("inventory", *given, "--list")
    assert done.returncode == 0, done.stderr
    assert not done.stderr, done.stderr
    listed: dict[str, Any] = json.loads(done.stdout)
    return listed


def roles_of(play: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """The roles that a play runs as a whole, in their order, each with the task that does so."""
    found: dict[str, Mapping[str, Any]] = {}
    for entry in play.get("roles", ()):
        settings = {key: value for key, value in entry.items() if key != "role"}
        found[entry["role"]] = {IMPORT: {"name": entry["role"]}, **settings}
    for task in play.get("tasks", ()):
        wanted = task.get(IMPORT) or task.get(INCLUDE) or {}
        if "name" in wanted and "tasks_from" not in wanted:
            found[wanted["name"]] = task
    return found
