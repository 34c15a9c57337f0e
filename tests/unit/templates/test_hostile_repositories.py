"""Template repositories of somebody hostile: nothing of them runs, and nothing leads out."""

from __future__ import annotations

from pathlib import Path

import pytest

from ci_team import git
from rackwright.errors import RackwrightError
from rackwright.templates.source import open_template, parse_source
from template_support import V1, tag_files, write_files


def a_trap(folder: Path) -> tuple[str, Path]:
    """A command that leaves a mark, and the mark."""
    mark = folder / "mark"
    return f"touch {mark}; false", mark


def test_hooks_filters_and_programs_of_a_repository_do_not_run(tmp_path: Path) -> None:
    command, mark = a_trap(tmp_path)
    repository = tmp_path / "r"
    url = tag_files(repository, "v1", {**V1, ".gitattributes": "* filter=evil text=auto\n"})
    script = f"#!/bin/sh\n{command}\n"
    for hook in ("post-checkout", "post-upload-pack", "pre-upload-pack", "reference-transaction"):
        path = repository / ".git/hooks" / hook
        path.parent.mkdir(exist_ok=True)
        path.write_text(script)
        path.chmod(0o755)
    for key in (
        "core.fsmonitor",
        "core.sshCommand",
        "filter.evil.smudge",
        "filter.evil.process",
        "uploadpack.packObjectsHook",
        "core.alternateRefsCommand",
    ):
        git(repository, "config", key, command)
    assert set(open_template(parse_source(f"{url}@v1")).files) >= set(V1)
    assert not mark.exists()


def test_settings_and_template_folder_of_the_user_do_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = tag_files(tmp_path / "r", "v1", V1)
    command, mark = a_trap(tmp_path)
    hooks = write_files(
        tmp_path / "init/hooks", {"reference-transaction": f"#!/bin/sh\n{command}\n"}
    )
    (hooks / "reference-transaction").chmod(0o755)
    (tmp_path / ".gitconfig").write_text(
        f"[init]\n\ttemplateDir = {tmp_path / 'init'}\n[core]\n\thooksPath = {hooks}\n"
    )
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("GIT_TEMPLATE_DIR", str(tmp_path / "init"))
    open_template(parse_source(f"{url}@v1"))
    assert not mark.exists()


@pytest.mark.parametrize("target", ["/etc/passwd", "../../x", "notes.txt"])
def test_a_link_in_a_repository_is_refused(target: str, tmp_path: Path) -> None:
    repository = write_files(tmp_path / "r", V1)
    (repository / "link").symlink_to(target)
    url = tag_files(repository, "v1", {})
    with pytest.raises(RackwrightError, match=r"'link' at .* is not a regular file"):
        open_template(parse_source(f"{url}@v1"))


def test_a_submodule_is_refused_and_not_fetched(tmp_path: Path) -> None:
    command, mark = a_trap(tmp_path)
    repository = tmp_path / "r"
    tag_files(repository, "v0", V1)
    head = git(repository, "rev-parse", "HEAD")
    write_files(
        repository, {".gitmodules": f'[submodule "x"]\n\tpath = x\n\turl = ext::{command}\n'}
    )
    git(repository, "update-index", "--add", "--cacheinfo", f"160000,{head},x")
    git(repository, "add", ".gitmodules")
    git(repository, "commit", "--quiet", "--message=x")
    git(repository, "tag", "v1")
    with pytest.raises(RackwrightError, match=r"'x' at .* is not a regular file"):
        open_template(parse_source(f"git+file://{repository}@v1"))
    assert not mark.exists()


def a_tree_with(repository: Path, name: str) -> str:
    """The URL of a repository whose tag ``v1`` has a file by a name that git would not check out."""
    tag_files(repository, "v0", V1)
    blob = git(repository, "rev-parse", "HEAD:notes.txt")
    raw = b"100644 " + name.encode() + b"\0" + bytes.fromhex(blob)
    (repository / "raw").write_bytes(raw)
    tree = git(repository, "hash-object", "-t", "tree", "-w", "--literally", "raw")
    commit = git(repository, "commit-tree", tree, "-m", "x")
    git(repository, "tag", "v1", commit)
    return f"git+file://{repository}"


@pytest.mark.parametrize("name", ["..", ".git", ".GIT", ".rackwright-template", "a\nb"])
def test_a_name_that_leads_out_of_a_repository_is_refused(name: str, tmp_path: Path) -> None:
    url = a_tree_with(tmp_path / "r", name)
    with pytest.raises(RackwrightError):
        open_template(parse_source(f"{url}@v1"))


def test_a_branch_by_the_name_of_a_tag_is_not_taken(tmp_path: Path) -> None:
    repository = tmp_path / "r"
    url = tag_files(repository, "v1", V1)
    write_files(repository, {"notes.txt": "of the branch\n"})
    git(repository, "commit", "--quiet", "--all", "--message=x")
    git(repository, "branch", "v1")
    assert open_template(parse_source(f"{url}@v1")).files["notes.txt"] == V1["notes.txt"].encode()
