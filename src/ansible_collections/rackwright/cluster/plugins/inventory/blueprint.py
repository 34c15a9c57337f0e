"""The inventory plugin ``rackwright.cluster.blueprint``."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ansible.errors import AnsibleError, AnsibleParserError
from ansible.inventory.helpers import get_group_vars
from ansible.plugins.inventory import BaseInventoryPlugin, Cacheable, Constructable
from ansible.utils.vars import combine_vars

DOCUMENTATION = r"""
name: blueprint
short_description: Hosts and groups of a Rackwright blueprint
version_added: 0.1.0
author: Rackwright
description:
  - Lists every host of a blueprint, in groups by site, hall, row, rack, zone, role, hardware and
    node group, and in those of the Slurm cluster, with what the blueprint expects of them.
  - The file must be called C(*.rackwright.yml) or C(*.rackwright.yaml).
  - Hosts are in no group of a rail. In a fabric that is optimised for rails each host has a port
    on every one of them, so that such groups would all be equal.
  - With a cache of inventories the blueprint is expanded only when something that the inventory
    follows from has changed, whatever the timeout of the cache is.
requirements:
  - rackwright, in the Python environment of Ansible
extends_documentation_fragment:
  - constructed
  - inventory_cache
options:
  plugin:
    description: Names this plugin.
    required: true
    choices: [rackwright.cluster.blueprint]
  blueprint:
    description: The blueprint; a relative path starts at the folder of this file.
    type: str
    required: true
  layers:
    description: Files to put over the blueprint, the last one on top.
    type: list
    elements: str
    default: []
  site:
    description: The only site to list. Without it all sites are listed.
    type: str
  outputs:
    description:
      - A file that C(rackwright status --json) has written. The hosts of the AWS site get their
        private address as C(ansible_host), and login nodes C(rackwright_public_address). A host of
        a node group that has no instance gets a name that cannot be looked up.
      - Name the O(site) where the blueprint has several AWS sites.
    type: str
"""

EXAMPLES = r"""
# atlas.rackwright.yml
plugin: rackwright.cluster.blueprint
blueprint: blueprint.yaml

# One site, with groups of a team's own; the cache needs a plugin that keeps files.
plugin: rackwright.cluster.blueprint
blueprint: blueprint.yaml
layers: [production.yaml]
site: sjc1
cache: true
cache_plugin: ansible.builtin.jsonfile
cache_connection: ~/.cache/ansible-inventory
compose:
  ansible_host: inventory_hostname ~ '.mgmt.example.com'
groups:
  canary: rackwright_unit == 1
keyed_groups:
  - key: rackwright_hall
    prefix: maintenance
