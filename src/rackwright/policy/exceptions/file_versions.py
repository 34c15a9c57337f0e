"""A file of the team beside the blueprint, in the versions that a judgement needs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from rackwright.model.base import Model
from rackwright.reading.loader import Loaded

F = TypeVar("F", bound=Model)


@dataclass(frozen=True)
class FileVersions(Generic[F]):
    """A file as it is now, and as the base revision has it.

    Attributes:
        head: the file as it is now; None when there is none.
        base: the file as the base revision has it; None when it has none or none is asked.
        base_ref: name of the revision that approves it; None lets the head approve its own.
    """

    head: Loaded[F] | None = None
    base: Loaded[F] | None = None
    base_ref: str | None = None

    @property
    def sources(self) -> tuple[str, ...]:
        """The files that were read."""
        read = (self.base, self.head)
        return tuple(file for loaded in read if loaded for file in loaded.tree.files)

    @property
    def decides(self) -> Loaded[F] | None:
        """The version that holds: the base revision's where one is asked."""
        return self.head if self.base_ref is None else self.base

    @property
    def shown(self) -> Loaded[F] | None:
        """The version that a reader can edit, where there is one: the head's before the base's."""
        return self.head or self.base
