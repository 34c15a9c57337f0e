"""Installed hosts are reached under new keys, and configured as they were reached."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from provisioned_hall import Hall
from rackwright.metal.last_steps import LastSteps
from rackwright.metal.lifecycle import Act
from rackwright.metal.nodes import HostPlan

PROGRAM = """\
import json, sys
from pathlib import Path
words = sys.argv[1:]
inventories = [Path(b) for a, b in zip(words, words[1:]) if a == "--inventory"]
told = {"words": words, "first": json.loads(inventories[0].read_text())}
Path(__file__).with_name("told.json").write_text(json.dumps(told))
sys.stdout.write(Path(__file__).with_name("answer").read_text())
sys.exit(int(Path(__file__).with_name("code").read_text()))
"""
SSH = """\
#!/bin/sh
echo "$(basename "$0") $*" >> "$(dirname "$0")/calls"
case "$*" in *hostname*) printf 'dgx-01\\nSN0001\\n';; esac
"""


@pytest.fixture
def plans(tmp_path: Path) -> list[HostPlan]:
    made = Hall(tmp_path).plans[:2]
    return [
        replace(plan, address=f"10.20.0.{number}", domain="sjc1.example.com")
        for number, plan in enumerate(made, 10)
    ]


def steps(folder: Path, answer: Any = "", code: int = 0) -> LastSteps:
    """Return the steps with a program that answers for ``rackwright``."""
    (folder / "program.py").write_text(PROGRAM)
    (folder / "answer").write_text(answer if isinstance(answer, str) else json.dumps(answer))
    (folder / "code").write_text(str(code))
    return LastSteps(
        "ubuntu",
        Path("blueprint.yaml"),
        gate=("--isolated",),
        reach=("--inventory", "team.yml", "--forks", "9"),
        command=(sys.executable, str(folder / "program.py")),
    )


def told(folder: Path) -> Any:
    return json.loads((folder / "told.json").read_text())


def test_hosts_are_configured_by_their_address_as_their_user_and_a_team_s_inventory_wins(
    plans: list[HostPlan], tmp_path: Path
) -> None:
    ended = steps(tmp_path, {"hosts": {}})(Act.CONFIGURE, plans)
    assert {host: one.reason for host, one in ended.items()} == {"dgx-01": None, "dgx-02": None}
    words = told(tmp_path)["words"]
    assert words[:5] == ["configure", "blueprint.yaml", "--json", "--limit", "dgx-01,dgx-02"]
    assert words[5:7] == ["--isolated", "--inventory"]
    assert words[8:] == ["--inventory", "team.yml", "--forks", "9"]
    assert told(tmp_path)["first"]["all"]["hosts"]["dgx-01"] == {
        "ansible_host": "10.20.0.10",
        "ansible_user": "ubuntu",
    }


def test_verify_takes_no_gate(plans: list[HostPlan], tmp_path: Path) -> None:
    steps(tmp_path, {"hosts": {}})(Act.ACCEPT, plans)
    assert told(tmp_path)["words"][0] == "verify"
    assert "--isolated" not in told(tmp_path)["words"]


def test_each_host_ends_with_its_own_reason_from_one_run(
    plans: list[HostPlan], tmp_path: Path
) -> None:
    answer = {"hosts": {"dgx-01": {"failure": None}, "dgx-02": {"failure": "no package\nslurmd"}}}
    ended = steps(tmp_path, answer, 4)(Act.CONFIGURE, plans)
    assert {host: one.reason for host, one in ended.items()} == {
        "dgx-01": None,
        "dgx-02": "no package slurmd",
    }


def test_acceptance_names_what_a_host_lacks(plans: list[HostPlan], tmp_path: Path) -> None:
    good = {"item": "Slurm state", "outcome": "pass"}
    bad = [
        {"item": "accelerators", "outcome": "fail", "reason": "7 of 8 GPUs"},
        {"item": "kernel", "outcome": "unknown", "reason": ""},
    ]
    answer = {"hosts": {"dgx-01": {"items": [good]}, "dgx-02": {"items": [good, *bad]}}}
    ended = steps(tmp_path, answer, 5)(Act.ACCEPT, plans)
    assert ended["dgx-01"].reason is None
    assert ended["dgx-02"].reason == "7 of 8 GPUs; kernel"


@pytest.mark.parametrize("answer", ["", "no JSON", {"hosts": {"dgx-01": {"failure": None}}}])
def test_host_of_which_nothing_is_told_has_failed(
    answer: Any, plans: list[HostPlan], tmp_path: Path
) -> None:
    ended = steps(tmp_path, answer, 2)(Act.CONFIGURE, plans)
    assert ended["dgx-02"].reason == "'configure' ended with exit code 2"


def test_key_of_the_system_before_is_forgotten_and_the_new_one_is_known_by_each_name(
    plans: list[HostPlan], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("ssh", "ssh-keygen"):
        (tmp_path / name).write_text(SSH)
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    ended = steps(tmp_path)(Act.REACH, plans[:1])
    assert ended["dgx-01"].reason is None
    calls = (tmp_path / "calls").read_text().splitlines()
    names = ("10.20.0.10", "dgx-01", "dgx-01.sjc1.example.com")
    assert calls[:3] == [f"ssh-keygen -R {name}" for name in names]
    logins = [call for call in calls if call.startswith("ssh ")]
    assert all("StrictHostKeyChecking=accept-new" in call for call in logins)
    assert [f"HostKeyAlias={name}" in call for call, name in zip(logins[1:], names[1:], strict=True)] == [True, True]  # fmt: skip
