"""Quotas, as variables of the roles that set them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rackwright.model.quotas import Limits, Quota
from rackwright.model.users import Account, Users


def quota_of_all(quota: Quota, users: Users) -> dict[str, Any]:
    """Limits of every account, for file systems that may know no limit of whoever is not named."""
    return _variables(quota, users, users.accounts)


def quota_of_some(quota: Quota, users: Users) -> dict[str, Any]:
    """The limit of everybody and those of accounts with others, for Lustre, which has both."""
    own = {account.name for account in quota.accounts}
    return _variables(quota, users, (one for one in users.accounts if one.name in own))


def _variables(quota: Quota, users: Users, accounts: Iterable[Account]) -> dict[str, Any]:
    named = tuple(accounts)
    limits = quota.limits(account.name for account in named)
    return {
        **_known(quota.default),
        "others": users.directory is not None,
        "accounts": [
            {"name": account.name, "uid": account.uid, **_known(limits[account.name])}
            for account in named
        ],
    }


def _known(limits: Limits) -> dict[str, int]:
    return {name: value for name, value in limits._asdict().items() if value is not None}
