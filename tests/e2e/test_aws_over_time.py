"""Keys and old versions on the embedded AWS; a cluster that waits and grows is in `test_year.py`."""

from __future__ import annotations

from typing import Any

import pytest

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(900)]
TARGET = ("--target", "local")


def test_a_key_of_the_team_is_granted_to_auto_scaling_and_old_versions_are_removed(
    lab: Any,
) -> None:
    kms = lab.client("kms")
    key = kms.create_key()["KeyMetadata"]["Arn"]
    blueprint = lab.blueprint(
        "keyed",
        **{
            "    limits:": f"    access: {{encryption_key: '{key}', key_for_auto_scaling: grant}}\n    limits:",
            "mount: /scratch": "mount: /scratch\n        data_repositories: "
            "[{bucket: keyed-data, path: /data, keep_versions: 30 d}]",
        },
    )
    lab.run("up", blueprint, *TARGET, "--yes")
    (grant,) = kms.list_grants(KeyId=key)["Grants"]
    assert grant["GranteePrincipal"].endswith("/AWSServiceRoleForAutoScaling")
    s3 = lab.client("s3")
    (rule,) = s3.get_bucket_lifecycle_configuration(Bucket="keyed-data")["Rules"]
    assert rule["NoncurrentVersionExpiration"] == {"NoncurrentDays": 30}

    changes = [
        stack["changes"]
        for stack in lab.stacks("preview", blueprint).values()
        if "changes" in stack
    ]
    assert not any(set(change) - {"same"} for change in changes), changes
