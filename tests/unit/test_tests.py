"""A test asserts something whatever it sees: no test passes because there was nothing to look at.

A test function with assertions needs one that is always reached: outside of loops, or in a loop over
what is written out and not empty; outside of ``if``, or in both of its branches; and not behind a
``return``. So a test over found files or made rows asserts first that there are some. A test without
any assertion says that something does not raise; what its helpers assert is not looked at.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from parsed import parsed_below

TESTS = Path(__file__).parents[1]
KEEP_LENGTH = {"enumerate", "list", "reversed", "set", "sorted", "tuple"}
VIEWS = {"items", "keys", "values"}
RAISES = {"pytest.raises", "pytest.warns"}

Names = Mapping[str, ast.expr]
"""What names stand for, as far as it is written out."""


def is_never_empty(made: ast.expr, names: Names) -> bool:
    """Whether the text alone tells that there is something in ``made``."""
    match made:
        case ast.Name(id=name):
            return name in names and is_never_empty(
                names[name], {k: v for k, v in names.items() if k != name}
            )
        case ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Set(elts=parts):
            return any(
                is_never_empty(part.value, names) if isinstance(part, ast.Starred) else True
                for part in parts
            )
        case ast.Dict(keys=keys, values=values):
            return any(
                key is not None or is_never_empty(value, names)
                for key, value in zip(keys, values, strict=True)
            )
        case ast.Constant(value=str(text)):
            return bool(text)
        case ast.Call(func=ast.Name(id="range"), args=limits):
            constants = [limit.value for limit in limits if isinstance(limit, ast.Constant)]
            numbers = [value for value in constants if isinstance(value, int)]
            return len(numbers) == len(limits) and len(range(*numbers)) > 0
        case ast.Call(func=ast.Name(id="zip"), args=parts, keywords=[ast.keyword(arg="strict")]):
            return any(is_never_empty(part, names) for part in parts)
        case ast.Call(func=ast.Name(id=name), args=[inner, *_]) if name in KEEP_LENGTH:
            return is_never_empty(inner, names)
        case ast.Call(func=ast.Attribute(value=inner, attr=name)) if name in VIEWS:
            return is_never_empty(inner, names)
    return False


def asserts(block: Sequence[ast.stmt], names: Names) -> bool:
    """Whether every way through ``block`` comes to an assertion."""
    for statement in block:
        match statement:
            case ast.Assert():
                return True
            case ast.With(items=items, body=body):
                calls = [i.context_expr for i in items if isinstance(i.context_expr, ast.Call)]
                if any(ast.unparse(c.func) in RAISES for c in calls) or asserts(body, names):
                    return True
            case ast.For(iter=made, body=body):
                if is_never_empty(made, names) and asserts(body, names):
                    return True
            case ast.If(body=body, orelse=otherwise):
                reached = asserts(body, names), asserts(otherwise, names)
                if all(reached):
                    return True
                branches = zip((body, otherwise), reached, strict=True)
                if any(leaves(branch) for branch, is_reached in branches if not is_reached):
                    return False
            case ast.Try(body=body, orelse=otherwise, finalbody=last):
                if asserts([*body, *otherwise], names) or asserts(last, names):
                    return True
            case ast.Match(cases=cases):
                if all(asserts(case.body, names) for case in cases):
                    return True
            case ast.Return():
                return False
            case _:
                pass
    return False


def leaves(block: Sequence[ast.stmt]) -> bool:
    """Whether a way through ``block`` ends the function."""
    return any(
        isinstance(node, ast.Return)
        for statement in block
        for node in (statement, *within(statement))
    )


def within(node: ast.AST) -> Iterator[ast.AST]:
    """All nodes of ``node`` but those of functions in it."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(
            child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef
        ):
            yield child
            yield from within(child)


def literals(nodes: Iterator[ast.AST]) -> dict[str, ast.expr]:
    """What is assigned to names, the names that are assigned once only."""
    found: dict[str, list[ast.expr]] = {}
    for node in nodes:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                found.setdefault(name, []).append(value)
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                found.setdefault(name, []).append(value)
            case _:
                pass
    return {name: values[0] for name, values in found.items() if len(values) == 1}


def hollow(tree: ast.Module) -> list[str]:
    """Names of the tests in ``tree`` that may end without an assertion, though they have some."""
    known = literals(within(tree))
    return [
        function.name
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef)
        and function.name.startswith("test")
        and any(isinstance(node, ast.Assert) for node in within(function))
        and not asserts(function.body, known | literals(within(function)))
    ]


def test_every_test_comes_to_an_assertion() -> None:
    found = {one.path: hollow(one.tree) for one in parsed_below(TESTS, "test_*.py")}
    assert len(found) > 100
    assert {str(path): names for path, names in found.items() if names} == {}


@pytest.mark.parametrize(
    "body",
    [
        "for x in found(): assert x",
        "rows = found()\n for x in rows: assert x",
        "for x in (*found(),): assert x",
        "for x in range(0): assert x",
        "for x in zip(found(), 'ab'): assert x",
        "if found(): assert x",
        "if found(): return\n assert x",
        "if found():\n  assert x\n else: pass",
        "for x in 'ab':\n  if x: assert x",
        "try: found()\n except ValueError: assert x",
        "with found():\n  for x in found(): assert x",
        "def inner(): assert x\n found(inner)\n if x: assert x",
    ],
)
def test_a_hollow_test_is_found(body: str) -> None:
    assert hollow(ast.parse(f"def test_it():\n {body}\n")) == ["test_it"]


@pytest.mark.parametrize(
    "body",
    [
        "assert x",
        "found()",
        "rows = found()\n assert rows\n for x in rows: assert x",
        "for x in (1, found()): assert x",
        "for x in range(3): assert x",
        "for x, y in zip(found(), 'ab', strict=True): assert x",
        "for n, x in enumerate(TABLE.items()): assert x",
        "rows = [1]\n for x in sorted(rows): assert x",
        "if found(): assert x\n else: assert y",
        "with pytest.raises(ValueError): found()\n for x in found(): assert x",
        "try: made = found()\n except ValueError: return\n assert made",
        "assert x\n if found(): return\n assert y",
        "if found():\n  assert x\n  return\n assert y",
    ],
)
def test_a_sound_test_is_let_through(body: str) -> None:
    assert hollow(ast.parse(f"TABLE = {{'a': 1}}\ndef test_it():\n {body}\n")) == []
