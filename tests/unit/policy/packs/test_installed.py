"""Packs that are installed as Python packages: found by name and version, run by nothing else."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from rackwright.errors import SpecErrors
from rackwright.policy.authoring.scaffold import new_policy
from rackwright.policy.packs.loader import load_packs
from rackwright.policy.packs.team_config import packs_for
from rackwright.team.digest import folder_digest

POINTS = "[rackwright.packs]\nacme = acme_policies\n"
PINNED = "{package: Acme-Policies, version: 1.4.2}"


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of installed packages with one that brings a pack."""
    site = tmp_path / "site"
    new_policy(site / "acme_policies", "own/ACME-001", "A rule")
    (site / "acme_policies" / "__init__.py").write_text("raise SystemExit('this was run')\n")
    info = site / "acme_policies-1.4.2.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-policies\nVersion: 1.4.2\n")
    (info / "entry_points.txt").write_text(POINTS)
    monkeypatch.syspath_prepend(str(site))
    return site


def listed(tmp_path: Path, *packs: str) -> tuple[Path, ...]:
    (tmp_path / "rackwright.yaml").write_text(f"packs: [{', '.join(packs)}]\n")
    return packs_for(tmp_path / "blueprint.yaml")


def refusal(tmp_path: Path, *packs: str) -> str:
    with pytest.raises(SpecErrors) as caught:
        listed(tmp_path, *packs)
    return str(caught.value)


def test_an_installed_pack_judges_and_its_package_is_not_run(site: Path, tmp_path: Path) -> None:
    (folder,) = listed(tmp_path, PINNED)
    assert folder == (site / "acme_policies").resolve()
    assert "ACME-001" in {policy.id for policy in load_packs((folder,))}
    assert "acme_policies" not in sys.modules
    assert packs_for(tmp_path / "blueprint.yaml", isolated=True) == ()
    digest = folder_digest(folder)
    assert listed(tmp_path, f"{{package: acme-policies, version: 1.4.2, digest: '{digest}'}}")


@pytest.mark.parametrize(
    ("pack", "message"),
    [
        ("{package: nobodys-policies, version: 1.0}", "packs.0.version: "),
        ("{package: nobodys-policies, version: 1.0.0}", "'nobodys-policies' is not installed"),
        ("{package: acme-policies, version: 1.4.1}", "in version '1.4.2', not '1.4.1'"),
        ("{package: acme-policies}", "a 'package' has a 'version'"),
        ("{path: policies, version: 1.4.2}", "a 'package' has a 'version'"),
        ("{path: policies, package: acme-policies, version: 1.4.2}", "a 'path' or a 'package'"),
        ("{}", "a 'path' or a 'package'"),
        (f"{PINNED}, {PINNED}", "'Acme-Policies' is listed twice"),
        (
            f"{{package: acme-policies, version: 1.4.2, digest: 'sha256:{'0' * 64}'}}",
            "is not what it is pinned to",
        ),
        (
            f"{{package: acme-policies, version: 1.4.2, revision: {'a' * 40}}}",
            "a 'version' and no 'revision'",
        ),
        ("{package: ../acme, version: 1.4.2}", "has '/': only"),
    ],
)
def test_what_is_no_pack_of_a_package(site: Path, tmp_path: Path, pack: str, message: str) -> None:
    assert message in refusal(tmp_path, pack)


@pytest.mark.parametrize(
    ("points", "message"),
    [
        ("", "brings no 'rackwright.packs'"),
        (POINTS + "more = acme_policies\n", "brings no 'rackwright.packs'"),
        (POINTS.replace("acme_policies", "acme_policies.own"), "brings no 'rackwright.packs'"),
        (POINTS.replace("acme_policies", "elsewhere"), "has no folder 'elsewhere'"),
    ],
)
def test_a_package_names_one_folder(site: Path, tmp_path: Path, points: str, message: str) -> None:
    (site / "acme_policies-1.4.2.dist-info" / "entry_points.txt").write_text(points)
    assert message in refusal(tmp_path, PINNED)
