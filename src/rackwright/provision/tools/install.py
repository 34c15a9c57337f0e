"""Installing the Pulumi CLI into the tools folder."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from rackwright.errors import ExternalToolError
from rackwright.provision.tools import gobuild, vendor
from rackwright.provision.tools.built import renew
from rackwright.provision.tools.find import (
    Origin,
    PulumiTool,
    built_shelf,
    find_pulumi,
    host_shelf,
    is_supported,
    own_shelves,
    vendor_shelf,
    version_of,
)
from rackwright.provision.tools.folder import CLI, installing, tools_dir
from rackwright.provision.tools.go import Progress, compiler_version, default_compiler


def install_pulumi(*, progress: Progress) -> PulumiTool:
    """The Pulumi CLI with its Python language host, installed where it was missing.

    What is there already is kept; else the vendor's installer is tried, and where that cannot
    be reached both are built with Go. What was built by another compiler than the one that is
    there now is built anew. Two calls at once do the work once, and a call that is killed leaves
    nothing that looks finished.

    Raises:
        ExternalToolError: no way led to a CLI; says what was tried.
    """
    if (tool := _complete()) is not None:
        return tool
    with installing(tools_dir(), progress) as workspace:
        return _complete() or _install(workspace, progress)


def _complete() -> PulumiTool | None:
    """The CLI, or None where it or its language host is missing or to be installed anew."""
    tool = find_pulumi()
    if tool is None or not (_is_current(tool.path) and _is_current(tool.language_python)):
        return None
    return tool


def _is_current(program: Path | None) -> bool:
    """Whether there is nothing to do for ``program``, as for any outside the tools folder."""
    go = default_compiler()
    for shelf in own_shelves():
        if program is not None and program.parent == shelf.bin:
            return shelf.is_current(None if go is None else compiler_version(go))
    return program is not None


def _install(workspace: Path, progress: Progress) -> PulumiTool:
    for shelf in own_shelves():
        shelf.remove_damaged()
    tool = find_pulumi()
    origin: Origin | None = None
    if tool is None or not _is_current(tool.path):
        origin = _add_cli(workspace, progress)
        tool = find_pulumi()
    if tool is not None and not _is_current(tool.language_python):
        _add_language_host(workspace, progress)
        tool = find_pulumi()
    if tool is None:
        raise ExternalToolError(
            f"the Pulumi CLI vanished from '{tools_dir()}' while it was installed",
            hint="run 'rackwright tools install' again",
        )
    return tool if origin is None else replace(tool, origin=origin)


def _add_cli(workspace: Path, progress: Progress) -> Origin | None:
    """How a CLI came into the tools folder; None: none came, and an older one is kept.

    Raises:
        ExternalToolError: none came, and there is none.
    """
    version = gobuild.pinned_version()
    progress(f"installing the Pulumi CLI {version} with the vendor's installer")
    programs, reason = vendor.install(version, workspace)
    if programs is not None:
        answered = version_of(programs / CLI)
        if answered is not None and is_supported(answered):
            vendor_shelf().put(programs, version=answered)
            return "vendor"
        reason = f"its CLI answers version '{answered}'"
    progress(f"  not possible: {reason}")
    try:
        built = renew(
            gobuild.cli(), built_shelf(), default_compiler(), workspace, progress, _check_version
        )
    except ExternalToolError as error:
        raise ExternalToolError(
            "no Pulumi CLI could be installed; tried: "
            f"(1) the vendor's installer: {reason}; (2) building it with Go: {error.summary}",
            hint=error.hint,
        ) from None
    return "built" if built else None


def _check_version(program: Path) -> str:
    """The version of a CLI that was just built.

    Raises:
        ExternalToolError: it is not the one that the module files pin.
    """
    answered, expected = version_of(program), gobuild.pinned_version()
    if answered != expected:
        raise ExternalToolError(
            f"the CLI that was built answers version '{answered}' instead of '{expected}'",
            hint=gobuild.go_hint(),
        )
    return expected


def _add_language_host(workspace: Path, progress: Progress) -> None:
    """Build the language host; without it Rackwright's own commands work all the same."""
    try:
        renew(gobuild.language_host(), host_shelf(), default_compiler(), workspace, progress)
    except ExternalToolError as error:
        progress(f"  the Python language host could not be built: {error.summary}")
        progress("  'rackwright up' works; plain 'pulumi up' in a stack's folder does not")
