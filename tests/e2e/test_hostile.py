"""Pull requests of somebody hostile, judged by the real program under limits of the kernel.

What needs no limit is in ``tests/unit/cli/test_hostile.py``.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from hostile_support import BLUEPRINT, Repository, a_repository

pytestmark = pytest.mark.e2e

DGX = '- {name: dgx, role: compute, type: dgx-h100, count: 32, name_digits: 2, racks: "c[01-08]", per_rack: 4}'


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return a_repository(tmp_path / "team", limited=True)


def _laughs(count: int = 12) -> str:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, count)]
    return "\n".join(lines)


def _merges(count: int = 40) -> str:
    lines = ["a0: &a0 {x: 1}"]
    lines += [f"a{n}: &a{n} {{p: *a{n - 1}, <<: [*a{n - 1}, *a{n - 1}]}}" for n in range(1, count)]
    return "\n".join(lines)


DOCUMENTS = {
    "billion_laughs": (_laughs(), "the document is too large once its aliases are expanded"),
    "merge_bomb": (_merges(), "the document is too large once its aliases are expanded"),
    "alias_of_itself": ("a: &a [*a]", "the document is too large once its aliases are expanded"),
    "deep_brackets": ("a: " + "[" * 100_000, "nested more than 64 deep"),
    "deep_blocks": ("".join(" " * n + "a:\n" for n in range(2000)), "nested more than 64 deep"),
    "long_line": ("name: " + "x" * 15_000_000, f"{BLUEPRINT}:1:7: name: 'xxx"),
    "many_unknown_keys": ("".join(f"k{n}: 1\n" for n in range(300_000)), "951 more not shown"),
    "many_equal_keys": ("k: 1\n" * 300_000, f"{BLUEPRINT}:2:1: the key 'k' is given twice"),
}


@pytest.mark.parametrize("case", DOCUMENTS)
def test_a_document_that_would_take_all_memory_is_refused(
    repository: Repository, case: str
) -> None:
    text, message = DOCUMENTS[case]
    repository.file.write_text(text, encoding="utf-8")
    repository.check().refused(message, BLUEPRINT)


def _nodes(**changes: str) -> tuple[str, str]:
    words = {"count": "32", "racks": '"c[01-08]"', "per_rack": "4"} | changes
    told = ", ".join(f"{key}: {value}" for key, value in words.items())
    return DGX, f"- {{name: dgx, role: compute, type: dgx-h100, {told}}}"


CHANGES: dict[str, tuple[tuple[str, str], str]] = {
    "instances": (("count: 16", f"count: {10**12}"), "holds 65,536 addresses"),
    "racks_of_a_list": (_nodes(racks='"c[1-999999999]"'), "more than 1,000,000 names"),
    "brackets": (_nodes(racks=f'"c{"[" * 50_000}"'), "is not a host list"),
    "commas": (_nodes(racks=f'"{"," * 200_000}"'), "'' is not a host list"),
    "nodes": (_nodes(count=str(10**12)), "1000000000000 nodes do not fit"),
    "nodes_of_a_rack": (
        _nodes(count=str(10**17), per_rack=str(10**17)),
        "the rack 'c01' would hold more than 200 devices",
    ),
    "switches": (
        (
            "count: 8\n            racks: n[01-02]\n            per_rack: 4",
            "count: 8000000000\n            racks: n[01-02]\n            per_rack: 4000000000",
        ),
        "the rack 'n01' would hold more than 200 devices",
    ),
    "racks": (("racks: c[01-08]\n", 'racks: "c[000000-999998]"\n'), "at most 100,000 racks"),
}


@pytest.mark.parametrize("case", CHANGES)
def test_a_number_that_would_take_all_memory_is_refused_at_its_place(
    repository: Repository, case: str
) -> None:
    change, message = CHANGES[case]
    repository.change(*change)
    ended = repository.check()
    ended.refused(message)
    assert ended.err.startswith(f"{BLUEPRINT}:")
    repository.diff().refused(message)


def _pipe(path: Path) -> str:
    os.mkfifo(path)
    return "is not a regular file"


def _device(path: Path) -> str:
    path.symlink_to("/dev/zero")
    return "leads out of the repository"


def _large(path: Path) -> str:
    with path.open("wb") as file:
        file.truncate(200 * 1024 * 1024)
    return "is larger than 16 MiB"


@pytest.mark.parametrize("make", [_pipe, _device, _large])
def test_what_is_no_file_of_a_blueprint_is_refused(
    repository: Repository, make: Callable[[Path], str]
) -> None:
    repository.file.unlink()
    message = make(repository.file)
    repository.check().refused(message)


def test_a_device_is_no_blueprint(repository: Repository) -> None:
    repository.run("check", "/dev/zero").refused("is not a regular file")
