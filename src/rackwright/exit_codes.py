"""Exit codes of the command line, the stack programs and the CrossGuard pack."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """Exit status of every ``rackwright`` command; the numbers are a public contract."""

    CLEAN = 0
    """Nothing failed, or only advisory findings."""
    CRASH = 1
    """A defect in Rackwright or in a policy (a policy that raises is never a pass)."""
    USAGE = 2
    """Bad usage, or a blueprint, catalogue or configuration that does not validate."""
    NOTHING = 3
    """There was nothing to check."""
    EXTERNAL = 4
    """An external tool (Pulumi, Ansible) failed."""
    VIOLATION = 5
    """A mandatory policy failed; the same number as Pulumi's policy violation."""
    UNKNOWN = 6
    """A mandatory policy could not be decided because a number is missing."""
    WAIVER = 7
    """Waiver or baseline hygiene failed."""
    OUTDATED = 8
    """What was asked is done, and nodes run that are not what the blueprint says: they are named."""
    CONFLICT = 9
    """What was asked is done, and files hold conflicts that a person has to decide."""
    PARTIAL = 10
    """What was asked is done in part: hosts have no instance, since AWS has no capacity for them now."""
    INTERRUPTED = 130
    """Stopped by Ctrl-C."""
