"""Accounts, shares and logins, as variables of the roles ``users``, ``sssd`` and ``ssh_server``."""

from __future__ import annotations

from typing import Any

from rackwright.model.scheduler import Accounting
from rackwright.model.users import Account, Directory
from rackwright.plan.model import Plan


def user_variables(plan: Plan) -> dict[str, Any]:
    """Variables of every host; empty where the blueprint names no users."""
    users = plan.users
    if users is None:
        return {}
    directory = {} if users.directory is None else _directory(users.directory)
    return directory | {
        "users_groups": [group.model_dump() for group in users.groups],
        "users_accounts": [_account(account) for account in users.accounts],
        "users_sudo": [rule.model_dump(mode="json") for rule in users.sudo],
        "ssh_server_root_login": users.ssh.root_login,
        "ssh_server_groups": list(users.ssh.login_groups),
        "ssh_server_admin_groups": list(users.ssh.admin_groups),
        # Accounts of these groups get in by the keys of the role 'users' and by no others.
        "ssh_server_managed_groups": sorted({account.group for account in users.accounts}),
    }


def compute_variables(plan: Plan) -> dict[str, Any]:
    """Variables of the hosts that run jobs."""
    users = plan.users
    return {} if users is None else {"ssh_server_jobs_only": users.ssh.compute == "jobs"}


def share_variables(cluster: str, accounting: Accounting) -> dict[str, Any]:
    """Variables of the database's host; empty where the blueprint declares no accounts of Slurm."""
    if not accounting.accounts:
        return {}
    return {
        "users_cluster": cluster,
        "users_tree": [one.model_dump(exclude_defaults=True) for one in accounting.tree()],
    }


def _directory(directory: Directory) -> dict[str, Any]:
    """The directory, without the defaults of the role; sshd asks it for keys as well."""
    made: dict[str, Any] = {
        "sssd_uris": list(directory.uris),
        "sssd_base": directory.base,
        "sssd_ca": directory.ca,
        "sssd_allowed_groups": list(directory.allowed_groups),
        "sssd_members": directory.members,
        "sssd_cache_s": round(directory.cache),
        "sssd_make_homes": directory.make_homes,
        "ssh_server_directory_keys": True,
    }
    if directory.bind is not None:
        made["sssd_bind_dn"] = directory.bind.dn
        made["sssd_bind_password_file"] = directory.bind.password_file
    return made


def _account(account: Account) -> dict[str, Any]:
    """What differs from the defaults of the role, so that a long list stays short."""
    return account.model_dump(mode="json", exclude_defaults=True)
