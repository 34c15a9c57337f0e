"""The blueprint of the template ``lab``, and a folder for what is told Ansible of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from rackwright.ansible_runs.files import Workspace, workspace
from rackwright.plan.load import load_plan
from rackwright.plan.model import Plan
from rackwright.render.blueprints import find_template, write_blueprint


@pytest.fixture(scope="session")
def plan(tmp_path_factory: pytest.TempPathFactory) -> Plan:
    folder = tmp_path_factory.mktemp("lab")
    write_blueprint(find_template("lab"), folder, {})
    return load_plan(folder / "blueprint.yaml").plan


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    monkeypatch.setenv("RACKWRIGHT_STATE", str(tmp_path))
    return workspace("bench")
