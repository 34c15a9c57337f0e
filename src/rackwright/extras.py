"""The extras of the package: what is installed only where it is asked for.

``pip install rackwright`` brings what judges and renders a blueprint. Commands that provision or
configure need more, which ``pyproject.toml`` lists by extra.
"""

from __future__ import annotations

import importlib.util
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
    "ortools": "design",
    "pulumi": "aws",
    "pulumi_aws": "aws",
    "semver": "aws",
    "werkzeug": "local",
}
"""The extra that brings each module which the dependencies do not."""


def install_hint(*extras: str) -> str:
    """The command that installs ``extras``."""
    return f"pip install 'rackwright[{','.join(extras)}]'"


def require(extra: str) -> None:
    """Say what is missing of an extra before anything is started that only it can end.

    Raises:
        ExternalToolError: a module of the extra is not installed; how to install it.
    """  # noqa: DOC501 - _missing() makes the ExternalToolError
    for module, needed in MODULES.items():
        if needed == extra and importlib.util.find_spec(module) is None:
            raise _missing(module)


def missing_extra(error: ModuleNotFoundError) -> ExternalToolError | None:
    """The failure to show where a module of an extra is missing; None for any other module."""
    module = (error.name or "").partition(".")[0]
    return _missing(module) if module in MODULES else None


def _missing(module: str) -> ExternalToolError:
    return ExternalToolError(
        f"this command needs the Python package '{module}', which is not installed",
        hint=install_hint(MODULES[module]),
    )
