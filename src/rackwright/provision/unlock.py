"""Lifts the locks of stacks whose holders are lost."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rackwright.locks import exclusive
from rackwright.provision.backends import SERVICES
from rackwright.provision.engine import ORDER, Site, StackKind, open_stack, tool_error
from rackwright.provision.stack_locks import LockStore, StackLock, locked, open_store, read_locks
from rackwright.provision.targets import Target

if TYPE_CHECKING:
    from pulumi.automation import Stack


@dataclass(frozen=True, slots=True)
class LockedStack:
    """A stack that is locked.

    Attributes:
        kind: of the stack.
        store: where its locks are; None where nobody but the backend itself sees them.
        locks: its locks; none where the backend says that it is locked, and not by whom.
    """

    kind: StackKind
    store: LockStore | None
    locks: tuple[StackLock, ...]

    def __str__(self) -> str:
        return ", ".join(map(str, self.locks)) or "an update, of which the backend says no more"


def find_held(site: Site, target: Target) -> tuple[LockedStack, ...]:
    """Return the stacks of ``site`` that are locked, or that may be: the bucket of another cloud does not say.

    Raises:
        ExternalToolError: the backend cannot be asked.
    """
    return tuple(held for kind in ORDER if (held := _find(site, kind, target)) is not None)


def lift(site: Site, target: Target, held: LockedStack) -> None:
    """Remove the locks of ``held`` and no others; where none is known, end the update as the CLI does.

    Raises:
        ExternalToolError: a holder is a process of this host that runs, or the backend refuses.
    """  # noqa: DOC501 - locked() makes the ExternalToolError
    living = tuple(lock for lock in held.locks if lock.is_of_the_living)
    if living:
        raise locked(f"{held.kind}/{site.stack}", living)
    with exclusive(target.state / "locks" / site.stack, what=f"site '{site.stack}'"):
        if held.store is None:
            with _asked(site, held.kind, target) as stack:
                stack.cancel()
            return
        for lock in held.locks:
            held.store.remove(lock.name)


def _find(site: Site, kind: StackKind, target: Target) -> LockedStack | None:
    from pulumi import automation

    url = target.backend
    try:
        if (store := open_store(url)) is None:
            with _asked(site, kind, target) as stack:
                url = url or stack.workspace.who_am_i().url or ""
                listed = stack.workspace.list_stacks()
            if (store := open_store(url)) is None:
                busy = {
                    one.update_in_progress for one in listed if _is_called(one.name, site.stack)
                }
                says = url.startswith(SERVICES)
                return LockedStack(kind, None, ()) if (True in busy or not says) else None
    except automation.StackNotFoundError:
        return None
    locks = read_locks(store, kind, site.stack)
    return LockedStack(kind, store, locks) if locks else None


def _is_called(name: str, stack: str) -> bool:
    return name.rsplit("/", 1)[-1] == stack


@contextmanager
def _asked(site: Site, kind: StackKind, target: Target) -> Iterator[Stack]:
    """Yield the stack.

    Raises:
        StackNotFoundError: it is not there.
        ExternalToolError: the CLI fails.
    """  # noqa: DOC501 - tool_error() makes the ExternalToolError
    from pulumi import automation

    try:
        with open_stack(site, kind, target, create=False) as stack:
            yield stack
    except automation.StackNotFoundError:
        raise
    except automation.CommandError as error:
        raise tool_error(kind, site, "unlock", error) from None
