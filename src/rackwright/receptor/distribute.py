"""Configuring hosts from several machines: ansible-runner's transmit, worker and process.

Each worker gets the whole private data folder and configures its own hosts; what it tells comes
back while it works. Receptor carries both.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from rackwright.ansible_runs.events import Tally, is_kept, leave_behind, merge, settle
from rackwright.ansible_runs.files import Workspace
from rackwright.ansible_runs.observer import Watcher
from rackwright.ansible_runs.run import (
    PLAYBOOK,
    SETTINGS,
    Options,
    ansible_environment,
    arguments,
    hosts_to_finish,
    last_words,
    run_playbook,
)
from rackwright.errors import ExternalToolError
from rackwright.receptor.bundle import (
    HOSTS,
    sent_files,
    sent_inventory,
    sent_playbook,
    write_bundle,
)
from rackwright.receptor.control import Control
from rackwright.receptor.workers import (
    HERE,
    Login,
    RunStage,
    Workers,
    WorkersError,
    members,
    partition,
    stages,
    too_many_failed,
)

LOOK_EVERY_S = 1.0
LIST_WITHIN_S = 600.0
GROUP = "rackwright_part_{}"


def run_distributed(
    place: Workspace,
    options: Options,
    workers: Workers,
    login: Login | None,
    watcher: Watcher,
    playbook: Path = PLAYBOOK,
) -> Tally:
    """Run the playbook on all machines and return the results; hosts of a lost worker have failed.

    Args:
        place: where inventory and files are.
        options: how to run.
        workers: who takes which hosts.
        login: the key that workers are sent.
        watcher: is told what happens.
        playbook: which of them.

    Raises:
        WorkersError: the hosts cannot be given to the workers; nothing was run.
        ExternalToolError: Ansible cannot read the inventory, or Receptor does not run here.
    """
    listing = list_inventory(place, options)
    groups = members(listing)
    parts = partition(workers, groups)
    chosen: Collection[str] = groups["all"]
    if options.limit is not None:
        chosen = members(list_inventory(place, options, limit=options.limit))["all"]
    planned = stages(parts, groups, chosen)
    if not planned:
        raise WorkersError(f"no host matches '{options.limit}'")
    control = Control(workers.head.socket)
    if any(part != HERE for stage in planned for part in stage.parts):
        control.nodes()
    run = _Run(place, options, workers, control, watcher, playbook)
    watcher.expect(hosts_to_finish(groups) & frozenset(chosen))
    run.prepare(listing, planned, login)
    try:
        return run.go(planned)
    finally:
        shutil.rmtree(run.folder, ignore_errors=True)


def check_workers(
    place: Workspace, inventories: Sequence[Path], workers: Workers, hosts: Collection[str]
) -> None:
    """Refuse a run over ``hosts`` whose workers are not there, before anything is done for it.

    Raises:
        WorkersError: the hosts cannot be given to the workers.
        ExternalToolError: a worker is not connected, or Receptor does not run here.
    """
    groups = members(list_inventory(place, Options(inventories=tuple(inventories))))
    parts = partition(workers, groups)
    needed = {part for part, own in parts.items() if part != HERE and not own.isdisjoint(hosts)}
    if not needed:
        return
    if missing := sorted(needed - Control(workers.head.socket).nodes()):
        raise ExternalToolError(
            f"not connected: {', '.join(missing)}",
            hint="start Receptor on these workers, or give their hosts to others",
        )


def list_inventory(
    place: Workspace, options: Options, *, limit: str | None = None
) -> Mapping[str, Any]:
    """Return the hosts as Ansible sees them, in the form of ``ansible-inventory --list --export``.

    Raises:
        ExternalToolError: Ansible cannot read an inventory.
    """
    environment = ansible_environment()
    program = shutil.which("ansible-inventory", path=environment["PATH"]) or "ansible-inventory"
    words = [program, "--list", "--export"]
    for source in (place.inventory, *options.inventories):
        words += ["--inventory", str(source)]
    if limit is not None:
        words += ["--limit", limit]
    done = subprocess.run(
        words,
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=LIST_WITHIN_S,
        check=False,
    )
    if done.returncode != 0:
        raise ExternalToolError(f"ansible-inventory failed: {last_words(done.stderr)}")
    found: Mapping[str, Any] = json.loads(done.stdout)
    return found


@dataclass
class _Run:
    """One run over all machines."""

    place: Workspace
    options: Options
    workers: Workers
    control: Control
    watcher: Watcher
    playbook: Path
    stop: threading.Event = field(default_factory=threading.Event)
    _groups: dict[tuple[str, str], str] = field(default_factory=dict)

    @property
    def folder(self) -> Path:
        """Everything that this run needs and nobody afterwards, keys among it."""
        return self.place.folder / "distribution"

    def prepare(
        self, listing: Mapping[str, Any], planned: Collection[RunStage], login: Login | None
    ) -> None:
        """Write what is sent to workers, with a group for each part of each stage."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(mode=0o700)
        hosts: dict[str, Collection[str]] = {}
        for stage in planned:
            for part, own in stage.parts.items():
                name = self._groups[stage.name, part] = GROUP.format(len(hosts))
                hosts[name] = own
        content, secrets = sent_files(
            self.place.slurm, (self.place.munge_key, self.place.slurm_key), login
        )
        inventory = sent_inventory(listing, {**content, **secrets}, hosts, login=login is not None)
        content |= sent_playbook(self.playbook)
        write_bundle(self.folder / "bundle", content=content, secrets=secrets, inventory=inventory)
        listed: dict[str, Any] = {
            name: {"hosts": {host: {} for host in sorted(own)}} for name, own in hosts.items()
        }
        text = json.dumps({"all": {"children": listed}})
        (self.folder / "parts.json").write_text(text, encoding="utf-8")

    def go(self, planned: Collection[RunStage]) -> Tally:
        """Run the stages one after the other, the parts of each at the same time."""
        done: list[list[Tally]] = []
        given_up: str | None = None
        for stage in planned:
            if given_up is not None:
                tally = Tally()
                settle(tally, stage.hosts, given_up)
                done.append([tally])
                continue
            tallies = self._stage(stage)
            done.append(tallies)
            failed = sum(len(tally.failed) for tally in tallies)
            if too_many_failed(failed, len(stage.hosts), self.options.max_failures):
                given_up = f"not begun: {failed} of {len(stage.hosts)} {stage.name} failed before"
        return merge(done)

    def _stage(self, stage: RunStage) -> list[Tally]:
        with ThreadPoolExecutor(max_workers=len(stage.parts)) as pool:
            running: list[Future[Tally]] = [
                pool.submit(self._part, stage.name, part, hosts)
                for part, hosts in stage.parts.items()
            ]
            try:
                return [future.result() for future in running]
            except BaseException:
                self.stop.set()  # the others release their work before they end
                raise

    def _part(self, stage: str, part: str, hosts: Collection[str]) -> Tally:
        tally, reason = Tally(), None
        group = self._groups[stage, part]
        self.watcher.begin(part, hosts)
        try:
            if part == HERE:
                tally = self._run_here(group)
            else:
                reason = self._run_at(part, stage, group, tally)
        except ExternalToolError as error:
            reason = error.summary
        if reason is not None:
            self.watcher.tell(part, reason)
        settle(tally, hosts, reason)
        if self.playbook == PLAYBOOK:
            leave_behind(tally)
        self.watcher.end(part, tally.failed)
        return tally

    def _run_here(self, group: str) -> Tally:
        inventories = (*self.options.inventories, self.folder / "parts.json")
        options = replace(self.options, limit=group, inventories=inventories)
        return run_playbook(
            self.place, options, self.watcher, self.stop.is_set, HERE, self.playbook
        )

    def _run_at(self, node: str, stage: str, group: str, tally: Tally) -> str | None:
        """Run the playbook at a worker; why it did not come to its end, or None."""
        if not self._appears(node):
            return f"the worker '{node}' is not connected"
        payload = self._transmit(node, group)
        try:
            unit = self.control.submit(node, payload, begin_within_s=self.workers.lost_after)
        finally:
            payload.unlink()
        try:
            return self._follow(node, stage, unit, tally)
        finally:
            try:
                self.control.release(unit)
            except ExternalToolError as error:
                self.watcher.tell(node, f"work unit {unit} is not released: {error.summary}")

    def _appears(self, node: str) -> bool:
        """Return True if ``node`` can be reached, or could within the time it may be out of reach."""
        deadline = time.monotonic() + self.workers.lost_after
        while node not in self.control.nodes():
            if time.monotonic() >= deadline or self.stop.wait(LOOK_EVERY_S):
                return False
        return True

    def _transmit(self, node: str, group: str) -> Path:
        """Return a file of what ``node`` reads: options, and the private data folder."""
        import ansible_runner

        path = self.folder / f"{node}.payload"
        with open(path, "xb", opener=lambda name, flags: os.open(name, flags, 0o600)) as output:
            ansible_runner.run(
                streamer="transmit",
                private_data_dir=str(self.folder / "bundle"),
                playbook=self.playbook.name,
                cmdline=" ".join([*arguments(self.options), "--inventory", f"../{HOSTS}"]),
                limit=group,
                envvars=dict(SETTINGS),
                extravars={"configure_max_failures": self.options.max_failures},
                suppress_env_files=True,
                _output=output,
            )
        return path

    def _follow(self, node: str, stage: str, unit: str, tally: Tally) -> str | None:
        import ansible_runner

        folder = self.place.folder / "runner/workers" / node / stage
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        ended, lost, explanation = threading.Event(), threading.Event(), ""

        def handle(event: Mapping[str, Any]) -> bool:
            self.watcher.take(node, event, tally.take(event))
            return is_kept(event)

        def note(status: Mapping[str, Any], runner_config: Any) -> None:
            nonlocal explanation
            explanation = str(status.get("job_explanation") or explanation)

        with self.control.results(unit) as results:
            watcher = threading.Thread(target=self._watch, args=(node, results.end, ended, lost))
            watcher.start()
            try:
                done = ansible_runner.run(
                    streamer="process",
                    private_data_dir=str(folder),
                    event_handler=handle,
                    status_handler=note,
                    quiet=True,
                    _input=results.file,
                )
            finally:
                ended.set()
                watcher.join()
        if lost.is_set():
            seconds = self.workers.lost_after
            return f"the worker '{node}' was out of reach for more than {seconds:g} s"
        if done.status == "successful" or (done.status == "failed" and tally.failed):
            return None
        if done.status == "failed":
            explanation = last_words(_read(folder / "artifacts/stdout"))
        elif (state := self.control.unit(unit)).state == "Failed":
            explanation = state.detail or explanation
        return f"the worker '{node}' failed: {explanation or done.status}"

    def _watch(
        self,
        node: str,
        give_up: Callable[[], None],
        ended: threading.Event,
        lost: threading.Event,
    ) -> None:
        """Give up when ``node`` is out of reach for too long, or when the run is stopped."""
        seen = time.monotonic()
        while not ended.wait(LOOK_EVERY_S):
            try:
                there = node in self.control.nodes()
            except ExternalToolError:
                there = False  # Receptor here may come back as well
            now = time.monotonic()
            if there:
                seen = now
            elif now - seen > self.workers.lost_after:
                lost.set()
            if lost.is_set() or self.stop.is_set():
                give_up()
                return


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
