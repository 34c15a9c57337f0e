"""The embedded AWS keeps its state on this machine, whatever the environment says of the team's."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from rackwright.embedded_aws import control
from rackwright.provision.targets import open_target


@pytest.fixture
def state(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path
    control.stop(tmp_path / "local/embedded-aws")


def test_a_backend_of_the_team_does_not_get_local_stacks(
    state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PULUMI_BACKEND_URL", "s3://the-teams-state")
    target = open_target("local", state=state)
    assert target.backend == f"file://{state}/local/pulumi"
    assert target.environment["PULUMI_BACKEND_URL"] == target.backend
    assert Path(target.environment["PULUMI_CONFIG_PASSPHRASE_FILE"]).read_text()
    assert target.secrets_provider == "passphrase"
