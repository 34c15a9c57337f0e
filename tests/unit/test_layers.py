"""The contracts of import-linter leave out no package, and rules keep to what is below them."""

from __future__ import annotations

import ast
import re
import tomllib
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src/rackwright"
CONTRACTS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"][
    "contracts"
]
FOR_RULES = {"api", "catalog", "model", "plan", "policy", "spec"}
"""Packages that a rule of the product may import from."""
(LAYERS,) = (
    [re.split(r" [|:] ", layer) for layer in one["layers"]]
    for one in CONTRACTS
    if one["id"] == "layers"
)
"""Names of packages and modules, the highest layer first."""
MOST = 15
"""Modules of one package, those of its own packages not counted."""
LARGE = {
    "cli": "one for each verb",
    "diff": "one for each kind of change, and for each form in which it is told",
    "model": "one for each part of a blueprint",
    "provision/embedded": "one for each service of AWS",
    "report": "one for each form of a report",
}
"""Packages that hold more, and of what."""


def test_every_package_and_module_is_in_one_layer() -> None:
    named = [name for layer in LAYERS for name in layer]
    there = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    there |= {path.stem for path in PACKAGE.glob("*.py")} - {"__init__"}
    assert sorted(named) == sorted(there)


def test_every_folder_of_modules_is_a_package() -> None:
    """What is no package is not in the graph of import-linter, and keeps to no contract."""
    folders = {path.parent for path in PACKAGE.rglob("*.py")}
    assert {str(one) for one in folders if not (one / "__init__.py").exists()} == set()


def test_no_package_has_more_modules_than_are_seen_at_once() -> None:
    """One for each kind of the same thing is found by its name; anything else is put into packages."""
    held = Counter(
        path.parent.relative_to(PACKAGE).as_posix()
        for path in PACKAGE.rglob("*.py")
        if path.stem not in {"__init__", "__main__"}
    )
    assert len(held) > 20
    assert {name: count for name, count in held.items() if count > MOST and name not in LARGE} == {}
    assert [name for name in LARGE if held[name] <= MOST] == [], "these need no exception any more"


def test_what_the_contracts_name_exists() -> None:
    lists = ("source_modules", "allowed_importers", "containers", "ancestors")
    named = {name for one in CONTRACTS for key in lists for name in one.get(key, [])}
    named |= {
        f"{container}.{part}"
        for one in CONTRACTS
        if one["id"] in {"plan", "policy"}
        for container in one["containers"]
        for layer in one["layers"]
        for part in re.split(r" [|:] ", layer)
    }
    assert len(named) > 50
    for name in named:
        path = ROOT / "src" / name.replace(".", "/")
        assert path.is_dir() or path.with_suffix(".py").is_file(), name


def test_what_is_imported_by_its_name_is_below_too() -> None:
    """import-linter does not see it."""
    rank = {name: number for number, layer in enumerate(LAYERS) for name in layer}
    seen = 0
    for path in PACKAGE.rglob("*.py"):
        own = path.relative_to(PACKAGE).with_suffix("").parts[0]
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
                continue
            name = node.value.partition(":")[0]
            named = ROOT / "src" / f"{name.replace('.', '/')}.py"
            if name.startswith("rackwright.") and "/" not in name and named.is_file():
                other = name.split(".")[1]
                assert other == own or rank[other] > rank[own], f"{path}:{node.lineno}"
                seen += 1
    assert seen > 30


def test_rules_import_from_nothing_above_them() -> None:
    files = [path for path in (ROOT / "policies").glob("*/*.py") if "__pycache__" not in path.parts]
    assert len(files) > 80
    for path in files:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom) and str(node.module).startswith("rackwright"):
                package = str(node.module).split(".")[1]
                assert package in FOR_RULES, f"{path.name}:{node.lineno}"
            if isinstance(node, ast.Import):
                assert all(not alias.name.startswith("rackwright") for alias in node.names)
