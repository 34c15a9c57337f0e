"""EFS of the embedded AWS: what changes, and what is refused as AWS and its provider refuse it."""

from __future__ import annotations

import grpc
import pytest

from unit.embedded_aws.engine import Engine, urn_of

SYSTEM = "aws:efs/fileSystem:FileSystem"
POLICY = "aws:efs/backupPolicy:BackupPolicy"


def test_the_rate_goes_with_the_provisioned_mode_alone(engine: Engine) -> None:
    made = engine.create(SYSTEM, "rated", {"creationToken": "rated", "encrypted": True})
    assert made.outputs["throughputMode"] == "bursting", "the provider's default"
    rated = {
        "creationToken": "rated",
        "encrypted": True,
        "throughputMode": "provisioned",
        "provisionedThroughputInMibps": 64,
    }
    try:
        made = engine.update(made, rated)
        assert made.outputs["provisionedThroughputInMibps"] == 64
        del rated["provisionedThroughputInMibps"]
        with pytest.raises(grpc.RpcError, match="goes with the mode 'provisioned' alone"):
            engine.update(made, {**rated, "throughputMode": "provisioned"})
        made = engine.update(made, {**rated, "throughputMode": "elastic"})
        assert made.outputs["throughputMode"] == "elastic"
    finally:
        engine.delete(made)


def test_a_token_is_taken_once(engine: Engine) -> None:
    made = engine.create(SYSTEM, "first", {"creationToken": "once"})
    try:
        with pytest.raises(grpc.RpcError, match="FileSystemAlreadyExists"):
            engine.create(SYSTEM, "second", {"creationToken": "once"})
    finally:
        engine.delete(made)


@pytest.mark.parametrize(
    ("inputs", "name"),
    [
        ({"creationToken": "t" * 65}, "creationToken"),
        ({"lifecyclePolicies": [{"transitionToIa": "AFTER_7_DAYS"}] * 4}, "lifecyclePolicies"),
    ],
)
def test_what_the_provider_refuses_is_refused(
    engine: Engine, inputs: dict[str, object], name: str
) -> None:
    failures = engine.check(urn_of(SYSTEM, "odd"), inputs).failures
    assert [failure.property for failure in failures] == [name]


def test_a_key_needs_encryption(engine: Engine) -> None:
    inputs = {"creationToken": "plain", "kmsKeyId": "arn:aws:kms:us-west-2:123456789012:key/a"}
    with pytest.raises(grpc.RpcError, match="must be True"):
        engine.create(SYSTEM, "plain", inputs)


def test_a_backup_policy_is_on_or_off(engine: Engine) -> None:
    made = engine.create(SYSTEM, "kept", {"creationToken": "kept"})
    try:
        odd = {"fileSystemId": made.id, "backupPolicy": {"status": "SOMETIMES"}}
        with pytest.raises(grpc.RpcError, match="is one of ENABLED, DISABLED"):
            engine.create(POLICY, "odd", odd)
        lost = {"fileSystemId": "fs-0123456789abcdef0", "backupPolicy": {"status": "ENABLED"}}
        with pytest.raises(grpc.RpcError, match="FileSystemNotFound"):
            engine.create(POLICY, "lost", lost)
    finally:
        engine.delete(made)
