"""The configuration of a team: the folders of policies, products and prices that are its own.

What lies outside the team's folder is foreign, so it must be pinned: a folder by its digest,
an installed package by its version.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from rackwright.errors import (
    Location,
    PolicyLoadError,
    RackwrightError,
    SpecError,
    SpecErrors,
    UsageError,
)
from rackwright.model.base import Model
from rackwright.reading.loader import load
from rackwright.reading.tree import Tree
from rackwright.team.place import find_config, real

Listing = Literal["packs", "catalogue", "prices", "faults"]
"""The lists of a configuration."""

OptionValue = bool | int | str | tuple[str, ...]
"""Value of an option of a command."""

_PACKAGE = r"^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$"


def _check_path(text: str) -> str:
    if not text.isprintable():
        raise ValueError("a path is printable text on one line")
    return text


class Pin(Model):
    """A pack of policies, a catalogue, price lists or a table of faults: a folder, or an installed package."""

    path: (
        Annotated[str, Field(min_length=1, max_length=1000), AfterValidator(_check_path)] | None
    ) = None
    """Its folder, from that of this file."""
    package: Annotated[str, Field(pattern=_PACKAGE, max_length=200)] | None = None
    """The name of an installed Python package that brings it by an entry point: 'rackwright.packs',
    'rackwright.catalogue', 'rackwright.prices' or 'rackwright.faults'."""
    version: Annotated[str, Field(pattern=r"^[0-9][0-9A-Za-z.+!-]*$", max_length=100)] | None = None
    """Of the package, which is taken in no other version."""
    revision: Annotated[str, Field(pattern=r"^[0-9a-f]{40}([0-9a-f]{24})?$")] | None = None
    """Commit that the folder must be checked out at."""
    digest: Annotated[str, Field(pattern=r"^sha256:[0-9a-f]{64}$")] | None = None
    """What 'rackwright policy digest' says; needed for a folder outside the team's."""

    @model_validator(mode="after")
    def _one_place(self) -> Pin:
        if (self.path is None) == (self.package is None):
            raise ValueError("an entry has a 'path' or a 'package'")
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

    def folder(self, top: Path, listing: Listing) -> Path:
        """Return folder of the entry.

        Args:
            top: the folder of the configuration.
            listing: the list that it is in.

        Raises:
            PolicyLoadError: the package is not installed in its version.
        """
        if self.package is not None and self.version is not None:
            from rackwright.team.installed import installed_folder

            return real(installed_folder(self.package, self.version, f"rackwright.{listing}"))
        return real(top / self.name)

    def is_at(self, top: Path) -> Path | str:
        """Return the same for the same folder or package, whether it is there or not."""
        return real(top / self.path) if self.path is not None else self.name.lower()


class TeamConfig(Model):
    """Settings for all blueprints of a team."""

    packs: tuple[Pin, ...] = ()
    """Policies that judge beside the built-in ones."""
    catalogue: tuple[Pin, ...] = ()
    """Products beside the built-in ones."""
    prices: tuple[Pin, ...] = ()
    """Price lists beside the built-in ones."""
    faults: tuple[Pin, ...] = ()
    """Tables of faults beside the built-in one."""
    defaults: dict[str, dict[str, OptionValue]] = {}
    """Options that commands take unless the command line says otherwise, by command and option:
    'check: {color: never}'. Only options that change neither a verdict nor what is confirmed."""


def config_of(blueprint: Path) -> Path | None:
    """Return the ``rackwright.yaml`` that holds for ``blueprint``, or None.

    Raises:
        UsageError: it is a link.
    """
    config = find_config(blueprint)
    if config is not None and config.is_symlink():
        raise UsageError(f"'{config}' is a link", hint="put the file itself there")
    return config


def listed_folders(
    config: Path, listing: Listing, *, within: Path | None = None
) -> tuple[Path, ...]:
    """Return the folders that ``config`` lists, each checked against its pin.

    Args:
        config: the file.
        listing: which of its lists.
        within: folders named by path that are not in this one are refused, and not read.

    Raises:
        SpecErrors: the file is not valid, or something is not what it is pinned to.
    """
    loaded = load(config, TeamConfig)
    top = real(config).parent
    folders: list[Path] = []
    errors: list[SpecError] = []
    pins: tuple[Pin, ...] = getattr(loaded.value, listing)
    for index, pin in enumerate(pins):
        place = loaded.tree.locate((listing, index, pin.key))
        if within is not None and pin.path and not real(top / pin.path).is_relative_to(within):
            text = f"{listing}: '{pin.name}' leads out of the repository"
            hint = "'--isolated' reads only what is in it, or is installed as a package"
            errors.append(SpecError(text, hint=hint, location=place))
            continue
        folder, error = checked_pin(pin, top, listing, index, loaded.tree)
        if error is None and folder in folders:
            error = SpecError(f"{listing}: '{pin.name}' is listed twice", location=place)
        if error is not None:
            errors.append(error)
        if folder is not None:
            folders.append(folder)
    if errors:
        raise SpecErrors(errors)
    return tuple(folders)


def checked_pin(
    pin: Pin, top: Path, listing: Listing, index: int, tree: Tree
) -> tuple[Path | None, SpecError | None]:
    """Return the folder of an entry, where there is one, and why it cannot be used, if so."""
    try:
        folder = pin.folder(top, listing)
    except PolicyLoadError as error:
        place = tree.locate((listing, index, pin.key))
        return None, SpecError(f"{listing}: {error.summary}", hint=error.hint, location=place)
    return folder, _problem(pin, folder, top, (listing, index), tree)


def _problem(
    pin: Pin, folder: Path, top: Path, where: tuple[Listing, int], tree: Tree
) -> SpecError | None:
    """Return the reason why an entry cannot be used; None if it can."""
    listing = where[0]

    def at(key: str) -> Location:
        return tree.locate((*where, key))

    if not folder.is_dir():
        return SpecError(f"{listing}: '{pin.name}' is not a folder", location=at(pin.key))
    outside = pin.package is None and not folder.is_relative_to(top)
    if pin.revision is None and pin.digest is None and not outside:
        return None
    from rackwright.reading.versions import git
    from rackwright.team.digest import folder_digest

    try:
        if pin.revision is not None:
            actual = git.resolve(folder, "HEAD")
            if actual != pin.revision:
                return SpecError(
                    f"{listing}: '{pin.name}' is checked out at '{actual}', not at its 'revision'",
                    hint=f"check out '{pin.revision}', or review the other one and pin that",
                    location=at("revision"),
                )
        found = folder_digest(folder) if outside or pin.digest else None
    except RackwrightError as error:
        return SpecError(
            f"{listing}: '{pin.name}': {error.summary}", hint=error.hint, location=at(pin.key)
        )
    if pin.digest is None and outside:
        return SpecError(
            f"{listing}: '{pin.name}' lies outside the team's folder and is not pinned",
            hint=f"review it, and set 'digest: {found}'",
            location=at(pin.key),
        )
    if pin.digest is not None and found != pin.digest:
        return SpecError(
            f"{listing}: '{pin.name}' is not what it is pinned to",
            hint=f"its digest is '{found}'; review what changed before it is pinned",
            location=at("digest"),
        )
    return None
