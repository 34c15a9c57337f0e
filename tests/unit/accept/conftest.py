"""A node whose health is judged."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest

from node_support import Node, load_health


@pytest.fixture
def health() -> ModuleType:
    return load_health()


@pytest.fixture
def node(tmp_path: Path, health: ModuleType, monkeypatch: pytest.MonkeyPatch) -> Node:
    return Node(tmp_path, health, monkeypatch)
