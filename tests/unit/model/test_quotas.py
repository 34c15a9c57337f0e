"""Quotas of a blueprint: what each account may have."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from rackwright.model.quotas import FileSystemQuota, QuotaLimits


def test_an_account_has_its_own_limit_or_that_of_everybody() -> None:
    quota = FileSystemQuota.model_validate(
        {
            "space": "2 TB",
            "files": 1_000_000,
            "accounts": [{"name": "alice", "space": "5 TiB"}, {"name": "bob", "files": 7}],
        }
    )
    assert quota.default == QuotaLimits(1_953_125_000, 1_000_000)
    assert quota.limits(["alice", "bob", "carol"]) == {
        "alice": QuotaLimits(5 << 30, 1_000_000),
        "bob": QuotaLimits(1_953_125_000, 7),
        "carol": quota.default,
    }
    assert FileSystemQuota.model_validate({"files": 5}).default == QuotaLimits(None, 5)


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ({}, "the quota limits nothing; give 'space', 'files' or both"),
        (
            {"files": 5, "accounts": [{"name": "bob"}]},
            "the quota of 'bob' limits nothing; give 'space', 'files' or both",
        ),
        ({"space": "512 KiB"}, "the quota is 512 KiB; the least is 1024 KiB"),
        ({"space": "0 GB"}, "the quota is 0 KiB; the least is 1024 KiB"),
        ({"files": 0}, "greater than 0"),
        ({"space": 5}, "unit"),
        ({"files": 5, "accounts": [{"name": "bob", "files": 1}] * 2}, "quota of account 'bob'"),
    ],
)
def test_a_quota_that_limits_nothing_is_refused(written: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError) as refused:
        FileSystemQuota.model_validate(written)
    assert said in str(refused.value)
