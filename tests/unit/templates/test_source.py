"""Where templates come from."""

from __future__ import annotations

from pathlib import Path

import pytest

from rackwright.errors import RackwrightError, UsageError
from rackwright.templates.source import (
    TemplateSource,
    newest,
    open_template,
    parse_source,
    recorded,
)
from template_support import V1, tag_files, write_files


@pytest.mark.parametrize(
    ("text", "source"),
    [
        ("lab", TemplateSource("built-in", "lab")),
        ("./lab", TemplateSource("folder", "./lab")),
        (".", TemplateSource("folder", ".")),
        ("git+https://h/p.git@v1", TemplateSource("git", "https://h/p.git", "v1")),
        (
            "git+https://h/p.git@v1#halls/a",
            TemplateSource("git", "https://h/p.git", "v1", "halls/a"),
        ),
        ("git+ssh://git@h/p", TemplateSource("git", "ssh://git@h/p")),
        ("git+ssh://git@h/p@v2", TemplateSource("git", "ssh://git@h/p", "v2")),
        ("git+file:///p@a/b", TemplateSource("git", "file:///p", "a/b")),
        ("package:acme#hall", TemplateSource("package", "acme", None, "hall")),
    ],
)
def test_a_source_is_read_from_its_form(text: str, source: TemplateSource) -> None:
    assert parse_source(text) == source


@pytest.mark.parametrize(
    "text",
    [
        "",
        "git+http://h/p",
        "git+ext::sh -c x",
        "git+https://h",
        "git+--upload-pack=x",
        "git+https://u:secret@h/p",
        "git+https://token@h/p",
        "git+https://h/p@-x",
        "git+https://h/p@a..b",
        "git+https://h/p@v1#../x",
        "package:acme#../..",
        "a\nb",
    ],
)
def test_a_source_in_no_form_is_refused(text: str) -> None:
    with pytest.raises(RackwrightError):
        parse_source(text)


def test_a_tag_is_of_git_alone() -> None:
    with pytest.raises(UsageError, match="only a template of a git repository has a tag"):
        parse_source("lab", "v1")


def test_a_built_in_template_that_is_near_is_named() -> None:
    with pytest.raises(UsageError) as caught:
        open_template(parse_source("lba"))
    assert caught.value.hint == "did you mean 'lab'?"


def test_a_folder_is_recorded_from_the_cluster(tmp_path: Path) -> None:
    write_files(tmp_path / "t", V1)
    source = recorded(TemplateSource("folder", str(tmp_path / "t")), tmp_path / "clusters/a")
    assert source == TemplateSource("folder", "../../t")
    (tmp_path / "clusters/a").mkdir(parents=True)
    assert open_template(source, beside=tmp_path / "clusters/a").files["notes.txt"]


def test_a_tag_names_a_commit_whose_objects_are_read(tmp_path: Path) -> None:
    url = tag_files(tmp_path / "r", "v1", V1)
    tag_files(tmp_path / "r", "v1.10", {"notes.txt": "ten\n"})
    tag_files(tmp_path / "r", "v1.9", {"notes.txt": "nine\n"})
    tag_files(tmp_path / "r", "v2-rc1", {"notes.txt": "draft\n"})
    first = open_template(parse_source(f"{url}@v1"))
    assert (first.version, first.files["notes.txt"]) == ("v1", V1["notes.txt"].encode())
    assert len(first.commit or "") == 40
    last = newest(first.source)
    assert (last.version, last.files["notes.txt"]) == ("v1.10", b"ten\n")


def test_a_folder_of_a_repository_is_a_template(tmp_path: Path) -> None:
    url = tag_files(tmp_path / "r", "v1", {f"halls/a/{name}": text for name, text in V1.items()})
    assert set(open_template(parse_source(f"{url}@v1#halls/a")).files) == set(V1)


def test_a_tag_or_repository_that_is_not_there_is_told(tmp_path: Path) -> None:
    url = tag_files(tmp_path / "r", "nightly", V1)
    with pytest.raises(RackwrightError, match="cannot be read"):
        open_template(parse_source(f"{url}@v1"))
    with pytest.raises(RackwrightError, match="has no tag that is a version"):
        open_template(parse_source(url))
    with pytest.raises(RackwrightError, match="cannot be read"):
        open_template(parse_source(f"git+file://{tmp_path}/none@v1"))


def test_an_installed_package_brings_a_template(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_files(tmp_path / "acme_templates/hall", V1)
    write_files(
        tmp_path / "acme_templates-1.2.dist-info",
        {
            "METADATA": "Metadata-Version: 2.1\nName: acme-templates\nVersion: 1.2\n",
            "entry_points.txt": "[rackwright.templates]\nhalls = acme_templates\n",
            "RECORD": "",
        },
    )
    (tmp_path / "acme_templates/__init__.py").write_text("raise SystemExit('imported')\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    found = open_template(parse_source("package:acme-templates#hall"))
    assert (found.version, set(found.files)) == ("1.2", set(V1))
    with pytest.raises(UsageError, match="the package 'nobody-has-it' is not installed"):
        open_template(parse_source("package:nobody-has-it"))
