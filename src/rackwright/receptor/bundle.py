"""Bundle for a worker: one complete folder with all that a run of the playbook needs."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from rackwright.ansible_runs.ansible import KEEPALIVE
from rackwright.receptor.workers import Login
from rackwright.resources import COLLECTION, COLLECTIONS, bundled
from rackwright.secret_files import write_secret

HOSTS = "hosts.json"
UNPACKED = "{{ playbook_dir | dirname }}"
"""The folder as a worker sees it: the playbook is in its folder ``project``."""

_SLURM, _CLUSTER_KEYS = "files/slurm", "files"
_LOGIN_KEY, _KNOWN_HOSTS = "files/login.key", "files/known_hosts"


def write_bundle(
    folder: Path,
    *,
    content: Mapping[str, Path],
    secrets: Mapping[str, Path],
    inventory: Mapping[str, Any],
) -> None:
    """Write the private data folder of ansible-runner, again.

    Args:
        folder: where; what is there is removed.
        content: files and folders, by where they go.
        secrets: files that only their owner may read, by where they go.
        inventory: the hosts, in the nested form that Ansible reads.
    """
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(mode=0o700)
    for name, source in content.items():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            skipped = shutil.ignore_patterns("__pycache__", ".*")
            shutil.copytree(source, target, ignore=skipped)
        else:
            shutil.copyfile(source, target)
    for name, source in secrets.items():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        write_secret(target, source.read_bytes())
    (folder / HOSTS).write_text(json.dumps(inventory), encoding="utf-8")


def sent_files(
    slurm: Path, keys: Collection[Path], login: Login | None
) -> tuple[dict[str, Path], dict[str, Path]]:
    """Return the generated content and the secrets of a run, by where they go; what is not there is not."""
    content = {_SLURM: slurm}
    secrets = {f"{_CLUSTER_KEYS}/{key.name}": key for key in keys}
    if login is not None:
        content[_KNOWN_HOSTS] = login.known_hosts
        secrets[_LOGIN_KEY] = login.private_key
    return (
        {name: path for name, path in content.items() if path.exists()},
        {name: path for name, path in secrets.items() if path.exists()},
    )


def sent_playbook(playbook: Path) -> dict[str, Path]:
    """Return a playbook of the stacks, its roles and their modules, where Ansible looks beside a playbook."""
    plugins = f"{COLLECTION}/plugins"
    return {
        "project": (bundled("stacks") / playbook).parent,
        "project/roles": bundled("roles"),
        f"project/collections/{plugins}": COLLECTIONS / plugins,
    }


def sent_inventory(
    listing: Mapping[str, Any],
    paths: Mapping[str, Path],
    parts: Mapping[str, Collection[str]],
    *,
    login: bool,
) -> dict[str, Any]:
    """Return the inventory for workers, in the nested form.

    Args:
        listing: the inventory in the form that ``ansible-inventory --list --export`` has.
        paths: files of this machine that are sent, by where they go; variables that name them
            name the sent ones afterwards.
        parts: hosts of more groups, by their names.
        login: whether a key for the hosts is sent.
    """
    moved = {str(path): f"{UNPACKED}/{name}" for name, path in paths.items()}
    known = dict(_moved(listing, moved))
    hostvars = known["_meta"]["hostvars"]
    hosts = {host for entry in known.values() for host in entry.get("hosts", ())}
    children = {
        name: {
            "hosts": {host: {} for host in entry.get("hosts", ())},
            "children": {child: {} for child in entry.get("children", ())},
            "vars": entry.get("vars", {}),
        }
        for name, entry in known.items()
        if name not in {"_meta", "all", "ungrouped"}
    }
    children |= {name: {"hosts": {host: {} for host in sorted(own)}} for name, own in parts.items()}
    defaults: dict[str, Any] = {}
    if login:  # a team's own variables of groups and hosts come before those of all
        defaults["ansible_ssh_private_key_file"] = f"{UNPACKED}/{_LOGIN_KEY}"
        known_hosts = f"-o UserKnownHostsFile={UNPACKED}/{_KNOWN_HOSTS}"
        defaults["ansible_ssh_extra_args"] = f"{known_hosts} {KEEPALIVE}"
    return {
        "all": {
            "hosts": {host: hostvars.get(host, {}) for host in sorted(hosts)},
            "vars": {**defaults, **known["all"].get("vars", {})},
            "children": children,
        }
    }


def _moved(value: Any, moved: Mapping[str, str]) -> Any:
    """``value`` with the paths replaced, in all its texts."""
    if isinstance(value, str):
        for path, sent in moved.items():  # a longer path that begins so is another file
            value = re.sub(rf"{re.escape(path)}(?![\w.-])", sent, value)
        return value
    if isinstance(value, Mapping):
        return {key: _moved(inner, moved) for key, inner in value.items()}
    if isinstance(value, list):
        return [_moved(inner, moved) for inner in value]
    return value
