"""Tags that a run is limited to: a mistyped one ran nothing and counted every host as done."""

from __future__ import annotations

from pathlib import Path

import pytest

from rackwright.ansible_runs.tags import (
    changes_nothing,
    is_everything,
    known_tags,
    parse_tags,
)
from rackwright.cli import main
from rackwright.errors import UsageError
from rackwright.render.blueprints import find_template, write_blueprint

STEPS = {"preflight", "install", "configure", "run", "verify"}


def test_the_tags_are_those_of_the_playbook_and_its_roles() -> None:
    assert known_tags() == STEPS | {"always"}


@pytest.mark.parametrize(
    ("text", "tag", "hint"),
    [
        ("verfy", "verfy", "did you mean 'verify'? there are: always, configure, install,"),
        ("configure,Verify", "Verify", "did you mean 'verify'?"),
        ("munge", "munge", "there are: always, configure"),
        ("", "", "there are: always"),
        ("run,", "", "there are: always"),
        ("never", "never", "there are: always"),
        ("untagged", "untagged", "there are: always"),
        ("run verify", "run verify", "did you mean 'verify'?"),
    ],
)
def test_a_tag_that_no_task_has_is_refused(text: str, tag: str, hint: str) -> None:
    with pytest.raises(UsageError, match=f"no task has the tag '{tag}' of --tags") as refused:
        parse_tags(text)
    assert (refused.value.hint or "").startswith(hint)


def test_tags_are_taken_with_spaces_between_them() -> None:
    assert parse_tags("install, run") == ("install", "run")
    assert parse_tags(None) == ()
    assert parse_tags("all") == ("all",)


def test_just_a_run_without_tags_or_with_all_is_everything() -> None:
    assert is_everything(())
    assert is_everything(("verify", "all"))
    assert not is_everything(("configure",))
    assert not is_everything(tuple(sorted(STEPS)))


def test_tags_that_only_look_are_known() -> None:
    assert changes_nothing(("always",))
    assert not changes_nothing(("preflight", "run"))
    assert not changes_nothing(())


@pytest.mark.parametrize("more", [(), ("--retry",), ("--limit", "gpu-1"), ("--waves", "rack")])
def test_a_mistyped_tag_ends_the_command_before_it_looks_at_hosts(
    more: tuple[str, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("RACKWRIGHT_STATE", str(tmp_path / "state"))
    write_blueprint(find_template("lab"), tmp_path, {})
    blueprint = str(tmp_path / "blueprint.yaml")
    assert main(["configure", blueprint, "--tags", "verfy", *more]) == 2
    assert "did you mean 'verify'?" in capsys.readouterr().err
    assert not (tmp_path / "state").exists()
