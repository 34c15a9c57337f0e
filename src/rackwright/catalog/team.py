"""The catalogue that holds for a blueprint: the built-in one, and what its team lists.

Every command that plans a blueprint takes it from here.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rackwright.catalog.loader import Catalogue, load_catalogue
from rackwright.errors import SpecError, SpecErrors
from rackwright.team.place import find_config, plain, real, top_folder

if TYPE_CHECKING:
    from rackwright.errors import Location
    from rackwright.team.base import BaseConfig
    from rackwright.team.config import Listing


def catalogue_for(blueprint: Path, *, isolated: bool = False) -> Catalogue:
    """Return the catalogue that holds for ``blueprint``, with the prices.

    Args:
        blueprint: the file; the team's ``rackwright.yaml`` is found from it.
        isolated: read nothing outside its repository but installed packages.

    Raises:
        SpecErrors: the configuration or a catalogue is not valid, or not what it is pinned to.
        UsageError: the configuration is a link.
    """
    if find_config(blueprint) is None:
        return load_catalogue()
    from rackwright.team.config import config_of

    config = config_of(blueprint)
    within = real(top_folder(plain(blueprint))) if isolated else None
    return load_catalogue() if config is None else team_catalogue(config, within=within)


def team_catalogue(config: Path, *, within: Path | None = None) -> Catalogue:
    """Return the built-in catalogue and what ``config`` lists beside it.

    Args:
        config: a ``rackwright.yaml``.
        within: refuse folders that are not in this one.

    Raises:
        SpecErrors: as ``catalogue_for``.
    """
    from rackwright.team.config import listed_folders

    folders = listed_folders(config, "catalogue", within=within)
    prices = listed_folders(config, "prices", within=within)
    faults = listed_folders(config, "faults", within=within)
    return load_catalogue(folders, price_folders=prices, fault_folders=faults)


def catalogue_at(
    base: BaseConfig | None, *, isolated: bool = False
) -> tuple[Catalogue, tuple[SpecError, ...]]:
    """Return the catalogue that a revision lists, and what of it cannot be had.

    Args:
        base: the revision's configuration.
        isolated: read nothing outside the repository but installed packages.

    Raises:
        SpecErrors: what it lists is not valid.
        RackwrightError: the revision cannot be read.
    """
    if base is None:
        return load_catalogue(), ()
    problems: list[SpecError] = []

    def folders(listing: Listing) -> tuple[Path, ...]:
        found = []
        for index, pin in enumerate(base.pins(listing)):
            place: Location = base.loaded.tree.locate((listing, index, pin.key))
            folder, why = None, "it leads out of the repository"
            if not (isolated and pin.path and base.inside(pin) is None):
                folder, why = base.approved(listing, index)
            if folder is None:
                text = f"{listing}: '{pin.name}' is not to be had as '{base.ref}' lists it: {why}"
                problems.append(SpecError(text, location=place))
            else:
                found.append(folder)
        return tuple(dict.fromkeys(found))

    catalogue = load_catalogue(
        folders("catalogue"), price_folders=folders("prices"), fault_folders=folders("faults")
    )
    return catalogue, tuple(problems)


def catalogue_of(base: BaseConfig | None, *, isolated: bool = False) -> Catalogue:
    """Return the catalogue that a revision lists, all of it.

    Raises:
        SpecErrors: a part cannot be had, or is not valid.
        RackwrightError: the revision cannot be read.
    """
    catalogue, problems = catalogue_at(base, isolated=isolated)
    if problems:
        raise SpecErrors(problems)
    return catalogue
