"""Paths that a base revision can approve."""

from __future__ import annotations

from pathlib import Path

import pytest

from rackwright.cli import main
from rackwright.errors import UsageError
from rackwright.exit_codes import ExitCode
from rackwright.reading.links import link_in, refuse_links
from rackwright.report.paths import own_path


@pytest.fixture
def top(tmp_path: Path) -> Path:
    folder = tmp_path / "team"
    (folder / ".git").mkdir(parents=True)
    (folder / "site").mkdir()
    (folder / "site/blueprint.yaml").write_text("a: 1\n")
    return folder


def test_files_and_links_above_the_repository_are_no_matter(top: Path, tmp_path: Path) -> None:
    (tmp_path / "short").symlink_to(top)
    refuse_links([top / "site/blueprint.yaml", tmp_path / "short/site/blueprint.yaml"])
    refuse_links([top / "site/nowhere.yaml", top / "no/where.yaml"])


def test_links_in_it_are_refused(top: Path) -> None:
    (top / "site/link.yaml").symlink_to("blueprint.yaml")
    (top / "other").symlink_to("site")
    (top / "again").symlink_to(".")  # which holds '.git' as well
    (top / "gone.yaml").symlink_to("nowhere.yaml")
    for path, said in (
        ("site/link.yaml", r"site/link\.yaml' is a link"),
        ("other/blueprint.yaml", "passes the link 'other'"),
        ("again/site/blueprint.yaml", "passes the link 'again'"),
        ("gone.yaml", "is a link"),
    ):
        with pytest.raises(UsageError, match=said):
            refuse_links([top / "site/blueprint.yaml", top / path])


def test_without_a_repository_the_file_itself_counts(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "way").symlink_to("folder")
    (tmp_path / "folder/link").symlink_to("file")
    assert link_in(tmp_path / "way/file") is None
    assert link_in(tmp_path / "way/link") == tmp_path / "way/link"


def test_a_link_keeps_its_own_name(top: Path, tmp_path: Path) -> None:
    (top / "link.yaml").symlink_to("site/blueprint.yaml")
    assert own_path("link.yaml", root=top, cwd=top) == "link.yaml"
    assert own_path("../link.yaml", root=top, cwd=top / "site") == "link.yaml"
    assert own_path("site/blueprint.yaml", root=top, cwd=top) == "site/blueprint.yaml"
    outside = top.with_name("other.yaml")
    (top / "out.yaml").symlink_to(outside)
    assert own_path("out.yaml", root=tmp_path, cwd=top) == "out.yaml"


@pytest.mark.parametrize("way", ["dots", "link"])
def test_layer_that_leads_out_of_the_repository_is_refused_without_a_base(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], way: str
) -> None:
    secret = tmp_path / "secret"
    secret.write_text("root:x:0:0:root:/root:/bin/bash\n")
    site = tmp_path / "repository/site"
    site.mkdir(parents=True)
    (site.parent / ".git").mkdir()
    (site / "more.yaml").symlink_to(secret)
    name = "../../secret" if way == "dots" else "more.yaml"
    blueprint = site / "blueprint.yaml"
    blueprint.write_text(f"apiVersion: rackwright/v1\nlayers: [{name}]\n")
    assert main(["check", str(blueprint)]) == ExitCode.USAGE
    said = capsys.readouterr().err
    assert f"blueprint.yaml:2:10: the layer '{name}' leads out of the repository" in said
    assert "bash" not in said


def test_nothing_is_quoted_of_a_file_that_is_no_document(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    link = tmp_path / "blueprint.yaml"
    link.symlink_to("/etc/passwd")
    assert main(["check", str(link)]) == ExitCode.USAGE
    said = capsys.readouterr().err
    assert "this is not a document of Rackwright" in " ".join(said.split())
    assert "daemon" not in said
