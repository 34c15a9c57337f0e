"""The AWS provider of the engine: pinned by a digest, and attached where the engine looks."""

from __future__ import annotations

import hashlib
import tarfile
from pathlib import Path
from types import SimpleNamespace

import pytest

from rackwright.errors import ExternalToolError, UsageError
from rackwright.laboratory import door
from rackwright.provision.targets import open_target
from rackwright.provision.tools.aws_provider import attach_plugin
from rackwright.provision.tools.folder import AWS_PROVIDER
from rackwright.provision.tools.pinned_provider import PINNED


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine without tools, and without credentials of a job."""
    monkeypatch.setenv("RACKWRIGHT_TOOLS_DIR", str(tmp_path / "tools"))
    monkeypatch.setenv("PULUMI_HOME", str(tmp_path / "home"))
    for name in ("AWS_WEB_IDENTITY_TOKEN_FILE", "PULUMI_BACKEND_URL", PINNED):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def an_archive(folder: Path, name: str = AWS_PROVIDER) -> tuple[Path, str]:
    """An archive of a plugin as its vendor packs it, and its digest."""
    program = folder / name
    program.write_text("#!/bin/sh\n")
    archive = folder / "plugin.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        tar.add(program, arcname=name)
    return archive, hashlib.sha256(archive.read_bytes()).hexdigest()


def plugin(home: Path) -> Path:
    (found,) = (home / "plugins").glob(f"*/{AWS_PROVIDER}")
    return found


def test_the_engine_gets_the_plugin_of_the_digest_and_fetches_no_other(
    machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive, digest = an_archive(machine)
    monkeypatch.setenv(PINNED, f"{archive}#sha256={digest}")
    for _ in range(2):
        target = open_target("aws", state=machine / "state")
        assert target.environment["PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION"] == "true"
        assert plugin(machine / "home").read_text() == "#!/bin/sh\n"

    plugin(machine / "home").resolve().write_text("#!/bin/sh\necho other\n")
    open_target("aws", state=machine / "state")
    assert plugin(machine / "home").read_text() == "#!/bin/sh\n"


def test_a_plugin_of_another_digest_is_not_taken(
    machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive, _ = an_archive(machine)
    monkeypatch.setenv(PINNED, f"{archive}#sha256={'0' * 64}")
    with pytest.raises(ExternalToolError, match="instead of 0000"):
        open_target("aws", state=machine / "state")
    assert not list(machine.glob(f"home/plugins/*/{AWS_PROVIDER}"))


def test_a_plugin_without_a_digest_is_refused(
    machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive, _ = an_archive(machine)
    monkeypatch.setenv(PINNED, str(archive))
    with pytest.raises(UsageError, match="no archive to install from"):
        open_target("aws", state=machine / "state")


def test_a_plugin_that_is_attached_already_is_never_linked_to_itself(
    machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    built, state = machine / "built", machine / "state"
    built.write_text("#!/bin/sh\n")
    built.chmod(0o755)
    attach_plugin(built, state / "local/pulumi-home")
    monkeypatch.setenv("PULUMI_HOME", str(state / "local/pulumi-home"))
    monkeypatch.setattr(
        door, "start_embedded_aws", lambda _folder: SimpleNamespace(endpoint="http://nowhere")
    )
    open_target("local", state=state)
    assert plugin(state / "local/pulumi-home").resolve() == built
