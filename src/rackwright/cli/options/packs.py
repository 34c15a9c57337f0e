"""The argument for untrusted changes that commands share, and what it means for files."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from rackwright.errors import UsageError
from rackwright.harmless import visible


def add_isolated(parser: argparse.ArgumentParser) -> None:
    """Add ``--isolated``."""
    parser.add_argument(
        "--isolated",
        action="store_true",
        help="run no code of the repository and read no file outside it: ignore the packs in "
        "rackwright.yaml, reject packs in the repository and links that leave it",
    )


def packs_here(given: Sequence[Path], *, isolated: bool) -> tuple[Path, ...]:
    """Return the packs of the team whose repository is worked in, and those that are ``given``.

    Raises:
        SpecErrors: ``rackwright.yaml`` is not valid, or a pack is not what it is pinned to.
        UsageError: ``rackwright.yaml`` is a link, or a given pack is of the repository that is
            isolated.
    """
    from rackwright.policy.packs.team_config import packs_for

    return packs_for(Path("blueprint.yaml"), given, isolated=isolated)


def refuse_outside(blueprint: Path, others: Iterable[Path]) -> None:
    """Refuse files that are not in the repository of ``blueprint``, as an untrusted change may link.

    What cannot be read as YAML is quoted in a report, so a link would tell a file's content. Without
    a repository around it, the blueprint's folder stands for one.

    Raises:
        UsageError: a path, or what it links to, is outside.
    """
    # The top is looked for by name: a folder that is a link would lead to another repository.
    folder = Path(os.path.abspath(blueprint)).parent  # noqa: PTH100 - resolves no link
    chain = (folder, *folder.parents)
    top = next((above for above in chain if os.path.lexists(above / ".git")), folder)
    inside = Path(os.path.realpath(top))
    for path in (blueprint, *others):
        if not Path(os.path.realpath(path)).is_relative_to(inside):
            raise UsageError(
                f"'{visible(str(path))}' leads out of the repository",
                hint="'--isolated' reads only what is in it, and follows no link that leaves it",
            )
