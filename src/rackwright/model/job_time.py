"""Time limits of jobs, written as ``slurm.conf(5)`` takes them."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import AfterValidator

_DAYS = re.compile(r"(\d{1,5})-(\d{1,6})(?::(\d{1,6})(?::(\d{1,6}))?)?")
_CLOCK = re.compile(r"(\d{1,6}):(\d{1,6}):(\d{1,6})")
_MINUTES = re.compile(r"(\d{1,8})(?::(\d{1,6}))?")
_ENDLESS = frozenset({"UNLIMITED", "INFINITE", "-1"})


def _check_time(text: str) -> str:
    job_seconds(text)
    return text


JobTime = Annotated[str, AfterValidator(_check_time)]
"""A time limit as Slurm writes it: ``2-00:00:00`` is two days, ``36:00:00`` 36 hours and ``90`` minutes."""


def job_minutes(limit: JobTime) -> int | None:
    """Return a time limit in minutes, rounded up as Slurm does; None where there is no limit."""
    seconds = job_seconds(limit)
    return None if seconds is None else -(-seconds // 60)


def job_seconds(text: str) -> int | None:
    """Return a time limit in s; None where there is none.

    A number alone is minutes, and two are minutes and seconds, unless days stand before them.

    Raises:
        ValueError: Slurm would not take the text.
    """
    if text.upper() in _ENDLESS:
        return None
    days = hours = minutes = seconds = "0"
    if match := _DAYS.fullmatch(text):
        days, hours, minutes, seconds = (number or "0" for number in match.groups())
    elif match := _CLOCK.fullmatch(text):
        hours, minutes, seconds = match.groups()
    elif match := _MINUTES.fullmatch(text):
        minutes, seconds = (number or "0" for number in match.groups())
    else:
        raise ValueError(
            f"'{text[:40]}' is not a time limit of Slurm: write '2-00:00:00' (days-hours:minutes:seconds), "
            "'36:00:00', '90' (minutes) or UNLIMITED"
        )
    return ((int(days) * 24 + int(hours)) * 60 + int(minutes)) * 60 + int(seconds)
