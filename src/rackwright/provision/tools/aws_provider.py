"""The plugin ``aws`` of the Pulumi engine, with the code of Terraform's AWS provider in it.

Where the vendor's plugin can be had, the engine fetches that one by itself. This one has the
resource types and functions of our stacks alone, which is enough to try them. Its recipe stands
here and not beside the others, whose keys hold their file: to change it builds no other program.
"""

from __future__ import annotations

import re
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
"""The release of pulumi-aws whose names the properties have, and whose place the plugin takes."""


def find_aws_provider() -> Path | None:
    """The plugin in the tools folder, or None where it is not installed."""
    return recipe().shelf(tools_dir()).program()


def install_aws_provider(*, progress: Progress) -> Path:
    """The plugin, built into the tools folder where it is missing.

    Raises:
        ExternalToolError: there is no fitting compiler, or the build failed.
    """
    return install_built(recipe(), tools_dir(), default_compiler, progress)


def add_plugin(plugin: Path, pulumi_home: Path) -> None:
    """Put the plugin where an engine with this home folder looks for plugins."""
    folder = pulumi_home / "plugins" / f"resource-aws-v{_VERSION}"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / AWS_PROVIDER).symlink_to(plugin)


def recipe() -> Recipe:
    """The recipe of the plugin."""
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
    """The version that stands after ``what`` in the module file of a folder.

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
