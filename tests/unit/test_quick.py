"""``make quick`` runs the tests of what was changed."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

import quick
from suites import ROOT


@pytest.mark.parametrize(
    ("name", "tests"),
    [
        ("src/rackwright/locks.py", ["tests/unit/test_locks.py"]),
        ("src/rackwright_lab/embedded_aws/operations.py", ["tests/unit/embedded_aws"]),
        ("src/rackwright_lab/lab.py", ["tests/unit/lab/test_lab.py", "tests/unit/lab"]),
        (
            "src/rackwright/plan/aws/user_data.py",
            ["tests/unit/plan/aws/test_user_data.py", "tests/unit/plan/aws"],
        ),
        ("tests/unit/plan/aws/test_user_data.py", ["tests/unit/plan/aws/test_user_data.py"]),
        ("tests/unit/embedded_aws/clients.py", ["tests/unit/embedded_aws"]),
        ("inventory/catalog/nodes/dgx-h100.yaml", ["tests/unit/catalog"]),
        ("roles/sssd/tasks/run.yml", ["tests/unit/roles/test_sssd.py", "tests/roles"]),
        ("roles/munge/tasks/main.yml", ["tests/roles"]),
        ("policies/power/pwr001_feed_capacity.md", ["tests/policies"]),
        ("docs/aws.md", []),
    ],
)
def test_a_change_is_tested_by_the_tests_of_its_package(name: str, tests: list[str]) -> None:
    assert (ROOT / name).exists(), "the case is about a file that is there"
    assert list(quick.tests_of([name])) == tests


def test_a_folder_within_another_is_tested_once() -> None:
    changed = ["src/rackwright/plan/load.py", "src/rackwright/plan/aws/access.py"]
    tests = quick.tests_of(changed)
    assert "tests/unit/plan" in tests
    assert "tests/unit/plan/aws" not in tests


def test_a_helper_is_tested_by_the_tests_that_use_it() -> None:
    assert "tests/unit/test_suites.py" in quick.tests_of(["tests/suites.py"])


def test_types_are_checked_of_modules_alone() -> None:
    changed = ("docs/aws.md", "tests/quick.py", "stacks/aws-network/__main__.py", ".ci/run")
    assert quick.typed(changed) == ["tests/quick.py"]


def test_changes_of_a_branch_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Committed, not committed and new files; not what the base has changed since."""

    def git(*words: str) -> None:
        command = ["git", "-c", "user.name=a", "-c", "user.email=a@b", *words]
        subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)

    git("init", "-q", "-b", "main")
    for name in ("committed", "edited", "kept", "removed"):
        (tmp_path / name).write_text(name)
    git("add", ".")
    git("commit", "-qm", "one")
    git("checkout", "-qb", "branch")
    (tmp_path / "committed").write_text("2")
    git("commit", "-qam", "two")
    git("checkout", "-q", "main")
    (tmp_path / "kept").write_text("2")
    git("commit", "-qam", "three")
    git("checkout", "-q", "branch")
    (tmp_path / "edited").write_text("2")
    (tmp_path / "new file").write_text("2")
    (tmp_path / "removed").unlink()
    monkeypatch.setattr(quick, "ROOT", tmp_path)
    assert quick.changed_since() == ("committed", "edited", "new file")
    assert quick.changed_since("branch") == ("edited", "new file")
