"""Reading files of a revision: what is there, what is not, and what must not be believed."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from rackwright.errors import UsageError
from rackwright.exit_codes import ExitCode
from rackwright.reading.versions.git import (
    FileMissingError,
    RevisionError,
    UnreadableFileError,
    files_with,
    merge_base,
    read_at,
    resolve,
    top_of,
)


def git(folder: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false"]
    command = ["git", "-C", str(folder), *identity, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    git(tmp_path, "init", "-q", "-b", "main")
    folder = tmp_path / "sites"
    folder.mkdir()
    (folder / "blueprint.yaml").write_bytes(b"name: one\r\n")
    (folder / "link.yaml").symlink_to("blueprint.yaml")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-q", "-m", "one")
    (folder / "blueprint.yaml").write_bytes(b"name: two\n")
    git(tmp_path, "commit", "-q", "-a", "-m", "two")
    return tmp_path


def test_each_revision_has_its_own_content_and_the_checkout_is_not_read(repository: Path) -> None:
    path = "sites/blueprint.yaml"
    (repository / path).write_text("name: three\n")
    assert read_at(repository, "HEAD~1", path) == b"name: one\r\n"
    assert read_at(repository, "main", path) == b"name: two\n"
    assert read_at(repository / "sites", resolve(repository, "HEAD"), path) == b"name: two\n"
    assert (repository / path).read_text() == "name: three\n"


def test_text_conversion_and_filters_of_the_repository_do_not_run(repository: Path) -> None:
    (repository / ".gitattributes").write_text("*.yaml diff=evil filter=evil\n")
    for name in ("diff.evil.textconv", "filter.evil.smudge"):
        git(repository, "config", name, f"touch {repository}/ran; cat")
    assert read_at(repository, "HEAD", "sites/blueprint.yaml") == b"name: two\n"
    assert not (repository / "ran").exists()


def test_files_that_hold_a_text_are_found_whatever_the_checkout_says_of_them(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (repository / ".gitattributes").write_text("* binary -diff export-ignore\n")
    (repository / "sites/blueprint.yaml").unlink()
    monkeypatch.setattr("rackwright.reading.versions.git._BATCH", 1)
    for revision, content in (("HEAD~1", b"name: one\r\n"), ("HEAD", b"name: two\n")):
        found = list(files_with(repository, revision, re.compile(b"name: ")))
        assert found == [("sites/blueprint.yaml", content)]
    assert not list(files_with(repository, "HEAD", re.compile(b"name: one")))


@pytest.mark.parametrize("path", ["sites/other.yaml", "sites/*.yaml", ":(glob)sites/*.yaml"])
def test_a_file_that_is_not_there_is_an_error_and_no_pattern_matches(
    repository: Path, path: str
) -> None:
    with pytest.raises(FileMissingError, match="there is no"):
        read_at(repository, "HEAD", path)


@pytest.mark.parametrize("path", ["sites", "sites/link.yaml"])
def test_folders_and_links_are_not_files(repository: Path, path: str) -> None:
    with pytest.raises(UnreadableFileError, match="not a regular file"):
        read_at(repository, "HEAD", path)


@pytest.mark.parametrize(
    "revision", ["--help", "-n1", "", "nowhere", "HEAD:sites", "main\n", "a\x1b"]
)
def test_names_that_are_no_commit_are_refused(repository: Path, revision: str) -> None:
    with pytest.raises(RevisionError) as raised:
        resolve(repository, revision)
    assert raised.value.exit_code is ExitCode.USAGE
    assert raised.value.summary.isprintable()


def test_the_common_ancestor_is_where_a_branch_began(repository: Path) -> None:
    began = resolve(repository, "main")
    git(repository, "checkout", "-q", "-b", "topic")
    git(repository, "commit", "-q", "--allow-empty", "-m", "topic")
    git(repository, "checkout", "-q", "main")
    git(repository, "commit", "-q", "--allow-empty", "-m", "main moves on")
    assert merge_base(repository, "main", "topic") == began
    git(repository, "checkout", "-q", "--orphan", "other")
    git(repository, "commit", "-q", "--allow-empty", "-m", "other")
    with pytest.raises(RevisionError, match="no common ancestor"):
        merge_base(repository, "main", "other")


def test_a_file_that_is_too_large_is_refused(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rackwright.reading.versions.git.LARGEST_FILE", 5)
    with pytest.raises(UnreadableFileError, match="larger than"):
        read_at(repository, "HEAD", "sites/blueprint.yaml")


def test_the_top_of_a_repository_and_a_folder_that_is_in_none(
    repository: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    assert top_of(repository / "sites") == repository.resolve()
    with pytest.raises(UsageError, match="not in a git repository"):
        top_of(tmp_path_factory.mktemp("plain"))


def test_the_environment_of_a_hook_does_not_mislead(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_DIR", "/nowhere")
    monkeypatch.setenv("GIT_INDEX_FILE", "/nowhere/index")
    assert read_at(repository, "main", "sites/blueprint.yaml") == b"name: two\n"
