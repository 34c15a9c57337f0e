"""Playbooks beside the one that configures: questions to the hosts of a cluster, and single changes."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rackwright.ansible_runs.ansible import start
from rackwright.ansible_runs.events import Tally
from rackwright.ansible_runs.files import Workspace
from rackwright.ansible_runs.run import KEPT_RUNS, PLAYBOOKS, ansible_environment, last_words
from rackwright.files import write_changed
from rackwright.resources import bundled


@dataclass(frozen=True)
class AnsibleHosts:
    """Hosts of a cluster, as Ansible reaches them.

    Attributes:
        place: files that Ansible reads and writes.
        inventories: more inventories, with a team's own variables.
        forks: hosts at a time.
        say: takes each line that is worth showing.
    """

    place: Workspace
    inventories: Sequence[Path] = ()
    forks: int = 50
    say: Callable[[str], None] = lambda _: None

    def play(
        self,
        playbook: str,
        take: Callable[[Mapping[str, Any]], str | None],
        *,
        asked: Mapping[str, Any] | None = None,
        variables: Mapping[str, Any] | None = None,
        limit: str | None = None,
    ) -> Any:
        """Run a playbook, and return its runner.

        Args:
            playbook: name of its file.
            take: gets every event, and returns a line for ``say`` or None.
            asked: one more inventory, with what the hosts are asked.
            variables: of all hosts.
            limit: a host pattern of Ansible; None for every host.

        Raises:
            KeyboardInterrupt: it was interrupted, and has ended by then.
        """
        folder = self.place.folder / "runner"
        folder.mkdir(exist_ok=True)
        inventories = [self.place.inventory, *self.inventories]
        if asked is not None:
            inventories.insert(1, self.ask(Path(playbook).stem, asked))

        def handle(event: Mapping[str, Any]) -> bool:
            line = take(event)
            if line:
                self.say(line)
            return True  # keep the event among the artefacts

        return start(
            private_data_dir=str(folder),
            playbook=str(bundled("stacks") / PLAYBOOKS / playbook),
            inventory=[str(path) for path in inventories],
            envvars=ansible_environment(),
            cmdline=f"--forks {self.forks}",
            extravars=dict(variables or {}),
            limit=limit,
            event_handler=handle,
            quiet=True,
            rotate_artifacts=KEPT_RUNS,
            suppress_env_files=True,
        )

    def ask(self, name: str, inventory: Mapping[str, Any]) -> Path:
        """Write one more inventory, and return its path."""
        path = self.place.folder / "inventory" / f"{name}.json"
        path.parent.mkdir(exist_ok=True)
        write_changed(path, json.dumps(inventory))
        return path


def failure_of(done: Any, tally: Tally) -> str | None:
    """Return the reason why a run over one host failed; None if it did not."""
    if done.rc == 0 and tally.hosts:
        return None
    reasons = [result.failure for result in tally.hosts.values() if result.failure is not None]
    return reasons[0] if reasons else last_words(done.stdout.read())
