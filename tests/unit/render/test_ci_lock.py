"""The lock of what CI installs fits what ``pyproject.toml`` asks for; ``make lock`` writes it."""

from __future__ import annotations

import importlib.metadata
import re
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest
from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[3]
LOCK = ROOT / "templates/ci/lock"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
EXTRAS = ("aws", "configure")
"""What the jobs that ``ci init`` writes run."""

Versions = Mapping[str, str]


def entries(name: str) -> list[tuple[Requirement, list[str]]]:
    """What a lock holds: requirements, each with its digests."""
    lines = (LOCK / name).read_text().replace("\\\n", " ").splitlines()
    found = []
    for line in lines:
        before, *hashes = re.split(r"\s+--hash=", line)
        found.append((Requirement(before), hashes))
    return found


def environment(python: str) -> dict[str, str]:
    known = {name: str(value) for name, value in default_environment().items()}
    return {**known, "python_version": python, "python_full_version": f"{python}.1"}


def locked(names: Iterable[str], python: str) -> Versions:
    """The versions that pip takes on that Python."""
    versions: dict[str, str] = {}
    for name in names:
        for requirement, _ in entries(name):
            if requirement.marker and not requirement.marker.evaluate(environment(python)):
                continue
            key = canonicalize_name(requirement.name)
            assert key not in versions, key
            (pin,) = requirement.specifier
            assert pin.operator == "=="
            versions[key] = pin.version
    return versions


def unmet(wanted: Iterable[str], versions: Versions, python: str) -> list[str]:
    """The requirements that no locked version fulfils on that Python."""
    missing = []
    for text in wanted:
        requirement = Requirement(text)
        seen = {**environment(python), "extra": ""}
        if requirement.marker and not requirement.marker.evaluate(seen):
            continue
        version = versions.get(canonicalize_name(requirement.name))
        if version is None or not requirement.specifier.contains(version, prereleases=True):
            missing.append(text)
    return missing


def wanted() -> list[str]:
    project = PROJECT["project"]
    extras = project["optional-dependencies"]
    return [*project["dependencies"], *(line for name in EXTRAS for line in extras[name])]


@pytest.mark.parametrize("name", ["requirements.txt", "build.txt"])
def test_every_file_has_a_digest_and_no_address(name: str) -> None:
    found = entries(name)
    assert len(found) > 3
    for requirement, hashes in found:
        assert requirement.url is None
        assert hashes, requirement.name
        assert all(re.fullmatch(r"sha256:[0-9a-f]{64}", text) for text in hashes)
    assert "://" not in (LOCK / name).read_text()


@pytest.mark.parametrize("python", PYTHONS)
def test_the_lock_fits_the_dependencies(python: str) -> None:
    assert unmet(wanted(), locked(["requirements.txt"], python), python) == []
    both = locked(["requirements.txt", "build.txt"], python)
    assert unmet(PROJECT["build-system"]["requires"], both, python) == []


def test_a_dependency_that_is_not_locked_is_found() -> None:
    versions = dict(locked(["requirements.txt"], "3.11"))
    del versions["pydantic"]
    versions["boto3"] = "1.0"
    assert [Requirement(text).name for text in unmet(wanted(), versions, "3.11")] == [
        "pydantic",
        "boto3",
    ]


def test_dependencies_of_locked_packages_are_locked() -> None:
    """As far as the packages that are installed here are those that are locked."""
    python = ".".join(default_environment()["python_full_version"].split(".")[:2])
    versions = locked(["requirements.txt", "build.txt"], python)
    compared = set()
    for name, version in versions.items():
        try:
            here = importlib.metadata.distribution(name)
        except importlib.metadata.PackageNotFoundError:
            continue
        if here.version == version:
            compared.add(name)
            assert unmet(here.requires or (), versions, python) == [], name
    assert "jinja2" in compared
