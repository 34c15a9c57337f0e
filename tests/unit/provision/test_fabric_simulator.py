from __future__ import annotations

from pathlib import Path

import pytest

from fabric_factories import a_fabric, layout_of
from factories import some_nodes
from rackwright.errors import ExternalToolError
from rackwright.exit_codes import ExitCode
from rackwright.provision.fabric_simulator import route


def test_missing_programs_are_named_with_their_packages(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ExternalToolError) as caught:
        route(layout_of(), "ftree")
    assert caught.value.exit_code is ExitCode.EXTERNAL
    assert caught.value.hint is not None
    assert caught.value.hint.startswith("apt-get install ibsim-utils")


def test_a_fabric_without_hosts_is_not_simulated() -> None:
    groups = [some_nodes("ufm", count=1, type="ufm-ndr")]
    layout = layout_of(a_fabric(attached=[{"group": "ufm"}]), groups=groups)
    with pytest.raises(ExternalToolError, match="no host is cabled"):
        route(layout, "ftree")
