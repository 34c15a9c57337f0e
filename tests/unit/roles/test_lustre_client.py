"""The modules of Lustre that are loaded, not the package alone, are those of the bill."""

from __future__ import annotations

import pytest

from role_cases import failure_of, play_cases, role_tasks

CASES = {
    "none-loaded": (None, ""),
    "same": ("2.16.1", ""),
    "same-with-a-revision": ("2.16.1-1.el9", ""),
    "older": ("2.15.7", "older has loaded Lustre 2.15.7, and 2.16.1 is wanted; unmount it"),
    "longer": ("2.16.10", "longer has loaded Lustre 2.16.10, and 2.16.1 is wanted"),
}


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("lustre")
    hosts = {}
    for name, (version, _) in CASES.items():
        path = folder / name
        if version is not None:
            path.write_text(f"{version}\n")
        hosts[name] = {
            "case_tasks": "loaded",
            "case_version": str(path),
            "lustre_client_version": "2.16.1",
        }
    given = {"lustre_client_loaded_file": "{{ case_version }}"}
    return play_cases(folder, hosts, role_tasks("lustre_client", ("loaded",), given))


@pytest.mark.parametrize("name", CASES)
def test_modules_of_another_version_are_told(said: str, name: str) -> None:
    _, expected = CASES[name]
    failure = failure_of(said, name)
    assert bool(failure) == bool(expected), failure
    assert expected in failure
