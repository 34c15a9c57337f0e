"""The contracts of import-linter leave out no package, and rules keep to the public face."""

from __future__ import annotations

import ast
import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src/rackwright"
CONTRACTS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"][
    "contracts"
]
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
    "model": "one for each part of a blueprint",
    "provision/embedded": "one for each service of AWS",
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


def imports_of(path: Path) -> Iterator[tuple[int, str]]:
    """Line and module of each import of ``rackwright`` in a file, wherever it stands."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            continue
        yield from ((node.lineno, name) for name in names if name.split(".")[0] == "rackwright")


def test_rules_import_from_the_public_face_and_its_helpers_alone() -> None:
    """What is inside may move without any rule changing."""
    files = [path for path in (ROOT / "policies").glob("*/*.py") if "__pycache__" not in path.parts]
    assert len(files) > 80
    helpers = re.compile(r"rackwright\.policy\.helpers\.\w+")
    others = [
        f"{path.name}:{line}: {name}"
        for path in files
        for line, name in imports_of(path)
        if name != "rackwright.api" and not helpers.fullmatch(name)
    ]
    assert others == []


def test_the_only_other_file_of_the_pack_starts_the_analyzer() -> None:
    """``policies`` is a native CrossGuard pack too; Pulumi runs its ``__main__.py``."""
    others = [path.name for path in (ROOT / "policies").glob("*.py")]
    assert others == ["__main__.py"]
    imported = {name for _, name in imports_of(ROOT / "policies/__main__.py")}
    assert imported == {"rackwright.crossguard.server"}
