"""Quotas that would hold for nobody are refused."""

from __future__ import annotations

from typing import Any

import pytest

from factories import a_blueprint, a_site
from rackwright.model.cluster import Blueprint
from rackwright.plan.problems import PlanProblem
from rackwright.plan.storage.quotas import find_quota_problems

ACCOUNTS: dict[str, Any] = {
    "groups": [{"name": "research", "gid": 20000}],
    "accounts": [{"name": "alice", "uid": 20001, "group": "research"}],
}
DIRECTORY: dict[str, Any] = {
    "directory": {
        "uris": ["ldaps://ldap.example.com"],
        "base": "dc=example,dc=com",
        "ca": "/etc/ca.pem",
        "allowed_groups": ["research"],
    }
}
WHERE = ("sites", 0, "nfs", 0, "quota")


def problems(users: dict[str, Any] | None, **quota: Any) -> list[PlanProblem]:
    site = a_site()
    names = [group["name"] for group in site["node_groups"]]
    share = {
        "name": "home",
        "server": names[0],
        "export": "/export/home",
        "mount": "/home",
        "clients": [],
        "networks": ["10.0.0.0/24"],
        "quota": {"space": "1 TB", **quota},
    }
    site["nfs"] = [share]
    more = {"users": users} if users else {}
    return list(find_quota_problems(Blueprint.model_validate(a_blueprint(site, **more))))


@pytest.mark.parametrize("users", [ACCOUNTS, DIRECTORY])
def test_a_quota_of_accounts_that_are_there_is_right(users: dict[str, Any]) -> None:
    assert problems(users) == []


@pytest.mark.parametrize("users", [None, {"groups": ACCOUNTS["groups"]}])
def test_a_quota_without_accounts_limits_nobody(users: dict[str, Any] | None) -> None:
    (found,) = problems(users)
    assert found.path == WHERE
    assert found.message == "the quota limits no account: the blueprint has no accounts"


def test_an_account_with_a_limit_of_its_own_is_one_of_the_accounts() -> None:
    (found,) = problems(ACCOUNTS, accounts=[{"name": "alise", "files": 5}])
    assert found.path == (*WHERE, "accounts", 0, "name")
    assert found.message == "there is no account 'alise' in 'users.accounts'"
    assert found.hint is not None
    assert "alice" in found.hint


def test_a_quota_of_lustre_needs_accounts_and_a_client_that_sets_it() -> None:
    system = {"name": "scratch", "kind": "lustre", "mount": "/scratch", "quota": {"files": 5}}
    blueprint = Blueprint.model_validate(a_blueprint(a_site(file_systems=[system])))
    nobody_sets, nobody_has = find_quota_problems(blueprint)
    assert nobody_sets.path == nobody_has.path == ("sites", 0, "file_systems", 0, "quota")
    assert nobody_sets.message == "the quota cannot be set: 'scratch' has no 'clients'"
    assert "limits no account" in nobody_has.message
