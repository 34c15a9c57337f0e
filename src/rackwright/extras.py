"""The extras of the package: what is installed only where it is asked for.

``pip install rackwright`` brings what judges and renders a blueprint. Commands that provision or
configure need more, which ``pyproject.toml`` lists by extra.
"""

from __future__ import annotations

from collections.abc import Mapping

from rackwright.errors import ExternalToolError

MODULES: Mapping[str, str] = {
    "ansible": "configure",
    "ansible_runner": "configure",
    "boto3": "aws",
    "botocore": "aws",
    "cryptography": "workers",
    "google": "aws",
    "grpc": "aws",
    "moto": "local",
    "pulumi": "aws",
    "pulumi_aws": "aws",
    "semver": "aws",
    "werkzeug": "local",
}
"""The extra that brings each module which the dependencies do not."""


def install_hint(*extras: str) -> str:
    """The command that installs ``extras``."""
    return f"pip install 'rackwright[{','.join(extras)}]'"


def missing_extra(error: ModuleNotFoundError) -> ExternalToolError | None:
    """The failure to show where a module of an extra is missing; None for any other module."""
    module = (error.name or "").partition(".")[0]
    extra = MODULES.get(module)
    if extra is None:
        return None
    return ExternalToolError(
        f"this command needs the Python package '{module}', which is not installed",
        hint=install_hint(extra),
    )
