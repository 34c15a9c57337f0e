"""Recipes of the Pulumi CLI and its Python language host: released Go modules.

``gotools/`` holds the module files: ``go.sum`` pins every source by checksum, and the build
refuses anything else.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from rackwright.errors import ExternalToolError
from rackwright.provision.tools.folder import CLI, LANGUAGE_HOST
from rackwright.provision.tools.go import Go
from rackwright.provision.tools.recipe import Recipe, copy_module

_PINS = Path(__file__).resolve().parents[1] / "gotools"
_SDK = "github.com/pulumi/pulumi/sdk/v3"
_CLI_PACKAGE = "github.com/pulumi/pulumi/pkg/v3/cmd/pulumi"
_HOST_FOLDER = "python/cmd/pulumi-language-python"
_VERSION_VARIABLE = f"{_SDK}/go/common/version.Version"

# The newest release whose language host can be had as a module predates the way in which
# today's engine names a plugin, so its start of plugins is replaced by ``run_plugin.go``.
_HOST_PATCHES = (
    (
        "\targs := []string{req.Program}\n\targs = append(args, req.Args...)\n",
        "\targs, pwd := pluginCommand(req)\n",
    ),
    ("\tcmd.Dir = req.Pwd\n", "\tcmd.Dir = pwd\n"),
)


def pinned_version() -> str:
    """Return the version of the Pulumi CLI that the module files pin."""
    return _required(_PINS / "cli", "github.com/pulumi/pulumi/pkg/v3")


def required_go() -> str:
    """Return the oldest version of Go that builds the CLI."""
    match = re.search(r"^go (\S+)$", (_PINS / "cli" / "go.mod").read_text("utf-8"), re.MULTILINE)
    return match.group(1) if match else "1.25"


def go_hint() -> str:
    """Return the fix for a machine that cannot build programs."""
    return (
        f"install Go {required_go()} or newer, or put a Pulumi CLI >=3.250,<4 on PATH; "
        "then run 'rackwright tools install' again"
    )


def cli() -> Recipe:
    """Return the recipe of the Pulumi CLI."""
    version = pinned_version()
    return Recipe(
        program=CLI,
        title=f"the Pulumi CLI {version}",
        duration="about 8 minutes on 2 cores, once (its sources are fetched first)",
        module=_PINS / "cli",
        package=_CLI_PACKAGE,
        hint=go_hint(),
        variables={_VERSION_VARIABLE: f"v{version}"},
        inputs=(Path(__file__),),
    )


def language_host() -> Recipe:
    """Return the recipe of the Python language host, with the scripts that it starts.

    The scripts come from the SDK of the pinned CLI, which knows today's Python SDK.
    """
    version = _required(_PINS / "language-python", _SDK)
    return Recipe(
        program=LANGUAGE_HOST,
        title=f"the Python language host {version}",
        duration="about a minute on 2 cores, once",
        module=_PINS / "language-python",
        package=".",
        hint=go_hint(),
        variables={_VERSION_VARIABLE: f"v{version}"},
        inputs=(Path(__file__), _PINS / "cli"),
        prepare=_prepare_language_host,
    )


def _prepare_language_host(go: Go, workspace: Path, into: Path) -> None:
    source = go.folder_of(_SDK) / _HOST_FOLDER / "main.go"
    (go.module / "main.go").write_text(_patched(source.read_text("utf-8")), "utf-8")
    scripts = go.beside(copy_module(_PINS / "cli", workspace)).folder_of(_SDK) / "python"
    for script in ("cmd/pulumi-language-python-exec", "dist/pulumi-resource-pulumi-python"):
        shutil.copyfile(scripts / script, into / Path(script).name)


def _required(folder: Path, module: str) -> str:
    text = (folder / "go.mod").read_text("utf-8")
    match = re.search(rf"{re.escape(module)} v(\S+)", text)
    if match is None:
        raise ExternalToolError(
            f"'{folder / 'go.mod'}' does not require '{module}'", hint="reinstall rackwright"
        )
    return match.group(1)


def _patched(source: str) -> str:
    for old, new in _HOST_PATCHES:
        if source.count(old) != 1:
            raise ExternalToolError(
                "the source of the Python language host is not the one that was pinned",
                hint="clear Go's module cache with 'go clean -modcache' and try again",
            )
        source = source.replace(old, new)
    return source
