"""What an upgrade does on hosts, in which order, with Ansible replaced by a list of what it was told.

The hosts of this file load a driver when they boot, as real ones do: what is installed and what runs
are two things.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from rackwright.accept.expected import Comparing, Expectation, HostExpectations
from rackwright.ansible_runs.events import HostResult, Tally
from rackwright.ansible_runs.files import Workspace
from rackwright.ansible_runs.hosts import AnsibleHosts
from rackwright.ansible_runs.run import PLAYBOOK
from rackwright.nodelife.slurm_nodes import NodesSeen, NodeState, NodeUpdate
from rackwright.rollout.executor import AnsibleExecutor
from rackwright.rollout.upgrade_executor import REBOOT, SLURM_UPGRADE, UpgradeExecutor, UpgradeSide

OLD, NEW = "570.124.06", "570.133.20"
REASON = "rackwright: upgrade 1a, wave 1 of 1"


@dataclass
class Hosts(AnsibleExecutor):
    """Hosts with a driver that is installed, and one that was loaded at the last boot.

    Attributes:
        wanted: the version in the inventory that was written last.
        refuses: hosts that do not reboot.
        in_service: nodes that somebody has resumed.
        did: what was done, one line each.
    """

    wanted: str = NEW
    installed: dict[str, str] = field(default_factory=dict)
    loaded: dict[str, str] = field(default_factory=dict)
    refuses: set[str] = field(default_factory=set)
    in_service: set[str] = field(default_factory=set)
    did: list[str] = field(default_factory=list)

    def update(self, nodes: Collection[str], updates: Sequence[NodeUpdate]) -> NodesSeen:
        states = {
            name: NodeState(name, "IDLE" if name in self.in_service else "IDLE+DRAIN", REASON)
            for name in nodes
        }
        return NodesSeen(states, states, ())

    def change(self, hosts: Sequence[str], tags: Sequence[str]) -> Mapping[str, str]:
        self.did.append(f"{self.wanted} {','.join(tags) or 'all'} {','.join(hosts)}")
        self.installed |= dict.fromkeys(hosts, self.wanted)
        return {h: "reboot it" for h in hosts if not tags and self.loaded[h] != self.wanted}

    def run(
        self,
        hosts: Sequence[str],
        playbook: Path = PLAYBOOK,
        *,
        asked: Sequence[Path] = (),
        **_: Any,
    ) -> Tally:
        names = list(hosts)
        if playbook == SLURM_UPGRADE:
            told = json.loads(asked[0].read_text())["all"]["hosts"]
            assert list(told) == names
            for name, wanted in told.items():
                back = " with what was saved" if wanted["slurm_upgrade_restore"] else ""
                self.did.append(f"{name} Slurm {wanted['slurm_upgrade_version']}{back}")
            failed = {n: HostResult(failure="not offered") for n in names if n in self.refuses}
            return Tally(dict.fromkeys(names, HostResult(ok=9)) | failed)
        assert playbook == REBOOT
        self.did.append(f"reboot {','.join(names)}")
        tally = Tally()
        for name in names:
            if name in self.refuses:
                tally.hosts[name] = HostResult(failure="has not been rebooted")
            else:
                tally.hosts[name] = HostResult(ok=4)
                self.loaded[name] = self.installed[name]
        return tally

    def accept(self, hosts: Sequence[str]) -> Mapping[str, str]:
        self.ask_versions(hosts)
        want = {host: self.expected[host].items[0].expected for host in hosts}
        return {h: f"runs {self.loaded[h]}" for h in hosts if self.loaded[h] != want[h]}

    def ask_versions(self, hosts: Sequence[str]) -> Mapping[str, Mapping[str, str | None]]:
        self.versions |= {host: {"driver": self.loaded[host]} for host in hosts}
        return {host: self.versions[host] for host in hosts}


def expected(version: str) -> dict[str, HostExpectations]:
    key = ("versions", "driver")
    item = Expectation("version driver", "version", key, Comparing.VERSION, version)
    names = ("gpu-1", "gpu-2", "login-1")
    return {name: HostExpectations(name, name, ("/dev/nvidia*",), (item,)) for name in names}


def an_upgrade(
    tmp_path: Path, reboots: Collection[str] = ("gpu-1", "gpu-2")
) -> tuple[UpgradeExecutor, Hosts, list[str]]:
    said: list[str] = []
    hosts = Hosts(AnsibleHosts(Workspace(tmp_path)), ("head-1",), {})
    hosts.installed = dict.fromkeys(("gpu-1", "gpu-2", "login-1"), OLD)
    hosts.loaded = dict(hosts.installed)

    def side(version: str) -> UpgradeSide:
        def prepare() -> None:
            hosts.wanted = version

        return UpgradeSide(expected(version), prepare)

    made = UpgradeExecutor(
        hosts,
        side(NEW),
        side(OLD),
        {"gpu-1": ["driver"], "gpu-2": ["driver"]},
        reboots,
        {"gpu-1": "gpu-1", "gpu-2": "gpu-2"},
        said.append,
    )
    return made, hosts, said


def test_hosts_get_the_packages_then_a_reboot_then_all_else(tmp_path: Path) -> None:
    made, hosts, said = an_upgrade(tmp_path)
    assert made.change(["gpu-1", "gpu-2"], ()) == {}
    assert hosts.did == [
        f"{NEW} install,configure gpu-1,gpu-2",
        "reboot gpu-1,gpu-2",
        f"{NEW} all gpu-1,gpu-2",
    ]
    assert made.accept(["gpu-1", "gpu-2"]) == {}
    assert made.versions["gpu-1"] == {"driver": [OLD, NEW]}
    assert said == ["rebooting 2 hosts", f"gpu-1: driver {OLD} → {NEW}", f"gpu-2: driver {OLD} → {NEW}"]  # fmt: skip


def test_without_the_reboot_the_new_driver_is_not_accepted(tmp_path: Path) -> None:
    made, hosts, _ = an_upgrade(tmp_path, reboots=())
    assert made.change(["gpu-1"], ()) == {"gpu-1": "reboot it"}
    assert made.accept(["gpu-1"]) == {"gpu-1": f"runs {OLD}"}
    assert "reboot gpu-1" not in hosts.did


def test_only_hosts_that_need_it_are_rebooted(tmp_path: Path) -> None:
    made, hosts, _ = an_upgrade(tmp_path, reboots=("gpu-1",))
    hosts.loaded["login-1"] = NEW
    assert made.change(["gpu-1", "login-1"], ()) == {}
    assert hosts.did == [f"{NEW} install,configure gpu-1", "reboot gpu-1", f"{NEW} all gpu-1,login-1"]  # fmt: skip


def test_a_node_in_service_is_never_rebooted(tmp_path: Path) -> None:
    made, hosts, _ = an_upgrade(tmp_path)
    hosts.in_service = {"gpu-2"}
    assert made.change(["gpu-1", "gpu-2"], ()) == {
        "gpu-2": "it is IDLE in Slurm, so it is not rebooted"
    }
    assert "reboot gpu-1" in hosts.did
    assert hosts.did[-1] == f"{NEW} all gpu-1"


def test_a_host_that_does_not_reboot_has_failed(tmp_path: Path) -> None:
    made, hosts, _ = an_upgrade(tmp_path)
    hosts.refuses = {"gpu-1"}
    assert made.change(["gpu-1"], ()) == {"gpu-1": "has not been rebooted"}
    assert hosts.did[-1] == "reboot gpu-1", "nothing is configured on it"


def test_the_way_back_has_a_reboot_too_and_leaves_the_new_versions_wanted(tmp_path: Path) -> None:
    made, hosts, said = an_upgrade(tmp_path)
    made.change(["gpu-1"], ())
    made.accept(["gpu-1"])
    hosts.did.clear()
    assert made.undo(["gpu-1"]) == {}
    assert hosts.did == [f"{OLD} install,configure gpu-1", "reboot gpu-1", f"{OLD} all gpu-1"]
    assert hosts.loaded["gpu-1"] == OLD
    assert said[-1] == f"gpu-1: driver {OLD} → {OLD}"
    assert (hosts.wanted, hosts.expected) == (NEW, made.after.expected)


def test_node_that_does_not_return_is_reported(tmp_path: Path) -> None:
    made, hosts, _ = an_upgrade(tmp_path)
    made.change(["gpu-1"], ())
    hosts.refuses = {"gpu-1"}
    assert made.undo(["gpu-1"]) == {"gpu-1": "has not been rebooted"}
    assert hosts.wanted == NEW


def with_slurm(tmp_path: Path) -> tuple[UpgradeExecutor, Hosts]:
    made, hosts, _ = an_upgrade(tmp_path, reboots=())
    (tmp_path / "inventory").mkdir()
    hosts.loaded = dict.fromkeys(hosts.loaded, NEW)
    made.after = replace(made.after, slurm={"gpu-1": "26.05"})
    made.before = replace(made.before, slurm={"gpu-1": "24.11"}, restore=True)
    return made, hosts


def test_slurm_is_exchanged_before_hosts_get_files_for_it(tmp_path: Path) -> None:
    made, hosts = with_slurm(tmp_path)
    assert made.change(["gpu-1", "gpu-2"], ()) == {}
    assert hosts.did == ["gpu-1 Slurm 26.05", f"{NEW} all gpu-1,gpu-2"]


def test_slurm_goes_back_with_what_was_saved(tmp_path: Path) -> None:
    made, hosts = with_slurm(tmp_path)
    hosts.loaded = dict.fromkeys(hosts.loaded, OLD)
    assert made.undo(["gpu-1"]) == {}
    assert hosts.did == ["gpu-1 Slurm 24.11 with what was saved", f"{OLD} all gpu-1"]


def test_a_host_without_the_new_slurm_gets_nothing_else(tmp_path: Path) -> None:
    made, hosts = with_slurm(tmp_path)
    hosts.refuses = {"gpu-1"}
    assert made.change(["gpu-1"], ()) == {"gpu-1": "not offered"}
    assert hosts.did == ["gpu-1 Slurm 26.05"]
