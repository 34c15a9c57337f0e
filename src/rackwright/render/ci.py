"""CI files of a team's repository: what ``rackwright ci init`` writes."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from rackwright.errors import UsageError
from rackwright.resources import bundled
from rackwright.team.ci_source import InstallSource
from rackwright.templating import render_file

_WORKFLOWS = ("pr", "apply", "drift", "configure")
_FILES: Mapping[str, Mapping[str, str]] = {
    "github": {
        "github/setup/action.yml.j2": ".github/actions/rackwright-setup/action.yml",
        "requirements.txt.j2": ".github/actions/rackwright-setup/requirements.txt",
        "github/action/action.yml": ".github/actions/rackwright/action.yml",
        **{
            f"github/workflows/rackwright-{name}.yml.j2": f".github/workflows/rackwright-{name}.yml"
            for name in _WORKFLOWS
        },
        "pre-commit/pre-commit-config.yaml.j2": ".pre-commit-config.yaml",
    },
    "gitlab": {
        "gitlab/rackwright.gitlab-ci.yml.j2": "rackwright.gitlab-ci.yml",
        "requirements.txt.j2": "rackwright-requirements.txt",
        "pre-commit/pre-commit-config.yaml.j2": ".pre-commit-config.yaml",
    },
}
_PATH = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]*(/[A-Za-z0-9_][A-Za-z0-9._-]*)*")


def ci_files(forge: str, blueprint: str, source: InstallSource) -> dict[PurePosixPath, str]:
    """Return the files of ``forge`` by their path in the repository; CI installs from ``source``.

    Raises:
        UsageError: ``blueprint`` is no plain path inside the repository.
    """
    if not _PATH.fullmatch(blueprint):
        raise UsageError(
            f"'{blueprint}' is no path that CI files can name",
            hint="write it from the top of the repository, in letters, digits and '._-'",
        )
    folder = bundled("templates") / "ci"
    requirements = _requirements(source)
    answers = {
        "blueprint": blueprint,
        "files": _watched(blueprint),
        "git": source.git,
        "requirements": requirements,
        "key": hashlib.sha256(requirements.encode()).hexdigest()[:16],
    }
    made = {}
    for name, target in _FILES[forge].items():
        path = folder / name
        text = (
            render_file(path, answers).lstrip("\n")
            if path.suffix == ".j2"
            else path.read_text(encoding="utf-8")
        )
        made[PurePosixPath(target)] = text
    return made


def _requirements(source: InstallSource) -> str:
    """Return the package, what it needs, and for a commit what builds it: every file by its digest."""
    lock = bundled("templates") / "ci/lock"
    parts = [(lock / "requirements.txt").read_text(encoding="utf-8")]
    if source.git:
        parts.append((lock / "build.txt").read_text(encoding="utf-8"))
    else:
        parts.insert(0, f"{source.requirement}\n")
    return "".join(parts)


def _watched(blueprint: str) -> str:
    """Return a pattern of the files whose change may change the verdict on ``blueprint``."""
    folder, slash, _ = blueprint.partition("/")
    own = re.escape(folder) + (slash or "$")
    return f"^({own}|(inventory|policies|stacks|templates)/|[^/]*\\.(ya?ml|(?i:csv))$)"


def write_ci(forge: str, folder: Path, blueprint: str, source: InstallSource) -> list[Path]:
    """Write the files below ``folder`` and return their paths; nothing that exists is overwritten.

    A file that is there as it would be written, as the hooks of a second forge, is left out.

    Raises:
        UsageError: another file exists, or one cannot be written; then none is.
    """
    files = {folder / name: text for name, text in ci_files(forge, blueprint, source).items()}
    files = {path: text for path, text in files.items() if not _holds(path, text)}
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


def _holds(path: Path, text: str) -> bool:
    """True if a file is there, and no link, with this text."""
    try:
        return not path.is_symlink() and path.read_bytes() == text.encode()
    except OSError:
        return False
