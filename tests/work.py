"""How much work a call is, counted: the same on every machine, whatever else runs there."""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Callable, Iterator
from functools import partial
from types import FrameType, ModuleType
from typing import Any


def steps_of(call: Callable[[], object]) -> int:
    """Number of lines of Python that ``call`` runs, each turn of a loop or comprehension a line.

    What a function written in C does inside (a regular expression, sorting) is not seen. Call it once
    before, where something is imported or kept at the first call.
    """
    steps = 0

    def count(_frame: FrameType, event: str, _argument: Any) -> Callable[..., Any]:
        nonlocal steps
        steps += event == "line"
        return count

    former = sys.gettrace()
    sys.settrace(count)
    try:
        call()
    finally:
        sys.settrace(former)
    return steps


def expressions_of(module: ModuleType) -> dict[str, re.Pattern[str]]:
    """The regular expressions that are kept in a module, by name."""
    return {name: value for name, value in vars(module).items() if isinstance(value, re.Pattern)}


def operations_of(expression: str, flags: int = 0) -> Iterator[tuple[str, Any]]:
    """Each operation of a regular expression with its arguments, such as ``MAX_REPEAT``, those inside
    of others as well: what work it may be can be told from them, and is not seen by ``steps_of``.
    """
    yield from _operations(importlib.import_module("re._parser").parse(expression, flags))


def _operations(parsed: Any) -> Iterator[tuple[str, Any]]:
    if hasattr(parsed, "getwidth"):  # a part of an expression
        for operation, argument in parsed:
            yield str(operation), argument
            yield from _operations(argument)
    elif isinstance(parsed, (list, tuple)):
        for part in parsed:
            yield from _operations(part)


def growth(call: Callable[[int], object], size: int) -> float:
    """How many times the steps of ``call(size)`` those of ``call(2 * size)`` are: about 2, or 4.

    Of three sizes the first two are taken off, so that what does not depend on the size is no part.
    """
    call(size)
    one, two, four = (steps_of(partial(call, n)) for n in (size, 2 * size, 4 * size))
    return (four - two) / (two - one)
