"""The two sides of a comparison: revisions in git, or the working tree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Protocol

from rackwright.catalog.loader import Catalogue
from rackwright.catalog.team import catalogue_for, catalogue_of
from rackwright.errors import UsageError
from rackwright.plan.load import LoadedPlan, plan_tree
from rackwright.reading.loader import load_tree
from rackwright.reading.tree import Item
from rackwright.reading.versions import git
from rackwright.reading.yaml_reader import read_bytes, read_file

WORKING_TREE = "working tree"


class Side(Protocol):
    """One side of a comparison."""

    @property
    def label(self) -> str:
        """Name of the side in reports."""

    @property
    def commit(self) -> str | None:
        """The full id of its commit; None for the working tree."""

    def holds(self, path: Path) -> bool:
        """Return True if there is a file at ``path``."""

    def read(self, path: Path) -> Item:
        """Return the document at ``path``."""


@dataclass(frozen=True)
class WorkingTree:
    """The files as they are on disk."""

    label: str = WORKING_TREE
    commit: str | None = None

    def holds(self, path: Path) -> bool:
        """Return True if there is a file at ``path``."""
        return path.exists()

    def read(self, path: Path) -> Item:
        """Return the document at ``path``.

        Raises:
            SpecErrors: it is missing or is not acceptable YAML.
        """
        return read_file(path)


@dataclass(frozen=True)
class Revision:
    """The files of a commit, read without a checkout.

    Attributes:
        top: the top folder of the repository.
        label: the user's name of the commit; positions read ``LABEL:path:line:column``.
        commit: its full id, so that a branch that moves meanwhile does not matter.
    """

    top: Path
    label: str
    commit: str

    def holds(self, path: Path) -> bool:
        """Return True if the commit has a file at ``path``.

        Raises:
            UsageError: the path leaves the repository, or is no file.
        """
        return _blob(self.top, self.commit, self._inside(path)) is not None

    def read(self, path: Path) -> Item:
        """Return the document at ``path``.

        Raises:
            SpecErrors: it is not acceptable YAML.
            UsageError: the path leaves the repository, or is no file.
            FileMissingError: the commit has no such file.
            RackwrightError: git failed.
        """
        inside = self._inside(path)
        raw = _blob(self.top, self.commit, inside)
        if raw is None:
            raise git.FileMissingError(f"there is no '{inside}' at '{self.label}'")
        return read_bytes(raw, f"{self.label}:{inside}")

    def _inside(self, path: Path) -> str:
        """Return ``path`` from the top of the repository.

        Raises:
            UsageError: the path leaves the repository.
        """
        inside = git.path_inside(self.top, path)
        if inside is None:
            raise UsageError(
                f"'{path}' is not in the repository '{self.top}'",
                hint="blueprint and layers are read from the revisions of one repository",
            )
        return inside


def open_sides(text: str, blueprint: Path) -> tuple[Side, Side]:
    """Return the base and the head that ``text`` names.

    ``A..B`` compares A with B, ``A...B`` the common ancestor of both with B, and ``A`` alone
    compares A with the working tree. An end that is left out is HEAD, as in git.

    Raises:
        UsageError: ``text`` names no revision.
        RackwrightError: the blueprint is in no repository, or a revision does not exist.
    """
    top = git.top_of(_nearest_folder(blueprint))
    three = "..." in text
    base, dots, head = text.partition("..." if three else "..")
    if not dots:
        return _revision(top, base), WorkingTree()
    if not base and not head:
        raise UsageError(f"'{text}' names no revision", hint="write it like 'main..HEAD'")
    base, head = base or "HEAD", head or "HEAD"
    after = _revision(top, head)
    if not three:
        return _revision(top, base), after
    common = git.merge_base(top, base, head)
    return Revision(top, common[:12], common), after


def approving_revision(text: str) -> str:
    """Return the revision of ``text`` whose waivers count: the base as it is named, not the ancestor."""
    return text.partition("..")[0] or "HEAD"


def load_side(
    side: Side,
    blueprint: Path,
    layers: Sequence[Path],
    catalogue: Catalogue | None = None,
    *,
    isolated: bool = False,
) -> LoadedPlan | None:
    """Return the plan of one side; None where it has no such blueprint.

    A layer that the side does not have yet changes nothing in it.

    Args:
        side: the working tree or a revision.
        blueprint: the file.
        layers: files over it.
        catalogue: the products; absent, those that the side's team lists beside the built-in ones.
        isolated: read nothing outside the repository but installed packages.

    Raises:
        SpecErrors: the blueprint is not valid; positions name the revision.
        RackwrightError: git failed.
    """
    if not side.holds(blueprint):
        return None
    present = [layer for layer in layers if side.holds(layer)]
    tree = load_tree(blueprint, layers=present, read=side.read)
    if catalogue is None:
        catalogue = _catalogue_of(side, blueprint, isolated=isolated)
    return plan_tree(tree, catalogue)


def _catalogue_of(side: Side, blueprint: Path, *, isolated: bool) -> Catalogue:
    if side.commit is None:
        return catalogue_for(blueprint, isolated=isolated)
    from rackwright.team.base import base_config

    return catalogue_of(base_config(blueprint, side.commit), isolated=isolated)


def missing_layers(side: Side, layers: Sequence[Path]) -> tuple[Path, ...]:
    """Return the layers that ``side`` does not have."""
    return tuple(layer for layer in layers if not side.holds(layer))


@lru_cache(maxsize=8)
def _blob(top: Path, commit: str, inside: str) -> bytes | None:
    """Return the file ``inside`` a commit, which never changes; None where it has no such file."""
    try:
        return git.read_at(top, commit, inside)
    except git.FileMissingError:
        return None


def _revision(top: Path, name: str) -> Revision:
    return Revision(top, name, git.resolve(top, name))


def _nearest_folder(path: Path) -> Path:
    """Return the nearest folder above ``path`` that exists now; a revision may have others."""
    folder = path.parent.resolve()
    while not folder.is_dir():
        folder = folder.parent
    return folder
