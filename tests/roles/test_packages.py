"""Packages that the roles ask for are in the distribution's index, as it was on the day that is kept."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from rackwright.model.systems import SYSTEMS
from role_packages import (
    DEBIAN,
    OTHERS,
    RENAMED,
    ROOT,
    UBUNTU,
    UNCOMPARED,
    UNREAD,
    asked_of,
    elsewhere,
    kept,
    names_of,
    read_debian,
)


@pytest.fixture(scope="module")
def asked() -> set[str]:
    return set(names_of("Debian"))


READ = (DEBIAN, "debian-13", *UBUNTU)
NEWER = {"debian-13": {"sackd"}, "ubuntu-24.04": {"sackd"}}
"""Packages of a newer Slurm, which is in the index of these systems."""


@pytest.mark.parametrize("system", READ)
def test_an_index_has_every_package_that_is_not_said_to_come_from_elsewhere(system: str) -> None:
    index, asked = kept()[system]["packages"], asked_of(system)
    assert len(asked) > 25
    missing = {name for name in asked if name not in index and elsewhere(name) is None}
    assert missing == UNCOMPARED.get(system, set())


@pytest.mark.parametrize("system", READ)
def test_nothing_that_is_said_to_come_from_elsewhere_is_a_distributions_own(system: str) -> None:
    own = {name for name in kept()[system]["packages"] if elsewhere(name)}
    assert own == NEWER.get(system, set())


def test_whatever_is_said_to_come_from_elsewhere_is_asked_for(asked: set[str]) -> None:
    assert {pattern for pattern in OTHERS if not any(_is(name, pattern) for name in asked)} == set()


def _is(name: str, pattern: str) -> bool:
    return name == pattern or (pattern.endswith("*") and name.startswith(pattern[:-1]))


@pytest.mark.parametrize("system", READ)
def test_cached_packages_are_the_requested_ones(system: str) -> None:
    """No more names of the index are kept than are needed."""
    assert set(kept()[system]["packages"]) <= asked_of(system)


def test_the_role_takes_the_names_that_a_system_has(tmp_path: Path) -> None:
    """Ubuntu 24.04 and Debian 13 have libpmix2 by another name."""
    systems = (("Ubuntu", "22.04"), ("Ubuntu", "24.04"), ("Debian", "12.11"), ("Debian", "13.2"))
    hosts = {
        f"{name}-{version}": {"distribution": name, "distribution_version": version}
        for name, version in systems
    }
    roles = ROOT / "roles/pmix"
    files = [str(roles / part / "main.yml") for part in ("defaults", "vars")]
    facts = ("distribution", "distribution_version")
    play = {
        "hosts": "all",
        "connection": "local",
        "gather_facts": False,
        "vars_files": files,
        "tasks": [
            {
                "ansible.builtin.set_fact": {
                    "os_family": "Debian",
                    **{name: f"{{{{ {name} }}}}" for name in facts},
                    "cacheable": True,
                }
            },
            {"ansible.builtin.debug": {"msg": "TAKES {{ inventory_hostname }} {{ pmix_wanted }}"}},
        ],
    }
    (tmp_path / "hosts.json").write_text(json.dumps({"all": {"hosts": hosts}}))
    (tmp_path / "play.yml").write_text(json.dumps([play]))
    program = Path(sys.executable).parent / "ansible-playbook"
    told = subprocess.run(
        [program, "-i", tmp_path / "hosts.json", tmp_path / "play.yml"],
        env={**os.environ, "ANSIBLE_NOCOLOR": "1"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    renamed = RENAMED["ubuntu-24.04"]["libpmix2"]
    assert dict(re.findall(r"TAKES (\S+) \['(\S+)'\]", told)) == {
        "Ubuntu-22.04": "libpmix2",
        "Ubuntu-24.04": renamed,
        "Debian-12.11": "libpmix2",
        "Debian-13.2": renamed,
    }


def test_cached_packages_have_source_and_date() -> None:
    assert kept()
    assert all(found["sources"] for found in kept().values())
    for found in kept().values():
        suites = {source.split()[1] for source in found["sources"]}
        assert set(found["dates"]) == suites
        for date in found["dates"].values():
            assert re.fullmatch(r"\w{3}, \d\d \w{3} \d{4} [ \d]\d:\d\d:\d\d UTC", date)


def test_a_system_whose_index_was_not_read_is_said_to_be_unread() -> None:
    assert {system.id for system in SYSTEMS} == set(kept()) | set(UNREAD)
    assert not set(kept()) & set(UNREAD)


def test_names_are_read_from_variables_and_from_tasks() -> None:
    debian, rhel = names_of("Debian"), names_of("RedHat")
    assert debian["slurmctld"] == {"slurm_config", "slurm_controller"}
    assert "slurmctld" not in rhel
    assert rhel["slurm-slurmctld"] == {"slurm_config", "slurm_controller"}
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
