"""Asking the hosts, and draining those that fail, through ansible-runner."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rackwright.accept.expected import HostExpectations
from rackwright.ansible_runs.events import Tally
from rackwright.ansible_runs.hosts import AnsibleHosts, failure_of
from rackwright.ansible_runs.run import last_words
from rackwright.errors import ExternalToolError

FACTS = "rackwright.facts/v1"
VERIFY = "verify.yml"


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
    """Return the facts in the output of a collector; None for the output of anything else."""
    if not isinstance(text, str) or FACTS not in text:
        return None
    try:
        told = json.loads(text)
    except ValueError:
        return None
    return told if isinstance(told, dict) and told.get("schema") == FACTS else None


def collect(
    hosts: AnsibleHosts, expected: Sequence[HostExpectations], *, limit: str | None
) -> Answers:
    """Collect the facts of the hosts, which are only read.

    Raises:
        ExternalToolError: Ansible itself failed, so that nothing is known of the hosts.
    """
    answers = Answers()
    asked = {host.name: {"acceptance_request": host.request} for host in expected}
    done = hosts.play(VERIFY, answers.take, asked={"all": {"hosts": asked}}, limit=limit)
    if not answers.tally.hosts:
        raise ExternalToolError(
            f"ansible-playbook ended with {done.rc}: {last_words(done.stdout.read())}",
            hint=f"all of its output: {done.config.artifact_dir}/stdout",
        )
    return answers


def drain(hosts: AnsibleHosts, controller: str, nodes: Mapping[str, str]) -> None:
    """Drain ``nodes`` in Slurm, each with its reason; drained ones keep the reason they have.

    Raises:
        ExternalToolError: the controller does not do it.
    """
    tally = Tally()
    asked = [{"name": name, "reason": reason} for name, reason in sorted(nodes.items())]
    variables = {"drain_controller": controller, "drain_nodes": asked}
    done = hosts.play("drain.yml", tally.take, variables=variables)
    if (why := failure_of(done, tally)) is not None:
        raise ExternalToolError(
            f"the failing nodes are not drained: {why}",
            hint=f"drain them by hand on '{controller}': scontrol update NodeName=… State=DRAIN",
        )
