"""What the module of reservations makes of what Slurm says; a real slurmctld answers it in the lab."""

from __future__ import annotations

import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.rackwright.cluster.plugins.modules.slurm_reservations import (
    FLAGS,
    Reservation,
    fields,
    is_as_wanted,
    seconds,
)

NOW = "2026-11-30T12:00:00"
LINE = (
    "ReservationName=rackwright-cr-0 StartTime=2026-11-30T10:50:00 EndTime=2027-11-30T10:50:00 "
    "Duration=365-00:00:00 Nodes=p5-[1-2] NodeCnt=2 CoreCnt=192 Features=(null) PartitionName=(null) "
    "Flags=MAINT,IGNORE_JOBS,SPEC_NODES TRES=cpu=384 Users=root State=INACTIVE"
)


def reservation(start: str, *nodes: str, flags: tuple[str, ...] = FLAGS) -> Reservation:
    return Reservation("rackwright-cr-0", nodes, start, flags)


@given(st.integers(0, 7_000_000_000))
def test_a_moment_is_in_utc(moment: int) -> None:
    written = f"{dt.datetime.fromtimestamp(moment, dt.UTC):%Y-%m-%dT%H:%M:%SZ}"
    assert seconds(written) == moment


@pytest.mark.parametrize("start", ["tomorrow", "2026-11-30T10:50:00", "2026-11-30 10:50:00Z", ""])
def test_time_that_is_not_utc_is_refused(start: str) -> None:
    with pytest.raises(ValueError, match="does not match format"):
        seconds(start)


def test_the_words_of_a_line_are_read() -> None:
    said = fields(LINE)
    assert said["ReservationName"] == "rackwright-cr-0"
    assert said["TRES"] == "cpu=384"
    assert said["Flags"].split(",") == ["MAINT", "IGNORE_JOBS", "SPEC_NODES"]


@pytest.mark.parametrize(
    ("there", "wanted", "expected"),
    [
        (None, reservation("", "a"), False),
        (reservation("2026-12-01T10:50:00", "a"), reservation("2026-12-01T10:50:00", "a"), True),
        (reservation("2026-12-01T10:50:00", "a"), reservation("2026-12-01T10:50:01", "a"), False),
        (reservation("2026-12-01T10:50:00", "a"), reservation("2026-12-01T10:50:00", "b"), False),
        # One that should have begun is as wanted whenever it did, and not where it will only begin.
        (reservation("2026-11-30T12:00:00", "a"), reservation("", "a"), True),
        (reservation("2026-11-30T12:00:01", "a"), reservation("", "a"), False),
        (reservation("2026-11-01T10:50:00", "a"), reservation("2026-12-01T10:50:00", "a"), False),
        (
            reservation("2026-12-01T10:50:00", "a", flags=("MAINT",)),
            reservation("2026-12-01T10:50:00", "a"),
            False,
        ),
    ],
)
def test_correct_reservation_is_unchanged(
    there: Reservation | None, wanted: Reservation, *, expected: bool
) -> None:
    assert is_as_wanted(there, wanted, NOW) is expected
