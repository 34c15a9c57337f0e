"""Quotas that cannot be: for absent accounts, without accounts, or without a host that sets them."""

from __future__ import annotations

from collections.abc import Iterator

from rackwright.model.cluster import Blueprint
from rackwright.model.onprem import OnPremSite
from rackwright.model.quotas import FileSystemQuota
from rackwright.model.storage import NfsShare, ParallelFileSystem
from rackwright.plan.base import Path
from rackwright.plan.problems import PlanProblem
from rackwright.reading.suggest import did_you_mean


def find_quota_problems(blueprint: Blueprint) -> Iterator[PlanProblem]:
    """Yield the quotas of the blueprint that would apply to no account, or that no host can set."""
    users = blueprint.users
    known = [account.name for account in users.accounts] if users is not None else []
    for path, quota, system in _quotas(blueprint):
        if isinstance(system, ParallelFileSystem) and not system.clients:
            message = f"the quota cannot be set: '{system.name}' has no 'clients'"
            hint = "name a node group that mounts it in 'clients', or leave out 'quota'"
            yield PlanProblem(path, message, hint)
        if users is None or (not known and users.directory is None):
            message = "the quota limits no account: the blueprint has no accounts"
            hint = "write them in 'users.accounts', or leave out 'quota'"
            yield PlanProblem(path, message, hint)
            continue
        for index, account in enumerate(quota.accounts):
            if account.name not in known:
                message = f"there is no account '{account.name}' in 'users.accounts'"
                where = (*path, "accounts", index, "name")
                yield PlanProblem(where, message, did_you_mean(account.name, known))


def _quotas(
    blueprint: Blueprint,
) -> Iterator[tuple[Path, FileSystemQuota, NfsShare | ParallelFileSystem]]:
    for number, site in enumerate(blueprint.sites):
        if isinstance(site, OnPremSite):
            shares: tuple[NfsShare | ParallelFileSystem, ...] = site.nfs
            for kind, listed in (("nfs", shares), ("file_systems", site.file_systems)):
                for index, one in enumerate(listed):
                    if one.quota is not None:
                        yield ("sites", number, kind, index, "quota"), one.quota, one
