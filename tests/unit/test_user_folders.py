"""Where things of a user are kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from rackwright.files import cache_folder, state_folder


def test_the_environment_says_where(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", "/var/state")
    monkeypatch.setenv("XDG_CACHE_HOME", "/var/cache")
    monkeypatch.delenv("RACKWRIGHT_STATE", raising=False)
    assert state_folder() == Path("/var/state/rackwright")
    assert cache_folder("tools") == Path("/var/cache/rackwright/tools")
    monkeypatch.setenv("RACKWRIGHT_STATE", "here")
    assert state_folder() == Path("here")


@pytest.mark.parametrize("value", [None, "", "relative/path"])
def test_relative_folder_is_ignored(monkeypatch: pytest.MonkeyPatch, value: str | None) -> None:
    monkeypatch.setenv("HOME", "/home/ada")
    monkeypatch.delenv("RACKWRIGHT_STATE", raising=False)
    for name in ("XDG_STATE_HOME", "XDG_CACHE_HOME"):
        if value is None:
            monkeypatch.delenv(name, raising=False)
        else:
            monkeypatch.setenv(name, value)
    assert state_folder() == Path("/home/ada/.local/state/rackwright")
    assert cache_folder("lab") == Path("/home/ada/.cache/rackwright/lab")
