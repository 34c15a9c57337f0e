"""A change on a running cluster, wave by wave: drain, change, verify, resume.

No job is killed: a node is changed when the last job on it has ended. A node that somebody else has
taken out of service is changed as well, but keeps its reason and is not resumed, and what becomes of
it says nothing about the change. Where the change replaces machines, the reason was that of the old one:
the new one is resumed. Where it removes them, nodes stay drained.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from rackwright.errors import ExternalToolError
from rackwright.harmless import counted
from rackwright.model.names import compress_hostlist, expand_hostlist
from rackwright.nodelife.slurm_nodes import (
    NodesSeen,
    NodeState,
    NodeUpdate,
    describe_jobs,
    drain,
    give_back,
    reason,
    rename_reason,
    take_over,
)
from rackwright.rollout.journal import RolloutProgress
from rackwright.rollout.waves import Wave, WaveKind

FIRST_PAUSE, SLOWER = 2.0, 1.5
"""Seconds until something is looked at again, and how much longer each pause is than the last."""


_FIRST = frozenset({WaveKind.SERVICE, WaveKind.CANARY})
"""Kinds of waves after whose failure nothing else is changed."""


class RolloutExecutor(Protocol):
    """Who does the work on the hosts."""

    def update(self, nodes: Collection[str], updates: Sequence[NodeUpdate]) -> NodesSeen:
        """Update nodes in Slurm; how they are before and after.

        Raises:
            ExternalToolError: Slurm does not do it.
        """

    def change(self, hosts: Sequence[str], tags: Sequence[str]) -> Mapping[str, str]:
        """Configure hosts; those that did not get to the end, with the reason."""

    def accept(self, hosts: Sequence[str]) -> Mapping[str, str]:
        """Compare hosts with the blueprint; those that do not pass, with the reason."""


@dataclass(frozen=True)
class Pace:
    """Waiting times of a change in seconds, and the number of hosts that may fail.

    Attributes:
        drain: for jobs to end.
        resume: for a node to take jobs again.
        poll: between two looks at the most; the first looks are closer together.
        max_failures: per cent of a wave's hosts, in service before, that may fail.
    """

    drain: float = 86_400.0
    resume: float = 120.0
    poll: float = 30.0
    max_failures: float = 20.0


@dataclass
class Rollout:
    """A change under way.

    Attributes:
        say: shows a line of progress.
        keep: writes the progress down.
        undo: brings hosts back to what they were before; those that did not get there, with the
            reason. Absent, what has failed stays as it is.
        seconds: that each wave has taken, by its number from 0.
        stopped: why the run ended before its time.
    """

    progress: RolloutProgress
    executor: RolloutExecutor
    pace: Pace
    say: Callable[[str], None]
    keep: Callable[[RolloutProgress], None]
    sleep: Callable[[float], None] = time.sleep
    clock: Callable[[], float] = time.monotonic
    undo: Callable[[Sequence[str]], Mapping[str, str]] | None = None
    seconds: dict[int, float] = field(default_factory=dict)
    stopped: str | None = None
    _served: set[str] = field(default_factory=set)

    def run(self) -> None:
        """Go over the waves that are not done; ``stopped`` says whether all had their turn.

        Raises:
            ExternalToolError: nothing is known of the hosts of a wave; its nodes stay drained.
            KeyboardInterrupt: it was interrupted; its nodes stay drained.
        """
        for number, wave in enumerate(self.progress.waves):
            left = self.progress.left(wave)
            if not left:
                continue
            started = self.clock()
            self.stopped = self._wave(number, wave, left)
            self.seconds[number] = self.clock() - started
            if self.stopped is not None:
                return

    def settle(self) -> None:
        """Find out which nodes are drained by us after all, when a run was interrupted."""
        nodes = tuple(self.progress.drained)
        if not nodes:
            return
        try:
            states = self.executor.update(nodes, ()).after
        except ExternalToolError:
            return  # better too many named than too few
        self.progress.release(node for node in nodes if not self._has_our_reason(states.get(node)))
        self.keep(self.progress)

    def _wave(self, number: int, wave: Wave, hosts: Sequence[str]) -> str | None:
        """Return the reason why the change cannot continue after this wave; None if it can."""
        progress = self.progress
        label = f"wave {number + 1} of {len(progress.waves)} ({wave.title})"
        nodes = {progress.nodes[host]: host for host in hosts if host in progress.nodes}
        busy = self._drain(label, number, nodes) if nodes else {}
        ours = frozenset(node for node in nodes if node in progress.drained)
        ready = [host for host in hosts if host not in busy]
        failed: dict[str, str] = {}
        if ready:
            self.say(f"{label}: changing {counted(len(ready), 'host')}")
            failed |= self.executor.change(ready, progress.tags)
        if not progress.removed and (through := [host for host in ready if host not in failed]):
            self.say(f"{label}: verifying {counted(len(through), 'host')}")
            failed |= self.executor.accept(through)
        for host in sorted(failed):
            self.say(f"{label}: {host} failed: {failed[host]}")
        undone = self._undo(label, wave, ready, failed)
        stuck = {host: why for host, why in failed.items() if host not in undone}
        if progress.removed:
            lost = self._leave(nodes, ready, stuck)
        else:
            lost = self._return(label, nodes, ready, stuck)
        for host, why in sorted(lost.items()):
            self.say(f"{label}: {host} failed: {why}")
        failed |= lost
        progress.failed |= busy
        for host in ready:
            if host in undone and host not in lost:
                progress.undo_host(host, undone[host])
            elif host in failed:
                progress.fail_host(host, failed[host])
            else:
                progress.pass_host(host)
        self.keep(progress)
        told = [h for h in hosts if (node := progress.nodes.get(h)) is None or node in ours]
        return self._verdict(wave, told, failed, busy)

    def _undo(
        self, label: str, wave: Wave, ready: Sequence[str], failed: dict[str, str]
    ) -> Mapping[str, str]:
        """Return the hosts that are again as they were, with why; what does not get there has failed.

        A first unit, or a service, goes back as a whole: its hosts run the same versions.
        """
        if self.undo is None or not failed or wave.kind not in _FIRST:
            return {}
        self.say(f"{label}: bringing {counted(len(ready), 'host')} back to the versions before")
        stuck = self.undo(ready)
        first = f"{next(iter(failed))} failed"
        undone = {host: failed.get(host, first) for host in ready if host not in stuck}
        for host, why in sorted(stuck.items()):
            told = failed.get(host, first)
            failed[host] = f"{told}; it did not get back to the versions before: {why}"
            self.say(f"{label}: {host} did not get back to the versions before: {why}")
        return undone

    def _verdict(
        self, wave: Wave, told: Sequence[str], failed: Collection[str], busy: Collection[str]
    ) -> str | None:
        """Return the reason why the change cannot continue; ``told`` are the hosts with a say in it."""
        if wave.kind in _FIRST and (failed or busy):
            names = compress_hostlist(failed or busy)
            what = "others depend on" if wave.kind is WaveKind.SERVICE else "is tried first"
            back = failed and all(host in self.progress.undone for host in failed)
            ended = "failed" if failed else "still runs jobs"
            again = ", and is back on the versions before" if back else ""
            return f"{names}, which {what}, {ended}{again}"
        bad = [host for host in told if host in failed]
        if told and 100 * len(bad) / len(told) > self.pace.max_failures:
            return (
                f"{len(bad)} of {counted(len(told), 'host')} of the wave failed, "
                f"more than {self.pace.max_failures:g} %"
            )
        return None

    def _drain(self, label: str, number: int, nodes: Mapping[str, str]) -> Mapping[str, str]:
        """Drain what is in service and wait for its jobs; the hosts that cannot be changed now."""
        progress = self.progress
        why = reason(f"{progress.change}, wave {number + 1} of {len(progress.waves)}")
        self.say(f"{label}: draining {counted(len(nodes), 'node')}")
        progress.own(nodes, why)
        self.keep(progress)
        update = take_over if progress.instances else drain
        seen = self.executor.update(nodes, [update(nodes, why)])
        self._served = {node for node, state in seen.before.items() if state.in_service}
        foreign = [node for node in nodes if not self._has_our_reason(seen.after.get(node))]
        progress.release(foreign)
        self.keep(progress)
        for node in foreign:
            if (state := seen.after.get(node)) is not None:
                self.say(f"{label}: {node} is {state.state} already: {state.reason or 'no reason'}")
        return self._wait(label, nodes, seen)

    def _has_our_reason(self, state: NodeState | None) -> bool:
        return (
            state is not None
            and not state.in_service
            and state.reason in self.progress.drained.get(state.name, ())
        )

    def _wait(self, label: str, nodes: Mapping[str, str], seen: NodesSeen) -> Mapping[str, str]:
        """Wait until no job is left; the hosts on which some are, which are given back."""
        end = self.clock() + self.pace.drain
        pause, told = FIRST_PAUSE, ""
        while seen.jobs and self.clock() < end:
            if (text := describe_jobs(seen.jobs)) != told:
                self.say(f"{label}: {text}")
                told = text
            self.sleep(min(pause, self.pace.poll, max(0.1, end - self.clock())))
            pause *= SLOWER
            try:
                seen = self.executor.update(nodes, ())
            except ExternalToolError as error:  # a controller may be away for a while
                self.say(f"{label}: {error}")
        busy: dict[str, str] = {}
        for job in seen.jobs:
            for node in expand_hostlist(job.nodes):
                if node in nodes:
                    busy[node] = f"job {job.number} still running after {self.pace.drain:g} s"
        for node in nodes:  # jobs may start on it at any time
            if node in self.progress.drained and (state := seen.after.get(node)) is not None and state.in_service:  # fmt: skip
                busy[node] = f"it was given back meanwhile and is {state.state}"
        if busy:
            self._postpone(label, busy)
        return {nodes[node]: why for node, why in busy.items()}

    def _postpone(self, label: str, busy: Mapping[str, str]) -> None:
        for node, why in sorted(busy.items()):
            self.say(f"{label}: {node} is not changed: {why}")
        ours = [node for node in busy if node in self.progress.drained]
        if self.progress.instances:  # what was out of service with a reason of its own stays so
            ours = [node for node in ours if node in self._served]
        if ours:
            self.say(f"{label}: giving {compress_hostlist(ours)} back as before")
            self.executor.update(ours, [give_back(ours, self.progress.reasons(ours))])
        self.progress.release(ours)
        self.keep(self.progress)

    def _leave(
        self, nodes: Mapping[str, str], ready: Sequence[str], failed: Mapping[str, str]
    ) -> Mapping[str, str]:
        """Leave nodes drained whose hosts are no more; name the reason of those that are still there."""
        gone = [node for node, host in nodes.items() if host in ready and host not in failed]
        self.progress.release(gone)
        if bad := {node: failed[host] for node, host in nodes.items() if host in failed}:
            self._mark(bad)
        self.keep(self.progress)
        return {}

    def _return(
        self,
        label: str,
        nodes: Mapping[str, str],
        ready: Sequence[str],
        failed: Mapping[str, str],
    ) -> Mapping[str, str]:
        """Resume what passed and name the reason of what did not; what does not come back."""
        progress = self.progress
        ours = [node for node, host in nodes.items() if host in ready and node in progress.drained]
        good = [node for node in ours if nodes[node] not in failed]
        bad = {node: failed[nodes[node]] for node in ours if nodes[node] in failed}
        for node in nodes:
            if nodes[node] in ready and node not in ours:
                self.say(f"{label}: {node} stays as it was, out of service")
        if bad:
            self._mark(bad)
        if not good:
            return {}
        self.say(f"{label}: resuming {counted(len(good), 'node')}")
        states, trouble = self._resume(good)
        progress.release(node for node in good if node in states and states[node].takes_jobs)
        lost: dict[str, str] = {}
        for node in good:
            state = states.get(node)
            if state is not None and state.takes_jobs:
                continue
            if state is not None and not state.in_service and not self._has_our_reason(state):
                progress.release([node])  # somebody else has taken it meanwhile
                self.say(f"{label}: {node} is {state.state}: {state.reason or 'no reason'}")
                continue
            told = trouble or (f"it is {state.state}" if state else "Slurm does not know it")
            lost[node] = f"it does not take jobs again: {told}"
        self.keep(progress)
        if lost:
            self._mark(lost)
        return {nodes[node]: why for node, why in lost.items()}

    def _resume(self, good: Sequence[str]) -> tuple[Mapping[str, NodeState], str | None]:
        """Return the nodes after they were resumed; and what Slurm last had against it."""
        update = give_back(good, self.progress.reasons(good))
        end = self.clock() + self.pace.resume
        states: Mapping[str, NodeState] = {}
        pause = FIRST_PAUSE
        while True:
            trouble = None
            try:
                states = self.executor.update(good, [update]).after
            except ExternalToolError as error:
                trouble = str(error)
            waiting = [
                node
                for node in good
                if trouble
                or node not in states
                or self._has_our_reason(states[node])
                or (states[node].in_service and not states[node].takes_jobs)
            ]
            if not waiting or self.clock() >= end:
                return states, trouble
            self.sleep(min(pause, self.pace.poll))
            pause *= SLOWER

    def _mark(self, bad: Mapping[str, str]) -> None:
        """Say in Slurm why a node stays drained: with our reason, so that we may resume it later."""
        updates = []
        for node, why in sorted(bad.items()):
            told = reason(f"{why} ({self.progress.change})")
            known = self.progress.reasons([node])
            self.progress.own([node], told)
            updates += [rename_reason([node], known, told), drain([node], told)]
        self.keep(self.progress)
        self.executor.update(bad, updates)
