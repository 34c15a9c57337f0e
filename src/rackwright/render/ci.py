"""CI files of a team's repository: what ``rackwright ci init`` writes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from rackwright import __version__
from rackwright.errors import UsageError
from rackwright.render.environment import render_file
from rackwright.resources import bundled

_WORKFLOWS = ("pr", "apply", "drift", "configure")
_FILES: Mapping[str, Mapping[str, str]] = {
    "github": {
        "github/setup/action.yml": ".github/actions/rackwright-setup/action.yml",
        "github/action/action.yml": ".github/actions/rackwright/action.yml",
        **{
            f"github/workflows/rackwright-{name}.yml.j2": f".github/workflows/rackwright-{name}.yml"
            for name in _WORKFLOWS
        },
        "pre-commit/pre-commit-config.yaml.j2": ".pre-commit-config.yaml",
    },
    "gitlab": {
        "gitlab/rackwright.gitlab-ci.yml.j2": "rackwright.gitlab-ci.yml",
        "pre-commit/pre-commit-config.yaml.j2": ".pre-commit-config.yaml",
    },
}
_PATH = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]*(/[A-Za-z0-9_][A-Za-z0-9._-]*)*")


def ci_files(forge: str, blueprint: str) -> dict[PurePosixPath, str]:
    """The files of ``forge`` by their path in the repository.

    Raises:
        UsageError: ``blueprint`` is no plain path inside the repository.
    """
    if not _PATH.fullmatch(blueprint):
        raise UsageError(
            f"'{blueprint}' is no path that CI files can name",
            hint="write it from the top of the repository, in letters, digits and '._-'",
        )
    folder = bundled("templates") / "ci"
    answers = {
        "blueprint": blueprint,
        "requirement": f"rackwright[aws,configure]=={__version__}",
    }
    made = {}
    for source, target in _FILES[forge].items():
        path = folder / source
        text = (
            render_file(path, answers).lstrip("\n")
            if path.suffix == ".j2"
            else path.read_text(encoding="utf-8")
        )
        made[PurePosixPath(target)] = text
    return made


def write_ci(forge: str, folder: Path, blueprint: str) -> list[Path]:
    """The files written below ``folder``; nothing that exists is overwritten.

    Raises:
        UsageError: a file exists, or cannot be written; then none is.
    """
    files = {folder / name: text for name, text in ci_files(forge, blueprint).items()}
    for path in files:
        if path.exists() or path.is_symlink():
            raise UsageError(f"'{path}' exists", hint="move it away, or copy what is new by hand")
    for path, text in files.items():
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        except OSError as error:
            raise UsageError(f"'{path}' cannot be written: {error.strerror}") from None
    return list(files)
