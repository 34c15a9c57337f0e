"""Settings that a team keeps for a stack, as ``rackwright up`` passes them to the engine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from rackwright.errors import UsageError
from rackwright.provision.access.stack_settings import stack_settings


def settings(folder: Path, document: dict[str, Any], *, local: bool = False, **more: Any) -> Any:
    """Return the settings of the stack ``atlas-use1`` of a team that keeps ``document``."""
    place = folder / "stacks/aws-network/Pulumi.atlas-use1.yaml"
    place.parent.mkdir(parents=True)
    place.write_text(yaml.safe_dump(document))
    return stack_settings(
        folder / "blueprint.yaml",
        "aws-network",
        "atlas-use1",
        **{"region": "us-east-1", "account": None, **more},
        local=local,
    )


TAGS = {"aws:defaultTags": {"tags": {"cost-centre": "4711"}}}


def test_environments_and_configuration_of_a_stack_were_left_out(tmp_path: Path) -> None:
    """E: the engine was given a folder with the region alone."""
    document = {
        "environment": ["platform/aws-prod"],
        "secretsprovider": "awskms://alias/pulumi",
        "encryptedkey": "AQICAHg=",
        "config": {**TAGS, "aws-network:protect": "false", "aws-network:blueprint": "b.yaml"},
    }
    passed = settings(tmp_path, document)
    assert passed == {**document, "config": TAGS}


def test_the_embedded_aws_has_secrets_and_credentials_of_its_own(tmp_path: Path) -> None:
    document = {
        "environment": ["platform/aws-prod"],
        "encryptionsalt": "v1:abc",
        "config": {**TAGS, "aws:profile": "prod", "aws:retryMode": {"secure": "v1:abc"}},
    }
    assert settings(tmp_path, document, local=True) == {"config": TAGS}


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ({"aws:assumeRoles": [{"roleArn": "arn:aws:iam::1:role/x"}]}, "otherwise than Rackwright"),
        ({"aws:endpoints": [{"ec2": "https://example.com"}]}, "otherwise than Rackwright"),
        ({"aws:accessKey": "AKIA"}, "otherwise than Rackwright"),
        ({"aws:region": "eu-west-1"}, "the site is in 'us-east-1'"),
        ({"aws:allowedAccountIds": ["222222222222"]}, "allows other accounts than '111122223333'"),
        ({"aws:profile": "prod"}, "which Rackwright's own calls do not use"),
    ],
)
def test_a_setting_that_contradicts_the_run_is_refused(
    config: dict[str, Any], words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AWS_PROFILE", raising=False)
    with pytest.raises(UsageError, match=words):
        settings(tmp_path, {"config": config}, account="111122223333")


def test_a_profile_that_both_use_is_passed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_PROFILE", "prod")
    assert settings(tmp_path, {"config": {"aws:profile": "prod"}}) == {
        "config": {"aws:profile": "prod"}
    }


def test_a_stack_without_settings_has_none(tmp_path: Path) -> None:
    found = stack_settings(
        tmp_path / "blueprint.yaml", "aws-network", "x", region="r", account=None, local=False
    )
    assert found == {}
