"""Steps of an upgrade on the hosts of a wave: packages, reboot, configuration, and the way back."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rackwright.accept.expected import HostExpectations
from rackwright.ansible_runs.events import HostResult
from rackwright.ansible_runs.run import PLAYBOOKS
from rackwright.harmless import counted
from rackwright.nodelife.slurm_nodes import NodesSeen, NodeUpdate
from rackwright.rollout.executor import AnsibleExecutor

REBOOT = PLAYBOOKS / "reboot.yml"
SLURM_UPGRADE = PLAYBOOKS / "slurm_upgrade.yml"
PACKAGES = ("install", "configure")
"""Steps by which a host gets the new packages; that the new version runs is only seen afterwards."""
NOTHING = "no task ran on it"


@dataclass(frozen=True)
class UpgradeSide:
    """The versions that hosts are brought to, from one of two plans.

    Attributes:
        expected: what each host must have.
        prepare: writes what Ansible is given, from that plan.
        slurm: version of Slurm on the hosts whose version changes.
        restore: the versions are those before, whose database and state take the place of what
            newer daemons have made of them.
    """

    expected: Mapping[str, HostExpectations]
    prepare: Callable[[], None]
    slurm: Mapping[str, str] = field(default_factory=dict)
    restore: bool = False


@dataclass
class UpgradeExecutor:
    """Does the work of an upgrade.

    Attributes:
        ansible: runs playbooks.
        after: what hosts are brought to.
        before: what they are brought back to.
        components: those that change, by host.
        reboots: hosts that have to be rebooted.
        nodes: names in Slurm of the hosts that run jobs.
        versions: of the components that change, before the upgrade and as last seen, by host.
    """

    ansible: AnsibleExecutor
    after: UpgradeSide
    before: UpgradeSide
    components: Mapping[str, Collection[str]]
    reboots: Collection[str]
    nodes: Mapping[str, str]
    say: Callable[[str], None]
    versions: dict[str, dict[str, list[str | None]]] = field(default_factory=dict)

    def update(self, nodes: Collection[str], updates: Sequence[NodeUpdate]) -> NodesSeen:
        """Update nodes in Slurm; how they are before and after.

        Raises:
            ExternalToolError: no controller does it.
        """
        return self.ansible.update(nodes, updates)

    def change(self, hosts: Sequence[str], tags: Sequence[str]) -> Mapping[str, str]:
        """Bring hosts to the new versions; those that did not get there, with the reason.

        Raises:
            ExternalToolError: Ansible itself failed, so that nothing is known of the hosts.
        """
        self._look(hosts)
        return self._bring(self.after, hosts)

    def accept(self, hosts: Sequence[str]) -> Mapping[str, str]:
        """Compare hosts with the blueprint; those that do not pass, with the reason."""
        failed = self.ansible.accept(hosts)
        self._tell(hosts)
        return failed

    def undo(self, hosts: Sequence[str]) -> Mapping[str, str]:
        """Bring hosts back to the versions before; those that did not get there, with the reason."""
        failed = dict(self._bring(self.before, hosts))
        if through := [host for host in hosts if host not in failed]:
            self.ansible.expected = self.before.expected
            failed |= self.ansible.accept(through)
            self._tell(through)
        self._use(self.after)
        return failed

    def _use(self, side: UpgradeSide) -> None:
        side.prepare()
        self.ansible.expected = side.expected

    def _bring(self, side: UpgradeSide, hosts: Sequence[str]) -> Mapping[str, str]:
        self._use(side)
        failed = dict(self._exchange_slurm(side, [host for host in hosts if host in side.slurm]))
        if restarting := [h for h in hosts if h in self.reboots and h not in failed]:
            failed |= self._install(restarting)
            failed |= self._reboot([host for host in restarting if host not in failed])
        if through := [host for host in hosts if host not in failed]:
            failed |= self.ansible.change(through, ())
        return failed

    def _install(self, hosts: Sequence[str]) -> Mapping[str, str]:
        return self.ansible.change(hosts, PACKAGES)

    def _reboot(self, hosts: Sequence[str]) -> Mapping[str, str]:
        """Reboot hosts that no job is on; those that did not come back as another boot."""
        failed = dict(self._in_use(hosts))
        ready = [host for host in hosts if host not in failed]
        if not ready:
            return failed
        self.say(f"rebooting {counted(len(ready), 'host')}")
        return failed | self._play(REBOOT, ready)

    def _in_use(self, hosts: Sequence[str]) -> Mapping[str, str]:
        """Return the hosts that must not be rebooted: who drained them may have changed his mind."""
        nodes = {self.nodes[host]: host for host in hosts if host in self.nodes}
        if not nodes:
            return {}
        seen = self.ansible.update(tuple(nodes), ())
        return {
            host: f"it is {state.state} in Slurm, so it is not rebooted"
            for node, host in nodes.items()
            if (state := seen.after.get(node)) is not None and state.in_service
        }

    def _exchange_slurm(self, side: UpgradeSide, hosts: Sequence[str]) -> Mapping[str, str]:
        """Exchange the packages of Slurm; hosts on which they are not, with the reason."""
        if not hosts:
            return {}
        self.say(
            f"Slurm {', '.join(sorted({side.slurm[host] for host in hosts}))} on {counted(len(hosts), 'host')}"
        )
        told = {
            host: {
                "slurm_upgrade_version": side.slurm[host],
                "slurm_upgrade_restore": side.restore,
            }
            for host in hosts
        }
        asked = self.ansible.hosts.ask("upgrade", {"all": {"hosts": told}})
        return self._play(SLURM_UPGRADE, hosts, asked)

    def _play(self, playbook: Path, hosts: Sequence[str], *asked: Path) -> dict[str, str]:
        """Run a playbook; the hosts on which it failed, with the reason."""
        tally = self.ansible.run(hosts, playbook, asked=asked)
        results = {host: tally.hosts.get(host, HostResult(failure=NOTHING)) for host in hosts}
        return {h: result.failure for h, result in results.items() if result.failure is not None}

    def _look(self, hosts: Sequence[str]) -> None:
        """Ask for the versions that the hosts have before anything is changed, once."""
        unseen = [host for host in hosts if host not in self.versions]
        if not unseen:
            return
        for host, found in self.ansible.ask_versions(unseen).items():
            self.versions[host] = {
                name: [found.get(name)] for name in self.components.get(host, ())
            }

    def _tell(self, hosts: Sequence[str]) -> None:
        """Say, and keep, which versions the hosts had and have."""
        for host in hosts:
            found = self.ansible.versions.get(host, {})
            for name, seen in self.versions.get(host, {}).items():
                now = found.get(name)
                seen[1:] = [now]
                self.say(f"{host}: {name} {seen[0] or 'unknown'} → {now or 'unknown'}")
