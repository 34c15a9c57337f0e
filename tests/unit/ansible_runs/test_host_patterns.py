"""Host patterns, compared with what Ansible itself makes of them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from rackwright.ansible_runs import host_patterns as patterns
from rackwright.ansible_runs.files import Workspace
from rackwright.ansible_runs.host_patterns import hosts_of
from work import expressions_of, growth, operations_of

GROUPS = {
    "all": ("a-1", "a-2", "a-3", "b-1", "b-2", "höst"),
    "ungrouped": ("höst",),
    "rack-a": ("a-1", "a-2", "a-3"),
    "rack-b": ("b-1", "b-2"),
    "gpu": ("a-1", "b-1"),
}
PATTERNS = (
    "all",
    "*",
    "rack-a",
    "rack-a:rack-b",
    "rack-a,b-1",
    "all:!rack-a",
    "!rack-a",
    "&gpu",
    "rack-*:&gpu",
    "rack-a[0]",
    "rack-a[-1]",
    "rack-a[0:1]",
    "rack-a[1:]:b-2",
    "rack-*[0]",
    "~[ab]-1",
    "a-?",
    "a-[12]*",
    "höst",
    "!gpu:rack-a:rack-b:&rack-b",
)


@pytest.fixture
def place(place: Workspace) -> Workspace:
    children: dict[str, dict[str, dict[str, dict[str, Any]]]] = {
        name: {"hosts": {host: {} for host in hosts}}
        for name, hosts in GROUPS.items()
        if name not in {"all", "ungrouped"}
    }
    place.inventory.parent.mkdir(parents=True)
    hosts = {"hosts": {host: {} for host in GROUPS["all"]}, "children": children}
    place.inventory.write_text(json.dumps({"all": hosts}))
    return place


def test_patterns_are_ansibles(place: Workspace, tmp_path: Path) -> None:
    """All at once: a start of Ansible takes a second."""
    script = tmp_path / "ask.py"
    script.write_text(
        "import json, sys\n"
        "from ansible.inventory.manager import InventoryManager\n"
        "from ansible.parsing.dataloader import DataLoader\n"
        "known = InventoryManager(DataLoader(), [sys.argv[1]])\n"
        "print(json.dumps({p: [h.name for h in known.get_hosts(p)] for p in sys.argv[2:]}))\n"
    )
    done = subprocess.run(
        [sys.executable, str(script), str(place.inventory), *PATTERNS],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "ANSIBLE_HOST_PATTERN_MISMATCH": "ignore"},
    )
    theirs = {pattern: frozenset(hosts) for pattern, hosts in json.loads(done.stdout).items()}
    assert {pattern: hosts_of(pattern, GROUPS) for pattern in PATTERNS} == theirs


def test_twice_as_many_hosts_by_name_are_twice_the_work() -> None:
    """So ``--retry`` and waves name the hosts of a fleet."""

    def limit(count: int) -> None:
        hosts = frozenset(f"gpu-{number:05}" for number in range(count))
        assert hosts_of(",".join(hosts), {"all": hosts, "compute": hosts}) == hosts

    assert growth(limit, 200) < 2.2


def test_a_limit_of_all_hosts_by_name_looks_ahead_from_no_comma() -> None:
    """12,500 names took seconds, and four times as many took sixteen times as long."""
    found = {
        name: {operation for operation, _ in operations_of(expression.pattern)}
        for name, expression in expressions_of(patterns).items()
    }
    assert found.keys() == {"_PART", "_SUBSCRIPT"}
    assert not any({"ASSERT", "ASSERT_NOT"} & operations for operations in found.values())


@pytest.mark.parametrize("pattern", ["", "nobody", "~(", "rack-c[0]", "rack-a[9]", "&nobody"])
def test_unknown_pattern_matches_no_host(pattern: str) -> None:
    assert hosts_of(pattern, GROUPS) == frozenset()
