"""A team's ``rackwright.yaml``: which packs of policies judge beside the built-in ones.

A pack is code that runs where a blueprint is judged. One that lies outside the team's folder is
somebody else's, so it must be pinned: a folder by its digest, an installed package by its version.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, Field, model_validator

from rackwright.errors import (
    Location,
    PolicyLoadError,
    RackwrightError,
    SpecError,
    SpecErrors,
    UsageError,
)
from rackwright.harmless import visible
from rackwright.model.base import Model
from rackwright.policy.digest import pack_digest
from rackwright.policy.installed import installed_pack
from rackwright.spec import git
from rackwright.spec.loader import load
from rackwright.spec.tree import Tree

NAME = "rackwright.yaml"
_PACKAGE = r"^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$"


def _check_path(text: str) -> str:
    if not text.isprintable():
        raise ValueError("a path is printable text on one line")
    return text


class PackPin(Model):
    """A pack of policies: a folder, or an installed package."""

    path: (
        Annotated[str, Field(min_length=1, max_length=1000), AfterValidator(_check_path)] | None
    ) = None
    """Its folder, from that of this file."""
    package: Annotated[str, Field(pattern=_PACKAGE, max_length=200)] | None = None
    """The name of an installed Python package that brings it by an entry point 'rackwright.packs'."""
    version: Annotated[str, Field(pattern=r"^[0-9][0-9A-Za-z.+!-]*$", max_length=100)] | None = None
    """Of the package, which is taken in no other version."""
    revision: Annotated[str, Field(pattern=r"^[0-9a-f]{40}([0-9a-f]{24})?$")] | None = None
    """Commit that the folder must be checked out at."""
    digest: Annotated[str, Field(pattern=r"^sha256:[0-9a-f]{64}$")] | None = None
    """What 'rackwright policy digest' says; needed for a folder outside the team's."""

    @model_validator(mode="after")
    def _one_place(self) -> PackPin:
        if (self.path is None) == (self.package is None):
            raise ValueError("a pack has a 'path' or a 'package'")
        if (self.package is None) != (self.version is None):
            raise ValueError("a 'package' has a 'version', and nothing else has one")
        if self.package is not None and self.revision is not None:
            raise ValueError("a 'package' has a 'version' and no 'revision'")
        return self

    @property
    def key(self) -> str:
        """The field that says where it is."""
        return "path" if self.package is None else "package"

    @property
    def name(self) -> str:
        """The text of that field."""
        return self.path or self.package or ""

    def folder(self, top: Path) -> Path:
        """Where it is.

        Args:
            top: the folder of the configuration.

        Raises:
            PolicyLoadError: the package is not installed in its version.
        """
        if self.package is not None and self.version is not None:
            return real(installed_pack(self.package, self.version))
        return real(top / self.name)

    def is_at(self, top: Path) -> Path | str:
        """The same for the same pack, whether it is there or not."""
        return real(top / self.path) if self.path is not None else self.name.lower()


class TeamConfig(Model):
    """What holds for all blueprints of a team."""

    packs: tuple[PackPin, ...] = ()


def find_config(blueprint: Path) -> Path | None:
    """The ``rackwright.yaml`` that holds for ``blueprint``, or None.

    It lies beside the blueprint, or above it inside the same git repository.
    """
    found = (folder / NAME for folder in config_folders(blueprint))
    return next((path for path in found if path.is_file()), None)


def config_folders(blueprint: Path) -> list[Path]:
    """The folder of ``blueprint`` and those above it inside the same git repository."""
    folder = real(blueprint).parent
    chain = [folder, *folder.parents]
    top = next((n for n, above in enumerate(chain) if (above / ".git").exists()), 0)
    return chain[: top + 1]


def packs_for(
    blueprint: Path, more: Sequence[Path] = (), *, isolated: bool = False
) -> tuple[Path, ...]:
    """The folders of the packs that judge ``blueprint`` beside the built-in one.

    Args:
        blueprint: the file.
        more: folders named on the command line; they need no pin.
        isolated: leave out what the repository itself asks for, so that none of its code runs.

    Raises:
        SpecErrors: the configuration is not valid, or a pack is not what it is pinned to.
        UsageError: the configuration is a link, or a named pack is of the repository that is
            isolated.
    """
    if isolated:
        _refuse_inside(blueprint, more)
    config = None if isolated else find_config(blueprint)
    if config is not None and config.is_symlink():
        raise UsageError(f"'{config}' is a link", hint="put the file itself there")
    listed = () if config is None else team_packs(config)
    folders = [real(folder) for folder in more]
    return (*(folder for folder in listed if folder not in folders), *folders)


