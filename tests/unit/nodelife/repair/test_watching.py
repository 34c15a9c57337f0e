"""Clock of the loop: jumps of the time of day, and processes that begin again."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from node_life import TABLE, open_journal
from rackwright.nodelife.repair import watching
from rackwright.nodelife.repair.journal import Journal
from rackwright.nodelife.repair.watching import RecordingFolder, SteadyClock


class Clocks:
    """Time of day and monotonic time of a machine."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.wall, self.steady = 1_000_000.0, 500.0
        patch.setattr(
            watching,
            "time",
            SimpleNamespace(time=lambda: self.wall, monotonic=lambda: self.steady),
        )

    def wait(self, seconds: float, jump: float = 0.0) -> None:
        self.wall += seconds + jump
        self.steady += seconds

    def boot(self, wall: float) -> None:
        self.wall, self.steady = wall, 1.0


@pytest.fixture
def clocks(monkeypatch: pytest.MonkeyPatch) -> Clocks:
    return Clocks(monkeypatch)


@pytest.mark.parametrize("jump", [-86_400.0, 86_400.0])
def test_jump_of_the_time_of_day_moves_no_window_and_is_in_the_journal(
    clocks: Clocks, jump: float
) -> None:
    journal = Journal(open_journal())
    clock = SteadyClock(journal)
    before = clock.now()
    clocks.wait(60.0, jump)
    assert clock.now() == before + 60.0
    clocks.wait(60.0)
    assert clock.now() == before + 120.0
    assert [text for _, _, text in journal.log()] == [f"the time of day has jumped by {jump:+.0f} s"]  # fmt: skip


def test_clock_of_a_second_process_never_goes_back(clocks: Clocks) -> None:
    """A machine whose battery is empty begins in 1970: repairs of last week would be of the future."""
    journal = Journal(open_journal())
    before = SteadyClock(journal).now()
    clocks.boot(wall=0.0)
    clock = SteadyClock(journal)
    assert clock.now() == before
    clocks.wait(30.0, jump=before)
    assert clock.now() == before + 30.0


def test_time_between_two_processes_counts(clocks: Clocks) -> None:
    journal = Journal(open_journal())
    before = SteadyClock(journal).now()
    clocks.boot(wall=clocks.wall + 3600.0)
    assert SteadyClock(journal).now() == before + 3600.0


XID = "[{:.1f}] NVRM: Xid (PCI:0000:9b:00): 79, GPU has fallen off the bus.\n".format


def found(folder: Path, journal: Journal) -> list[str]:
    events = RecordingFolder(folder).events(TABLE, {"a"}, journal)
    return sorted(event.fault for node, event in events if journal.see(node, event, 1.0))


@pytest.mark.parametrize("jump", [-7200.0, 7200.0])
def test_recordings_after_a_repair_are_read_although_the_time_of_day_has_jumped(
    tmp_path: Path, clocks: Clocks, jump: float
) -> None:
    """A clock that was set back by two hours hid every fault of a repaired node for two hours."""
    journal = Journal(open_journal())
    clock = SteadyClock(journal)
    (tmp_path / "a").mkdir()
    path = tmp_path / "a/kernel.log"

    def write(text: str) -> None:
        path.write_text(text)
        os.utime(path, (clocks.wall, clocks.wall))

    write(XID(1.0))
    assert found(tmp_path, journal) == ["gpu-off-bus"]
    clocks.wait(60.0, jump)
    write(XID(2.0))
    clocks.wait(60.0)
    journal.step("a", "suspect", clock.now(), "a fault", fault="gpu-off-bus")
    clock.now()
    assert found(tmp_path, journal) == [], "it is older than the state of the node"
    clocks.wait(60.0)
    clock.now()
    write(XID(3.0))
    assert found(tmp_path, journal) == ["gpu-off-bus"]


def test_old_entries_of_the_log_of_a_bmc_are_no_faults(tmp_path: Path, clocks: Clocks) -> None:
    """A leak of last year, which a tool lists for ever, switched its node off under a job."""
    clocks.wall = 1_795_800_000.0  # 2026-11-27T17:20Z
    journal = Journal(open_journal())
    (tmp_path / "a").mkdir()
    path = tmp_path / "a/sel.txt"
    entry = "{} | {} | 06:12:01 | Leak #0x10 | Leak detected | Asserted\n".format
    path.write_text(entry(1, "11/27/2025"))
    os.utime(path, (clocks.wall, clocks.wall))
    assert found(tmp_path, journal) == []
    assert found(tmp_path, journal) == []
    with path.open("a") as file:
        file.write(entry(2, "01/01/1970"))
    assert found(tmp_path, journal) == ["coolant-leak"], "new, by a clock that is wrong"
    path.unlink()
    (tmp_path / "b").mkdir()
    (tmp_path / "b/sel.txt").write_text(entry(1, "11/27/2026"))
    events = RecordingFolder(tmp_path).events(TABLE, {"b"}, journal)
    assert [event.fault for _, event in events] == ["coolant-leak"], "of today"
