"""Files that roles write on hosts of a blueprint, made by Ansible itself from the roles' own tasks."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from collection_support import roles_of
from rackwright.ansible_runs.files import as_yaml_inventory
from rackwright.ansible_runs.run import PLAYBOOK
from rackwright.resources import bundled

WRITERS = ("ansible.builtin.copy", "ansible.builtin.template")
SLASH = "%2F"
OF_HOSTS_ONLY = frozenset({"owner", "group", "validate"})
"""Arguments for which root, or a program of the role, is needed."""


def files_of(
    folder: Path,
    inventory: Mapping[str, Any],
    roles: Mapping[str, Sequence[str]],
    found: Mapping[str, Any],
) -> dict[str, str]:
    """The texts of all files that the step ``configure`` of roles writes, by host and path.

    Conditions and variables that the playbook gives the roles hold.

    Args:
        folder: an empty folder.
        inventory: as ``build_inventory`` makes it.
        roles: by host.
        found: variables that roles find out on the host.
    """
    for role in {role for names in roles.values() for role in names}:
        _borrow(role, folder / "roles" / role, folder / "made")
    for host in roles:
        (folder / "made" / host).mkdir(parents=True)
    known = as_yaml_inventory(dict(inventory), {"ansible_python_interpreter": sys.executable}, {})
    (folder / "hosts.json").write_text(json.dumps(known))
    site = yaml.safe_load((bundled("stacks") / PLAYBOOK).read_text(encoding="utf-8"))
    entries = {role: entry for play in site for role, entry in roles_of(play).items()}
    plays = [
        {
            "hosts": host,
            "connection": "local",
            "gather_facts": False,
            "tasks": [entries[name] for name in names],
        }
        for host, names in roles.items()
    ]
    (folder / "play.yml").write_text(json.dumps(plays))
    program = Path(sys.executable).parent / "ansible-playbook"
    done = subprocess.run(
        [program, "-i", folder / "hosts.json", "-e", json.dumps(found), folder / "play.yml"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "ANSIBLE_ROLES_PATH": str(folder / "roles")},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "no hosts matched" not in done.stdout
    made = folder / "made"
    written = sorted(path for path in made.rglob("*") if path.is_file())
    return {
        f"{path.parent.name}{path.name.replace(SLASH, '/')}": path.read_text(encoding="utf-8")
        for path in written
    }


def single_tasks(task: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """A task that writes several files as one for each, of Ansible's own modules; others as they are."""
    shared = task.get("rackwright.cluster.files")
    if shared is None:
        yield task
        return
    rights = {key: value for key, value in shared.items() if key != "files"}
    for entry in shared["files"]:
        module = "template" if "template" in entry else "copy"
        own = {
            key: value
            for key, value in entry.items()
            if key not in {"path", "state", "vars", module}
        }
        if module in entry:
            arguments = {**rights, **own, "src": entry[module], "dest": entry["path"]}
            given = {**task.get("vars", {}), **entry.get("vars", {})}
            yield {**task, "vars": given, f"ansible.builtin.{module}": arguments}


def _borrow(role: str, target: Path, made: Path) -> None:
    """Make a role that only writes the files of ``role``, below ``made`` and a folder of each host."""
    source = bundled("roles") / role
    (target / "tasks").mkdir(parents=True)
    for part in ("defaults", "vars", "templates", "files"):
        if (source / part).is_dir():
            (target / part).symlink_to(source / part)
    tasks: list[dict[str, Any]] = []
    given = yaml.safe_load((source / "tasks/configure.yml").read_text(encoding="utf-8"))
    for task in (one for whole in given for one in single_tasks(whole)):
        writer = next((name for name in WRITERS if name in task), None)
        if writer is None:
            continue
        # A path as one name, so that no folders have to be made for it.
        where = f"{{{{ played_at | replace('/', '{SLASH}') }}}}"
        kept = {key: task[key] for key in ("vars", "when", "loop", "loop_control") if key in task}
        kept["vars"] = {**kept.get("vars", {}), "played_at": task[writer]["dest"]}
        written = {key: value for key, value in task[writer].items() if key not in OF_HOSTS_ONLY}
        written["dest"] = f"{made}/{{{{ inventory_hostname }}}}/{where}"
        tasks.append({writer: written, **kept})
    (target / "tasks/main.yml").write_text(json.dumps(tasks))
