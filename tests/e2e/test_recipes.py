"""The recipes of CONTRIBUTING.md, followed word by word in a clean clone with the tests that they name."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from documented_commands import follow, in_a_shell, reader_environment

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(3600)]
ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
TARGET = re.compile(r"\bmake ([\w-]+)")
PYTEST = ".venv/bin/pytest "
LONG = (
    "cli/test_answered_table", "cli/test_baseline", "cli/test_design", "cli/test_encodings", "cli/test_expand",
    "cli/test_init_from", "cli/test_interrupted_starts", "cli/test_replace", "cli/test_todo", "cli/test_wrong_inputs",
    "inventory/role_variables/test_fabric", "inventory/test_plugin", "policy/base_approval/test_approval",
    "policy/base_approval/test_base_packs", "policy/base_approval/test_held_products", "policy/packs/test_process",
)  # fmt: skip
"""The slowest unit tests of the folders that recipes name, of verbs, rules and roles that are there already."""
LISTS = re.compile(r"\b(VERBS|GROUPS|EXAMPLES|builtin_rules|argument_specs)\b")
"""Words by which a test looks at all verbs, rules or roles."""
FEWER = '-m "not sweep and not hypothesis" ' + "".join(
    f"--ignore=tests/unit/{name}.py " for name in LONG
)
"""Leaves these out, and what tries thousands of variants: no recipe adds one, and `make test` runs all on the same revision.

Of each other test the first case runs, and those that name what was added."""


def git(*words: str) -> list[str]:
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


class Clone:
    """A clone with this environment in it, whose code is that of the clone.

    Attributes:
        pytest: its command line, as the recipes' runs of it are made.
    """

    def __init__(self, folder: Path, options: str, new: str) -> None:
        self.folder = folder
        asked = f"RACKWRIGHT_NEW={new} " if options else ""
        self.pytest = f"{asked}{PYTEST}{options}"
        subprocess.run(["git", "clone", "-q", "--shared", str(ROOT), str(folder)], check=True)
        for name in git("ls-files", "--modified", "--others", "--exclude-standard"):
            if (ROOT / name).exists():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, folder / name)
            else:
                (folder / name).unlink(missing_ok=True)
        self._keep_compiled()
        (folder / ".venv").symlink_to(sys.prefix)
        self.environment = {**reader_environment(Path.home()), "PYTHONPATH": str(folder / "src")}

    def _keep_compiled(self) -> None:
        """Take over what Python compiled of the files, which it knows again by their times."""
        names = [name for name in git("ls-files", "*.py") if (self.folder / name).is_file()]
        for name in names:
            shutil.copystat(ROOT / name, self.folder / name)
        for parent in {Path(name).parent for name in names}:
            if (ROOT / parent / "__pycache__").is_dir():
                there = self.folder / parent / "__pycache__"
                shutil.copytree(ROOT / parent / "__pycache__", there)

    def run(self, line: str) -> tuple[int, str]:
        """Run a line of a document there; targets of make run without those that they depend on."""
        line = TARGET.sub(self._commands_of, line.replace(PYTEST, self.pytest))
        return in_a_shell(line, self.folder, self.environment)

    def _commands_of(self, target: re.Match[str]) -> str:
        makefile = (self.folder / "Makefile").read_text("utf-8")
        rule = re.search(rf"^{target[1]}:.*\n((?:\t.*\n)+)", makefile, re.MULTILINE)
        assert rule is not None, target[1]
        return rule[1].replace("\t", "").replace("$(BIN)", ".venv/bin").strip()

    def follow(self, title: str) -> int:
        """Follow a section of CONTRIBUTING.md; the number of its commands."""
        _, _, rest = TEXT.partition(f"\n## {title}\n")
        assert rest, title
        return follow(rest.partition("\n## ")[0], self.folder, self.run)


WHOLE = pytest.param(
    "", id="whole", marks=pytest.mark.soak(reason="it repeats sweeps of half an hour")
)


NEW = {"rule": "099", "product": "example", "field": "message", "verb": "sites"}
"""A word in the names of what each recipe adds."""


def test_files_that_are_left_out_list_nothing() -> None:
    for name in LONG:
        text = (ROOT / f"tests/unit/{name}.py").read_text("utf-8")
        assert not LISTS.search(text), name


@pytest.fixture(params=[pytest.param(FEWER, id="fewer"), WHOLE])
def clone(tmp_path: Path, request: pytest.FixtureRequest) -> Clone:
    (new,) = (new for kind, new in NEW.items() if f"_a_{kind}_" in request.node.name)
    return Clone(tmp_path / "clone", request.param, new)


def test_a_rule_is_added_as_contributing_says(clone: Clone) -> None:
    assert clone.follow("Add a rule") == 6
    (text,) = clone.folder.glob("policies/rack/rack099*.md")
    assert "\n## Example\n" in text.read_text("utf-8")


def test_a_product_is_added_as_contributing_says(clone: Clone) -> None:
    add_one_of_each_kind(clone.folder / "inventory/catalog")
    assert clone.follow("Add a product") == 7
    code, printed = clone.run("rackwright check site/blueprint.yaml")
    assert code == 5
    assert re.findall(r"^([A-Z]+-\d{3}) ", printed, re.MULTILINE) == ["IAC-004"]
    digest = re.search(r"catalogue_digest: sha256:\w+", printed)
    assert digest is not None
    blueprint = clone.folder / "site/blueprint.yaml"
    pinned = re.sub(r"catalogue_digest: sha256:\w+", digest[0], blueprint.read_text("utf-8"))
    blueprint.write_text(pinned, encoding="utf-8")
    assert clone.run("rackwright check site/blueprint.yaml")[0] == 0


def add_one_of_each_kind(catalogue: Path) -> None:
    """Copy a product of each kind: a switch, PDU or cable turned tests red that listed all products."""
    folders = sorted(catalogue.iterdir())
    assert len(folders) > 10
    for folder in folders:
        first = sorted(folder.glob("*.yaml"))[0]
        text, name = first.read_text("utf-8"), f"example-{folder.name}"
        text = re.sub(r"^id: .*$", f"id: {name}", text, count=1, flags=re.MULTILINE)
        (folder / f"{name}.yaml").write_text(text, encoding="utf-8")


def test_a_field_and_a_variable_are_added_as_contributing_says(clone: Clone) -> None:
    assert clone.follow("Add a field of the blueprint, and a variable of a role") == 2
    assert "`base_message`" in (clone.folder / "roles/base/README.md").read_text("utf-8")


def test_a_verb_is_added_as_contributing_says(clone: Clone) -> None:
    assert clone.follow("Add a command") == 2
