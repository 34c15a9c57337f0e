"""Extras of the package, which are installed only on request.

The package alone brings what checks and renders a blueprint. Commands that provision or configure
need more, which ``pyproject.toml`` lists by extra.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import shlex
import urllib.request
from collections.abc import Mapping
from typing import Any

from rackwright import __version__
from rackwright.errors import ExternalToolError

MODULES: Mapping[str, str] = {
    "ansible": "configure",
    "ansible_runner": "configure",
    "boto3": "aws",
    "botocore": "aws",
    "cryptography": "configure",
    "google": "aws",
    "grpc": "aws",
    "moto": "local",
    "openleadr": "openadr",
    "openpyxl": "workbook",
    "ortools": "design",
    "pulumi": "aws",
    "pulumi_aws": "aws",
    "rackwright_lab": "local",
    "semver": "aws",
    "transitions": "nodelife",
    "werkzeug": "local",
}
"""The extra that brings each module which the dependencies do not."""


def install_hint(*extras: str) -> str:
    """Return the command that installs ``extras`` from where the package was installed.

    The name alone would ask a public index for it, where anybody may register it.
    """
    wanted = f"[{','.join(extras)}]"
    origin = install_origin()
    url = str(origin.get("url", ""))
    if (folder := origin.get("dir_info")) is not None:
        path = urllib.request.url2pathname(url.removeprefix("file://"))
        editable = "--editable " if folder.get("editable") else ""
        return f"pip install {editable}{shlex.quote(path + wanted)}"
    if source := origin.get("vcs_info"):
        at = f"{source['vcs']}+{url}@{source['commit_id']}"
        return f"pip install 'rackwright{wanted} @ {at}'"
    if url:
        return f"pip install 'rackwright{wanted} @ {url}'"
    return f"pip install 'rackwright{wanted}=={__version__}', from the index that it came from"


def install_origin() -> Mapping[str, Any]:
    """Return where the package was installed from (PEP 610); empty for an index, or if unknown."""
    try:
        text = importlib.metadata.distribution("rackwright").read_text("direct_url.json")
        origin = json.loads(text or "{}")
    except (importlib.metadata.PackageNotFoundError, ValueError):
        return {}
    return origin if isinstance(origin, dict) else {}


def require(extra: str) -> None:
    """Say what is missing of an extra before anything is started that only it can end.

    Raises:
        ExternalToolError: a module of the extra is not installed; how to install it.
    """  # noqa: DOC501 - _missing() makes the ExternalToolError
    for module, needed in MODULES.items():
        if needed == extra and importlib.util.find_spec(module) is None:
            raise _missing(module)


def missing_extra(error: ModuleNotFoundError) -> ExternalToolError | None:
    """Return the failure to show where a module of an extra is missing; None for any other module."""
    module = (error.name or "").partition(".")[0]
    return _missing(module) if module in MODULES else None


def _missing(module: str) -> ExternalToolError:
    return ExternalToolError(
        f"this command needs the Python package '{module}', which is not installed",
        hint=install_hint(MODULES[module]),
    )