"""

SUFFIXES = (".rackwright.yml", ".rackwright.yaml")
CONSTRUCTED = ("compose", "groups", "keyed_groups")


class InventoryModule(BaseInventoryPlugin, Constructable, Cacheable):
    """Lists the hosts of a blueprint."""

    NAME = "rackwright.cluster.blueprint"
    trusted_by_default = True
    """Nothing is a template: what looks like one is refused."""

    def verify_file(self, path: str) -> bool:
        """Return True if ``path`` has a name of this plugin's files."""
        return bool(super().verify_file(path)) and path.endswith(SUFFIXES)

    def parse(self, inventory: Any, loader: Any, path: str, cache: bool = True) -> None:  # noqa: FBT001, FBT002 - Ansible's signature
        """Add the hosts and groups of the blueprint that ``path`` names.

        Raises:
            AnsibleParserError: rackwright is not installed, or the blueprint is wrong.
        """
        super().parse(inventory, loader, path, cache)
        self._read_config_data(path)
        try:
            from rackwright.errors import RackwrightError
        except ImportError as error:
            raise AnsibleParserError(
                "rackwright is not installed where Ansible is; install both in one environment"
            ) from error
        from rackwright.inventory.inventory import refuse_templates

        try:
            found = self._read(path, use_cache=cache)
            refuse_templates(found)  # once more, for a cache may have been written by others
        except (RackwrightError, OSError) as error:
            raise AnsibleParserError(str(error)) from error
        self._add(found)
        if any(self.get_option(name) for name in CONSTRUCTED):
            for name in list(inventory.hosts):
                self._construct(name)

    def _read(self, path: str, *, use_cache: bool) -> dict[str, Any]:
        """Return the inventory, from the cache where nothing that it follows from has changed."""
        if not self.get_option("cache"):
            return self._build(path)
        key, digest = self.get_cache_key(path), self._digest(path)
        kept = self._cache.get(key) if use_cache else None
        if kept is None or kept.get("digest") != digest:
            kept = {"digest": digest, "inventory": self._build(path)}
            self._cache[key] = kept
        found: dict[str, Any] = kept["inventory"]
        return found

    def _files(self, path: str) -> list[Path]:
        """Return the blueprint, its layers and the outputs where they are named."""
        written = [self.get_option("blueprint"), *self.get_option("layers")]
        if self.get_option("outputs"):
            written.append(self.get_option("outputs"))
        folder = Path(path).resolve().parent
        return [folder / Path(name).expanduser() for name in written]

    def _digest(self, path: str) -> str:
        """Return a digest of everything that the inventory is derived from."""
        from rackwright import __version__
        from rackwright.catalog.team import catalogue_for
        from rackwright.resources import bundled

        site, outputs = self.get_option("site"), self.get_option("outputs")
        made = hashlib.sha256(repr((__version__, site, outputs)).encode())
        files = self._files(path)
        folders = (bundled("inventory") / "catalog", *catalogue_for(files[0]).folders)
        catalogue = [file for folder in folders for file in sorted(folder.rglob("*.yaml"))]
        for file in (*files, *catalogue):
            made.update(hashlib.sha256(str(file).encode()).digest())
            made.update(hashlib.sha256(file.read_bytes()).digest())
        return made.hexdigest()

    def _build(self, path: str) -> dict[str, Any]:
        from rackwright.inventory.inventory import build_inventory
        from rackwright.inventory.stack_outputs import add_outputs, read_outputs
        from rackwright.plan.load import load_plan

        site, files = self.get_option("site"), self._files(path)
        outputs = files.pop() if self.get_option("outputs") else None
        plan = load_plan(files[0], files[1:]).plan
        made = build_inventory(plan, site)
        if outputs is not None:
            for line in add_outputs(made, plan, read_outputs(outputs), site):
                self.display.warning(line)
        return made

    def _add(self, found: Mapping[str, Any]) -> None:
        """Add groups before hosts, so that a host meets all the groups above it at once."""
        groups = {name: entry for name, entry in found.items() if name != "_meta"}
        for name in groups:
            self.inventory.add_group(name)
        for name, entry in groups.items():
            for child in entry.get("children", ()):
                self.inventory.add_child(name, child)
            for key, value in entry.get("vars", {}).items():
                self.inventory.set_variable(name, key, value)
        for name, entry in groups.items():
            for host in entry.get("hosts", ()):
                self.inventory.add_host(host, group=name)
        for host, variables in found["_meta"]["hostvars"].items():
            for key, value in variables.items():
                self.inventory.set_variable(host, key, value)

    def _construct(self, name: str) -> None:
        """Add the variables and groups of the host that the team's expressions make.

        Raises:
            AnsibleParserError: Ansible cannot evaluate an expression, or cannot make a group of it.
        """
        host, strict = self.inventory.get_host(name), self.get_option("strict")
        try:
            known = combine_vars(get_group_vars(host.get_groups()), host.get_vars())
            self._set_composite_vars(self.get_option("compose"), known, name, strict=strict)
            known = combine_vars(known, host.get_vars())
            self._add_host_to_composed_groups(
                self.get_option("groups"), known, name, strict=strict, fetch_hostvars=False
            )
            self._add_host_to_keyed_groups(
                self.get_option("keyed_groups"), known, name, strict=strict, fetch_hostvars=False
            )
        except AnsibleError as error:
            raise AnsibleParserError(f"{self.NAME}: {name}: {error}") from error
