"""Saved plans: sealed, and refused when anything differs."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
import yaml

from rackwright.errors import UsageError
from rackwright.provision import saved_plans

BLUEPRINT = saved_plans.digest({"name": "atlas", "sites": [1, 2.5, None]})


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    folder = tmp_path / "plan"
    saved_plans.prepare(folder)
    (folder / "aws-network.json").write_text("{}")
    saved_plans.seal(folder, stack="atlas-use1", blueprint=BLUEPRINT)
    return folder


def test_sealed_plan_is_accepted(saved: Path) -> None:
    saved_plans.verify(saved, stack="atlas-use1", blueprint=BLUEPRINT)
    assert saved.stat().st_mode & 0o077 == 0


def test_a_saved_plan_is_for_its_owner_alone(saved: Path, tmp_path: Path) -> None:
    """Who reads it reads names, addresses and settings of the cluster."""
    modes = {path.name: path.stat().st_mode & 0o777 for path in saved.iterdir()}
    assert modes == {"aws-network.json": 0o600, "seal.json": 0o600}
    (tmp_path / "there").mkdir(mode=0o755)
    saved_plans.prepare(tmp_path / "there")
    assert (tmp_path / "there").stat().st_mode & 0o077 == 0


def test_the_order_of_keys_does_not_matter_and_the_order_of_lists_does() -> None:
    assert saved_plans.digest({"a": 1, "b": 2}) == saved_plans.digest({"b": 2, "a": 1})
    assert saved_plans.digest({"a": [1, 2]}) != saved_plans.digest({"a": [2, 1]})


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"stack": "atlas-use2"}, "another site"),
        ({"blueprint": saved_plans.digest({})}, "another blueprint"),
    ],
)
def test_a_plan_of_something_else_is_refused(
    saved: Path, changes: dict[str, str], text: str
) -> None:
    given = {"stack": "atlas-use1", "blueprint": BLUEPRINT} | changes
    with pytest.raises(UsageError, match=text):
        saved_plans.verify(saved, **given)


def test_a_plan_of_another_version_is_refused(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(saved_plans, "__version__", "9.9.9")
    with pytest.raises(UsageError, match="another version of rackwright"):
        saved_plans.verify(saved, stack="atlas-use1", blueprint=BLUEPRINT)


@pytest.mark.parametrize("name", ["aws-network.json", "aws-cluster.json"])
def test_a_changed_and_an_added_plan_are_refused(saved: Path, name: str) -> None:
    (saved / name).write_text('{"x": 1}')
    with pytest.raises(UsageError, match="was changed after it was made"):
        saved_plans.verify(saved, stack="atlas-use1", blueprint=BLUEPRINT)


def test_a_removed_plan_is_refused(saved: Path) -> None:
    (saved / "aws-network.json").unlink()
    with pytest.raises(UsageError, match="was changed after it was made"):
        saved_plans.verify(saved, stack="atlas-use1", blueprint=BLUEPRINT)


@pytest.mark.parametrize("text", [None, "", "[]", "{"])
def test_without_a_seal_there_is_no_plan(saved: Path, text: str | None) -> None:
    (saved / saved_plans.SEAL).unlink()
    if text is not None:
        (saved / saved_plans.SEAL).write_text(text)
    with pytest.raises(UsageError, match="holds no sealed plan"):
        saved_plans.verify(saved, stack="atlas-use1", blueprint=BLUEPRINT)


def test_plans_are_never_mixed(saved: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is not empty"):
        saved_plans.prepare(saved)
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="cannot be written"):
        saved_plans.prepare(tmp_path / "file")


def test_a_saved_plan_dropped_environments_tags_and_the_only_account_that_is_allowed(
    tmp_path: Path,
) -> None:
    """The SDK's record of the settings, read and written, keeps texts alone."""
    kept = {
        "environment": ["platform/aws-prod"],
        "config": {
            "aws:region": "us-east-1",
            "aws:allowedAccountIds": ["111122223333"],
            "aws:defaultTags": {"tags": {"cost-centre": "4711"}},
        },
    }
    stack = cast(
        "Any", SimpleNamespace(name="x", workspace=SimpleNamespace(work_dir=str(tmp_path)))
    )
    file = tmp_path / "Pulumi.x.yaml"
    file.write_text(yaml.safe_dump({**kept, "encryptionsalt": "v1:first"}))
    saved_plans.save_encryption(stack, tmp_path / "saved.json")
    file.write_text(yaml.safe_dump({**kept, "encryptionsalt": "v1:second", "encryptedkey": "AQ"}))
    saved_plans.load_encryption(stack, tmp_path / "saved.json")
    assert yaml.safe_load(file.read_text()) == {**kept, "encryptionsalt": "v1:first"}
