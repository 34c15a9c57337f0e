"""Sources of faults for the loop: nodes in Slurm, and a folder of recordings that anything may fill."""

from __future__ import annotations

import hashlib
import os
import subprocess
import time
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from rackwright.catalog.fault_table import FaultTable
from rackwright.errors import UsageError
from rackwright.nodelife.repair.actuator import RUNNING, Progress
from rackwright.nodelife.repair.journal import Journal
from rackwright.nodelife.signs.detect import FaultEvent, detect, reason_faults
from rackwright.nodelife.signs.recordings import SOURCES, LogLine, Recording, Sample, read_recording
from rackwright.nodelife.slurm_nodes import (
    OF_CHECK,
    TAKEN_UP,
    NodeState,
    NodeUpdate,
    take_up,
)

HISTORY_S = 86_400.0
"""Age of an entry of a BMC's log from which it is history when the log is first read, in s. Judgement."""
LARGEST_FILE = 16 * 1024 * 1024
"""Bytes of a recording that are read, from its end."""


def events_of_slurm(
    table: FaultTable, nodes: Mapping[str, NodeState]
) -> Iterator[tuple[str, FaultEvent]]:
    """Yield the faults that states and reasons of nodes in Slurm tell, and those that health checks leave to the loop."""
    for name, state in nodes.items():
        if state.in_service and "*" not in state.state:
            yield from ((name, event) for event in _left_to_loop(table, state))
            continue
        lines = (LogLine("slurm-reason", None, state.reason),) if state.reason else ()
        found = Recording(lines, (Sample("slurm.state", "", 0.0, state.state),))
        yield from ((name, event) for event in detect(table, found))


def take_up_updates(table: FaultTable, nodes: Mapping[str, NodeState]) -> list[NodeUpdate]:
    """Return the answers to health checks that have left a fault to the loop."""
    found: dict[str, list[str]] = {}
    for name, state in nodes.items():
        if state.in_service and state.comment.startswith(OF_CHECK) and any(_left_to_loop(table, state)):  # fmt: skip
            found.setdefault(state.comment.removeprefix(OF_CHECK), []).append(name)
    return [take_up(names, text) for text, names in sorted(found.items())]


def _left_to_loop(table: FaultTable, state: NodeState) -> Iterator[FaultEvent]:
    """Yield the faults in the comment of a node in service; one that nodes do not share is not left to the loop."""
    text = state.comment.removeprefix(TAKEN_UP).removeprefix(OF_CHECK)
    for name in reason_faults(text):
        if name in table.faults and table.faults[name].shared:
            yield FaultEvent(name, "", 0.0, text)


@dataclass
class RecordingFolder:
    """Recordings of nodes: ``NODE/SOURCE`` or ``NODE/SOURCE.ext``, written by any collector.

    Attributes:
        problems: sources that could not be read at the last look, by node.
    """

    folder: Path
    problems: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def events(self, table: FaultTable, nodes: Collection[str], journal: Journal) -> Iterator[tuple[str, FaultEvent]]:  # fmt: skip
        """Yield the faults of all recordings; of a node that was ever under repair, of newer files than its state.

        Raises:
            UsageError: there is no such folder.
        """
        if not self.folder.is_dir():
            raise UsageError(f"there is no folder '{self.folder}'")
        self.problems.clear()
        # Files have times of the day, and the journal those of a clock that no jump moves.
        ahead = float(journal.setting("clock") or time.time()) - time.time()
        for inside in sorted(self.folder.iterdir()):
            if inside.name not in nodes or not inside.is_dir():
                continue
            record = journal.nodes.get(inside.name)
            since = 0.0 if record is None else record.since - ahead
            material = {
                name: _read(path)
                for path in sorted(inside.iterdir())
                if (name := path.name.partition(".")[0]) in SOURCES
                and path.is_file()
                and not path.name.startswith(".")
                and path.stat().st_mtime >= since
            }
            recording = read_recording(material)
            if recording.problems:
                self.problems[inside.name] = recording.problems
            for event in detect(table, _without_history(inside.name, recording, journal)):
                yield inside.name, event


def _without_history(node: str, recording: Recording, journal: Journal) -> Recording:
    """Return a recording without entries of the BMC's log that were old when it was first read."""
    name = f"old entries of the BMC of {node}"
    entries = {line: _hash(f"{line.at} {line.text}") for line in recording.lines if line.log == "sel"}  # fmt: skip
    if not entries:
        return recording
    old = journal.setting(name)
    if old is None:
        begin = time.time() - HISTORY_S
        old = sorted({key for line, key in entries.items() if line.at is None or line.at < begin})
        journal.set(name, old)
    known = set(old)
    lines = (line for line in recording.lines if entries.get(line) not in known)
    return replace(recording, lines=tuple(lines))


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _read(path: Path) -> str:
    with path.open("rb") as file:
        file.seek(0, os.SEEK_END)
        size = file.tell()
        file.seek(max(0, size - LARGEST_FILE))
        text = file.read().decode("utf-8", errors="replace")
    return text.partition("\n")[2] if size > LARGEST_FILE else text


class SteadyClock:
    """Clock of the loop: it follows the time of day, and neither jumps nor goes back.

    Between two passes of one process the monotonic clock counts. From one process to the next the time of
    day counts, if it has gone forward.
    """

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._now = max(time.time(), float(journal.setting("clock") or 0.0))
        self._wall, self._steady = time.time(), time.monotonic()

    def now(self) -> float:
        """Return the time in s; a jump of the time of day is written into the journal."""
        wall, steady = time.time(), time.monotonic()
        elapsed = steady - self._steady
        jump = wall - self._wall - elapsed
        self._now += elapsed
        self._wall, self._steady = wall, steady
        if abs(jump) > JUMP_S:
            self._journal.note("", self._now, f"the time of day has jumped by {jump:+.0f} s")
        self._journal.set("clock", self._now)
        return self._now


JUMP_S = 30.0
"""Difference of two clocks between passes that is a jump."""


@dataclass
class CommandValidator:
    """Validation by a command of this machine, like ``rackwright burn-in``; it runs beside the loop.

    Attributes:
        command: words, in which ``{node}`` is the node.
        folder: results by key, which outlive the loop.
    """

    command: tuple[str, ...]
    folder: Path

    @property
    def measures(self) -> bool:
        """True: the suite of burn-in, or the team's own, is trusted with it."""
        return True

    def validate(self, node: str, key: str) -> Progress:
        """Begin the command once for each key; 0 is passed, 1 and 5 are not, anything else is unknown."""
        place = self.folder / key
        try:
            place.mkdir(parents=True)
        except FileExistsError:
            return self._progress(place)
        words = [word.replace("{node}", node) for word in self.command]
        script = '{ "$@" >"$0/output" 2>&1; echo $? >"$0/code.new"; mv "$0/code.new" "$0/code"; } &'
        subprocess.run(  # the shell ends at once, and leaves the command to itself
            ["/bin/sh", "-c", script, str(place), *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            check=True,
        )
        return RUNNING

    @staticmethod
    def _progress(place: Path) -> Progress:
        try:
            code = int((place / "code").read_text())
        except (OSError, ValueError):
            return Progress(done=False, text="the suite runs")
        text = " ".join((place / "output").read_text(errors="replace").split())[-200:]
        if code in {0, 1, 5}:
            return Progress(done=True, passed=code == 0, text=text or f"ended with {code}")
        return Progress(done=False, text=f"the suite cannot judge, it ended with {code}: {text}")
