"""Files of a run of Ansible on this machine: inventory, generated files and secrets."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rackwright.errors import UsageError
from rackwright.files import state_folder, write_changed
from rackwright.inventory.inventory import Inventory, build_inventory
from rackwright.plan.model import Plan
from rackwright.render.slurm import render_slurm
from rackwright.secret_files import Secret, keep_secret

MUNGE_KEY_BYTES = 1024
SLURM_KEY_BYTES = 1024
PASSWORD_BYTES = 24

MUNGE_LEAST_BYTES, PASSWORD_LEAST = 32, 12
"""Shortest key that MUNGE takes, and password that the role takes; a team may put its own there."""
SLURM_LEAST_BYTES = 16
"""Shortest key that Slurm takes for itself (``auth/slurm``)."""

_MUNGE_REMEDY = (
    "put '/etc/munge/munge.key' of a host in its place; where there is none, remove it and "
    "configure every host, so that all get the same new key"
)
_SLURM_REMEDY = (
    "put '/etc/slurm/slurm.key' of a host in its place; where there is none, remove it and "
    "configure every host, so that all get the same new key"
)
_MARIADB_REMEDY = "put it back; both hosts of the database have it in /etc/slurm/slurmdbd.conf"
_GRAFANA_REMEDY = "remove it; the next run gives Grafana's administrator a new password"


@dataclass(frozen=True)
class Workspace:
    """The folder of a cluster's configuration; only its owner may look in."""

    folder: Path

    @property
    def inventory(self) -> Path:
        """The inventory that was written last."""
        return self.folder / "inventory/blueprint.json"

    @property
    def slurm(self) -> Path:
        """Generated files of Slurm."""
        return self.folder / "slurm"

    @property
    def munge_key(self) -> Path:
        """The cluster's key, made once."""
        return self.folder / "secrets/munge.key"

    @property
    def slurm_key(self) -> Path:
        """The cluster's key where Slurm authenticates by itself, made once."""
        return self.folder / "secrets/slurm.key"

    @property
    def grafana_password(self) -> Path:
        """Password of Grafana's administrator, made once."""
        return self.folder / "secrets/grafana_admin_password"

    @property
    def database_password(self) -> Path:
        """Password by which both databases of a federation reach each other, made once."""
        return self.folder / "secrets/slurm_database_password"

    @property
    def quarantine(self) -> Path:
        """Hosts that failed, with the reason."""
        return self.folder / "quarantine.json"

    @property
    def waves(self) -> Path:
        """Progress of the last change in waves."""
        return self.folder / "waves.json"

    @property
    def software(self) -> Path:
        """The versions that all hosts were last brought to."""
        return self.folder / "software.json"


def workspace(cluster: str) -> Workspace:
    """Return the workspace of a cluster, with its folder."""
    folder = state_folder() / "configure" / cluster
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    return Workspace(folder)


def _common_place(plan: Plan, place: Workspace) -> Workspace:
    """Return the folder of the secrets: clusters of a federation have one, and trust each other by it."""
    if plan.membership is None:
        return place
    return workspace(f"federation-{plan.membership.federation}")


