"""A team's configuration and the digest of packs."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from rackwright.errors import PolicyLoadError, UsageError
from rackwright.policy.authoring.scaffold import new_policy
from rackwright.policy.packs.loader import builtin_pack, load_pack
from rackwright.policy.packs.team_config import packs_for
from rackwright.team import digest as digest_module
from rackwright.team.digest import folder_digest
from rackwright.team.place import find_config


@pytest.fixture
def pack(tmp_path: Path) -> Path:
    folder = tmp_path / "pack"
    new_policy(folder, "own/ACME-001", "A rule")
    return folder


def test_a_digest_is_of_names_and_contents_only(pack: Path, tmp_path: Path) -> None:
    before = folder_digest(pack)
    copy = tmp_path / "elsewhere" / "copy"
    shutil.copytree(pack, copy)
    os.utime(copy / "pack.yaml", (0, 0))
    (copy / "own" / "__pycache__").mkdir(exist_ok=True)
    (copy / "own" / "__pycache__" / "x.pyc").write_bytes(b"x")
    (copy / ".git").mkdir()
    assert folder_digest(copy) == before
    (copy / "pack.yaml").rename(copy / "pack.yml")
    assert folder_digest(copy) != before


def test_bytes_cannot_move_between_files(tmp_path: Path) -> None:
    digests = set()
    for number, files in enumerate(({"a": "bc"}, {"ab": "c"}, {"a": "b", "c": ""}, {"abc": ""})):
        folder = tmp_path / str(number)
        folder.mkdir()
        for name, text in files.items():
            (folder / name).write_text(text)
        digests.add(folder_digest(folder))
    assert len(digests) == 4


def test_a_pack_holds_plain_files(pack: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (pack / "link.py").symlink_to("/etc/hostname")
    with pytest.raises(PolicyLoadError, match=r"'.*link\.py' is not a plain file"):
        folder_digest(pack)
    (pack / "link.py").unlink()
    os.mkfifo(pack / "pipe")
    with pytest.raises(PolicyLoadError, match="is not a plain file"):
        folder_digest(pack)
    (pack / "pipe").unlink()
    monkeypatch.setattr(digest_module, "LARGEST_FOLDER", 100)
    with pytest.raises(PolicyLoadError, match="is larger than"):
        folder_digest(pack)
    monkeypatch.setattr(digest_module, "MOST_FILES", 1)
    monkeypatch.setattr(digest_module, "LARGEST_FOLDER", 2**20)
    with pytest.raises(PolicyLoadError, match="more than 1 files"):
        folder_digest(pack)


def test_no_bytecode_is_run_or_left(pack: Path) -> None:
    import importlib.util
    import py_compile

    (rule,) = (pack / "own").glob("*.py")
    cache = Path(importlib.util.cache_from_source(str(rule)))
    load_pack(pack)
    assert not cache.exists()
    text = rule.read_text()
    rule.write_text(text.replace('"ACME-001"', '"ACME-666"'))
    py_compile.compile(str(rule), doraise=True)
    compiled = rule.stat()
    rule.write_text(text)
    os.utime(rule, ns=(compiled.st_atime_ns, compiled.st_mtime_ns))
    assert rule.stat().st_size == compiled.st_size
    (policy,) = load_pack(pack)
    assert policy.id == "ACME-001"


def test_the_configuration_is_looked_for_inside_the_repository_only(tmp_path: Path) -> None:
    blueprint = tmp_path / "team" / "sites" / "a" / "blueprint.yaml"
    blueprint.parent.mkdir(parents=True)
    (tmp_path / "rackwright.yaml").write_text("packs: []\n")
    (tmp_path / "team" / "rackwright.yaml").write_text("packs: []\n")
    assert find_config(blueprint) is None
    (tmp_path / "team" / ".git").write_text("gitdir: elsewhere\n")
    assert find_config(blueprint) == (tmp_path / "team" / "rackwright.yaml").resolve()
    beside = blueprint.with_name("rackwright.yaml")
    beside.write_text("packs: []\n")
    assert find_config(blueprint) == beside.resolve()
    assert packs_for(blueprint) == ()


def test_odd_places_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from rackwright.cli import main

    (tmp_path / "loop").symlink_to("loop")
    blueprint = tmp_path / "blueprint.yaml"
    shutil.copy(builtin_pack() / "fixtures" / "aws.yaml", blueprint)
    config = tmp_path / "rackwright.yaml"
    for path, said in (
        ("loop", "'loop' is not a folder"),
        ("blueprint.yaml", "'blueprint.yaml' is not a folder"),
        ("a\\0b", "a path is printable text"),
        ("x" * 1001, "1000"),
    ):
        config.write_text(f'packs: [{{path: "{path}"}}]\n')
        assert main(["check", str(blueprint)]) == 2
        assert said in capsys.readouterr().err
    assert main(["check", str(tmp_path / "loop")]) == 2
    assert main(["policy", "digest", str(tmp_path / "nowhere")]) == 1


def test_a_deep_pack_is_read(pack: Path) -> None:
    deep = pack
    before = folder_digest(pack)
    for _ in range(400):
        deep = deep / "d"
    deep.mkdir(parents=True)
    assert folder_digest(pack) == before
    (deep / "file").write_text("x")
    assert folder_digest(pack) != before


def test_isolated_leaves_named_packs(pack: Path, tmp_path: Path) -> None:
    (tmp_path / "rackwright.yaml").write_text("packs: [{path: pack}]\n")
    blueprint = tmp_path / "blueprint.yaml"
    assert packs_for(blueprint) == (pack.resolve(),)
    assert packs_for(blueprint, isolated=True) == ()
    assert packs_for(blueprint, [pack]) == (pack.resolve(),)


def test_isolated_runs_no_pack_of_the_checkout(pack: Path, tmp_path: Path) -> None:
    """Also one that is named: whoever wrote the change wrote it, or the link that leads to it."""
    top = tmp_path / "team"
    (top / "site").mkdir(parents=True)
    (top / ".git").write_text("gitdir: elsewhere\n")
    new_policy(top / "policies", "own/ACME-002", "A rule")
    (top / "out").symlink_to(pack)
    (tmp_path / "in").symlink_to(top / "policies")
    (tmp_path / "short").symlink_to(top)
    blueprint = top / "site" / "blueprint.yaml"
    for named in (top / "policies", top / "out", tmp_path / "in", top / "site/../policies"):
        for file in (blueprint, tmp_path / "short/site/blueprint.yaml"):
            with pytest.raises(UsageError, match="is of the repository that is judged") as raised:
                packs_for(file, [pack, named], isolated=True)
            assert "beside the repository" in str(raised.value.hint)
        assert packs_for(blueprint, [named])
    assert packs_for(blueprint, [pack], isolated=True) == (pack.resolve(),)
    # Without a repository, the folder of the blueprint stands for one.
    with pytest.raises(UsageError, match="is of the repository that is judged"):
        packs_for(tmp_path / "blueprint.yaml", [pack], isolated=True)


def test_a_link_does_not_bring_a_foreign_pack_inside(tmp_path: Path) -> None:
    from rackwright.errors import SpecErrors

    team = tmp_path / "team"
    team.mkdir()
    new_policy(tmp_path / "foreign", "own/ACME-001", "A rule")
    (team / "policies").symlink_to(tmp_path / "foreign")
    (team / "rackwright.yaml").write_text("packs: [{path: policies}]\n")
    with pytest.raises(SpecErrors, match="lies outside the team's folder"):
        packs_for(team / "blueprint.yaml")


def test_configuration_under_a_name_that_is_not_read_is_refused(tmp_path: Path) -> None:
    """Packs of ``rackwright.yml`` were not run, and nothing said so."""
    blueprint = tmp_path / "blueprint.yaml"
    other = tmp_path / "rackwright.yml"
    other.write_text("packs: [{path: rules}]\n")
    with pytest.raises(UsageError, match=r"rackwright.yml' is not read") as caught:
        find_config(blueprint)
    assert caught.value.hint == "rename it to 'rackwright.yaml'"
    beside = tmp_path / "rackwright.yaml"
    beside.write_text("packs: []\n")
    assert find_config(blueprint) == beside.resolve()
    beside.unlink()
    beside.mkdir()
    with pytest.raises(UsageError, match="is a folder"):
        find_config(blueprint)
