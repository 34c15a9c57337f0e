"""Clock of the loop: jumps of the time of day, and processes that begin again."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from node_life import open_journal
from rackwright.nodelife.repair import watching
from rackwright.nodelife.repair.journal import Journal
from rackwright.nodelife.repair.watching import SteadyClock


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
