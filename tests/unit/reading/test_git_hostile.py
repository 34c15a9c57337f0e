"""Which repository is read, and that reading it runs nothing of it."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from ci_team import git
from planted import plant
from rackwright.errors import UsageError
from rackwright.reading.versions.git import FileMissingError, merge_base, read_at, resolve, top_of

FILE = "site/blueprint.yaml"


@pytest.fixture
def team(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout whose base, ``origin/main``, is strict and whose files are what a change made."""
    folder = tmp_path / "team"
    (folder / "site").mkdir(parents=True)
    (folder / FILE).write_text("strict: true\n")
    git(folder, "init", "--quiet", "--initial-branch=main")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message=base")
    git(folder, "update-ref", "refs/remotes/origin/main", "HEAD")
    (folder / FILE).write_text("strict: false\n")
    monkeypatch.chdir(folder)
    return folder


def base_is_strict(folder: Path, name: str = "origin/main") -> bool:
    """Whether what is read for a blueprint in ``folder`` is the real base."""
    top = top_of(folder)
    inside = (folder.resolve() / "blueprint.yaml").relative_to(top).as_posix()
    return read_at(top, resolve(top, name), inside) == b"strict: true\n"


@pytest.mark.parametrize("worktree", ["", ".", ".."])
def test_a_planted_repository_beside_the_blueprint_is_not_the_base(
    team: Path, worktree: str
) -> None:
    plant(team / "site", worktree)
    git(team, "add", "--all")
    git(team, "commit", "--quiet", "--message=planted")
    assert top_of(team / "site") == team
    assert base_is_strict(team / "site")
    assert merge_base(team / "site", "origin/main", "HEAD") == resolve(team, "origin/main")


