"""Accounts, logins and containers in the inventory: from the blueprint, or not at all."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from rackwright.errors import RackwrightError
from rackwright.inventory.inventory import build_inventory, host_variables
from rackwright.model.users import Users
from rackwright.plan.load import load_plan
from rackwright.policy.packs.loader import builtin_pack

FIXTURES = builtin_pack() / "fixtures"
KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ0Yw1x0Gq1m0Yw1x0Gq1m0Yw1x0Gq1m0Yw1x0Gq1m0Y ada"
LAYER = f"""
users:
  groups: [{{name: research, gid: 20000}}, {{name: admins, gid: 20001}}]
  accounts:
    - {{name: ada, uid: 20001, group: research, keys: ["{KEY}"], slurm_account: research}}
    - {{name: grace, uid: 20002, group: research, groups: [admins], removed: true}}
  sudo: [{{group: admins, commands: [ALL]}}]
  ssh: {{root_login: "no", compute: jobs, login_groups: [research], admin_groups: [admins]}}
operations:
  software: [{{name: all, enroot: 3.5.0, pyxis: 0.20.0}}]
"""
PREFIXES = ("users_", "ssh_server_", "enroot_", "pyxis_")


def test_every_host_has_the_accounts_and_its_way_in(tmp_path: Path) -> None:
    layer = tmp_path / "layer.yaml"
    layer.write_text(LAYER)
    made = build_inventory(load_plan(FIXTURES / "slurm.yaml", (layer,)).plan)
    compute = host_variables(made, "dgx-01")
    assert compute is not None
    assert {key: value for key, value in compute.items() if key.startswith(PREFIXES)} == {
        "users_groups": [{"name": "research", "gid": 20000}, {"name": "admins", "gid": 20001}],
        "users_accounts": [
            {
                "name": "ada",
                "uid": 20001,
                "group": "research",
                "keys": [KEY],
                "slurm_account": "research",
            },
            {
                "name": "grace",
                "uid": 20002,
                "group": "research",
                "groups": ["admins"],
                "removed": True,
            },
        ],
        "users_sudo": [{"group": "admins", "commands": ["ALL"]}],
        "ssh_server_root_login": "no",
        "ssh_server_groups": ["research"],
        "ssh_server_admin_groups": ["admins"],
        "ssh_server_managed_groups": ["research"],
        "ssh_server_jobs_only": True,
        "enroot_version": "3.5.0",
        "pyxis_version": "0.20.0",
    }
    (login, *_) = made["slurm_controller"]["hosts"]
    found = host_variables(made, login)
    assert found is not None
    assert "ssh_server_jobs_only" not in found


def test_a_blueprint_without_users_sets_nothing() -> None:
    made = build_inventory(load_plan(FIXTURES / "slurm.yaml").plan)
    hosts = made["_meta"]["hostvars"]
    assert hosts
    for host in hosts:
        found = host_variables(made, host)
        assert found is not None
        assert not [key for key in found if key.startswith(PREFIXES)]


DIRECTORY: dict[str, Any] = {
    "uris": ["ldap://ldap-1.example.com", "ldap://ldap-2.example.com:3890"],
    "base": "dc=example,dc=com",
    "ca": "/etc/rackwright/ldap-ca.pem",
    "allowed_groups": ["staff"],
}


def test_the_directory_is_told_to_sssd_and_its_keys_to_sshd(tmp_path: Path) -> None:
    layer = tmp_path / "layer.yaml"
    bind = {"dn": "cn=hosts,dc=example,dc=com", "password_file": "/etc/rackwright/ldap"}
    wanted = {**DIRECTORY, "bind": bind, "cache": "2 h"}
    layer.write_text(
        json.dumps({"users": {"directory": wanted, "ssh": {"login_groups": ["staff"]}}})
    )
    told = build_inventory(load_plan(FIXTURES / "slurm.yaml", (layer,)).plan)["all"]["vars"]
    assert {key: value for key, value in told.items() if key.startswith("sssd_")} == {
        "sssd_uris": DIRECTORY["uris"],
        "sssd_base": "dc=example,dc=com",
        "sssd_ca": "/etc/rackwright/ldap-ca.pem",
        "sssd_allowed_groups": ["staff"],
        "sssd_members": "memberUid",
        "sssd_cache_s": 7200,
        "sssd_make_homes": False,
        "sssd_bind_dn": bind["dn"],
        "sssd_bind_password_file": bind["password_file"],
    }
    assert told["ssh_server_directory_keys"] is True
    assert told["ssh_server_groups"] == ["staff"]
    assert told["users_groups"] == []


GROUPS = [{"name": "research", "gid": 20000}]
ADA: dict[str, Any] = {"name": "ada", "uid": 20001, "group": "research"}
WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "two-names-for-a-number": ({"accounts": [ADA, {**ADA, "name": "eve"}]}, "uid '20001' is named"),
    "twice": ({"accounts": [ADA, {**ADA, "uid": 20002}]}, "account 'ada' is named twice"),
    "no-group": ({"accounts": [{**ADA, "group": "ops"}]}, "names the group 'ops'"),
    "system-number": ({"accounts": [{**ADA, "uid": 33}]}, "greater than or equal to 1000"),
    "private-key": ({"accounts": [{**ADA, "keys": ["-----BEGIN"]}]}, "should match pattern"),
    "options": ({"accounts": [{**ADA, "keys": [f"no-pty {KEY}"]}]}, "should match pattern"),
    "sudo": ({"sudo": [{"group": "research", "commands": ["reboot"]}]}, "should match pattern"),
    "sudo-group": ({"sudo": [{"group": "wheel", "commands": ["ALL"]}]}, "a sudo rule names"),
    "clear-text": (
        {"directory": {**DIRECTORY, "uris": ["http://ldap-1.example.com"]}},
        "should match pattern",
    ),
    "two-ways": (
        {"directory": {**DIRECTORY, "uris": ["ldap://a.example.com", "ldaps://b.example.com"]}},
        "encrypted in two ways",
    ),
    "no-ca": (
        {"directory": {key: value for key, value in DIRECTORY.items() if key != "ca"}},
        "ca\n  Field required",
    ),
    "two-places": (
        {"directory": {**DIRECTORY, "allowed_groups": ["research"]}},
        "'research' is in 'groups' and in 'allowed_groups'",
    ),
    "sudo-of-the-directory": (
        {"directory": DIRECTORY, "sudo": [{"group": "staff", "commands": ["ALL"]}]},
        "a sudo rule names the group 'staff'",
    ),
    "nobody": ({"groups": []}, "needs 'groups', or a 'directory'"),
    "ssh-group": ({"ssh": {"login_groups": ["staff"]}}, "ssh names the group 'staff'"),
}


@pytest.mark.parametrize("case", sorted(WRONG))
def test_impossible_users_are_refused(case: str) -> None:
    wrong, message = WRONG[case]
    with pytest.raises(ValidationError, match=message):
        Users.model_validate({"groups": GROUPS, **wrong})


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("tracking: cgroup", "tracking: linuxproc", "needs 'tracking: cgroup' and 'contain: true'"),
        ("contain: true", "contain: false", "needs 'tracking: cgroup' and 'contain: true'"),
    ],
)
def test_jobs_that_open_a_host_have_containers(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    layer = tmp_path / "layer.yaml"
    processes = "scheduler: {processes: {tracking: cgroup, contain: true}}\n"
    layer.write_text(LAYER + processes)
    load_plan(FIXTURES / "slurm.yaml", (layer,))
    layer.write_text(LAYER + processes.replace(old, new))
    with pytest.raises(RackwrightError) as caught:
        load_plan(FIXTURES / "slurm.yaml", (layer,))
    assert message in str(caught.value)


def test_without_a_scheduler_no_job_opens_a_host(tmp_path: Path) -> None:
    layer = tmp_path / "layer.yaml"
    layer.write_text(LAYER)
    with pytest.raises(RackwrightError) as caught:
        load_plan(FIXTURES / "air.yaml", (layer,))
    assert "no 'scheduler' to ask for jobs" in str(caught.value)


TREE = """
scheduler:
  accounting:
    host: head-1
    accounts:
      - {name: vision, parent: research, max_gpus: 64}
      - {name: research, share: 3}
  priority: {}
