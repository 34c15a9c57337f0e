"""Time limits as ``slurm.conf`` has them; the end-to-end test of found files asks slurmctld itself."""

from __future__ import annotations

import pytest

from rackwright.model.job_time import job_minutes, job_seconds


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("UNLIMITED", None),
        ("INFINITE", None),
        ("infinite", None),
        ("-1", None),
        ("43200", 43_200 * 60),
        ("30:00", 1800),
        ("90:30", 5430),
        ("120:00:00", 432_000),
        ("00:30:00", 1800),
        ("7-0", 604_800),
        ("1-12", 129_600),
        ("1-0:0", 86_400),
        ("2-01:00:00", 176_400),
    ],
)
def test_time_limit_is_read_as_slurm_reads_it(text: str, seconds: int | None) -> None:
    assert job_seconds(text) == seconds


def test_minutes_are_rounded_up() -> None:
    assert (job_minutes("48:00:01"), job_minutes("0:01"), job_minutes("INFINITE")) == (
        2881,
        1,
        None,
    )


@pytest.mark.parametrize("text", ["", "soon", "1:2:3:4", "1-2-3", "1h", "2-", "1-:5", "12 h", "-2"])
def test_text_that_slurm_would_not_take_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not a time limit of Slurm: write '2-00:00:00'"):
        job_seconds(text)
