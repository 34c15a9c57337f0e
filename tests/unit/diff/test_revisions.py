"""The two sides of a comparison, read from a real repository without a checkout."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from factories import CATALOGUE, a_blueprint, a_site
from rackwright.diff.revisions import (
    WORKING_TREE,
    approving_revision,
    load_side,
    missing_layers,
    open_sides,
)
from rackwright.errors import RackwrightError, SpecErrors, UsageError

FILE = Path("team/blueprint.yaml")
LAYER = Path("team/layer.yaml")


def git(folder: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false"]
    command = ["git", "-C", str(folder), *identity, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def commit(folder: Path, name: str, **files: Any) -> str:
    for file, data in files.items():
        path = folder / "team" / f"{file}.yaml"
        path.parent.mkdir(exist_ok=True)
        path.write_text(data if isinstance(data, str) else json.dumps(data, indent=1))
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "--allow-empty", "--message", name)
    return git(folder, "rev-parse", "HEAD")


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Commits on main: nothing, 'one', 'two'; a branch 'topic' from 'one'; three on disk."""
    top = tmp_path / "repo"
    git(tmp_path, "init", "--quiet", "--initial-branch=main", str(top))
    commit(top, "empty")
    commit(top, "one", blueprint=a_blueprint(name="one"))
    git(top, "branch", "topic")
    layer = {"sites": [{"name": "lab", "altitude": "500 m"}]}
    commit(top, "two", blueprint=a_blueprint(name="two"), layer=layer)
    git(top, "checkout", "--quiet", "topic")
    commit(top, "topic", blueprint=a_blueprint(name="topic"))
    (top / FILE).write_text(json.dumps(a_blueprint(name="three")))
    monkeypatch.chdir(top)
    return top


def name_of(side: Any) -> str | None:
    loaded = load_side(side, FILE, (), CATALOGUE)
    return loaded.plan.blueprint.name if loaded else None


@pytest.mark.parametrize(
    ("text", "base", "head"),
    [
        ("main~1..main", "one", "two"),
        ("main..topic", "two", "topic"),
        ("main...topic", "one", "topic"),
        ("main..", "two", "topic"),
        ("..main", "topic", "two"),
        ("main", "two", "three"),
        ("main~2..main", None, "two"),
    ],
)
def test_compared_revisions(repository: Path, text: str, base: str | None, head: str) -> None:
    before, after = open_sides(text, FILE)
    assert (name_of(before), name_of(after)) == (base, head)


def test_sides_are_commits_with_labels(repository: Path) -> None:
    before, after = open_sides("main...topic", FILE)
    assert before.commit == git(repository, "rev-parse", "main~1")
    assert before.label == str(before.commit)[:12]
    assert (after.label, after.commit) == ("topic", git(repository, "rev-parse", "topic"))
    _, tree = open_sides("main", FILE)
    assert (tree.label, tree.commit) == (WORKING_TREE, None)


@pytest.mark.parametrize(
    ("text", "name"), [("a..b", "a"), ("a...b", "a"), ("a", "a"), ("..b", "HEAD"), ("...b", "HEAD")]
)
def test_waivers_come_from_the_base_as_it_is_named(text: str, name: str) -> None:
    assert approving_revision(text) == name


def test_a_branch_that_moves_meanwhile_does_not_matter(repository: Path) -> None:
    _, head = open_sides("main..topic", FILE)
    commit(repository, "later", blueprint=a_blueprint(name="later"))
    assert name_of(head) == "topic"


def test_layers_come_from_the_same_revision(repository: Path) -> None:
    before, after = open_sides("main~1..main", FILE)
    loaded = load_side(after, FILE, (LAYER,), CATALOGUE)
    assert loaded is not None
    assert loaded.plan.onprem[0].spec.altitude == 500
    assert loaded.tree.locate(("sites", 0, "altitude")).file == "main:team/layer.yaml"
    assert missing_layers(before, (LAYER,)) == (LAYER,)
    loaded = load_side(before, FILE, (LAYER,), CATALOGUE)
    assert loaded is not None
    assert loaded.plan.onprem[0].spec.altitude == 300


def test_mistakes_are_located_in_their_revision(repository: Path) -> None:
    site = a_site(altitude="300 kW")
    commit(repository, "bad", blueprint=a_blueprint(site))
    with pytest.raises(SpecErrors) as raised:
        name_of(open_sides("main..topic", FILE)[1])
    (error,) = raised.value.errors
    assert error.location is not None
    assert error.location.file == "topic:team/blueprint.yaml"
    assert error.location.line > 1
    commit(repository, "broken", blueprint="a: [")
    with pytest.raises(SpecErrors, match=r"topic:team/blueprint\.yaml:\d+:"):
        name_of(open_sides("main..topic", FILE)[1])


def test_paths_are_relative_to_where_the_user_stands(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(repository / "team")
    before, _ = open_sides("main..topic", Path("blueprint.yaml"))
    assert before.holds(Path("blueprint.yaml"))
    assert not before.holds(FILE)


def test_a_folder_that_is_not_checked_out_can_be_compared(repository: Path) -> None:
    git(repository, "checkout", "--quiet", "--force", "main~2")
    assert not FILE.parent.exists()
    before, after = open_sides("main~1..main", FILE)
    assert (name_of(before), name_of(after)) == ("one", "two")


@pytest.mark.parametrize("text", ["..", "...", "nowhere..main", "main..nowhere", "-p..main", "a:b"])
def test_invalid_pair_of_revisions_is_refused(repository: Path, text: str) -> None:
    with pytest.raises(RackwrightError) as raised:
        open_sides(text, FILE)
    assert raised.value.exit_code == 2


def test_files_outside_the_repository_are_refused(repository: Path, tmp_path: Path) -> None:
    before, _ = open_sides("main..topic", FILE)
    with pytest.raises(UsageError, match="is not in the repository"):
        before.holds(tmp_path / "other.yaml")
    (tmp_path / "plain").mkdir()
    with pytest.raises(UsageError, match="git repository"):
        open_sides("main..topic", tmp_path / "plain" / "blueprint.yaml")
