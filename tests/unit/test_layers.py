"""The contracts of import-linter leave out no package, and names are imported from their home."""

from __future__ import annotations

import ast
import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from parsed import parsed, parsed_below

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src/rackwright"
LAB = ROOT / "src/rackwright_lab"
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
    "cli/commands": "one for each verb",
    "rackwright_lab/embedded_aws/api": "one for each service of AWS",
    "model": "one for each part of a blueprint",
}
"""Packages that hold more, and of what."""
READERS_OF_THE_BLUEPRINT = {
    "cli/commands/stack.py": "a saved plan is sealed with the products that it was made from",
    "diff/changes.py": "compares two documents, key by key",
    "diff/implied_changes.py": "says what the document had of a site that changes",
    "page/growth.py": "plans a larger document with the products of the plan",
    "policy/base_approval/approved_plan.py": "puts claims and products of the base into a plan",
    "policy/check.py": "hands document and products to the packs in processes of their own",
    "policy/unknowns.py": "names the field of the document or the product that would say a number",
    "provision/program.py": "puts the document into the inputs of the root component",
    "render/bom.py": "lists what the document orders, and names of products",
    "render/todo.py": "writes a layer over the document, and facts of products",
}
"""Modules outside the plan that are about the document or the catalogue, and not about the cluster."""
PLANS = {"plan", "_plan", "before", "after", "newest"}
SITES = {"site", "planned", "cloud", "aws", "at", "was", "plan", "layout"}
"""What plans are called, and what their sites and the layouts of fabrics are."""


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
        path.parent.relative_to(PACKAGE if path.is_relative_to(PACKAGE) else LAB.parent).as_posix()
        for path in (*PACKAGE.rglob("*.py"), *LAB.rglob("*.py"))
        if path.stem not in {"__init__", "__main__"}
    )
    assert len(held) > 20
    assert {name: count for name, count in held.items() if count > MOST and name not in LARGE} == {}
    assert [name for name in LARGE if held[name] <= MOST] == [], "these need no exception any more"


def test_modules_of_the_contracts_exist() -> None:
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


def test_imports_by_name_obey_the_layers() -> None:
    """import-linter does not see it."""
    rank = {name: number for number, layer in enumerate(LAYERS) for name in layer}
    seen = 0
    for module in parsed_below(PACKAGE):
        path = module.path
        own = path.relative_to(PACKAGE).with_suffix("").parts[0]
        for node in ast.walk(module.tree):
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
    for node in ast.walk(parsed(path).tree):
        if isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            continue
        yield from ((node.lineno, name) for name in names if name.split(".")[0] == "rackwright")


RULES_READ = ("api", "catalog", "model", "plan", "policy.helpers", "reading.suggest")
"""Parts of ``rackwright`` from which built-in rules import."""
FACES = {"rackwright.api"}
"""Modules that give names of other modules, for those who import from them."""


def test_rules_import_words_records_and_arithmetic_alone() -> None:
    files = [path for path in (ROOT / "policies").glob("*/*.py") if "__pycache__" not in path.parts]
    assert len(files) > 80
    allowed = tuple(f"rackwright.{part}" for part in RULES_READ)
    others = [
        f"{path.name}:{line}: {name}"
        for path in files
        for line, name in imports_of(path)
        if not any(name == part or name.startswith(f"{part}.") for part in allowed)
    ]
    assert others == []


def _defined(tree: ast.Module) -> set[str]:
    """Names that a module defines itself, not those that it imports."""
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    kinds = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    names |= {node.name for node in tree.body if isinstance(node, kinds)}
    return names - {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }


def test_every_name_is_imported_from_where_it_is_defined() -> None:
    """A name with two homes is looked for in both; only the faces of packages give names of others."""
    seen, second = 0, []
    for folder in (PACKAGE, ROOT / "policies", ROOT / "stacks"):
        for module in parsed_below(folder):
            for node in ast.walk(module.tree):
                if not isinstance(node, ast.ImportFrom) or node.module in FACES:
                    continue
                home = ROOT / "src" / f"{(node.module or '').replace('.', '/')}.py"
                if not (node.module or "").startswith("rackwright.") or not home.is_file():
                    continue
                defined = _defined(parsed(home).tree)
                named = {alias.name for alias in node.names}
                second += [f"{module.path}:{node.lineno}: {name}" for name in named - defined]
                seen += len(named)
    assert seen > 5_000
    assert second == []


def test_the_only_other_file_of_the_pack_starts_the_analyzer() -> None:
    """``policies`` is a native CrossGuard pack too; Pulumi runs its ``__main__.py``."""
    others = [path.name for path in (ROOT / "policies").glob("*.py")]
    assert others == ["__main__.py"]
    imported = {name for _, name in imports_of(ROOT / "policies/__main__.py")}
    assert imported == {"rackwright.crossguard.server"}


def test_consumers_read_values_from_the_plan() -> None:
    """Numbers are worked out in the plan: ``plan.blueprint`` and ``site.spec`` are its own matter."""
    readers: dict[str, list[str]] = {}
    for folder in (PACKAGE, ROOT / "policies", ROOT / "stacks"):
        for module in parsed_below(folder):
            name = module.path.relative_to(folder).as_posix()
            if not name.startswith("plan/"):
                found = [f"{name}:{line}" for line in _bypasses(module.tree)]
                readers |= {name: found} if found else {}
    strangers = [name for name in readers if name not in READERS_OF_THE_BLUEPRINT]
    assert {name: readers[name] for name in strangers} == {}, "ask the plan for it"
    assert sorted(READERS_OF_THE_BLUEPRINT) == sorted(readers), "these need no exception any more"


def _bypasses(tree: ast.Module) -> list[int]:
    """Lines that take the blueprint, the catalogue or the model of a site from a plan."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            owner = ast.unparse(node.value).rpartition(".")[2]
            if (
                (node.attr == "blueprint" and owner in PLANS)
                or (node.attr == "catalogue" and owner in PLANS | SITES)
                or (node.attr == "spec" and owner in SITES)
            ):
                found.append(node.lineno)
    return found


def test_bypass_of_the_plan_is_found() -> None:
    for text in (
        "loaded.plan.blueprint.name",
        "self._plan.catalogue",
        "f(site.spec)",
        "a.aws.spec",
    ):
        assert _bypasses(ast.parse(f"x = 1\n{text}")) == [2], text
    for text in ("host.site", "plan.name", "arguments.blueprint", "site.groups"):
        assert _bypasses(ast.parse(text)) == [], text


def test_no_module_has_five_hundred_lines() -> None:
    """A module of that length has more than one purpose."""
    modules = [*(ROOT / "src").rglob("*.py"), *(ROOT / "policies").rglob("*.py")]
    lengths = {
        path.relative_to(ROOT).as_posix(): len(path.read_text("utf-8").splitlines())
        for path in modules
        if "_bundled" not in path.parts
    }
    assert len(lengths) > 600
    long = {name for name, lines in lengths.items() if lines >= 500}
    assert long == set()
