"""Targets of provisioning: the embedded AWS of this machine, or AWS itself."""

from __future__ import annotations

import os
import secrets
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from rackwright.extras import require
from rackwright.files import state_folder
from rackwright.provision.backends import BACKEND, PASSPHRASE, PASSPHRASE_FILE, read_backend
from rackwright.secret_files import Secret, keep_secret

TargetName = Literal["local", "aws"]

PASSPHRASE_BYTES = 32
"""Random bytes of a passphrase; its text is longer."""


@dataclass(frozen=True)
class Target:
    """Target of the Pulumi engine.

    Attributes:
        name: ``local`` or ``aws``.
        state: folder of everything that this target remembers.
        environment: variables for the engine; secrets only as paths of files.
        backend: Pulumi backend URL, or None for the one the user is logged in to.
        endpoint: base URL of the embedded AWS, or None.
        secrets_provider: what encrypts secrets in the state, as
            ``rackwright.provision.backends.Backend`` says.
    """

    name: TargetName
    state: Path
    environment: dict[str, str] = field(repr=False)
    backend: str | None
    endpoint: str | None = None
    secrets_provider: str | None = None


def open_target(name: TargetName, *, state: Path | None = None) -> Target:
    """Return the target called ``name``, started where it has to be.

    Raises:
        UsageError: the environment lacks what AWS needs.
        ExternalToolError: an extra or the AWS provider is not installed.
    """
    require("aws")
    if name == "local":
        require("local")
    folder = (state or state_folder()) / name
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    return _open_local(folder) if name == "local" else _open_aws(folder)


def _open_local(folder: Path) -> Target:
    from rackwright.laboratory.door import start_embedded_aws
    from rackwright.provision.tools.aws_provider import attach_plugin, need_aws_provider

    # With PULUMI_HOME set to the home below, the plugin found is the link there, which must not name itself.
    plugin = need_aws_provider().resolve()
    embedded = start_embedded_aws(folder / "embedded-aws")
    backend = folder / "pulumi"
    backend.mkdir(exist_ok=True)
    home = folder / "pulumi-home"
    attach_plugin(plugin, home)
    return Target(
        name="local",
        state=folder,
        backend=f"file://{backend}",
        endpoint=embedded.endpoint,
        secrets_provider=PASSPHRASE,
        environment={
            # It comes before what a project says, and the team's own state is no place for this one.
            BACKEND: f"file://{backend}",
            PASSPHRASE_FILE: str(passphrase_file(folder)),
            **embedded_variables(embedded.endpoint, home),
            # The embedded AWS accepts any credentials; real ones must not reach it.
            "AWS_ACCESS_KEY_ID": "embedded",
            "AWS_SECRET_ACCESS_KEY": "embedded",
            "AWS_SESSION_TOKEN": "",
            "AWS_PROFILE": "",
        },
    )


def embedded_variables(endpoint: str, home: Path) -> dict[str, str]:
    """Return the variables that lead an engine to an embedded AWS, by AWS's own provider.

    Args:
        endpoint: base URL of the embedded AWS.
        home: the engine's home folder, to which the provider was attached.
    """
    return {
        "PULUMI_HOME": str(home),
        # The plugin is there; without this the engine looks for others on the network.
        "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
        "AWS_ENDPOINT_URL": endpoint,
        # S3 Control has the account in the name of its host, which only the endpoint can resolve.
        "HTTP_PROXY": endpoint,
        "NO_PROXY": "127.0.0.1,localhost",
        "AWS_EC2_METADATA_DISABLED": "true",
        # The provider's own switch for tests of it: between two looks at a resource it does not
        # pause, for the embedded AWS does at once what AWS takes minutes for. Set but empty, it pauses.
        "VCR_MODE": os.environ.get("VCR_MODE", "REPLAY_ONLY"),
        "VCR_PATH": str(home),
    }


def _open_aws(folder: Path) -> Target:
    from rackwright.provision.access.role_session import JobIdentity, RoleSession

    backend = read_backend(os.environ)
    job = JobIdentity.read(os.environ)
    variables = {} if job is None else RoleSession(folder / "session", os.environ).begin(job)
    variables = {**variables, **_pinned_provider()}
    return Target("aws", folder, variables, backend.url, secrets_provider=backend.secrets_provider)


def _pinned_provider() -> dict[str, str]:
    """Return variables for an engine that takes the AWS provider by its digest, where one is stated.

    The provider holds the role of the run. Without a digest the engine fetches it from its vendor, unchecked.
    """
    from rackwright.provision.tools.archive import parse_archive
    from rackwright.provision.tools.aws_provider import attach_plugin
    from rackwright.provision.tools.pinned_provider import PINNED, install_pinned

    if not (named := os.environ.get(PINNED)):
        return {}
    plugin = install_pinned(parse_archive(named), progress=lambda _line: None)
    home = os.environ.get("PULUMI_HOME") or str(Path.home() / ".pulumi")
    attach_plugin(plugin, Path(home))
    return {"PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true"}


def passphrase_file(folder: Path) -> Path:
    """Return a file with a random passphrase that only this user can read, made once.

    Raises:
        StateError: it is cut short, and stacks in ``folder`` are encrypted with what it was.
    """
    remedy = (
        "put it back from a backup; without one nobody can read the stacks: remove "
        f"'{folder}', which holds nothing but the embedded AWS of this machine, and provision again"
    )
    return keep_secret(
        folder / "passphrase",
        lambda: secrets.token_urlsafe(PASSPHRASE_BYTES).encode(),
        Secret("the passphrase of the stacks", least=PASSPHRASE_BYTES, remedy=remedy),
        in_use=any((folder / "pulumi/.pulumi/stacks").rglob("*.json*")),
    )
