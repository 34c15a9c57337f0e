"""Packs of policies beside the built-in one: a team's, and those that are named.

A pack is code that runs where a blueprint is judged.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rackwright.errors import UsageError
from rackwright.harmless import visible
from rackwright.team.config import config_of, listed_folders
from rackwright.team.place import plain, real, top_folder


def packs_for(
    blueprint: Path, more: Sequence[Path] = (), *, isolated: bool = False
) -> tuple[Path, ...]:
    """Return the folders of the packs that judge ``blueprint`` beside the built-in one.

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
    config = None if isolated else config_of(blueprint)
    listed = () if config is None else team_packs(config)
    folders = [real(folder) for folder in more]
    return (*(folder for folder in listed if folder not in folders), *folders)


def team_packs(config: Path) -> tuple[Path, ...]:
    """Return the folders of the packs that ``config`` lists, each checked against its pin.

    Raises:
        SpecErrors: the file is not valid, or a pack is not what it is pinned to.
    """
    return listed_folders(config, "packs")


def _refuse_inside(blueprint: Path, packs: Sequence[Path]) -> None:
    """Refuse packs that are in the checkout of ``blueprint``, or are reached through it.

    The change that is judged wrote them, or where they lead. Without a repository around it, the
    blueprint's folder stands for one.

    Raises:
        UsageError: one is.
    """
    own = plain(blueprint)
    tops = {top_folder(real(blueprint)), real(top_folder(own)), top_folder(own)}
    for pack in packs:
        places = (plain(pack), real(pack))
        if any(place.is_relative_to(top) for place in places for top in tops):
            raise UsageError(
                f"the pack '{visible(str(pack))}' is of the repository that is judged",
                hint="'--isolated' runs none of its code; check the pack out from the base branch "
                "beside the repository ('git worktree add ../base BASE') and name that",
            )
