"""The packs of a base revision: what judges a change that may have edited or dropped them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, auto
from pathlib import Path

from rackwright.errors import Location, RackwrightError, SpecErrors
from rackwright.reading.loader import load
from rackwright.team.base import BaseConfig
from rackwright.team.config import Pin, TeamConfig
from rackwright.team.digest import folder_digest
from rackwright.team.place import find_config, real


class State(Enum):
    """Effect of a change on a pack of its base."""

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
    blueprint: Path, base: BaseConfig | None, *, isolated: bool = False
) -> tuple[BasePack, ...]:
    """Return the packs that a revision lists for ``blueprint``.

    Args:
        blueprint: the file.
        base: the revision's configuration.
        isolated: the configuration of the change may be unreadable, for it does not decide.

    Raises:
        SpecErrors: the change's configuration is not valid.
        RackwrightError: the revision cannot be read.
    """
    if base is None:
        return ()
    now = _listed_now(find_config(blueprint), isolated=isolated)
    found = []
    for index, pin in enumerate(base.pins("packs")):
        where, why = base.approved("packs", index)
        at = pin.is_at(base.top)
        state = _state(pin, now.get(at), at if base.inside(pin) is not None else None, where)
        place = base.loaded.tree.locate(("packs", index, pin.key))
        found.append(BasePack(pin.name, state, where, place, why))
    return tuple(found)


def _listed_now(config: Path | None, *, isolated: bool) -> Mapping[Path | str, Pin]:
    """Return the packs that ``config`` lists; of an isolated one that cannot be read, none.

    Raises:
        SpecErrors: it is not valid, and ``isolated`` is false.
    """
    if config is None or config.is_symlink():
        return {}
    top = real(config).parent
    try:
        return {pin.is_at(top): pin for pin in load(config, TeamConfig).value.packs}
    except SpecErrors:
        if isolated:
            return {}
        raise


def _state(pin: Pin, now: Pin | None, here: Path | str | None, approved: Path | None) -> State:
    """Return the effect of a change on a pack; ``here`` is its folder if that is in the repository."""
    if now is None:
        return State.DROPPED
    if approved is not None and isinstance(here, Path):
        same = _digest(approved) == _digest(here)
    else:
        same = (pin.version, pin.digest, pin.revision) == (now.version, now.digest, now.revision)
    return State.KEPT if same else State.EDITED


def _digest(folder: Path) -> str | None:
    """Return the digest of a pack; None where a pack may not be like that."""
    try:
        return folder_digest(folder)
    except RackwrightError:
        return None
