"""Names of revisions: each one means one commit, or is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from ci_team import git
from rackwright.errors import UsageError
from rackwright.exit_codes import ExitCode
from rackwright.reading.versions.git import RevisionError, merge_base, read_at, resolve

REAL = "refs/remotes/origin/main"


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A commit on ``origin/main``, and one over it, which is checked out on ``change``."""
    git(tmp_path, "init", "--quiet", "--initial-branch=change")
    (tmp_path / "a.yaml").write_text("strict: true\n")
    git(tmp_path, "add", "--all")
    git(tmp_path, "commit", "--quiet", "--message=base")
    git(tmp_path, "update-ref", REAL, "HEAD")
    (tmp_path / "a.yaml").write_text("strict: false\n")
    git(tmp_path, "commit", "--quiet", "--all", "--message=change")
    return tmp_path


def base(repository: Path) -> str:
    return git(repository, "rev-parse", REAL)


@pytest.mark.parametrize(
    "shadow",
    [
        "refs/tags/origin/main",
        "refs/heads/origin/main",
        "refs/origin/main",
        "refs/remotes/origin/main/HEAD",
    ],
)
@pytest.mark.parametrize("suffix", ["", "~0", "^{commit}", "@{0}"])
def test_a_name_that_is_shadowed_is_refused(repository: Path, shadow: str, suffix: str) -> None:
    name = f"origin/main{suffix}"
    if shadow.endswith("/HEAD"):  # a branch cannot lie below another
        name = f"origin{suffix}"
        shadow = "refs/remotes/origin/HEAD"
        git(repository, "update-ref", "refs/tags/origin", "HEAD")
    git(repository, "update-ref", "--create-reflog", shadow, "HEAD")
    with pytest.raises(RevisionError) as refused:
        resolve(repository, name)
    assert refused.value.exit_code is ExitCode.USAGE
    assert f"'{name}' is ambiguous" in refused.value.summary
    assert shadow in refused.value.summary
    assert "refs/remotes/origin/main" in str(refused.value.hint)
    assert resolve(repository, REAL) == base(repository)


def test_both_ends_of_a_comparison_are_held_to_it(repository: Path) -> None:
    git(repository, "tag", "origin/main", "HEAD")
    for ends in (("origin/main", "change"), ("change", "origin/main")):
        with pytest.raises(RevisionError, match="is ambiguous"):
            merge_base(repository, *ends)
    assert merge_base(repository, REAL, "change") == base(repository)
    with pytest.raises(RevisionError, match="is ambiguous"):
        read_at(repository, "origin/main", "a.yaml")


def test_short_names_that_mean_one_thing_are_taken(repository: Path) -> None:
    git(repository, "tag", "v1", REAL)
    git(repository, "tag", "--annotate", "--message=two", "v2", REAL)
    git(repository, "symbolic-ref", "refs/remotes/origin/HEAD", REAL)
    names = ("origin/main", "remotes/origin/main", "origin", "v1", "v2", "tags/v1", "change~1")
    whole = (REAL, f"{REAL}~0", "refs/heads/change^", "HEAD~1", "@~1", base(repository))
    for name in (*names, *whole, base(repository)[:12], f"v1-0-g{base(repository)[:9]}"):
        assert resolve(repository, name) == base(repository), name


@pytest.mark.parametrize("kind", ["tags", "heads"])
def test_a_full_name_is_that_ref_and_no_other(repository: Path, kind: str) -> None:
    git(repository, "update-ref", f"refs/{kind}/{REAL}", "HEAD")
    assert resolve(repository, REAL) == base(repository)
    git(repository, "update-ref", "-d", REAL)
    with pytest.raises(RevisionError, match=f"there is no revision '{REAL}'"):
        resolve(repository, REAL)


@pytest.mark.parametrize("kind", ["tags", "heads", "remotes"])
def test_a_ref_that_looks_like_an_abbreviated_commit_is_refused(
    repository: Path, kind: str
) -> None:
    short = base(repository)[:10]
    for name in (short, short.upper(), f"v1-3-g{short}"):
        git(repository, "update-ref", f"refs/{kind}/{name}", "HEAD")
        with pytest.raises(RevisionError, match=r"is ambiguous: .* or the id of a commit"):
            resolve(repository, name)
        change = git(repository, "rev-parse", "HEAD")
        assert resolve(repository, f"refs/{kind}/{name}") == change


def test_a_whole_id_is_that_commit_whatever_refs_are_called(repository: Path) -> None:
    commit = base(repository)
    git(repository, "update-ref", f"refs/heads/{commit}", "HEAD")
    assert resolve(repository, commit) == commit
    assert resolve(repository, f"{commit}~0") == commit
    assert read_at(repository, "origin/main", "a.yaml") == b"strict: true\n"


def test_in_a_repository_of_longer_ids_a_shorter_one_may_be_a_ref(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet", "--object-format=sha256", "--initial-branch=main")
    for name in ("one", "two"):
        git(tmp_path, "commit", "--quiet", "--allow-empty", f"--message={name}")
    commit = git(tmp_path, "rev-parse", "HEAD~1")
    assert resolve(tmp_path, commit) == resolve(tmp_path, commit[:40]) == commit
    git(tmp_path, "update-ref", f"refs/heads/{commit[:40]}", "HEAD")
    with pytest.raises(RevisionError, match="is ambiguous"):
        resolve(tmp_path, commit[:40])
    assert resolve(tmp_path, commit) == commit


@pytest.mark.parametrize("name", ["FETCH_HEAD", "ORIG_HEAD"])
def test_a_ref_that_is_called_like_a_file_of_git_is_refused(repository: Path, name: str) -> None:
    commit = base(repository)
    (repository / ".git" / name).write_text(f"{commit}\n")
    assert resolve(repository, name) == commit
    git(repository, "update-ref", f"refs/tags/{name}", "HEAD")
    with pytest.raises(RevisionError, match=f"'{name}' is ambiguous"):
        resolve(repository, name)


def test_head_is_what_is_checked_out(repository: Path) -> None:
    head = git(repository, "rev-parse", "HEAD")
    git(repository, "update-ref", "refs/tags/HEAD", REAL)
    git(repository, "update-ref", "refs/heads/HEAD", REAL)
    assert resolve(repository, "HEAD") == resolve(repository, "@") == head


def test_what_a_branch_follows_is_no_matter_of_its_name(repository: Path) -> None:
    for name, value in {"remote": "origin", "merge": "refs/heads/main"}.items():
        git(repository, "config", f"branch.change.{name}", value)
    git(repository, "remote", "add", "origin", "nowhere")
    git(repository, "update-ref", "refs/tags/change", "HEAD")
    for name in ("@{u}", "HEAD@{upstream}", "change@{u}", "change@{Upstream}~0"):
        assert resolve(repository, name) == base(repository), name


@pytest.mark.parametrize("name", [":/change", ":/base", "HEAD^{/base}x", "..", "^HEAD", "@{u}"])
def test_what_names_no_commit_is_refused(repository: Path, name: str) -> None:
    with pytest.raises(UsageError, match="revision"):
        resolve(repository, name)