def test_a_planted_repository_in_the_working_directory_is_not_the_base(
    team: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(team / "site", ".")
    monkeypatch.chdir(team / "site")
    assert base_is_strict(Path())
    monkeypatch.chdir(team / "site/refs")
    assert base_is_strict(Path(".."))


def test_a_planted_repository_above_the_blueprint_is_not_the_base(team: Path) -> None:
    (team / "site/one").mkdir()
    plant(team / "site", ".")
    assert top_of(team / "site/one") == team


def test_a_planted_repository_without_a_real_one_is_none(tmp_path: Path) -> None:
    folder = tmp_path / "plain"
    folder.mkdir()
    (folder / "blueprint.yaml").write_text("strict: false\n")
    plant(folder, ".")
    with pytest.raises(UsageError, match="is not in a git repository"):
        top_of(folder)


def test_a_git_folder_that_is_none_does_not_lead_to_the_one_above(team: Path) -> None:
    """Nor to what is planted beside it."""
    plant(team / "site", ".")
    (team / "site/.git").mkdir()
    with pytest.raises(UsageError, match=r"site/\.git' is not a git repository"):
        top_of(team / "site")


@pytest.mark.parametrize("target", ["planted", "../.git", "nowhere"])
def test_a_link_is_no_git_folder(team: Path, target: str) -> None:
    plant(team / "site", "")
    (team / "site/planted").mkdir()
    for name in ("HEAD", "config", "objects", "refs"):
        (team / "site" / name).rename(team / "site/planted" / name)
    (team / "site/.git").symlink_to(target)
    with pytest.raises(UsageError, match=r"site/\.git' is a link"):
        top_of(team / "site")


def test_a_git_file_that_leads_to_files_of_the_checkout_is_refused(team: Path) -> None:
    shutil.rmtree(team / ".git")
    plant(team / "site", "..")
    (team / ".git").write_text("gitdir: site\n")
    with pytest.raises(UsageError, match="leads to files of the checkout"):
        top_of(team / "site")


def test_a_nested_repository_is_not_the_base_of_the_one_around_it(
    team: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a submodule that a change puts in the place of the folder, with a base of its own."""
    git(team / "site", "init", "--quiet", "--initial-branch=main")
    git(team / "site", "add", "--all")
    git(team / "site", "commit", "--quiet", "--message=mine")
    for folder in (team, team.parent):
        monkeypatch.chdir(folder)
        with pytest.raises(UsageError, match="is a repository inside another one"):
            top_of(team / "site")
    monkeypatch.chdir(team / "site")
    assert top_of(Path()) == team / "site"


def test_a_folder_around_it_that_only_looks_like_a_repository_is_not_asked(
    team: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (team.parent / ".git").mkdir()
    assert top_of(team / "site") == team
    monkeypatch.chdir(team.parent)
    with pytest.raises(UsageError, match="is a repository inside another one"):
        top_of(team / "site")


def test_a_real_submodule_is_read(team: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = team.with_name("whole")
    whole.mkdir()
    git(whole, "init", "--quiet")
    add = ("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", "--branch", "main")
    git(team, "checkout", "--quiet", "--force", "main")
    git(whole, *add, str(team), "sites/team")
    inner = whole / "sites/team"
    assert (inner / ".git").is_file()
    monkeypatch.chdir(inner)
    assert top_of(inner / "site") == inner
    (inner / FILE).write_text("strict: false\n")
    assert base_is_strict(inner / "site")


@pytest.mark.parametrize("place", ["linked", "team/linked"])
def test_a_real_linked_worktree_is_read(team: Path, place: str) -> None:
    linked = team.parent / place
    git(team, "worktree", "add", "--quiet", "-b", "topic", str(linked), "origin/main")
    (linked / FILE).write_text("strict: 1\n")
    git(linked, "commit", "--quiet", "--all", "--message=topic")
    assert top_of(linked / "site") == linked
    assert base_is_strict(linked / "site")
    assert read_at(linked, "HEAD", FILE) == b"strict: 1\n"
    assert read_at(team, "HEAD", FILE) == b"strict: true\n"


def test_a_worktree_of_a_bare_repository_is_read(team: Path, tmp_path: Path) -> None:
    store = tmp_path / "work/.bare"
    git(tmp_path, "clone", "--quiet", "--bare", str(team), str(store))
    git(store, "worktree", "add", "--quiet", str(tmp_path / "work/main"), "main")
    assert base_is_strict(tmp_path / "work/main/site", "main")


def test_the_folder_of_the_files_is_where_git_is_whatever_its_configuration_says(
    team: Path, tmp_path: Path
) -> None:
    git(team, "config", "core.worktree", str(tmp_path))
    assert base_is_strict(team / "site")


def commands(marker: str) -> dict[str, str]:
    """Settings that name a program to run; each of them makes ``marker``."""
    run = f"touch {marker}; false"
    return {
        "core.fsmonitor": run,
        "core.sshCommand": run,
        "core.gitProxy": run,
        "core.askPass": run,
        "core.pager": run,
        "core.editor": run,
        "core.alternateRefsCommand": run,
        "core.hooksPath": f"{marker}-hooks",
        "pager.ls-tree": run,
        "pager.cat-file": run,
        "credential.helper": f"!{run}",
        "diff.external": run,
        "diff.evil.textconv": run,
        "diff.evil.command": run,
        "filter.evil.smudge": run,
        "filter.evil.process": run,
        "gpg.program": run,
        "log.showSignature": "true",
        "alias.rev-parse": f"!{run}",
        "alias.cat-file": f"!{run}",
        "alias.ls-tree": f"!{run}",
        "alias.merge-base": f"!{run}",
        "alias.for-each-ref": f"!{run}",
    }


@pytest.mark.parametrize("included", [False, True])
def test_no_program_that_the_repository_names_is_run(
    team: Path, tmp_path: Path, included: bool
) -> None:
    marker = tmp_path / "ran"
    hooks = tmp_path / "ran-hooks"
    hooks.mkdir()
    for folder in (hooks, team / ".git/hooks"):
        for name in ("post-index-change", "reference-transaction", "post-checkout", "pre-auto-gc"):
            (folder / name).write_text(f"#!/bin/sh\ntouch {marker}\n")
            (folder / name).chmod(0o755)
    (team / ".gitattributes").write_text("*.yaml diff=evil filter=evil\n")
    (team / ".git/info/attributes").write_text("*.yaml diff=evil filter=evil\n")
    file = tmp_path / "more" if included else team / ".git/config"
    for name, value in commands(str(marker)).items():
        git(team, "config", "--file", str(file), name, value)
    if included:
        git(team, "config", "--file", str(team / ".git/config"), "include.path", str(file))
    assert base_is_strict(team / "site")
    assert merge_base(team, "origin/main", "HEAD") == resolve(team, "HEAD")
    assert not marker.exists()
    subprocess.run(["git", "status"], cwd=team, check=False, capture_output=True)
    assert marker.exists()  # else nothing above is proven


def test_an_include_that_cannot_be_found_is_no_matter(
    team: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    git(team, "config", "include.path", "~/not-there")
    assert base_is_strict(team / "site")


@pytest.mark.parametrize("scheme", ["ext", "file"])
def test_what_a_partial_clone_lacks_is_not_fetched(
    team: Path, tmp_path: Path, scheme: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also by a git that does not know the variable which forbids it."""
    marker = tmp_path / "ran"
    helper = tmp_path / "helper"
    helper.write_text(f"#!/bin/sh\ntouch {marker}\n")
    helper.chmod(0o755)
    address = f"ext::{helper}" if scheme == "ext" else f"file://{team}"
    for name, value in {
        "core.repositoryFormatVersion": "1",
        "extensions.partialClone": "origin",
        "remote.origin.url": address,
        "remote.origin.promisor": "true",
        "remote.origin.uploadpack": str(helper),
        "protocol.ext.allow": "always",
        "protocol.file.allow": "always",
    }.items():
        git(team, "config", name, value)
    blob = git(team, "rev-parse", f"HEAD:{FILE}")
    (team / ".git/objects" / blob[:2] / blob[2:]).unlink()
    old_git(tmp_path / "bin", monkeypatch, "unset GIT_NO_LAZY_FETCH")
    with pytest.raises(Exception, match="git cat-file failed"):
        base_is_strict(team / "site")
    assert not marker.exists()
    subprocess.run(["git", "cat-file", "blob", blob], cwd=team, check=False, capture_output=True)
    assert marker.exists()  # else nothing above is proven


def old_git(folder: Path, monkeypatch: pytest.MonkeyPatch, before: str) -> None:
    """Put a ``git`` before the real one that runs ``before`` first."""
    real = shutil.which("git")
    folder.mkdir()
    (folder / "git").write_text(f'#!/bin/sh\n{before}\nexec {real} "$@"\n')
    (folder / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")


def _replaced(team: Path, evil: str, blob: str) -> None:
    git(team, "replace", blob, evil)


def _grafted(team: Path, evil: str, blob: str) -> None:
    commit = git(team, "rev-parse", "HEAD")
    parent = git(team, "commit-tree", "-m", "parent", "HEAD^{tree}")
    (team / ".git/info/grafts").write_text(f"{commit} {parent}\n")
    assert git(team, "rev-parse", "HEAD~1") == parent


@pytest.mark.parametrize("change", [_replaced, _grafted])
def test_objects_are_what_their_names_say(
    team: Path, change: Callable[[Path, str, str], None], tmp_path: Path
) -> None:
    (tmp_path / "evil").write_text("strict: false\n")
    evil = git(team, "hash-object", "-w", str(tmp_path / "evil"))
    change(team, evil, git(team, "rev-parse", f"HEAD:{FILE}"))
    assert base_is_strict(team / "site")
    with pytest.raises(UsageError, match="there is no revision"):
        resolve(team, "HEAD~1")


@pytest.mark.parametrize("settings", ["named", "counted", "file"])
def test_a_hostile_environment_does_not_choose_the_repository(
    team: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: str
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / FILE).parent.mkdir()
    (other / FILE).write_text("strict: false\n")
    git(other, "init", "--quiet", "--initial-branch=main")
    git(other, "add", "--all")
    git(other, "commit", "--quiet", "--message=other")
    git(other, "update-ref", "refs/remotes/origin/main", "HEAD")
    marker = tmp_path / "ran"
    given = {
        "named": {
            "GIT_DIR": f"{other}/.git",
            "GIT_COMMON_DIR": f"{other}/.git",
            "GIT_WORK_TREE": str(other),
            "GIT_OBJECT_DIRECTORY": f"{other}/.git/objects",
            "GIT_INDEX_FILE": f"{other}/.git/index",
            "GIT_NAMESPACE": "evil",
            "GIT_CEILING_DIRECTORIES": str(team),
            "GIT_REPLACE_REF_BASE": "refs/remotes",
            "GIT_EXEC_PATH": str(tmp_path),
            "GIT_TRACE": str(marker),
        },
        "counted": {
            "GIT_CONFIG_COUNT": "3",
            "GIT_CONFIG_KEY_0": "core.worktree",
            "GIT_CONFIG_VALUE_0": str(other),
            "GIT_CONFIG_KEY_1": "core.fsmonitor",
            "GIT_CONFIG_VALUE_1": f"touch {marker}",
            "GIT_CONFIG_KEY_2": "core.bare",
            "GIT_CONFIG_VALUE_2": "true",
            "GIT_CONFIG_PARAMETERS": f"'core.pager=touch {marker}'",
        },
        "file": {"GIT_CONFIG_GLOBAL": str(tmp_path / "config"), "GIT_CONFIG_SYSTEM": "/nowhere"},
    }
    (tmp_path / "config").write_text(f"[core]\nfsmonitor = touch {marker}\nworktree = {other}\n")
    for name, value in given[settings].items():
        monkeypatch.setenv(name, value)
    assert base_is_strict(team / "site")
    assert not marker.exists()


def test_a_checkout_of_another_user_is_read_where_the_user_trusts_it(
    team: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in the containers of CI, whose checkout step lists the folder in the user's settings."""
    old_git(tmp_path / "bin", monkeypatch, "export GIT_TEST_ASSUME_DIFFERENT_OWNER=1")
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(UsageError) as refused:
        top_of(team / "site")
    assert "belongs to another user" in refused.value.summary
    assert f"git config --global --add safe.directory '{team}'" in str(refused.value.hint)
    git(team, "config", "--file", str(team / ".git/config"), "safe.directory", "*")
    with pytest.raises(UsageError, match="belongs to another user"):
        top_of(team / "site")
    (tmp_path / ".gitconfig").write_text(f"[safe]\ndirectory = {team}\n")
    assert base_is_strict(team / "site")


def test_a_file_that_only_the_planted_repository_has_is_not_there(team: Path) -> None:
    (team / "site/policies").mkdir()
    (team / "site/policies/waivers.yaml").write_text("waivers: []\n")
    plant(team / "site", ".")
    top = top_of(team / "site")
    with pytest.raises(FileMissingError):
        read_at(top, "origin/main", "site/policies/waivers.yaml")
    with pytest.raises(FileMissingError):
        read_at(top, "origin/main", "policies/waivers.yaml")
