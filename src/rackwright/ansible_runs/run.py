"""Configuring hosts with Ansible, through ansible-runner."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from rackwright.ansible_runs.ansible import KEEPALIVE, start
from rackwright.ansible_runs.events import Tally, is_kept, leave_behind
from rackwright.ansible_runs.files import Workspace
from rackwright.ansible_runs.host_patterns import hosts_of
from rackwright.ansible_runs.observer import Watcher
from rackwright.errors import ExternalToolError
from rackwright.extras import install_hint
from rackwright.files import write_changed
from rackwright.resources import COLLECTIONS, bundled
from rackwright.system_errors import damaged, read_state

PLAYBOOKS = Path("baremetal/playbooks")
PLAYBOOK = PLAYBOOKS / "site.yml"
KEPT_RUNS = 10


@dataclass(frozen=True)
class Options:
    """Options of a run.

    Attributes:
        limit: a host pattern of Ansible; None for every host.
        check: change nothing, tell what would change.
        max_failures: per cent of the hosts of a play that may fail before it ends for all.
        inventories: more inventories, with a team's own variables.
    """

    limit: str | None = None
    check: bool = False
    forks: int = 50
    max_failures: int = 20
    tags: tuple[str, ...] = ()
    inventories: tuple[Path, ...] = ()


def run_playbook(
    place: Workspace,
    options: Options,
    watcher: Watcher,
    playbook: Path = PLAYBOOK,
) -> Tally:
    """Run the playbook and return its results; failed hosts are in the tally.

    Args:
        place: where inventory and files are.
        options: how to run.
        watcher: is told what happens.
        playbook: which of them; only of the one that configures hosts is known where it ends.

    Raises:
        ExternalToolError: Ansible itself failed, so that nothing is known of the hosts.
        KeyboardInterrupt: it was interrupted, and has ended by then.
    """
    tally = Tally()
    folder = place.folder / "runner"
    folder.mkdir(exist_ok=True)

    def handle(event: Mapping[str, Any]) -> bool:
        watcher.take(event, tally.take(event))
        return is_kept(event)

    done = start(
        private_data_dir=str(folder),
        playbook=str(bundled("stacks") / playbook),
        inventory=[str(place.inventory), *map(str, options.inventories)],
        envvars=ansible_environment(),
        cmdline=" ".join(arguments(options)),
        extravars={"configure_max_failures": options.max_failures},
        limit=options.limit,
        event_handler=handle,
        quiet=True,
        rotate_artifacts=KEPT_RUNS,
        suppress_env_files=True,
    )
    tally.finish()
    if done.rc != 0 and not tally.failed:
        raise ExternalToolError(
            f"ansible-playbook ended with {done.rc}: {last_words(done.stdout.read())}",
            hint=f"all of its output: {done.config.artifact_dir}/stdout",
        )
    if playbook == PLAYBOOK:
        leave_behind(tally)
    return tally


def hosts_to_finish(
    groups: Mapping[str, Collection[str]], limit: str | None = None
) -> frozenset[str]:
    """Return the hosts that come to the end of the playbook when all goes well.

    Args:
        groups: hosts by group; ``all`` has every host.
        limit: a host pattern of Ansible; None for every host.
    """
    plays = yaml.safe_load((bundled("stacks") / PLAYBOOK).read_text(encoding="utf-8"))
    last = plays[-1]["hosts"]
    found = hosts_of(last if isinstance(last, str) else ",".join(last), groups)
    return found if limit is None else found & hosts_of(limit, groups)


def remember(
    place: Workspace, tally: Tally, *, whole: bool, part: bool = False
) -> Mapping[str, str]:
    """Return the hosts in quarantine after a run, with the reason; a success takes a host out.

    Args:
        place: where the quarantine is kept.
        tally: what the run did.
        whole: the run was over all hosts, so that hosts the inventory lacks are forgotten.
        part: it had only some of the steps. Such a run puts hosts in and takes none out, since the
            step that failed may not have been among them; a reason that is there stays.
    """
    kept = read_quarantine(place)
    if whole and not part:
        known = {*_listed(place), *tally.hosts}
        kept = {name: reason for name, reason in kept.items() if name in known}
    for name, result in tally.hosts.items():
        if result.failure is None:
            if not part:
                kept.pop(name, None)
        elif part:
            kept.setdefault(name, result.failure)
        else:
            kept[name] = result.failure
    write_changed(place.quarantine, json.dumps(kept, indent=2, sort_keys=True))
    return kept


def _listed(place: Workspace) -> Collection[str]:
    """Return the hosts of the inventory that was written last.

    Raises:
        StateError: the file of the inventory is damaged.
    """  # noqa: DOC501 - damaged() makes the StateError
    remedy = "remove it; the next run writes it again"
    match read_state(place.inventory, remedy=remedy):
        case None:
            return ()
        case {"all": {"hosts": {**hosts}}}:
            return tuple(map(str, hosts))
        case _:
            raise damaged(place.inventory, remedy=remedy)


def read_quarantine(place: Workspace) -> dict[str, str]:
    """Return the hosts in quarantine, with the reason.

    Raises:
        StateError: nobody can tell.
    """  # noqa: DOC501 - damaged() makes the StateError
    remedy = "remove it and configure every host, which finds again what fails"
    found = read_state(place.quarantine, remedy=remedy)
    if found is None:
        return {}
    if not isinstance(found, dict) or not all(isinstance(why, str) for why in found.values()):
        raise damaged(place.quarantine, remedy=remedy)
    return found


def arguments(options: Options) -> Sequence[str]:
    """Return the words of ``ansible-playbook`` that ``options`` stand for."""
    words = ["--forks", str(options.forks)]
    if options.check:
        words += ["--check", "--diff"]
    if options.tags:
        words += ["--tags", ",".join(options.tags)]
    return words


def ansible_environment() -> Mapping[str, str]:
    """Return the variables for Ansible; its own programs come from the environment of this Python.

    Raises:
        ExternalToolError: Ansible is not installed.
    """
    beside = str(Path(sys.executable).parent)
    found = shutil.which("ansible-playbook", path=f"{beside}{os.pathsep}{os.environ['PATH']}")
    if found is None:
        raise ExternalToolError("ansible-playbook is not installed", hint=install_hint("configure"))
    others = os.environ.get("ANSIBLE_COLLECTIONS_PATH", OF_TEAM)
    return {
        "PATH": f"{Path(found).parent}{os.pathsep}{os.environ['PATH']}",
        "ANSIBLE_ROLES_PATH": str(bundled("roles")),
        "ANSIBLE_COLLECTIONS_PATH": os.pathsep.join([str(COLLECTIONS), others]),
        **SETTINGS,
    }


OF_TEAM = "~/.ansible/collections:/usr/share/ansible/collections"
"""Where Ansible looks for the collections of a team unless it is told."""

SETTINGS: Mapping[str, str] = {
    "ANSIBLE_HOST_KEY_CHECKING": "True",
    "ANSIBLE_PIPELINING": "True",
    "ANSIBLE_TIMEOUT": "15",
    # A program that hangs, like nvidia-smi at a driver that does, would hold all hosts of its play for ever.
    "ANSIBLE_TASK_TIMEOUT": "3600",
    "ANSIBLE_SSH_EXTRA_ARGS": KEEPALIVE,
    "ANSIBLE_INVENTORY_UNPARSED_FAILED": "True",
    "ANSIBLE_GATHERING": "smart",
    "ANSIBLE_NOCOLOR": "True",
    "ANSIBLE_RETRY_FILES_ENABLED": "False",
}


def last_words(output: str) -> str:
    """Return the line in which a run that ended says why."""
    lines: list[str] = [line.strip() for line in output.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith(("[ERROR]", "ERROR!"))]
    words: list[str] = errors or lines or ["no output"]
    return words[-1]
