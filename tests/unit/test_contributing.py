"""The steps of CONTRIBUTING.md lead where they say, and what they name is there."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from rackwright import cli
from rackwright.catalog.loader import load_catalogue
from rackwright.model.hardware import Node

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
COMMAND = re.compile(r"^\$ (.+?)(?: +#.*)?$", re.MULTILINE)
PLACE = re.compile(r"`((?:src|tests|policies|roles|stacks|inventory|templates)(?:/[\w.-]+)*)`")
NOT_ONE_PLACE = {"policies/FAMILY/", "src/rackwright/cli/commands/VERB.py"}


def section(title: str) -> str:
    """The text below a heading."""
    _, _, rest = TEXT.partition(f"\n## {title}\n")
    assert rest, title
    return rest.partition("\n## ")[0]


def commands(title: str) -> list[list[str]]:
    """The commands of a section, in their order, as words."""
    return [shlex.split(line) for line in COMMAND.findall(section(title))]


def test_what_is_named_exists() -> None:
    named = set(PLACE.findall(TEXT)) - NOT_ONE_PLACE
    assert len(named) > 15
    assert {one for one in named if not (ROOT / one).exists()} == set()


def test_every_target_is_in_the_makefile() -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    targets = set(re.findall(r"\bmake ([a-z][a-z-]+)", TEXT)) - {"sure"}
    assert targets >= {"demo", "test", "test-all"}
    assert {one for one in targets if not re.search(rf"^{one}:", makefile, re.MULTILINE)} == set()


def test_the_steps_of_a_rule_give_one_whose_examples_hold(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    steps = commands("Add a rule")[:2]  # tests/e2e/test_recipes.py follows those of the product
    assert [words[:3] for words in steps] == [
        ["rackwright", "policy", "new"],
        ["rackwright", "policy", "test"],
    ]
    for _, *words in steps:
        assert cli.main(words) == 0, capsys.readouterr().out
    assert (tmp_path / "rules/power").is_dir()


def test_a_rule_of_the_product_has_the_files_that_are_named() -> None:
    name = re.search(r"`(\w+)\.py`,\n`(\.md)` and `(\.examples\.yaml)`", section("Add a rule"))
    assert name is not None
    for ending in (".py", name[2], name[3]):
        assert (ROOT / f"policies/power/{name[1]}{ending}").exists()


def test_the_steps_of_a_product_give_one_that_the_catalogue_reads(tmp_path: Path) -> None:
    copy, change = commands("Add a product")[:2]
    own = tmp_path / "inventory/catalog/nodes"
    own.mkdir(parents=True)
    shutil.copy(ROOT / copy[1], own)
    for step in (copy, change):
        subprocess.run(step, cwd=tmp_path, check=True)
    (tmp_path / copy[1]).unlink()
    made = load_catalogue([tmp_path / "inventory/catalog"]).get(Node, Path(copy[2]).stem)
    assert made.id == "example-8x"
    assert made.max_power is not None


def test_the_role_to_begin_with_has_the_files_of_tasks_that_are_named() -> None:
    text = section("Add a role")
    role = re.search(r"Begin with `(roles/\w+)`", text)
    assert role is not None
    for step in re.findall(r"`(preflight|install|configure|run|verify)`", text):
        assert (ROOT / role[1] / f"tasks/{step}.yml").exists()


def test_every_verb_has_what_the_steps_ask_for() -> None:
    asked = re.findall(r"`(\w+)\((?:[\w, ]+)\)`", section("Add a command"))
    assert asked == ["configure", "run"]
    for module, summary in cli.VERBS.values():
        code = (ROOT / "src" / f"{module.replace('.', '/')}.py").read_text("utf-8")
        assert all(re.search(rf"^def {name}\(", code, re.MULTILINE) for name in asked), module
        assert summary
