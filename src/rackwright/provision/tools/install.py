"""Installing the Pulumi CLI into the tools folder."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from rackwright.errors import ExternalToolError
from rackwright.provision.locks import turn
from rackwright.provision.tools import gobuild, vendor
from rackwright.provision.tools.find import (
    Origin,
    PulumiTool,
    find_installed,
    find_pulumi,
    is_supported,
    version_of,
)
from rackwright.provision.tools.folder import (
    CLI,
    Manifest,
    commit,
    damaged,
    read_manifest,
    staging,
    tools_dir,
)

Progress = Callable[[str], None]


def install_pulumi(*, progress: Progress) -> PulumiTool:
    """The Pulumi CLI with its Python language host, installed where it was missing.

    What is there already is kept; else the vendor's installer is tried, and where that cannot
    be reached both are built with Go. Two calls at once do the work once, and a call that is
    killed leaves nothing that looks finished.

    Raises:
        ExternalToolError: no way led to a CLI; says what was tried.
    """
    folder = tools_dir()
    if (tool := _complete(folder)) is not None:
        return tool
    try:
        with turn(folder / "lock", waiting=lambda: progress("waiting for another installation")):
            if (tool := _complete(folder)) is not None:
                return tool
            with staging(folder) as workspace:
                return _install(folder, workspace, progress)
    except OSError as error:
        raise ExternalToolError(
            f"the tools folder '{folder}' cannot be written: {error.strerror or error}",
            hint="set RACKWRIGHT_TOOLS_DIR to a folder that you can write",
        ) from error


def _complete(folder: Path) -> PulumiTool | None:
    """The CLI, or None where it or its language host is missing or damaged."""
    tool = find_pulumi()
    if tool is None or tool.language_python is None:
        return None
    own = folder / "bin"
    uses_own = own in (tool.path.parent, tool.language_python.parent)
    if uses_own and damaged(folder, read_manifest(folder)):
        return None
    return tool


def _install(folder: Path, workspace: Path, progress: Progress) -> PulumiTool:
    manifest = read_manifest(folder)
    broken = damaged(folder, manifest)
    sound = {name: entry for name, entry in manifest.files.items() if name not in broken}
    manifest = replace(manifest, files=sound)
    present = find_pulumi()
    origin: Origin | None = None
    if present is None or (present.path.parent == folder / "bin" and CLI in broken):
        present = None
        programs, version, origin = _new_cli(workspace, progress)
        manifest = replace(manifest, pulumi=version, installed_by=origin)
        # At once: whatever becomes of the language host, minutes of building are not lost.
        manifest = commit(folder, programs, manifest)
    if origin != "vendor":
        _add_language_host(folder, workspace, manifest, progress)
    tool = find_installed() if present is None else find_pulumi()
    if tool is None:
        raise ExternalToolError(
            f"the Pulumi CLI vanished from '{folder}' while it was installed",
            hint="run 'rackwright tools install' again",
        )
    return tool if origin is None else replace(tool, origin=origin)


def _add_language_host(
    folder: Path, workspace: Path, manifest: Manifest, progress: Progress
) -> None:
    """Build the language host; without it Rackwright's own commands work all the same."""
    programs = workspace / "language-host"
    programs.mkdir()
    try:
        gobuild.build_language_host(workspace, programs, progress)
    except ExternalToolError as error:
        progress(f"  the Python language host could not be built: {error.summary}")
        progress("  'rackwright up' works; plain 'pulumi up' in a stack's folder does not")
        return
    commit(folder, programs, manifest)


def _new_cli(workspace: Path, progress: Progress) -> tuple[Path, str, Origin]:
    """Folder, version and origin of a CLI that was installed or built in ``workspace``."""
    version = gobuild.pinned_version()
    progress(f"installing the Pulumi CLI {version} with the vendor's installer")
    programs, reason = vendor.install(version, workspace)
    if programs is not None:
        answered = version_of(programs / CLI)
        if answered is not None and is_supported(answered):
            return programs, answered, "vendor"
        reason = f"its CLI answers version '{answered}'"
    progress(f"  not possible: {reason}")
    prepared = workspace / "bin"
    prepared.mkdir()
    try:
        expected = gobuild.build_cli(workspace, prepared, progress)
        answered = version_of(prepared / CLI)
        if answered != expected:
            raise ExternalToolError(
                f"the CLI that was built answers version '{answered}' instead of '{expected}'",
                hint=gobuild.go_hint(),
            )
    except ExternalToolError as error:
        raise ExternalToolError(
            "no Pulumi CLI could be installed; tried: "
            f"(1) the vendor's installer: {reason}; (2) building it with Go: {error.summary}",
            hint=error.hint,
        ) from None
    return prepared, expected, "built"
