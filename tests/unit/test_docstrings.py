"""What a function refuses and what a number means stand where they are defined."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from parsed import parsed, parsed_below

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src/rackwright"
ELSEWHERE = ("cli/",)
"""Verbs refuse bad usage, as their ``--help`` says."""


def functions(tree: ast.Module) -> Iterator[ast.FunctionDef]:
    """Public functions of a module and public methods of its public classes."""
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    inside = [body for one in classes if not one.name.startswith("_") for body in one.body]
    for node in (*tree.body, *inside):
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            yield node


def raised(node: ast.AST) -> Iterator[str]:
    """What ``node`` itself raises anew; that something cannot happen is no promise."""
    for part in ast.iter_child_nodes(node):
        if isinstance(part, (ast.FunctionDef, ast.ClassDef)):
            continue
        if isinstance(part, ast.Raise) and part.exc is not None:
            text = ast.unparse(part.exc)
            if not text.startswith("AssertionError"):
                yield text
        yield from raised(part)


def test_what_a_public_function_raises_is_in_its_docstring() -> None:
    silent, seen = [], 0
    for module in parsed_below(PACKAGE):
        inside = module.path.relative_to(PACKAGE).as_posix()
        if inside.startswith(ELSEWHERE):
            continue
        for function in functions(module.tree):
            found = list(raised(function))
            seen += bool(found)
            if found and "Raises:" not in (ast.get_docstring(function) or ""):
                silent.append(f"{inside}:{function.lineno} {function.name}: {found[0]}")
    assert seen > 120
    assert silent == []


def test_each_number_with_a_name_says_what_it_is() -> None:
    """Its unit and its source, in the text below it or in a comment."""
    silent, seen = [], 0
    for folder in (PACKAGE / "plan", ROOT / "policies"):
        for module in parsed_below(folder):
            body, lines = module.tree.body, module.text.splitlines()
            for place, node in enumerate(body):
                if not is_number(node):
                    continue
                seen += 1
                below = body[place + 1] if place + 1 < len(body) else None
                said = isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant)
                beside = "#" in lines[node.lineno - 1] or lines[node.lineno - 2].startswith("#")
                if not said and not beside:
                    silent.append(f"{module.path.name}:{node.lineno}")
    assert seen > 50
    assert silent == []


def is_number(node: ast.stmt) -> bool:
    """Whether it gives a name in capitals to a number, written out or as a product."""
    if not isinstance(node, ast.Assign):
        return False
    target, value = node.targets[0], node.value
    plain = isinstance(value, ast.Constant) and isinstance(value.value, (int, float))
    named = isinstance(target, ast.Name) and target.id.isupper()
    return named and (plain or isinstance(value, ast.BinOp))


OPENERS = re.compile(r"(?:What|Whether|How|Where|Which|Why|Of)\b")
"""Words that begin a clause without its noun; a docstring begins with a verb, or the noun of a thing."""
OF_FUNCTIONS = re.compile(
    r"(?:The|An?|Its?|Those|That|This|These|For|By|In|On|As|Like|Each|Every|All|One|No|None|Nothing|Only|With|Whose"
    r"|Names|Numbers?|Counts|W|Returns|Yields|Puts|Makes|Writes|Gives|Takes|Finds|Sets|Adds)\b"
)
"""Words that begin the docstring of a thing or tell of a function; that of a function begins with its verb."""
PROPERTIES = ("property", "cached_property", "computed_field", "setter")
REFUSED_WORDS = re.compile(r"\b(?:mend(?:s|ed|ing)?|anew|whoever|in the place of)\b", re.IGNORECASE)
MODULES = tuple(
    (path, name)
    for folder in (ROOT / "src", ROOT / "policies")
    for path in sorted(folder.rglob("*.py"))
    if "/roles/" not in (name := path.relative_to(ROOT).as_posix().removeprefix("src/"))
)


def openers(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield line and text of docstrings that begin without a verb or a noun."""
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    for node in ast.walk(tree):
        if isinstance(node, kinds):
            text = ast.get_docstring(node) or ""
            plain = isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and not any(
                ast.unparse(one).endswith(PROPERTIES) for one in node.decorator_list
            )
            if OPENERS.match(text) or (plain and OF_FUNCTIONS.match(text)):
                yield node.body[0].lineno, text.partition("\n")[0]


def test_docstrings_begin_with_a_verb_or_a_noun() -> None:
    found = [
        f"{name}:{line}: {text}"
        for path, name in MODULES
        for line, text in openers(parsed(path).tree)
    ]
    assert len(MODULES) > 600
    assert found == []


def test_words_that_nobody_else_uses_are_gone_from_the_code() -> None:
    found = [
        f"{name}:{number}: {line.strip()}"
        for path, name in MODULES
        if name.startswith(("rackwright", "policies"))
        for number, line in enumerate(parsed(path).text.splitlines(), 1)
        if REFUSED_WORDS.search(line)
    ]
    assert found == []


def test_an_opener_is_seen() -> None:
    tree = ast.parse(
        '"""What is here."""\ndef f():\n    """Of ``x``."""\n    """Return."""\n'
        'def g():\n    """The load."""\n@property\ndef h():\n    """The load."""\n'
    )
    assert [text for _, text in openers(tree)] == ["What is here.", "Of ``x``.", "The load."]
