"""Steps of a change in waves on the hosts, by Ansible."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from rackwright import __version__
from rackwright.accept.compare import HostAcceptance, ItemOutcome, compare
from rackwright.accept.expected import Comparing, HostExpectations
from rackwright.accept.run import Answers, collect
from rackwright.ansible_runs.events import HostResult, Tally, unfinished
from rackwright.ansible_runs.files import Workspace
from rackwright.ansible_runs.hosts import AnsibleHosts
from rackwright.ansible_runs.observer import Lines
from rackwright.ansible_runs.run import (
    PLAYBOOK,
    PLAYBOOKS,
    Options,
    ansible_environment,
    read_quarantine,
    remember,
    run_playbook,
)
from rackwright.ansible_runs.tags import is_everything
from rackwright.errors import UsageError
from rackwright.inventory.inventory import Inventory
from rackwright.nodelife.repair.access import SlurmByAnsible
from rackwright.nodelife.slurm_nodes import NodesSeen, NodeUpdate
from rackwright.rollout.journal import RolloutProgress

REACH = PLAYBOOKS / "reach.yml"


@dataclass
class AnsibleExecutor:
    """Does the work of a change.

    Attributes:
        controllers: hosts of the inventory on which Slurm is told things; the first that does it.
        expected: what each host must have.
        changed: tasks that have changed something, by host.
        versions: of software on the hosts that were asked last, by host and component.
    """

    hosts: AnsibleHosts
    controllers: Sequence[str]
    expected: Mapping[str, HostExpectations]
    changed: dict[str, list[str]] = field(default_factory=dict)
    versions: dict[str, Mapping[str, str | None]] = field(default_factory=dict)

    def update(self, nodes: Collection[str], updates: Sequence[NodeUpdate]) -> NodesSeen:
        """Update nodes in Slurm; how they are before and after.

        Raises:
            ExternalToolError: no controller does it.
        """
        return SlurmByAnsible(self.hosts, self.controllers).update(nodes, updates)

    def change(self, hosts: Sequence[str], tags: Sequence[str]) -> Mapping[str, str]:
        """Configure hosts; those that did not get to the end, with the reason.

        Raises:
            ExternalToolError: Ansible itself failed, so that nothing is known of the hosts.
        """
        tally = self.run(hosts, tags=tags)
        for host, result in tally.hosts.items():
            self.changed.setdefault(host, []).extend(result.changed)
        return unfinished(tally, hosts)

    def reach(self, hosts: Sequence[str]) -> Mapping[str, str]:
        """Wait until hosts can be logged in to; those that cannot, with the reason."""
        tally = self.run(hosts, REACH)
        return {
            host: result.failure if result is not None and result.failure else "it was not asked"
            for host in hosts
            if (result := tally.hosts.get(host)) is None or result.failure is not None
        }

    def accept(self, hosts: Sequence[str]) -> Mapping[str, str]:
        """Compare hosts with the blueprint; those that do not pass, with the reason.

        Whether Slurm gives a node jobs is left out: it is drained.
        """
        judged = self._judged(hosts)
        answers = self._ask(judged)
        accepted = compare(judged, answers.facts, answers.unreachable)
        return {host.name: why for host in accepted.hosts if (why := verdict(host)) is not None}

    def ask_versions(self, hosts: Sequence[str]) -> Mapping[str, Mapping[str, str | None]]:
        """Return the versions of software on hosts, by component; hosts that do not answer are absent."""
        self._ask(self._judged(hosts))
        return {host: self.versions[host] for host in hosts if host in self.versions}

    def _judged(self, hosts: Sequence[str]) -> list[HostExpectations]:
        """Return the expectations of drained hosts."""
        return [
            replace(
                self.expected[host],
                items=tuple(
                    i for i in self.expected[host].items if i.rule is not Comparing.SCHEDULABLE
                ),
            )
            for host in hosts
        ]

    def run(
        self,
        hosts: Sequence[str],
        playbook: Path = PLAYBOOK,
        *,
        tags: Sequence[str] = (),
        asked: Sequence[Path] = (),
        check: bool = False,
        say: Callable[[str], None] = lambda _: None,
    ) -> Tally:
        """Run a playbook on hosts and return its results.

        Args:
            hosts: names in the inventory.
            playbook: which of them.
            tags: steps that it is limited to.
            asked: more inventories, with what the hosts are asked.
            check: change nothing, tell what would change.
            say: takes each line that is worth showing.
        """
        options = Options(
            limit=",".join(hosts),
            check=check,
            forks=self.hosts.forks,
            max_failures=100,  # each host by itself: how many may fail is judged afterwards
            tags=tuple(tags),
            inventories=(*asked, *self.hosts.inventories),
        )
        return run_playbook(self.hosts.place, options, Lines(say), playbook)

    def _ask(self, expected: Sequence[HostExpectations]) -> Answers:
        """Return the facts of the hosts, and keep their ``versions``."""
        for host in expected:
            self.versions.pop(host.name, None)
        quiet = replace(self.hosts, say=lambda _: None)
        answers = collect(quiet, expected, limit=",".join(host.name for host in expected))
        for name, facts in answers.facts.items():
            self.versions[name] = facts.get("versions") or {}
        return answers


def verdict(host: HostAcceptance) -> str | None:
    """Return the reason why a host is not accepted; None if it is.

    What nobody has said is not known before the change either, and keeps no host out of service;
    what the host does not tell does.
    """
    if failures := host.failures:
        return "; ".join(item.reason or item.item for item in failures)
    unknown = [
        f"{item.item}: {item.reason}"
        for item in host.items
        if item.outcome is ItemOutcome.UNKNOWN and item.expected is not None
    ]
    return f"unknown {'; '.join(unknown)}" if unknown else None


def quarantine(
    place: Workspace, progress: RolloutProgress, before: Mapping[str, str]
) -> Mapping[str, str]:
    """Return all hosts in quarantine, after what the change has found.

    A change that is limited to some steps takes out just the hosts that it has put there itself.

    Args:
        place: where the quarantine is kept.
        progress: how far the change has come.
        before: hosts that had failed when it was begun or gone on with, with the reason.
    """
    results = {host: HostResult() for host in progress.done}
    results |= {host: HostResult(failure=why) for host, why in progress.failed.items()}
    if is_everything(progress.tags):
        return remember(place, Tally(results), whole=False)
    own = {host for host, _ in before.items() & read_quarantine(place).items()}
    mine = {host: result for host, result in results.items() if host in own}
    others = {host: result for host, result in results.items() if host not in own}
    remember(place, Tally(mine), whole=False)
    return remember(place, Tally(others), whole=False, part=True)


def digest(
    place: Workspace, inventory: Inventory, tags: Sequence[str], more: Sequence[Path]
) -> str:
    """Return a digest of the hosts' configuration, so that half a change is not continued as another."""
    found = hashlib.sha256(json.dumps([__version__, inventory, list(tags)]).encode())
    files = sorted(place.slurm.iterdir()) if place.slurm.is_dir() else []
    for path in (*files, *(path for path in more if path.is_file())):
        found.update(b"\0" + path.name.encode() + b"\0" + path.read_bytes())
    return found.hexdigest()


def hosts_matching(place: Workspace, pattern: str, inventories: Sequence[Path]) -> frozenset[str]:
    """Return the hosts that a pattern of Ansible stands for.

    Raises:
        UsageError: there are none.
    """
    sources = [part for path in (place.inventory, *inventories) for part in ("-i", str(path))]
    environment = dict(ansible_environment())
    program = shutil.which("ansible", path=environment["PATH"]) or "ansible"
    done = subprocess.run(
        [program, "all", "--list-hosts", "--limit", pattern, *sources],
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    hosts = frozenset(line.strip() for line in done.stdout.splitlines() if line.startswith("    "))
    if not hosts:
        raise UsageError(f"'{pattern}' is none of the hosts", hint="'rackwright inventory --graph' lists them")  # fmt: skip
    return hosts
