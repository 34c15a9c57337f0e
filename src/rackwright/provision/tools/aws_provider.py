"""The plugin ``aws`` of the Pulumi engine, which ``--target local`` attaches to the embedded AWS.

The vendor's plugin is taken where the user has it. Else one is built with the code of Terraform's
AWS provider, which the vendor's is made of; it has the resource types and functions of our stacks
alone. Its recipe stands here and not beside the others, whose keys hold their file: to change it
builds no other program.
"""

from __future__ import annotations

import importlib.metadata
import os
import re
import tempfile
from pathlib import Path

from rackwright.errors import ExternalToolError
from rackwright.provision.tools import provider_source
from rackwright.provision.tools.built import install_built
from rackwright.provision.tools.folder import AWS_PROVIDER, tools_dir
from rackwright.provision.tools.go import Go, Progress, default_compiler
from rackwright.provision.tools.recipe import Recipe, copy_module

_PINS = Path(__file__).resolve().parents[1] / "gotools"
_PLUGIN = "aws-provider"
_SOURCE = "aws-provider-source"
_VERSION = "7.51.1"
"""The release of pulumi-aws whose names the properties have."""


def find_aws_provider() -> Path | None:
    """Return the vendor's plugin where the user has it, else the one that was built here; None: neither.

    The vendor's counts in the version of the Python package pulumi-aws, the one that an engine
    would take on AWS.
    """
    return _vendors() or recipe().shelf(tools_dir()).program()


def _vendors() -> Path | None:
    """Return the plugin that the vendor's CLI has fetched for this user, or None."""
    home = os.environ.get("PULUMI_HOME") or str(Path.home() / ".pulumi")
    plugin = Path(home).absolute() / "plugins" / _folder() / AWS_PROVIDER
    return plugin if plugin.is_file() and os.access(plugin, os.X_OK) else None


def need_aws_provider() -> Path:
    """Return the plugin, as ``find_aws_provider`` finds it.

    Raises:
        ExternalToolError: there is none.
    """
    found = find_aws_provider()
    if found is None:
        raise ExternalToolError(
            "the AWS provider of the Pulumi engine is not installed, which '--target local' needs",
            hint="run 'rackwright tools install aws-provider' once; it is built in some minutes",
        )
    return found


def install_aws_provider(*, progress: Progress) -> Path:
    """Return the vendor's plugin where the user has it, else the one that is built into the tools folder.

    Raises:
        ExternalToolError: there is no fitting compiler, or the build failed.
    """
    if (vendor := _vendors()) is not None:
        return vendor
    return install_built(recipe(), tools_dir(), default_compiler, progress)


def attach_plugin(plugin: Path, pulumi_home: Path) -> None:
    """Put the plugin where an engine with this home folder looks for it, in place of a former one."""
    folder = pulumi_home / "plugins" / _folder()
    folder.mkdir(parents=True, exist_ok=True)
    place = folder / AWS_PROVIDER
    if place.is_symlink() and place.readlink() == plugin:
        return
    with tempfile.TemporaryDirectory(dir=pulumi_home) as beside:
        link = Path(beside) / AWS_PROVIDER
        link.symlink_to(plugin)
        link.replace(place)  # a command at the same time finds one or the other


def _folder() -> str:
    """Return the folder in which the engine looks for the plugin that the programs' package asks for."""
    return f"resource-aws-v{importlib.metadata.version('pulumi-aws')}"


def recipe() -> Recipe:
    """Return the recipe of the plugin."""
    return Recipe(
        program=AWS_PROVIDER,
        title="Terraform's AWS provider as a plugin of Pulumi",
        duration="about 8 minutes on 2 cores, once (its sources are fetched first)",
        module=_PINS / _PLUGIN,
        package=".",
        hint=f"install Go {_pinned(_PINS / _PLUGIN, 'go ')} or newer",
        variables={"main.version": _VERSION},
        inputs=(Path(__file__), Path(provider_source.__file__), _PINS / _SOURCE),
        prepare=_prepare,
    )


def _prepare(go: Go, workspace: Path, _into: Path) -> None:
    pins = copy_module(_PINS / _SOURCE, workspace)
    version = _pinned(pins, f"require {provider_source.MODULE} ")
    source = go.beside(pins).folder_of(f"{provider_source.MODULE}@{version}")
    provider_source.copy_cut(source, go.module)


def _pinned(folder: Path, what: str) -> str:
    """Return the version that stands after ``what`` in the module file of a folder.

    Raises:
        ExternalToolError: the file names no version of it.
    """
    text = (folder / "go.mod").read_text("utf-8")
    match = re.search(rf"^{re.escape(what)}(\S+)$", text, re.MULTILINE)
    if match is None:
        raise ExternalToolError(
            f"'{folder / 'go.mod'}' does not say '{what.strip()}'", hint="reinstall rackwright"
        )
    return match.group(1)