def _refuse_inside(blueprint: Path, packs: Sequence[Path]) -> None:
    """Refuse packs that are in the checkout of ``blueprint``, or are reached through it.

    The change that is judged wrote them, or where they lead. Without a repository around it, the
    blueprint's folder stands for one.
    """
    tops = {_top(real(blueprint)), real(_top(_plain(blueprint))), _top(_plain(blueprint))}
    for pack in packs:
        places = (_plain(pack), real(pack))
        if any(place.is_relative_to(top) for place in places for top in tops):
            raise UsageError(
                f"the pack '{visible(str(pack))}' is of the repository that is judged",
                hint="'--isolated' runs none of its code; check the pack out from the base branch "
                "beside the repository ('git worktree add ../base BASE') and name that",
            )


def _top(path: Path) -> Path:
    """The nearest folder above ``path`` with ``.git``; else its own."""
    return next((f for f in path.parents if os.path.lexists(f / ".git")), path.parent)


def team_packs(config: Path) -> tuple[Path, ...]:
    """The folders of the packs that ``config`` lists, each checked against its pin.

    Raises:
        SpecErrors: the file is not valid, or a pack is not what it is pinned to.
    """
    loaded = load(config, TeamConfig)
    top = real(config).parent
    folders: list[Path] = []
    errors: list[SpecError] = []
    for index, pin in enumerate(loaded.value.packs):
        folder, error = checked_pin(pin, top, index, loaded.tree)
        if error is None and folder in folders:
            error = SpecError(
                f"packs: '{pin.name}' is listed twice",
                location=loaded.tree.locate(("packs", index, pin.key)),
            )
        if error is not None:
            errors.append(error)
        if folder is not None:
            folders.append(folder)
    if errors:
        raise SpecErrors(errors)
    return tuple(folders)


def _plain(path: Path) -> Path:
    """``path`` from the root, with the links that are in it."""
    return Path(os.path.abspath(path))  # noqa: PTH100 - resolves no link


def real(path: Path) -> Path:
    """``path`` without links; unlike ``Path.resolve``, links that go round are no error."""
    return Path(os.path.realpath(path))


def checked_pin(
    pin: PackPin, top: Path, index: int, tree: Tree
) -> tuple[Path | None, SpecError | None]:
    """The folder of a pack, where there is one, and why it cannot be used, if so."""
    try:
        folder = pin.folder(top)
    except PolicyLoadError as error:
        place = tree.locate(("packs", index, pin.key))
        return None, SpecError(f"packs: {error.summary}", hint=error.hint, location=place)
    return folder, _problem(pin, folder, top, index, tree)


def _problem(pin: PackPin, folder: Path, top: Path, index: int, tree: Tree) -> SpecError | None:
    """Why a pack cannot be used, or None."""

    def at(key: str) -> Location:
        return tree.locate(("packs", index, key))

    if not folder.is_dir():
        return SpecError(f"packs: '{pin.name}' is not a folder", location=at(pin.key))
    try:
        if pin.revision is not None:
            actual = git.resolve(folder, "HEAD")
            if actual != pin.revision:
                return SpecError(
                    f"packs: '{pin.name}' is checked out at '{actual}', not at its 'revision'",
                    hint=f"check out '{pin.revision}', or review the other one and pin that",
                    location=at("revision"),
                )
        if pin.digest is None:
            if pin.package is not None or folder.is_relative_to(top):
                return None
            return SpecError(
                f"packs: '{pin.name}' lies outside the team's folder and is not pinned",
                hint=f"review it, and set 'digest: {pack_digest(folder)}'",
                location=at(pin.key),
            )
        found = pack_digest(folder)
    except RackwrightError as error:
        return SpecError(
            f"packs: '{pin.name}': {error.summary}", hint=error.hint, location=at(pin.key)
        )
    if found != pin.digest:
        return SpecError(
            f"packs: '{pin.name}' is not what it is pinned to",
            hint=f"its digest is '{found}'; review what changed before it is pinned",
            location=at("digest"),
        )
    return None
