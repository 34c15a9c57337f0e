"""What of a template's files is refused before anything looks into them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rackwright.errors import RackwrightError
from rackwright.templates.contents import (
    LARGEST_TEMPLATE,
    MOST_FILES,
    check_files,
    check_name,
    read_folder,
)
from rackwright.templates.source import Template, TemplateSource
from template_support import V1, write_files


def test_the_files_of_a_folder_are_read_by_name(tmp_path: Path) -> None:
    folder = write_files(tmp_path / "t", {"b/c.yaml.j2": "2", "a.txt": "1"})
    assert read_folder(folder) == {"a.txt": b"1", "b/c.yaml.j2": b"2"}


def test_the_history_of_a_checkout_is_not_read(tmp_path: Path) -> None:
    folder = write_files(tmp_path / "t", {**V1, ".git/hooks/post-checkout": "#!/bin/sh\nexit 1\n"})
    assert ".git/hooks/post-checkout" not in read_folder(folder)


@pytest.mark.parametrize("target", ["/etc/passwd", "notes.txt", "missing"])
def test_a_link_is_refused_wherever_it_leads(target: str, tmp_path: Path) -> None:
    folder = write_files(tmp_path / "t", V1)
    (folder / "link.yaml").symlink_to(target)
    with pytest.raises(RackwrightError, match=r"'link\.yaml' is a link"):
        read_folder(folder)


def test_a_link_to_a_folder_is_refused(tmp_path: Path) -> None:
    folder = write_files(tmp_path / "t", V1)
    (folder / "more").symlink_to(tmp_path)
    with pytest.raises(RackwrightError, match="'more' is a link"):
        read_folder(folder)


def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    folder = write_files(tmp_path / "t", V1)
    os.mkfifo(folder / "pipe")
    with pytest.raises(RackwrightError, match="'pipe' is not a plain file"):
        read_folder(folder)


@pytest.mark.parametrize(
    "name",
    [
        "../x",
        "a/../../x",
        "/etc/x",
        "a//b",
        "",
        ".git/config",
        "a/.GIT/hooks/x",
        ".rackwright-template/answers.yml",
        "{{ name }}.yaml.j2",
        "a b",
        "-rf",
        "a\nb",
        "a\x1b[2J",
        "/".join("abcdefghij"),
        "x" * 201,
    ],
)
def test_a_name_that_could_lead_elsewhere_is_refused(name: str) -> None:
    with pytest.raises(RackwrightError, match="cannot be part of a template"):
        check_name(name)


@given(st.text(alphabet="./.abG i\\\x00-~{}%", min_size=1, max_size=30))
def test_a_name_that_is_taken_stays_in_its_folder(name: str) -> None:
    try:
        check_name(name)
    except RackwrightError:
        return
    path = os.path.normpath(os.path.join("/root", name))  # noqa: PTH118 - of text
    assert path.startswith("/root/")
    assert path == f"/root/{name}"


def test_more_than_a_template_may_hold_is_refused(tmp_path: Path) -> None:
    many = [(f"f{n}", b"") for n in range(MOST_FILES + 1)]
    with pytest.raises(RackwrightError, match="more than"):
        check_files(many)
    with pytest.raises(RackwrightError, match="more than"):
        check_files([("f", b"x" * (LARGEST_TEMPLATE + 1))])
    with pytest.raises(RackwrightError, match="more than"):
        read_folder(write_files(tmp_path / "many", {name: "" for name, _ in many}))
    large = tmp_path / "large"
    large.mkdir()
    with (large / "f").open("wb") as file:
        file.truncate(LARGEST_TEMPLATE + 1)
    with pytest.raises(RackwrightError, match="larger than"):
        read_folder(large)


def digest_of(files: dict[str, bytes]) -> str:
    """Of a template with these files."""
    return Template(TemplateSource("folder", "t"), None, None, files).digest


def test_a_digest_tells_names_and_contents_apart() -> None:
    one = digest_of({"a": b"bc"})
    assert one != digest_of({"ab": b"c"})
    assert one != digest_of({"a": b"b", "c": b""})
    assert digest_of({"a": b"1", "b": b"2"}) == digest_of({"b": b"2", "a": b"1"})
