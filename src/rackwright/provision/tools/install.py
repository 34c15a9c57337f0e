"""Installing the Pulumi CLI into the tools folder."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from rackwright.errors import ExternalToolError
from rackwright.provision.tools import gobuild
from rackwright.provision.tools.archive import Archive, unpack
from rackwright.provision.tools.built import renew
from rackwright.provision.tools.find import (
    SUPPORTED,
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


def install_pulumi(*, progress: Progress, archive: Archive | None = None) -> PulumiTool:
    """Return the Pulumi CLI with its Python language host, installed where it was missing.

    What is there already is kept; else both are taken from the vendor's ``archive``, or built
    with Go where none is given. The vendor's installer, a script from the network, is never run.
    What was built by another compiler than the one that is there now is built again. Two calls at
    once do the work once, and a call that is killed leaves nothing that looks finished.

    Raises:
        ExternalToolError: no CLI came of it; says why.
    """
    tool = _complete()
    if tool is None:
        with installing(tools_dir(), progress) as workspace:
            tool = _complete() or _install(workspace, progress, archive)
    if archive is not None and tool.origin != "vendor":
        progress(f"'{tool.path}' is there already; the archive was not needed")
    return tool


def _complete() -> PulumiTool | None:
    """Return the CLI, or None where it or its language host is missing or to be installed again."""
    tool = find_pulumi()
    if tool is None or not (_is_current(tool.path) and _is_current(tool.language_python)):
        return None
    return tool


def _is_current(program: Path | None) -> bool:
    """Return True if ``program`` needs no installation, as any outside the tools folder."""
    go = default_compiler()
    for shelf in own_shelves():
        if program is not None and program.parent == shelf.bin:
            return shelf.is_current(None if go is None else compiler_version(go))
    return program is not None


def _install(workspace: Path, progress: Progress, archive: Archive | None) -> PulumiTool:
    for shelf in own_shelves():
        shelf.remove_damaged()
    tool = find_pulumi()
    origin: Origin | None = None
    if tool is None or not _is_current(tool.path):
        origin = _add_cli(workspace, progress, archive)
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


def _add_cli(workspace: Path, progress: Progress, archive: Archive | None) -> Origin | None:
    """Add a CLI to the tools folder, and return its origin; None if there is none and an older one is kept.

    Raises:
        ExternalToolError: none came, and there is none.
    """
    if archive is not None:
        progress(f"installing the Pulumi CLI of '{archive.place}'")
        programs = unpack(archive, workspace)
        answered = version_of(programs / CLI)
        if answered is None or not is_supported(answered):
            raise ExternalToolError(
                f"the CLI of the archive '{archive.place}' answers version '{answered}'",
                hint=f"take one of a version {SUPPORTED} for this machine's processor",
            )
        vendor_shelf().put(programs, version=answered)
        return "vendor"
    try:
        built = renew(
            gobuild.cli(), built_shelf(), default_compiler(), workspace, progress, _check_version
        )
    except ExternalToolError as error:
        raise ExternalToolError(
            f"no Pulumi CLI could be built: {error.summary}",
            hint=f"{error.hint or gobuild.go_hint()}; or name the vendor's archive with --archive",
        ) from None
    return "built" if built else None


def _check_version(program: Path) -> str:
    """Return the version of a CLI that was just built.

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
