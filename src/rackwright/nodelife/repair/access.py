"""Ways to Slurm and to nodes: programs of this machine, or Ansible as for waves."""

from __future__ import annotations

import re
import shlex
import subprocess
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from rackwright.ansible_runs.events import Tally
from rackwright.ansible_runs.hosts import AnsibleHosts, failure_of
from rackwright.errors import ExternalToolError
from rackwright.model.names import compress_hostlist
from rackwright.nodelife.slurm_nodes import JOB_FORMAT, NodesSeen, NodeUpdate, read_jobs, read_nodes

COMMAND_S = 120.0


class SlurmAccess(Protocol):
    """Reads and updates nodes and jobs in Slurm; raises ``ExternalToolError`` if Slurm does not do it."""

    def update(
        self, nodes: Collection[str], updates: Sequence[NodeUpdate], commands: Sequence[Sequence[str]] = ()
    ) -> NodesSeen:  # fmt: skip
        """Update nodes, then run arguments of ``scontrol``; nodes before and after, and their jobs."""


@dataclass
class SlurmByAnsible:
    """Slurm on the controllers of an inventory; the first that answers."""

    hosts: AnsibleHosts
    controllers: Sequence[str]

    def update(
        self, nodes: Collection[str], updates: Sequence[NodeUpdate], commands: Sequence[Sequence[str]] = ()
    ) -> NodesSeen:  # fmt: skip
        """Update nodes in Slurm; how they are before and after.

        Raises:
            ExternalToolError: no controller does it.
        """
        why = "the blueprint has no controller"
        for controller in self.controllers:
            seen, tally = NodesSeen(), Tally()

            def take(
                event: Mapping[str, Any], seen: NodesSeen = seen, tally: Tally = tally
            ) -> str | None:
                seen.take(event)
                tally.take(event)
                return None

            done = self.hosts.play(
                "nodes.yml",
                take,
                variables={
                    "nodes_controller": controller,
                    "nodes_names": compress_hostlist(nodes),
                    "nodes_format": JOB_FORMAT,
                    "nodes_updates": [update.as_variable() for update in updates],
                    "nodes_commands": [list(command) for command in commands],
                },
            )
            if (failure := failure_of(done, tally)) is None:
                return seen
            why = f"{controller}: {failure}"
        raise ExternalToolError(
            f"Slurm does not answer: {why}",
            hint="waves are for a cluster that runs; leave out --waves to set one up",
        )


@dataclass
class SlurmHere:
    """Slurm by its programs, on this machine or behind a command.

    Attributes:
        prefix: words before the program, like ``ssh head-1``.
    """

    prefix: tuple[str, ...] = ()

    def update(
        self, nodes: Collection[str], updates: Sequence[NodeUpdate], commands: Sequence[Sequence[str]] = ()
    ) -> NodesSeen:  # fmt: skip
        """Update nodes in Slurm; how they are before and after.

        Raises:
            ExternalToolError: Slurm does not do it.
        """
        names = compress_hostlist(nodes)
        text = self._ask("scontrol", "--oneliner", "show", "node", names, unknown=True)
        seen = NodesSeen(before=read_nodes(text))
        for update in updates:
            pattern = re.compile(update.pattern)
            lines = [line for line in text.splitlines() if pattern.search(line)]
            chosen = [name for name in map(_name_of, lines) if name in update.names]
            if chosen:
                self._ask("scontrol", "update", f"NodeName={','.join(chosen)}", *update.arguments)
        for command in commands:
            self._ask("scontrol", *command)
        if updates or commands:
            text = self._ask("scontrol", "--oneliner", "show", "node", names, unknown=True)
        seen.after = read_nodes(text)
        if seen.after:
            known = compress_hostlist(seen.after)
            found = self._ask(
                "squeue", "--all", "--noheader", f"--format={JOB_FORMAT}", f"--nodelist={known}"
            )
            seen.jobs = read_jobs(found)
        return seen

    def _ask(self, *words: str, unknown: bool = False) -> str:
        """Return what a program prints; nodes that Slurm does not know are no failure with ``unknown``.

        Raises:
            ExternalToolError: the program fails.
        """
        code, text = run_words([*self.prefix, *words])
        if code != 0 and not (unknown and ("NodeName=" in text or "not found" in text)):
            raise ExternalToolError(
                f"{words[0]}: {' '.join(text.split())[:200] or f'ended with {code}'}"
            )
        return text


class NodeCommands(Protocol):
    """Runs a script of the shell on a node, as root."""

    def run(self, node: str, script: str) -> tuple[int, str]:
        """Return exit code and output; 255 where the node is not reached."""


@dataclass
class CommandsHere:
    """Scripts on nodes through a command of this machine, like ``ssh {node}``."""

    command: str

    def run(self, node: str, script: str) -> tuple[int, str]:
        """Return exit code and output; 255 where the node is not reached."""
        words = [word.replace("{node}", node) for word in shlex.split(self.command)]
        last = words[0].rpartition("/")[2]
        # A login shell at the other end of ssh takes the words apart once more.
        return run_words([*words, "sh", "-c", shlex.quote(script) if last == "ssh" else script])


@dataclass
class CommandsByAnsible:
    """Scripts on nodes through Ansible and its inventory."""

    hosts: AnsibleHosts

    def run(self, node: str, script: str) -> tuple[int, str]:
        """Return exit code and output; 255 where the node is not reached."""
        found: list[tuple[int, str]] = []

        def take(event: Mapping[str, Any]) -> str | None:
            data = event.get("event_data", {})
            result = data.get("res") or {}
            if "rc" in result:
                found.append(
                    (int(result["rc"]), f"{result.get('stdout', '')}{result.get('stderr', '')}")
                )
            return None

        self.hosts.play("node_command.yml", take, variables={"node_script": script}, limit=node)
        return found[-1] if found else (255, "it is not reached")


def run_words(words: Sequence[str]) -> tuple[int, str]:
    """Return exit code and output of a program; 127 if it is missing, 124 if it does not end."""
    try:
        done = subprocess.run(
            list(words),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=COMMAND_S,
            check=False,
        )
    except FileNotFoundError:
        return 127, f"{words[0]} is not installed"
    except subprocess.TimeoutExpired:
        return 124, f"{words[0]} did not end within {COMMAND_S:g} s"
    return done.returncode, done.stdout


def _name_of(line: str) -> str:
    return line.partition("NodeName=")[2].partition(" ")[0]
