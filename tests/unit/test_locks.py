"""Locks: one process at a time."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from rackwright.errors import ExternalToolError
from rackwright.locks import exclusive


def test_a_second_holder_is_refused_with_the_first_ones_pid(tmp_path: Path) -> None:
    with (
        exclusive(tmp_path / "lock", what="stack 'x'"),
        pytest.raises(ExternalToolError, match=f"process {os.getpid()}"),
        exclusive(tmp_path / "lock", what="stack 'x'"),
    ):
        pass
    with exclusive(tmp_path / "lock", what="stack 'x'"):
        pass
