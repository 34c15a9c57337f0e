"""Asking the hosts, and draining those that fail, through ansible-runner."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rackwright.accept.expected import HostExpectations
from rackwright.ansible_runs.ansible import start
from rackwright.ansible_runs.events import Tally
from rackwright.ansible_runs.files import Workspace
from rackwright.ansible_runs.run import KEPT_RUNS, ansible_environment, last_words
from rackwright.errors import ExternalToolError
from rackwright.files import write_changed
from rackwright.resources import bundled

FACTS = "rackwright.facts/v1"
PLAYBOOKS = Path("baremetal/playbooks")
VERIFY = PLAYBOOKS / "verify.yml"


@dataclass
class Answers:
    """Facts that the hosts returned.

    Attributes:
        facts: of each host whose collector has answered.
        tally: how the run went.
    """

    facts: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    tally: Tally = field(default_factory=Tally)

    def take(self, event: Mapping[str, Any]) -> str | None:
        """Account for one event of ansible-runner; a line worth showing, or None."""
        line = self.tally.take(event)
        if event.get("event") == "runner_on_ok":
            data = event.get("event_data", {})
            result, host = data.get("res") or {}, str(data.get("host", ""))
            if (told := read_facts(result.get("stdout"))) is not None:
                self.facts[host] = told
        return line

    @property
    def unreachable(self) -> Mapping[str, str]:
        """Hosts that have not told anything, with the reason."""
        return {
            name: result.failure
            for name, result in self.tally.hosts.items()
            if result.failure is not None and name not in self.facts
        }


def read_facts(text: object) -> Mapping[str, Any] | None:
    """The facts in the output of a collector; None for the output of anything else."""
    if not isinstance(text, str) or FACTS not in text:
        return None
    try:
        told = json.loads(text)
    except ValueError:
        return None
    return told if isinstance(told, dict) and told.get("schema") == FACTS else None


def collect(
    place: Workspace,
    expected: Sequence[HostExpectations],
    *,
    limit: str | None,
    forks: int,
    inventories: Sequence[Path],
    say: Callable[[str], None],
) -> Answers:
    """Collect the facts of the hosts, which are only read.

    Raises:
        ExternalToolError: Ansible itself failed, so that nothing is known of the hosts.
    """
    answers = Answers()
    requests = write_requests(place, expected)
    done = play(
        place,
        VERIFY.name,
        [place.inventory, requests, *inventories],
        answers.take,
        say,
        forks=forks,
        limit=limit,
    )
    if not answers.tally.hosts:
        raise ExternalToolError(
            f"ansible-playbook ended with {done.rc}: {last_words(done.stdout.read())}",
            hint=f"all of its output: {done.config.artifact_dir}/stdout",
        )
    return answers


def write_requests(place: Workspace, expected: Sequence[HostExpectations]) -> Path:
    """An inventory that says what each host is asked."""
    requests = place.folder / "inventory/acceptance.json"
    hosts = {host.name: {"acceptance_request": host.request} for host in expected}
    write_changed(requests, json.dumps({"all": {"hosts": hosts}}))
    return requests


def drain(
    place: Workspace,
    controller: str,
    nodes: Mapping[str, str],
    *,
    inventories: Sequence[Path],
    say: Callable[[str], None],
) -> None:
    """Drain ``nodes`` in Slurm, each with its reason; drained ones keep the reason they have.

    Raises:
        ExternalToolError: the controller does not do it.
    """
    tally = Tally()
    asked = [{"name": name, "reason": reason} for name, reason in sorted(nodes.items())]
    done = play(
        place,
        "drain.yml",
        [place.inventory, *inventories],
        tally.take,
        say,
        variables={"drain_controller": controller, "drain_nodes": asked},
    )
    if done.rc != 0 or not tally.hosts:
        why = [result.failure for result in tally.hosts.values() if result.failure is not None]
        raise ExternalToolError(
            f"the failing nodes are not drained: {why[0] if why else last_words(done.stdout.read())}",
            hint=f"drain them by hand on '{controller}': scontrol update NodeName=… State=DRAIN",
        )


def play(
    place: Workspace,
    playbook: str,
    inventories: Sequence[Path],
    take: Callable[[Mapping[str, Any]], str | None],
    say: Callable[[str], None],
    *,
    variables: Mapping[str, Any] | None = None,
    forks: int = 5,
    limit: str | None = None,
) -> Any:
    """Run a playbook; its runner. ``take`` gets every event and gives lines for ``say``.

    Raises:
        KeyboardInterrupt: it was interrupted, and has ended by then.
    """
    folder = place.folder / "runner"
    folder.mkdir(exist_ok=True)

    def handle(event: Mapping[str, Any]) -> bool:
        line = take(event)
        if line:
            say(line)
        return True  # keep the event among the artefacts

    return start(
        private_data_dir=str(folder),
        playbook=str(bundled("stacks") / PLAYBOOKS / playbook),
        inventory=[str(path) for path in inventories],
        envvars=ansible_environment(),
        cmdline=f"--forks {forks}",
        extravars=dict(variables or {}),
        limit=limit,
        event_handler=handle,
        quiet=True,
        rotate_artifacts=KEPT_RUNS,
        suppress_env_files=True,
    )