def prepare(
    plan: Plan, place: Workspace, connections: Mapping[str, Mapping[str, Any]] | None = None
) -> Inventory:
    """Write what of all that follows from ``plan`` has changed; the inventory.

    Args:
        plan: the cluster.
        place: where to write.
        connections: variables by host that say how it is reached; absent, by its name.

    Raises:
        PlanError: a generated file lacks a number.
        StateError: a secret that hosts may have is cut short.
        UsageError: a host is reached at another address than the one that is planned for its name.
    """
    made = build_inventory(plan)
    _check_addresses(made, connections or {})
    in_use = place.inventory.exists()  # Ansible runs only after it is written
    shared: dict[str, Any] = {}
    if plan.scheduler is not None:
        place.slurm.mkdir(exist_ok=True)
        files = render_slurm(plan)
        for stale in {path.name for path in place.slurm.iterdir()} - set(files):
            (place.slurm / stale).unlink()
        for name, text in files.items():
            write_changed(place.slurm / name, text)
        shared["slurm_config_source"] = str(place.slurm)
        common = _common_place(plan, place)
        shared |= _cluster_key(common, plan.scheduler.auth, in_use=in_use)
        if "slurm_database_pair" in made.get("slurm_database", {}).get("vars", {}):
            shared["slurm_database_password_file"] = str(
                keep_secret(
                    common.database_password,
                    lambda: secrets.token_hex(PASSWORD_BYTES).encode() + b"\n",
                    Secret("the password of MariaDB", least=PASSWORD_LEAST, remedy=_MARIADB_REMEDY),
                    in_use=in_use,
                )
            )
    if "grafana_version" in made.get("monitoring", {}).get("vars", {}):
        shared["grafana_admin_password_file"] = str(
            keep_secret(
                place.grafana_password,
                lambda: secrets.token_urlsafe(PASSWORD_BYTES).encode() + b"\n",
                Secret("the password of Grafana", least=PASSWORD_LEAST, remedy=_GRAFANA_REMEDY),
                in_use=in_use,
            )
        )
    document = as_yaml_inventory(made, shared, connections or {})
    place.inventory.parent.mkdir(exist_ok=True)
    write_changed(place.inventory, json.dumps(document, indent=1))
    return made


def _cluster_key(place: Workspace, auth: str, *, in_use: bool) -> dict[str, str]:
    """Return the variable that names the key by which hosts of the cluster know each other, made once.

    Raises:
        StateError: it is cut short.
    """
    if auth == "munge":
        variable, path, size = "munge_key_file", place.munge_key, MUNGE_KEY_BYTES
        secret = Secret("the MUNGE key", least=MUNGE_LEAST_BYTES, remedy=_MUNGE_REMEDY)
    else:
        variable, path, size = "slurm_config_key_file", place.slurm_key, SLURM_KEY_BYTES
        secret = Secret("the key of Slurm", least=SLURM_LEAST_BYTES, remedy=_SLURM_REMEDY)
    return {
        variable: str(keep_secret(path, lambda: secrets.token_bytes(size), secret, in_use=in_use))
    }


def _check_addresses(inventory: Inventory, connections: Mapping[str, Mapping[str, Any]]) -> None:
    """Refuse to tell hosts names under which none of them would be found.

    Raises:
        UsageError: a host is reached at another address than the one that is planned for its name.
    """
    for name, reached in connections.items():
        there = reached.get("ansible_host")
        planned = inventory["_meta"]["hostvars"].get(name, {}).get("base_address", there)
        if there is not None and there != planned:
            raise UsageError(
                f"'{name}' is reached at {there}, and the blueprint plans {planned} for its name",
                hint="try a lab without the 'addresses' of the site, or with those of the lab",
            )


def as_yaml_inventory(
    inventory: Inventory,
    shared: Mapping[str, Any],
    connections: Mapping[str, Mapping[str, Any]],
) -> dict[str, Any]:
    """Return the inventory in the nested form that Ansible reads from a file.

    A group that stands in several others is described once; Ansible merges by name.
    """
    groups = {name: entry for name, entry in inventory.items() if name not in {"_meta", "all"}}
    hosts = {
        name: {**variables, **connections.get(name, {})}
        for name, variables in inventory["_meta"]["hostvars"].items()
    }
    children = {
        name: {
            "hosts": {host: {} for host in entry.get("hosts", ())},
            "children": {child: {} for child in entry.get("children", ())},
            "vars": entry.get("vars", {}),
        }
        for name, entry in groups.items()
    }
    top = inventory["all"].get("vars", {})
    return {"all": {"hosts": hosts, "vars": {**top, **shared}, "children": children}}
