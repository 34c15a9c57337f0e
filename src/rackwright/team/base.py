"""Configuration of a team at a base revision, with the folders as that revision has them.

A folder in the repository is written out from the base's commit, so that neither the checkout nor a
link in it decides what it holds. One outside the repository is taken as the base pins it.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePath

from rackwright.reading.loader import Loaded, tree_of, validate
from rackwright.reading.versions import git
from rackwright.reading.versions.base import read_base, repository_of
from rackwright.team.config import Listing, Pin, TeamConfig, checked_pin
from rackwright.team.digest import LARGEST_FOLDER, LEFT_OUT, MOST_FILES, folder_digest
from rackwright.team.place import NAME


@dataclass(frozen=True)
class BaseConfig:
    """The configuration that holds for a blueprint at a revision.

    Attributes:
        repository: top folder of the repository.
        top: its folder.
        ref: the revision.
        loaded: what it says.
    """

    repository: Path
    top: Path
    ref: str
    loaded: Loaded[TeamConfig]

    def pins(self, listing: Listing) -> tuple[Pin, ...]:
        """Return entries of one of its lists."""
        found: tuple[Pin, ...] = getattr(self.loaded.value, listing)
        return found

    def approved(self, listing: Listing, index: int) -> tuple[Path | None, str]:
        """Return the folder of an entry as the revision has or pins it; else None, and why there is none."""
        pin = self.pins(listing)[index]
        inside = self.inside(pin)
        if inside is not None:
            try:
                commit = git.resolve(self.repository, self.ref)
                folder = _write_out(self.repository, commit, inside)
            except (git.FileMissingError, git.UnreadableFileError) as error:
                if pin.digest is None:
                    return None, error.summary
            else:
                if pin.digest is None or folder_digest(folder) == pin.digest:
                    return folder, ""
                return None, f"'{self.ref}' has it otherwise than it is pinned there"
        found, problem = checked_pin(pin, self.top, listing, index, self.loaded.tree)
        return (None, problem.summary) if problem else (found, "")

    def inside(self, pin: Pin) -> str | None:
        """Return the folder of an entry from the top of the repository; None where it is outside."""
        if pin.path is None:
            return None
        return git.path_inside(self.repository, self.top / pin.path)


def base_config(blueprint: Path, ref: str, former: Path | None = None) -> BaseConfig | None:
    """Return the configuration that holds for ``blueprint`` at ``ref``; None where there is none.

    Args:
        blueprint: the file.
        ref: a revision of its repository.
        former: where the revision has it, if not there.

    Raises:
        SpecErrors: it is not valid.
        RackwrightError: the revision cannot be read.
    """
    top = repository_of(blueprint)
    inside = git.path_inside(top, former or blueprint)
    # Folders of the revision, by name: the change may have put a link or a repository instead of one.
    for above in () if inside is None else PurePath(inside).parents:
        folder = top / above
        item = read_base(folder / NAME, ref, blueprint)
        if item is not None:
            return BaseConfig(top, folder, ref, validate(tree_of([item]), TeamConfig))
    return None


@cache
def _write_out(top: Path, commit: str, inside: str) -> Path:
    """Return a folder with the files of ``inside`` at ``commit``.

    Raises:
        FileMissingError: there is no such folder.
        UnreadableFileError: it holds what is no plain file, or too much.
        OSError: the files cannot be written.
    """
    files = git.files_at(top, commit, inside, most=MOST_FILES, largest=LARGEST_FOLDER)
    folder = Path(tempfile.mkdtemp(dir=_room().name)) / Path(inside).name
    for name, content in files:
        if LEFT_OUT.isdisjoint(name.split("/")):
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
    return folder


@cache
def _room() -> tempfile.TemporaryDirectory[str]:
    """Return the folder into which folders are written; it is removed when this process ends."""
    return tempfile.TemporaryDirectory(prefix="rackwright-base-")
