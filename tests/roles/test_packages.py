"""Packages that the roles ask for are in the distribution's index, as it was on the day that is kept."""

from __future__ import annotations

import re

import pytest

from rackwright.model.systems import SYSTEMS
from role_packages import DEBIAN, OTHERS, UNREAD, elsewhere, kept, names_of, read_debian


@pytest.fixture(scope="module")
def asked() -> set[str]:
    return set(names_of("Debian"))


def test_debian_has_every_package_that_is_not_said_to_come_from_elsewhere(asked: set[str]) -> None:
    index = kept()[DEBIAN]["packages"]
    assert {name for name in asked if name not in index and elsewhere(name) is None} == set()


def test_nothing_that_is_said_to_come_from_elsewhere_is_debians_own(asked: set[str]) -> None:
    assert {name for name in kept()[DEBIAN]["packages"] if elsewhere(name)} == set()
    assert {pattern for pattern in OTHERS if not any(_is(name, pattern) for name in asked)} == set()


def _is(name: str, pattern: str) -> bool:
    return name == pattern or (pattern.endswith("*") and name.startswith(pattern[:-1]))


def test_what_is_kept_is_what_is_asked_for(asked: set[str]) -> None:
    """No more names of the index are kept than are needed."""
    assert set(kept()[DEBIAN]["packages"]) <= asked


def test_what_is_kept_has_its_source_and_its_date() -> None:
    assert kept()
    assert all(found["sources"] for found in kept().values())
    for found in kept().values():
        suites = {source.split()[1] for source in found["sources"]}
        assert set(found["dates"]) == suites
        for date in found["dates"].values():
            assert re.fullmatch(r"\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d UTC", date)


def test_a_system_whose_index_was_not_read_is_said_to_be_unread() -> None:
    assert {system.id for system in SYSTEMS} == set(kept()) | set(UNREAD)
    assert not set(kept()) & set(UNREAD)


def test_names_are_read_from_variables_and_from_tasks() -> None:
    debian, rhel = names_of("Debian"), names_of("RedHat")
    assert debian["slurmctld"] == {"slurm_controller"}
    assert "slurmctld" not in rhel
    assert rhel["slurm-slurmctld"] == {"slurm_controller"}
    assert debian["opensm"] == rhel["opensm"] == {"opensm"}, "named in a task"
    assert "python3-dnf-plugin-versionlock" in rhel
    assert "mdadm" in debian
    assert "cuda-toolkit-*" in debian, "the version follows from a variable"


def test_apts_answer_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """The newest version is taken, and other suites are none of it."""
    told = (
        " munge | 0.5.15-2+deb12u1 | http://d.test/security bookworm-security/main amd64 Packages\n"
        " munge | 0.5.15-2 | http://d.test/debian bookworm/main amd64 Packages\n"
        " munge | 9 | http://d.test/debian sid/main amd64 Packages\n"
    )

    class Done:
        stdout = told

    monkeypatch.setattr("role_packages.subprocess.run", lambda *_, **__: Done())
    found = read_debian()
    assert found["packages"] == {"munge": "0.5.15-2+deb12u1"}
    assert found["sources"] == [
        "http://d.test/debian bookworm main",
        "http://d.test/security bookworm-security main",
    ]
