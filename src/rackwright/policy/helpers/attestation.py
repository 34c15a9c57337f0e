"""Findings about what a blueprint declares: yes, no, or nothing."""

from __future__ import annotations

from rackwright.plan.base import Subject
from rackwright.policy.api import Finding


def declared(
    at: Subject, *, value: bool | None, yes: str, no: str, missing: str, fix: str
) -> Finding:
    """Return a finding that fails where ``value`` is false and is unknown where it is None.

    Args:
        at: what it is about.
        value: what the blueprint says.
        yes: message when it holds; also its ``what``, whatever the answer.
        no: message when it does not.
        missing: the field that would tell; a ``Missing`` also says where it would stand.
        fix: what to do when it does not hold.
    """
    if value is None:
        return Finding(at, ok=None, message=f"whether {yes}", missing=(missing,), what=yes)
    if value:
        return Finding(at, ok=True, message=yes, what=yes)
    return Finding(at, ok=False, message=no, fix=fix, what=yes)
