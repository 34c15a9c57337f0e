"""Sources of templates: built in, a folder, a git repository at a tag, or an installed package.

| Source | Syntax |
|---|---|
| built in | ``hybrid-h100`` |
| folder | ``./hall``, ``/srv/templates/hall``: with a ``/`` |
| git | ``git+https://HOST/PATH@TAG#FOLDER``; without the tag, the one with the highest version |
| package | ``package:NAME#FOLDER``: an installed one with an entry point in ``rackwright.templates`` |
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import metadata
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from rackwright import __version__
from rackwright.errors import PolicyLoadError, UsageError
from rackwright.harmless import visible
from rackwright.reading.suggest import nearest, similar
from rackwright.resources import bundled
from rackwright.team.digest import digest_of
from rackwright.team.installed import installed_folder
from rackwright.team.place import real
from rackwright.templates.contents import check_name, label_of, read_folder
from rackwright.templates.git_tags import SCHEMES, check_tag, fetch_tag, newest_tag
from rackwright.templates.questions import Manifest, read_manifest

GROUP = "rackwright.templates"
"""Group of the entry points of packages with templates."""

_GIT = "git+"
_PACKAGE = "package:"

Kind = Literal["built-in", "folder", "git", "package"]


@dataclass(frozen=True, slots=True)
class TemplateSource:
    """Source of a template.

    Attributes:
        kind: kind of the source.
        at: id, folder, URL or package.
        tag: tag of a git repository; None for the one with the highest version.
        folder: folder in the repository or package.
    """

    kind: Kind
    at: str
    tag: str | None = None
    folder: str = "."

    def __str__(self) -> str:
        """Return the source in its syntax, without the tag."""
        prefix = {"git": _GIT, "package": _PACKAGE}.get(self.kind, "")
        inside = "" if self.folder == "." else f"#{self.folder}"
        return f"{prefix}{self.at}{inside}"


@dataclass(frozen=True)
class Template:
    """Template with its files.

    Attributes:
        source: source of the template.
        version: tag, or version of the package or of Rackwright; None for a folder.
        commit: commit of the tag; None for other sources.
        files: contents by name.
    """

    source: TemplateSource
    version: str | None
    commit: str | None
    files: Mapping[str, bytes]

    @cached_property
    def manifest(self) -> Manifest:
        """Questions of the template.

        Raises:
            SpecErrors: ``copier.yml`` is not valid.
            TemplateContentError: there is no ``copier.yml``.
        """
        return read_manifest(self.files, str(self.source))

    @cached_property
    def digest(self) -> str:
        """Digest of the files of the template."""
        return digest_of(sorted(self.files.items()))

    @property
    def name(self) -> str:
        """Name of the template in messages."""
        return str(self.source)

    @property
    def label(self) -> str:
        """Label of the template, beside its source."""
        return label_of(self.version, self.digest)


def parse_source(text: str, tag: str | None = None) -> TemplateSource:
    """Parse the source of a template.

    Args:
        text: source in the syntax above.
        tag: tag of a git repository, which overrides that in ``text``.

    Raises:
        UsageError: the text has another syntax.
    """
    if not text or not text.isprintable() or len(text) > 1_000:
        raise UsageError(f"'{visible(text)}' is not a template")
    if text.startswith(_GIT):
        return _git_source(text.removeprefix(_GIT), tag)
    if tag is not None:
        raise UsageError("only a template of a git repository has a tag")
    if text.startswith(_PACKAGE):
        package, _, inside = text.removeprefix(_PACKAGE).partition("#")
        return TemplateSource("package", package, folder=_inside(inside))
    if "/" in text or text in {".", ".."}:
        return TemplateSource("folder", text)
    return TemplateSource("built-in", text)


def open_template(source: TemplateSource, *, beside: Path = Path()) -> Template:
    """Read the template at ``source``.

    Args:
        source: source of the template.
        beside: folder to which the path of a folder is relative.

    Raises:
        RackwrightError: the source cannot be reached, or has forbidden content.
        UsageError: there is no such template.
    """
    if source.kind == "git":
        tag = source.tag or newest_tag(source.at)
        found = fetch_tag(source.at, tag, source.folder)
        return Template(source, tag, found.commit, found.files)
    if source.kind == "package":
        return _of_package(source)
    if source.kind == "folder":
        return Template(source, None, None, read_folder(beside / source.at))
    known = built_in_names()
    if source.at not in known:
        raise UsageError(
            f"there is no blueprint template '{visible(source.at)}'",
            hint=_other_template(source.at, known)
            or f"there are: {', '.join(known)}; a folder is written with a '/'",
        )
    return Template(source, __version__, None, read_folder(_built_in() / source.at))


def _other_template(name: str, known: Sequence[str]) -> str | None:
    """Return the hint for an unknown template: a slip of the pen, or those that share most of its words."""
    near, words = nearest(name, known), set(re.split("[-_ ]", name.lower()))
    if near is None or not similar(name, near):
        shared = {other: len(words.intersection(other.split("-"))) for other in known}
        best = max(shared.values(), default=0)
        likely = [f"'{other}'" for other, count in shared.items() if best and count == best]
        if likely:
            return f"did you mean {' or '.join(likely)}?"
    return None if near is None else f"did you mean '{near}'?"


def built_in_names() -> list[str]:
    """Return the ids of the built-in templates, sorted."""
    return sorted(path.parent.name for path in _built_in().glob("*/copier.yml"))


def newest(source: TemplateSource, *, beside: Path = Path()) -> Template:
    """Read the newest version of the template at ``source``, regardless of its tag."""
    return open_template(TemplateSource(source.kind, source.at, None, source.folder), beside=beside)


def recorded(source: TemplateSource, folder: Path) -> TemplateSource:
    """Return ``source`` for the record of a cluster in ``folder``, to which the path of a folder is relative."""
    if source.kind != "folder":
        return TemplateSource(source.kind, source.at, None, source.folder)
    path = os.path.relpath(real(Path(source.at)), real(folder))
    return TemplateSource("folder", path if "/" in path else f"./{path}")


def _built_in() -> Path:
    return bundled("templates") / "blueprints"


def _git_source(text: str, tag: str | None) -> TemplateSource:
    place, _, inside = text.partition("#")
    head, at, named = place.rpartition("@")
    # An SSH URL has an '@' after its user as well: only one after the path begins a tag.
    if at and "://" in head and "/" in head.partition("://")[2]:
        place, tag = head, tag or named
    parts = urlsplit(place)
    if parts.scheme not in SCHEMES or not parts.path.strip("/"):
        raise UsageError(
            f"'{visible(text)}' is not a repository",
            hint=f"write git+SCHEME://HOST/PATH@TAG, with {', '.join(SCHEMES)}",
        )
    if parts.password is not None or (parts.username and parts.scheme != "ssh"):
        raise UsageError(
            "the URL of a repository holds no password or token, since it is written down",
            hint="use git+ssh:// with a key, or clone it and give the folder",
        )
    return TemplateSource(
        "git", place, check_tag(tag) if tag is not None else None, _inside(inside)
    )


def _inside(folder: str) -> str:
    if not folder:
        return "."
    check_name(folder)
    return folder


def _of_package(source: TemplateSource) -> Template:
    try:
        version = metadata.version(source.at)
    except (metadata.PackageNotFoundError, ValueError):
        raise UsageError(
            f"the package '{visible(source.at)}' is not installed",
            hint="install it in the same environment as rackwright",
        ) from None
    try:
        folder = installed_folder(source.at, version, GROUP)
    except PolicyLoadError as error:
        raise UsageError(error.summary, hint=error.hint) from None
    return Template(source, version, None, read_folder(folder / source.folder))
