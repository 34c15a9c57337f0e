"""The public face has what it names, and costs nothing until it is used."""

from __future__ import annotations

import ast
import inspect
import pkgutil
import subprocess
import sys
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

from rackwright import api
from rackwright.policy import api as inside
from rackwright.policy import helpers
from rackwright.policy.check import check_blueprint

ROOT = Path(__file__).parents[2]


def test_every_name_is_there_and_is_told() -> None:
    assert api.__all__ == sorted(api.__all__)
    assert dir(api) == api.__all__
    for name in api.__all__:
        assert getattr(api, name) is not None
    assert api.Policy is inside.Policy
    assert api.check is check_blueprint


def test_what_type_checkers_see_is_what_there_is() -> None:
    tree = ast.parse(Path(api.__file__).read_text("utf-8"))
    seen = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("rackwright")
        for alias in node.names
    }
    assert seen == set(api.__all__)


def test_a_name_that_is_not_there_is_an_error_of_the_usual_kind() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = api.nothing


def test_what_rules_call_says_what_it_returns() -> None:
    modules = [
        import_module(f"{helpers.__name__}.{found.name}")
        for found in pkgutil.iter_modules(helpers.__path__)
    ]
    functions = [
        function
        for module in modules
        for name, function in inspect.getmembers(module, inspect.isfunction)
        if function.__module__ == module.__name__ and not name.startswith("_")
    ]
    functions += [one for one in map(api.__getattr__, api.__all__) if inspect.isfunction(one)]
    assert len(functions) > 25
    silent = [one.__qualname__ for one in functions if "Returns:" not in (one.__doc__ or "")]
    assert silent == []


def test_to_import_it_loads_nothing_else() -> None:
    words = "import sys, rackwright.api; print(*(m for m in sys.modules if 'rackwright' in m))"
    done = subprocess.run([sys.executable, "-c", words], capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) <= {"rackwright", "rackwright.api"}


def test_it_judges_as_the_command_does() -> None:
    report = api.check(ROOT / "policies/fixtures/aws.yaml")
    assert isinstance(report, api.Report)
    assert {result.outcome for result in report.results} <= set(api.Outcome)


def test_a_new_rule_of_a_team_imports_from_it_alone() -> None:
    text = (ROOT / "templates/scaffolds/policy/rule.py.j2").read_text("utf-8")
    imports = [line for line in text.splitlines() if line.startswith("from rackwright")]
    assert imports
    assert all(line.startswith("from rackwright.api import ") for line in imports)


def test_every_record_that_the_plan_gives_is_public() -> None:
    """A rule can name the type of whatever it reads, without an import from the inside."""
    seen: set[tuple[str, str]] = set()
    waiting = [("rackwright.plan.model", "Plan")]
    while waiting:
        place = waiting.pop()
        if place not in seen and place[0].startswith("rackwright.plan."):
            seen.add(place)
            waiting += _types_told_by(*place)
    records = {name for module, name in seen if _class_of(module, name) is not None}
    assert len(records) > 80
    assert sorted(records - set(api.__all__)) == ["Expansion"], "what Plan is made of"


def _types_told_by(module: str, name: str) -> list[tuple[str, str]]:
    """Module and name of each type in the public fields and methods of a class, or behind an import."""
    known = _names_in(module)
    told = _class_of(module, name)
    if told is None:
        return [known[name]] if name in known else []
    hints: list[ast.expr | None] = [*told.bases]
    for part in told.body:
        if isinstance(part, ast.AnnAssign) and not ast.unparse(part.target).startswith("_"):
            hints.append(part.annotation)
        elif isinstance(part, ast.FunctionDef) and not part.name.startswith("_"):
            hints.append(part.returns)
    words = (word for hint in hints if hint is not None for word in ast.walk(hint))
    return [known[word.id] for word in words if isinstance(word, ast.Name) and word.id in known]


@cache
def _tree_of(module: str) -> ast.Module:
    path = ROOT.joinpath("src", *module.split("."))
    file = path.with_suffix(".py") if path.with_suffix(".py").exists() else path / "__init__.py"
    return ast.parse(file.read_text("utf-8"))


def _class_of(module: str, name: str) -> ast.ClassDef | None:
    classes = (part for part in _tree_of(module).body if isinstance(part, ast.ClassDef))
    return next((one for one in classes if one.name == name), None)


@cache
def _names_in(module: str) -> dict[str, tuple[str, str]]:
    """Classes that a module has and imports, with the module and the name that they come from."""
    found = {}
    for part in ast.walk(_tree_of(module)):
        if isinstance(part, ast.ImportFrom) and (part.module or "").startswith("rackwright"):
            for alias in part.names:
                found[alias.asname or alias.name] = (part.module or "", alias.name)
        elif isinstance(part, ast.ClassDef):
            found[part.name] = (module, part.name)
    return found