"""


def test_the_database_s_host_is_told_the_tree_of_accounts(tmp_path: Path) -> None:
    layer, tree = tmp_path / "layer.yaml", tmp_path / "tree.yaml"
    layer.write_text(LAYER)
    tree.write_text(TREE)
    plan = load_plan(FIXTURES / "slurm.yaml", (layer, tree)).plan
    assert plan.slurm is not None
    told = build_inventory(plan)["slurm_database"]["vars"]
    assert told["users_cluster"] == plan.slurm.name
    assert told["users_tree"] == [
        {"name": "research", "share": 3},
        {"name": "vision", "parent": "research", "max_gpus": 64},
    ]
    tree.write_text(TREE.split("    accounts", maxsplit=1)[0] + "  priority: {}\n")
    plain = build_inventory(load_plan(FIXTURES / "slurm.yaml", (layer, tree)).plan)
    assert "users_tree" not in plain["slurm_database"]["vars"]


def test_a_user_is_in_an_account_of_the_tree(tmp_path: Path) -> None:
    layer, tree = tmp_path / "layer.yaml", tmp_path / "tree.yaml"
    layer.write_text(LAYER.replace("slurm_account: research", "slurm_account: research-2"))
    tree.write_text(TREE)
    with pytest.raises(RackwrightError) as refused:
        load_plan(FIXTURES / "slurm.yaml", (layer, tree))
    assert "'ada' is in the Slurm account 'research-2', which" in str(refused.value)
