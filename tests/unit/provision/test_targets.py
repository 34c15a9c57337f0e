"""The embedded AWS keeps its state on this machine, and AWS's own provider is attached to it."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Iterator
from pathlib import Path

import pytest

from rackwright.errors import ExternalToolError
from rackwright.provision.targets import open_target
from rackwright.provision.tools import aws_provider
from rackwright.provision.tools.aws_provider import attach_plugin, find_aws_provider
from rackwright.provision.tools.folder import AWS_PROVIDER
from rackwright_lab.embedded_aws import control

PLACE = f"plugins/resource-aws-v{importlib.metadata.version('pulumi-aws')}/{AWS_PROVIDER}"
"""Where the engine looks in its home folder."""


@pytest.fixture
def state(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path
    control.stop(tmp_path / "local/embedded-aws")


@pytest.fixture
def vendor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The home folder of the vendor's CLI, on a machine where no plugin was built."""
    monkeypatch.setenv("RACKWRIGHT_TOOLS_DIR", str(tmp_path / "tools"))
    monkeypatch.setenv("PULUMI_HOME", str(tmp_path / "vendor"))
    return tmp_path / "vendor"


def program(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


def test_a_backend_of_the_team_does_not_get_local_stacks(
    state: Path, vendor: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(vendor / PLACE)
    monkeypatch.setenv("PULUMI_BACKEND_URL", "s3://the-teams-state")
    target = open_target("local", state=state)
    assert target.backend == f"file://{state}/local/pulumi"
    assert target.environment["PULUMI_BACKEND_URL"] == target.backend
    assert Path(target.environment["PULUMI_CONFIG_PASSPHRASE_FILE"]).read_text()
    assert target.secrets_provider == "passphrase"


def test_the_engine_finds_the_plugin_and_the_plugin_the_embedded_aws(
    state: Path, vendor: Path
) -> None:
    plugin = program(vendor / PLACE)
    target = open_target("local", state=state)
    home = Path(target.environment["PULUMI_HOME"])
    assert home.is_relative_to(state / "local"), "not the user's own"
    assert (home / PLACE).resolve() == plugin
    assert "PULUMI_DEBUG_PROVIDERS" not in target.environment
    assert target.environment["PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION"] == "true"
    running = control.status(state / "local/embedded-aws")
    assert running is not None
    for name in ("AWS_ENDPOINT_URL", "HTTP_PROXY"):
        assert target.environment[name] == target.endpoint == running.endpoint


def test_a_machine_without_the_plugin_says_how_to_install_it(state: Path, vendor: Path) -> None:
    with pytest.raises(ExternalToolError, match=r"AWS provider .* is not installed") as caught:
        open_target("local", state=state)
    assert "rackwright tools install aws-provider" in str(caught.value.hint)
    assert control.status(state / "local/embedded-aws") is None, "nothing was started"


def test_file_that_is_not_executable_is_not_a_vendor_plugin(tmp_path: Path, vendor: Path) -> None:
    program(vendor / PLACE).chmod(0o644)
    program(vendor / "plugins/resource-aws-v0.0.1" / AWS_PROVIDER)
    assert find_aws_provider() is None
    shelf = aws_provider.recipe().shelf(tmp_path / "tools")
    shelf.put(program(tmp_path / "built" / AWS_PROVIDER).parent)
    assert find_aws_provider() == shelf.bin / AWS_PROVIDER
    (vendor / PLACE).chmod(0o755)
    assert find_aws_provider() == vendor / PLACE


def test_an_attached_plugin_takes_the_place_of_a_former_one(tmp_path: Path) -> None:
    former, now = program(tmp_path / "former"), program(tmp_path / "now")
    home = tmp_path / "pulumi-home"
    attach_plugin(former, home)
    assert (home / PLACE).readlink() == former
    former.unlink()  # as of a release that is no more
    attach_plugin(now, home)
    assert (home / PLACE).readlink() == now
    made = (home / PLACE).lstat()
    attach_plugin(now, home)
    assert (home / PLACE).lstat() == made, "what is right is left alone"
    assert [one.name for one in home.iterdir()] == ["plugins"]
