"""The packs of a base revision: what judges a change that may have edited or dropped them.

A pack in the repository is written out from the base's commit, so that neither the checkout nor a
link in it decides which rules those are. One outside the repository is taken as the base pins it.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, auto
from functools import cache
from pathlib import Path

from rackwright.errors import Location, RackwrightError, SpecErrors
from rackwright.policy.concessions import read_base
from rackwright.policy.digest import LARGEST_PACK, LEFT_OUT, MOST_FILES, pack_digest
from rackwright.policy.team import (
    NAME,
    PackPin,
    TeamConfig,
    checked_pin,
    config_folders,
    find_config,
    real,
)
from rackwright.spec import git
from rackwright.spec.loader import load, tree_of, validate
from rackwright.spec.tree import Tree


class State(Enum):
    """What a change does to a pack of its base."""

    KEPT = auto()
    EDITED = auto()
    DROPPED = auto()


@dataclass(frozen=True)
class BasePack:
    """A pack that a base revision lists.

    Attributes:
        path: its folder or package, as it is written there.
        state: what the change does to it.
        folder: where it is as the base has it; None where that cannot judge.
        location: where the base lists it.
        why: why it cannot judge.
    """

    path: str
    state: State
    folder: Path | None
    location: Location | None
    why: str = ""


def base_packs(
    blueprint: Path, ref: str, *, former: Path | None = None, isolated: bool = False
) -> tuple[BasePack, ...]:
    """The packs that ``ref`` lists for ``blueprint``.

    Args:
        blueprint: the file.
        ref: a revision of its repository.
        former: where the revision has it, if not there.
        isolated: the configuration of the change may be unreadable, for it does not decide.

    Raises:
        SpecErrors: the revision's configuration is not valid.
        RackwrightError: the revision cannot be read.
    """
    for folder in config_folders(former or blueprint):
        item = read_base(folder / NAME, ref, blueprint)
        if item is not None:
            break
    else:
        return ()
    now = _listed_now(find_config(blueprint), isolated=isolated)
    loaded = validate(tree_of([item]), TeamConfig)
    found = []
    for index, pin in enumerate(loaded.value.packs):
        inside = _inside(pin, folder)
        where, why = _as_approved(pin, folder, inside, ref, index, loaded.tree)
        at = pin.is_at(folder)
        state = _state(pin, now.get(at), at if inside is not None else None, where)
        place = loaded.tree.locate(("packs", index, pin.key))
        found.append(BasePack(pin.name, state, where, place, why))
    return tuple(found)


def _listed_now(config: Path | None, *, isolated: bool) -> Mapping[Path | str, PackPin]:
    """The packs that ``config`` lists; of an isolated one that cannot be read, none."""
    if config is None or config.is_symlink():
        return {}
    top = real(config).parent
    try:
        return {pin.is_at(top): pin for pin in load(config, TeamConfig).value.packs}
    except SpecErrors:
        if isolated:
            return {}
        raise


def _as_approved(
    pin: PackPin, top: Path, inside: str | None, ref: str, index: int, tree: Tree
) -> tuple[Path | None, str]:
    """The folder of a pack as ``ref`` has or pins it; else None, and why there is none."""
    if inside is not None:
        try:
            folder = _write_out(git.top_of(top), git.resolve(top, ref), inside)
        except (git.FileMissingError, git.UnreadableFileError) as error:
            if pin.digest is None:
                return None, error.summary
        else:
            if pin.digest is None or pack_digest(folder) == pin.digest:
                return folder, ""
            return None, f"'{ref}' has it otherwise than it is pinned there"
    found, problem = checked_pin(pin, top, index, tree)
    return (None, problem.summary) if problem else (found, "")


def _inside(pin: PackPin, top: Path) -> str | None:
    """The folder of a pack from the top of the repository; None where it is outside."""
    if pin.path is None:
        return None
    # The links that are in the checkout now are not the base's.
    whole = Path(os.path.normpath(top / pin.path))
    try:
        return whole.relative_to(git.top_of(top)).as_posix()
    except ValueError:
        return None


def _state(
    pin: PackPin, now: PackPin | None, here: Path | str | None, approved: Path | None
) -> State:
    """What a change does to a pack; ``here`` is its folder where that is in the repository."""
    if now is None:
        return State.DROPPED
    if approved is not None and isinstance(here, Path):
        same = _digest(approved) == _digest(here)
    else:
        same = (pin.version, pin.digest, pin.revision) == (now.version, now.digest, now.revision)
    return State.KEPT if same else State.EDITED


def _digest(folder: Path) -> str | None:
    """The digest of a pack; None where a pack may not be like that."""
    try:
        return pack_digest(folder)
    except RackwrightError:
        return None


@cache
def _write_out(top: Path, commit: str, inside: str) -> Path:
    """A folder with the files of ``inside`` at ``commit``.

    Raises:
        FileMissingError: there is no such folder.
        UnreadableFileError: it holds what is no plain file, or too much.
        OSError: the files cannot be written.
    """
    files = git.files_at(top, commit, inside, most=MOST_FILES, largest=LARGEST_PACK)
    folder = Path(tempfile.mkdtemp(dir=_room().name)) / Path(inside).name
    for name, content in files:
        if LEFT_OUT.isdisjoint(name.split("/")):
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
    return folder


@cache
def _room() -> tempfile.TemporaryDirectory[str]:
    """Where packs are written out; it is removed when this process ends."""
    return tempfile.TemporaryDirectory(prefix="rackwright-packs-")
