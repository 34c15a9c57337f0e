"""Files of SkyPilot's users, and what a blueprint with SkyPilot gives its hosts."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from rackwright.errors import SpecErrors
from rackwright.inventory.inventory import build_inventory
from rackwright.plan.load import load_data
from rackwright.plan.model import Plan
from rackwright.policy.packs.loader import builtin_pack
from rackwright.render.generated import generate

UV = {"version": "0.9.8", "checksums": ["sha256:" + 64 * "a"]}
LOGIN = {"name": "login", "role": "login", "type": "cpu-2u", "count": 2, "racks": "n[01-02]", "per_rack": 1,
         "start_unit": 30}  # fmt: skip


def plan_of(skypilot: dict[str, Any] | None, **scheduler: Any) -> Plan:
    """The plan of the fixture with one cluster."""
    made = yaml.safe_load((builtin_pack() / "fixtures/slurm.yaml").read_text())
    made["scheduler"] |= scheduler
    if skypilot is not None:
        made["scheduler"]["skypilot"] = skypilot
    return load_data(made).plan


def test_files_of_one_cluster_are_rendered_if_skypilot_is_used() -> None:
    files = generate(plan_of({}))
    block = "Host atlas\n    HostName head-1\n    User ${USER}\n"
    assert files["skypilot/slurm-config"].endswith(block)
    config = yaml.safe_load(files["skypilot/config.yaml"])["slurm"]
    assert config["allowed_clusters"] == ["atlas"]
    assert config["cluster_configs"] == {"atlas": {"gpu_partition_map": {"H100": ["gpu"]}}}
    assert not [name for name in generate(plan_of(None)) if "skypilot" in name]


def test_users_reach_the_first_login_host() -> None:
    made = yaml.safe_load((builtin_pack() / "fixtures/slurm.yaml").read_text())
    made["scheduler"]["skypilot"] = {}
    made["sites"][0]["node_groups"].append({**LOGIN, "start_unit": "30 U"})
    assert "HostName login-1\n" in generate(load_data(made).plan)["skypilot/slurm-config"]


@pytest.mark.parametrize(
    ("skypilot", "named", "variable"),
    [
        (None, False, None),
        ({}, False, ""),
        ({"wheels": "/srv/wheels", "uv": UV}, True, "/srv/wheels"),
    ],
)
def test_the_task_prolog_is_named_where_wheels_are(
    skypilot: dict[str, Any] | None, named: bool, variable: str | None
) -> None:
    plan = plan_of(skypilot)
    line = "TaskProlog=/usr/local/lib/rackwright-skypilot/task-prolog\n"
    assert (line in generate(plan)["slurm/slurm.conf"]) == named
    variables = build_inventory(plan)["slurm_hosts"].get("vars", {})
    assert variables.get("skypilot_wheels") == variable
    pinned = (variables.get("skypilot_uv_version"), variables.get("skypilot_uv_checksums"))
    assert pinned == (("0.9.8", UV["checksums"]) if named else (None, None))


@pytest.mark.parametrize("skypilot", [{"wheels": "/srv/wheels"}, {"uv": UV}])
def test_wheels_without_a_pinned_uv_are_refused(skypilot: dict[str, Any]) -> None:
    with pytest.raises(SpecErrors, match=r"'wheels' and 'uv' of 'skypilot' need each other"):
        plan_of(skypilot)


def test_the_advised_command_keeps_what_the_user_has(tmp_path: Path) -> None:
    """Append to the user's file, whose folder may be missing, with the login name of the cluster."""
    text = generate(plan_of({}))["skypilot/slurm-config"]
    assert "USER=LOGIN envsubst '$USER' < slurm-config >> ~/.slurm/config" in text
    assert "mkdir -p ~/.slurm" in text
    assert "Merge" in generate(plan_of({}))["skypilot/config.yaml"]
    lines = [line.removeprefix("#   ") for line in text.splitlines() if line.startswith("#   ")]
    if shutil.which("envsubst") is None:
        pytest.skip("no envsubst here")
    (tmp_path / "slurm-config").write_text(text)
    command = "\n".join(lines).replace("LOGIN", "ada")
    for _ in range(2):
        subprocess.run(
            ["sh", "-ec", command],
            cwd=tmp_path,
            env={**os.environ, "HOME": str(tmp_path)},
            check=True,
        )
    made = (tmp_path / ".slurm/config").read_text()
    assert made.count("Host atlas\n    HostName head-1\n    User ada\n") == 2


def test_a_task_prolog_of_the_team_is_refused_beside_wheels() -> None:
    own = {"TaskProlog": "/opt/task-prolog"}
    assert "TaskProlog=/opt/task-prolog" in generate(plan_of({}, extra=own))["slurm/slurm.conf"]
    with pytest.raises(SpecErrors, match=r"follows from 'skypilot.wheels': keep one"):
        plan_of({"wheels": "/srv/wheels", "uv": UV}, extra=own)
