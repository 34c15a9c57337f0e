"""Accounts, shares and logins, as variables of the roles ``users``, ``sssd`` and ``ssh_server``.

Quotas of accounts as well, for the roles of file systems.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rackwright.model.quotas import FileSystemQuota, QuotaLimits
from rackwright.model.scheduler import Accounting
from rackwright.model.users import Account, Directory, Users
from rackwright.plan.model import Plan


def user_variables(plan: Plan) -> dict[str, Any]:
    """Return the variables of every host; empty where the blueprint names no users."""
    users = plan.users
    if users is None:
        return {}
    directory = {} if users.directory is None else _directory(users.directory)
    return directory | {
        "users_groups": [group.model_dump() for group in users.groups],
        "users_accounts": [
            account.model_dump(mode="json", exclude_defaults=True) for account in users.accounts
        ],
        "users_sudo": [rule.model_dump(mode="json") for rule in users.sudo],
        "ssh_server_root_login": users.ssh.root_login,
        "ssh_server_groups": list(users.ssh.login_groups),
        "ssh_server_admin_groups": list(users.ssh.admin_groups),
        # Accounts of these groups get in by the keys of the role 'users' and by no others.
        "ssh_server_managed_groups": sorted({account.group for account in users.accounts}),
    }


def compute_variables(plan: Plan) -> dict[str, Any]:
    """Return the variables of the hosts that run jobs."""
    users = plan.users
    return {} if users is None else {"ssh_server_jobs_only": users.ssh.compute == "jobs"}


def share_variables(cluster: str, accounting: Accounting) -> dict[str, Any]:
    """Return the variables of the database's host; empty where the blueprint declares no accounts of Slurm."""
    if not accounting.accounts:
        return {}
    return {
        "users_cluster": cluster,
        "users_tree": [one.model_dump(exclude_defaults=True) for one in accounting.tree()],
    }


def quota_of_all(quota: FileSystemQuota, users: Users) -> dict[str, Any]:
    """Return the limits of every account, for file systems that may know no limit of accounts that are not named."""
    return _quota(quota, users, users.accounts)


def quota_of_some(quota: FileSystemQuota, users: Users) -> dict[str, Any]:
    """Return the limit of everybody and those of accounts with others, for Lustre, which has both."""
    own = {account.name for account in quota.accounts}
    return _quota(quota, users, (one for one in users.accounts if one.name in own))


def _directory(directory: Directory) -> dict[str, Any]:
    """Return the directory, without the defaults of the role; sshd asks it for keys as well."""
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


def _quota(quota: FileSystemQuota, users: Users, accounts: Iterable[Account]) -> dict[str, Any]:
    named = tuple(accounts)
    limits = quota.limits(account.name for account in named)
    return {
        **_limits(quota.default),
        "others": users.directory is not None,
        "accounts": [
            {"name": account.name, "uid": account.uid, **_limits(limits[account.name])}
            for account in named
        ],
    }


def _limits(limits: QuotaLimits) -> dict[str, int]:
    return {name: value for name, value in limits._asdict().items() if value is not None}
