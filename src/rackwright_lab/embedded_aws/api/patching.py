"""Changing a class of moto once, whatever is called how often."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_DONE: set[str] = set()


def first_time(name: str) -> bool:
    """Return whether this is the first call with the name in this process."""
    if name in _DONE:
        return False
    _DONE.add(name)
    return True


def put(owner: type, **methods: Callable[..., Any] | property) -> None:
    """Put methods and properties into a class under the names given."""
    for name, method in methods.items():
        setattr(owner, name, method)
