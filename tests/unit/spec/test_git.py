"""Files of a revision: what was committed, whatever the working tree says."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from rackwright.errors import ExternalToolError
from rackwright.spec.git import RevisionError, open_revision

TEXT = "waivers: []  # größer\n"


def git(folder: Path, *arguments: str) -> str:
    command = ["git", "-C", str(folder), "-c", "user.name=t", "-c", "user.email=t@example.com"]
    done = subprocess.run([*command, *arguments], check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    top = tmp_path / "repo"
    (top / "team" / "policies").mkdir(parents=True)
    git(tmp_path, "init", "--quiet", "--initial-branch=main", str(top))
    (top / "team" / "policies" / "waivers.yaml").write_text(TEXT)
    (top / "team" / "link.yaml").symlink_to("policies/waivers.yaml")
    (top / "team" / "binary").write_bytes(b"\xff\xfe\x00")
    (top / "team" / "a[b]*.yaml").write_text("odd")
    git(top, "add", ".")
    git(top, "commit", "--quiet", "--message=base")
    git(top, "tag", "v1")
    return top


def test_the_text_is_the_commit_s_not_the_working_tree_s(repository: Path) -> None:
    file = repository / "team" / "policies" / "waivers.yaml"
    file.write_text("changed")
    revision = open_revision("main", repository / "team")
    assert revision.read(file) == TEXT
    assert revision.describe(file) == "main:team/policies/waivers.yaml"
    file.unlink()
    assert revision.read(file) == TEXT


@pytest.mark.parametrize("name", ["main", "HEAD", "HEAD~0", "v1", "refs/heads/main", "commit"])
def test_branches_tags_and_commits_are_revisions(name: str, repository: Path) -> None:
    commit = git(repository, "rev-parse", "HEAD")
    revision = open_revision(commit if name == "commit" else name, repository)
    assert revision.commit == commit


def test_a_file_that_the_revision_lacks_is_none(repository: Path) -> None:
    new = repository / "team" / "new.yaml"
    new.write_text("only here")
    revision = open_revision("main", repository)
    assert revision.read(new) is None
    assert revision.read(repository / "nowhere" / "x.yaml") is None


def test_patterns_in_a_name_are_letters(repository: Path) -> None:
    revision = open_revision("main", repository)
    assert revision.read(repository / "team" / "a[b]*.yaml") == "odd"
    assert revision.read(repository / "team" / "polic*") is None


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("team/link.yaml", "symbolic link"),
        ("team/policies", "is not a file"),
        ("team/binary", "not UTF-8"),
        ("../outside.yaml", "is not in the repository"),
    ],
)
def test_what_is_no_text_file_of_the_repository_is_refused(
    name: str, said: str, repository: Path
) -> None:
    with pytest.raises(RevisionError, match=said):
        open_revision("main", repository).read(repository / name)


@pytest.mark.parametrize(
    "name",
    [
        "",
        "-x",
        "--output=/tmp/x",
        "main:team",
        "a..b",
        "main^{tree}",
        "^main",
        "a b",
        "a\nb",
        "x" * 300,
    ],
)
def test_what_could_be_an_option_or_an_expression_is_no_name(name: str, repository: Path) -> None:
    with pytest.raises(RevisionError, match="is not the name of a revision"):
        open_revision(name, repository)


def test_a_revision_that_is_not_there_says_so(repository: Path) -> None:
    with pytest.raises(RevisionError, match="has no revision 'origin/main'") as raised:
        open_revision("origin/main", repository)
    assert "fetch" in str(raised.value)


def test_a_folder_outside_any_repository(tmp_path: Path) -> None:
    with pytest.raises(RevisionError, match="no git repository"):
        open_revision("main", tmp_path / "not" / "there")


def test_the_environment_of_a_hook_does_not_mislead(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_DIR", "/nowhere")
    monkeypatch.setenv("GIT_INDEX_FILE", "/nowhere/index")
    assert open_revision("main", repository).read(repository / "team/policies/waivers.yaml") == TEXT


def test_nothing_of_the_repository_runs(repository: Path, tmp_path: Path) -> None:
    """A text conversion or filter that a hostile head configures stays unused."""
    (repository / ".gitattributes").write_text("* diff=evil filter=evil\n")
    mark = tmp_path / "ran"
    for key in ("diff.evil.textconv", "filter.evil.smudge"):
        git(repository, "config", key, f"touch {mark}; cat")
    git(repository, "config", "core.fsmonitor", f"touch {mark}")
    assert open_revision("main", repository).read(repository / "team/policies/waivers.yaml") == TEXT
    assert not mark.exists()


def test_without_git_the_error_names_it(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(ExternalToolError, match="git is not installed"):
        open_revision("main", repository)
